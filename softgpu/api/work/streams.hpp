// From stream handles to streams.
#pragma once

#include <memory>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/work/green_context.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::api {

// What a null handle means: the plain entry points take it for the legacy default stream, those that end in _ptds or
// _ptsz for the calling thread's.
enum class NullStream { legacy, per_thread };

// The green context that the calling thread's current context was converted from; null: from none.
std::shared_ptr<runtime::GreenContext> current_green();

// Throws CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED when its green context is gone, or the context's
// error.
std::shared_ptr<runtime::Stream> find_stream(CUstream handle, NullStream null);

// In the green context, or in none of the context. Clamps the priority.
CUstream create_stream(Context& context, runtime::GreenContext* green, unsigned flags, int priority);

// Defines an entry point and its twin for the per-thread default stream. The body reads `null_stream`.
#define SOFTGPU_FOR_BOTH_NULL_STREAMS(name, suffix, parameters, ...)      \
  CUresult name parameters {                                              \
    [[maybe_unused]] constexpr auto null_stream = NullStream::legacy;     \
    return call(#name, __VA_ARGS__);                                      \
  }                                                                       \
  CUresult name##suffix parameters {                                      \
    [[maybe_unused]] constexpr auto null_stream = NullStream::per_thread; \
    return call(#name #suffix, __VA_ARGS__);                              \
  }

}  // namespace softgpu::api
