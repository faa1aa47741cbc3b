// Streams.
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/graphs/capture.hpp"
#include "softgpu/runtime/graphs/submit.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/host_function.hpp"

namespace softgpu::api {
namespace {

using runtime::Stream;
using runtime::StreamKind;

void require_not_detached(const Stream& stream) {
  require(stream.green() == nullptr || !stream.green()->destroyed(), CUDA_ERROR_CONTEXT_IS_DESTROYED,
          "the green context of the stream was destroyed");
}

// As programs know the context that the stream is of.
CUcontext context_handle(const Stream& stream) {
  return stream.green() != nullptr ? stream.green()->context_handle() : stream.context().handle();
}

}  // namespace

CUstream create_stream(Context& context, runtime::GreenContext* green, unsigned flags, int priority) {
  require((flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0, CUDA_ERROR_INVALID_VALUE,
          "unknown flags for a stream");
  const StreamKind kind = (flags & CU_STREAM_NON_BLOCKING) != 0 ? StreamKind::non_blocking : StreamKind::blocking;
  return Driver::get().work().streams.add(
      std::make_shared<Stream>(context, kind, runtime::clamped_priority(priority), green));
}

std::shared_ptr<runtime::GreenContext> current_green() {
  return Driver::get().work().green_contexts.find(runtime::context_stack::current());
}

std::shared_ptr<Stream> find_stream(CUstream handle, NullStream null) {
  if (handle == nullptr) handle = null == NullStream::legacy ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
  std::shared_ptr<Stream> stream;
  if (handle == CU_STREAM_LEGACY) {
    const auto context = current_context();
    const auto green = current_green();
    stream = green != nullptr ? green->shared_default_stream() : context->shared_legacy_stream();
  } else if (handle == CU_STREAM_PER_THREAD) {
    stream = current_context()->per_thread_stream(current_green().get());
  } else {
    stream = find(Driver::get().work().streams, handle, "not a stream, or one that was destroyed");
    require_not_detached(*stream);
  }
  require_healthy(stream->context());
  return stream;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(stream);
    *stream = create_stream(context, current_green().get(), flags, 0);
  });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(stream);
    *stream = create_stream(context, current_green().get(), flags, priority);
  });
}

// What it still has to do goes on.
CUresult cuStreamDestroy_v2(CUstream stream) {
  return call(__func__, [&] {
    require(stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD,
            CUDA_ERROR_INVALID_HANDLE, "a default stream can't be destroyed");
    const auto removed = Driver::get().work().streams.remove(stream);
    require_handle(removed != nullptr, CUDA_ERROR_INVALID_HANDLE, "not a stream, or one that was destroyed");
    if (runtime::Capture::began_in(*removed))
      say_undefined("cuStreamDestroy", "a stream in which a capture began that has not ended");
    require_not_detached(*removed);
    require_healthy(removed->context());
  });
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetPriority, _ptsz, (CUstream stream, int* priority), [&] {
  require_pointer(priority);
  *priority = find_stream(stream, null_stream)->priority();
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned* flags), [&] {
  require_pointer(flags);
  const bool apart = find_stream(stream, null_stream)->kind() == StreamKind::non_blocking;
  *flags = apart ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long* id), [&] {
  require_pointer(id);
  *id = find_stream(stream, null_stream)->id();
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext* context), [&] {
  require_pointer(context);
  *context = context_handle(*find_stream(stream, null_stream));
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetCtx_v2, _ptsz, (CUstream stream, CUcontext* context, CUgreenCtx* green), [&] {
  require_pointer(context);
  const auto found = find_stream(stream, null_stream);
  *context = found->context().handle();
  if (green != nullptr) *green = found->green() != nullptr ? found->green()->handle() : nullptr;
})

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* green) {
  return call(__func__, [&] {
    require_pointer(green);
    const auto found = find_stream(stream, NullStream::legacy);
    *green = found->green() != nullptr ? found->green()->handle() : nullptr;
  });
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetDevice, _ptsz, (CUstream stream, CUdevice* device), [&] {
  require_pointer(device);
  *device = find_stream(stream, null_stream)->context().device().ordinal();
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamQuery, _ptsz, (CUstream stream), [&] {
  const auto found = find_stream(stream, null_stream);
  found->require_uncaptured();
  runtime::require_unsafe_calls_allowed();
  if (!found->idle()) return CUDA_ERROR_NOT_READY;
  require_healthy(found->context());
  return CUDA_SUCCESS;
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamSynchronize, _ptsz, (CUstream stream), [&] {
  const auto found = find_stream(stream, null_stream);
  found->require_uncaptured();
  runtime::require_unsafe_calls_allowed();
  found->wait_idle();
  runtime::trim_pools(Driver::get().memory());
  require_healthy(found->context());
  return CUDA_SUCCESS;
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamWaitEvent, _ptsz, (CUstream stream, CUevent event, unsigned flags), [&] {
  require((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  const auto found = find_stream(stream, null_stream);
  const auto awaited = find(Driver::get().work().events, event, "not an event, or one that was destroyed");
  if (found->is_captured() && flags == CU_EVENT_WAIT_EXTERNAL)
    runtime::capture_work(*found, runtime::WaitWork{awaited, event});
  else
    awaited->make_wait(*found);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn function, void* data), [&] {
  require_pointer(reinterpret_cast<void*>(function), "no function");
  const auto found = find_stream(stream, null_stream);
  runtime::submit_host_function(*found, function, data);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamAddCallback, _ptsz,
                              (CUstream stream, CUstreamCallback function, void* data, unsigned flags), [&] {
                                require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
                                require_pointer(reinterpret_cast<void*>(function), "no function");
                                const auto found = find_stream(stream, null_stream);
                                const auto op = runtime::make_host_function_op(
                                    found->context().shared_from_this(),
                                    [=](CUresult error) { function(stream, error, data); },
                                    runtime::AfterError::called);
                                found->enqueue(*op);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamGetAttribute, _ptsz,
                              (CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value), [&] {
                                require_pointer(value);
                                *value = find_stream(stream, null_stream)->attributes().get(attribute);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamSetAttribute, _ptsz,
                              (CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value), [&] {
                                require_pointer(value, "no value");
                                find_stream(stream, null_stream)->attributes().set(attribute, *value);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuStreamCopyAttributes, _ptsz, (CUstream target, CUstream source), [&] {
  const auto to = find_stream(target, null_stream), from = find_stream(source, null_stream);
  to->attributes().copy_from(from->attributes());
})

}  // extern "C"
