#include "softgpu/api/base/call.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "softgpu/api/base/errors.hpp"
#include "softgpu/api/base/unsupported.hpp"
#include "softgpu/runtime/base/error_log.hpp"
#include "softgpu/runtime/work/host_functions.hpp"

namespace softgpu::api {
namespace {

// The reason goes to the log of errors, because the code that the program gets can't carry it; with
// SOFTGPU_TRACE=errors also to stderr.
CUresult explained(const char* function, CUresult code, std::string_view reason) {
  if (reason.empty()) return code;
  constexpr std::string_view kOwn = "softgpu_";  // see headers.hpp
  const char* const name = function + (std::string_view(function).starts_with(kOwn) ? kOwn.size() : 0);
  runtime::ErrorLog& log = runtime::ErrorLog::get();
  log.add(CU_LOG_LEVEL_ERROR, reason);
  log.add(CU_LOG_LEVEL_ERROR,
          "Returning " + std::to_string(code) + " (" + error_name(code) + ") from " + std::string(name));
  if (Driver::trace().errors)
    std::fprintf(stderr, "softgpu: %s: %s: %.*s\n", name, error_name(code), static_cast<int>(reason.size()),
                 reason.data());
  return code;
}

}  // namespace

void say_undefined(const char* name, const char* what) {
  if (!Driver::is_strict()) return;
  std::fprintf(stderr, "softgpu: %s: %s. A GPU's driver may crash; SOFTGPU_STRICT=1 ends the program here\n", name,
               what);
  std::abort();
}

CUresult refusal() {
  if (const CUresult state = Driver::state(); state != CUDA_SUCCESS) return state;
  return runtime::HostFunctions::on_thread() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

CUresult code_of_exception(const char* name) {
  try {
    throw;
  } catch (const runtime::Misuse& misuse) {
    say_undefined(name, misuse.what());
    return explained(name, misuse.code(), misuse.what());
  } catch (const Failure& failure) {
    return explained(name, failure.code(), failure.what());
  } catch (const std::bad_alloc& error) {
    return explained(name, CUDA_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::length_error& error) {  // a size that no container has
    return explained(name, CUDA_ERROR_OUT_OF_MEMORY, error.what());
  } catch (const std::system_error& error) {
    return explained(name, CUDA_ERROR_OPERATING_SYSTEM, error.what());
  } catch (const std::exception& error) {
    // Nothing that a program did wrong, so it is said whether asked for or not.
    std::fprintf(stderr, "softgpu: %s: %s\n", name, error.what());
    return explained(name, CUDA_ERROR_UNKNOWN, std::string("internal error: ") + error.what());
  }
}

CUresult unsupported(const char* name) {
  const runtime::Trace& trace = Driver::trace();
  if (trace.unsupported || trace.calls) std::fprintf(stderr, "softgpu: %s is not supported\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace softgpu::api
