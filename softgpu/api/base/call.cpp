#include "softgpu/api/base/call.hpp"

#include <cstdio>
#include <new>

#include "softgpu/api/base/errors.hpp"
#include "softgpu/api/base/unsupported.hpp"
#include "softgpu/runtime/work/host_functions.hpp"

namespace softgpu::api {
namespace {

void trace_error(const char* name, CUresult code, const char* message) {
  if (Driver::trace().errors && *message != '\0')
    std::fprintf(stderr, "softgpu: %s: %s: %s\n", name, error_name(code), message);
}

CUresult traced(const char* name, CUresult code, const char* message) {
  trace_error(name, code, message);
  return code;
}

}  // namespace

CUresult refusal() {
  if (const CUresult state = Driver::state(); state != CUDA_SUCCESS) return state;
  return runtime::HostFunctions::on_thread() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

CUresult code_of_exception(const char* name) {
  try {
    throw;
  } catch (const Failure& failure) {
    return traced(name, failure.code(), failure.what());
  } catch (const std::bad_alloc& error) {
    return traced(name, CUDA_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::exception& error) {
    // Nothing that a program did wrong, so it is said whether asked for or not.
    std::fprintf(stderr, "softgpu: %s: %s\n", name, error.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

void trace_call(const char* name, CUresult result) {
  std::fprintf(stderr, "softgpu: %s -> %s\n", name, error_name(result));
}

CUresult unsupported(const char* name) {
  const runtime::Trace& trace = Driver::trace();
  if (trace.unsupported || trace.calls) std::fprintf(stderr, "softgpu: %s is not supported\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace softgpu::api
