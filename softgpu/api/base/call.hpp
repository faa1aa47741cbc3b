// What every entry point does besides its own business: the checks that come first, and turning exceptions into result
// codes.
//
//   CUresult cuStreamQuery(CUstream stream) {
//     return call(__func__, [&] { ... });   // the body throws Failure, or returns a CUresult, or nothing for success
//   }
#pragma once

#include <type_traits>
#include <utility>

#include "softgpu/api/base/headers.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/driver.hpp"
#include "softgpu/runtime/work/api_gate.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::api {

// For the entry points themselves, which are in no namespace but use this one.
namespace runtime = softgpu::runtime;
namespace memory = softgpu::memory;

using runtime::Context;
using runtime::Driver;
using runtime::Failure;
using runtime::require;
using runtime::require_handle;

// The code for the exception that is being handled.
CUresult code_of_exception(const char* name);
// For what softgpu can do, but CUDA's documentation excludes: ends the program with SOFTGPU_STRICT=1.
void say_undefined(const char* name, const char* what);
// Not initialised, forked, or called from a host function: what keeps any call from being served.
CUresult refusal();

template <typename Body>
CUresult guarded(const char* name, Body&& body) {
  CUresult result = CUDA_SUCCESS;
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>)
      body();
    else
      result = body();
  } catch (...) {
    result = code_of_exception(name);
  }
  return result;
}

// For what works in any state of the driver.
template <typename Body>
CUresult call_before_init(const char* name, Body&& body) {
  return guarded(name, std::forward<Body>(body));
}

// For what needs cuInit. Waits while the process is locked (cuCheckpointProcessLock).
template <typename Body>
CUresult call(const char* name, Body&& body) {
  return guarded(name, [&]() -> CUresult {
    if (const CUresult refused = refusal(); refused != CUDA_SUCCESS) return refused;
    const runtime::CallPass pass;
    if (const CUresult refused = pass.refusal(); refused != CUDA_SUCCESS) [[unlikely]]
      return refused;
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return CUDA_SUCCESS;
    } else {
      return body();
    }
  });
}

inline std::shared_ptr<Context> current_context() { return runtime::current_context(Driver::get().work()); }

// Throws the error of a context in which a kernel has failed.
inline void require_healthy(const Context& context) {
  if (const CUresult error = context.error(); error != CUDA_SUCCESS) [[unlikely]]
    throw Failure(error, context.error_reason());
}

// For what works in the current context: the body gets it.
template <typename Body>
CUresult call_in_context(const char* name, Body&& body) {
  return call(name, [&] {
    const std::shared_ptr<Context> context = current_context();
    require_healthy(*context);
    return body(*context);
  });
}

inline void require_pointer(const void* pointer, const char* message = "a null pointer for a result") {
  require(pointer != nullptr, CUDA_ERROR_INVALID_VALUE, message);
}

inline void require_no_flags(unsigned long long flags) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
}

template <typename Table, typename Handle>
auto find(const Table& table, Handle handle, const char* message = "not a valid handle") {
  auto object = table.find(handle);
  require_handle(object != nullptr, CUDA_ERROR_INVALID_HANDLE, message);
  return object;
}

}  // namespace softgpu::api
