// Green contexts, and events of whole contexts, green or not.
#include "softgpu/runtime/work/green_context.hpp"

#include "softgpu/api/work/contexts.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {

using runtime::Event;
using runtime::GreenContext;
using runtime::Op;
using runtime::OpRef;
using runtime::StreamSet;

std::shared_ptr<GreenContext> find_green(CUgreenCtx handle) {
  require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT, "no green context");
  auto green = Driver::get().work().green_contexts.find(handle);
  require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT, "not a green context, or one that was destroyed");
  return green;
}

namespace {

CUgreenCtx create_green(CUdevResourceDesc descriptor, CUdevice device, unsigned flags) {
  runtime::PrimaryContext& primary = Driver::get().primary_context(device);
  require(flags == CU_GREEN_CTX_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE,
          "the flags of a green context are CU_GREEN_CTX_DEFAULT_STREAM");
  runtime::WorkServices& work = Driver::get().work();
  auto resource = work.resources.read(descriptor);
  require(resource.device == static_cast<unsigned>(device), CUDA_ERROR_INVALID_VALUE,
          "the resources are of another device");
  const CUcontext retained = primary.retain();
  try {
    auto green = GreenContext::create(find_context(retained), std::move(resource.multiprocessors), resource.rules);
    work.green_contexts.add(green);
    return green->handle();
  } catch (...) {
    primary.release();
    throw;
  }
}

// Waits for its work, as the end of any context does.
void destroy_green(CUgreenCtx handle) {
  const auto green = find_green(handle);
  const int device = green->context().device().ordinal();
  require(Driver::get().work().green_contexts.remove(*green), CUDA_ERROR_INVALID_CONTEXT,
          "the green context is destroyed twice");
  green->wait_idle();
  Driver::get().primary_context(device).release();
}

// What is in all streams of the context, or only in those of the green one.
void record_activity(Context& context, const GreenContext* green, CUevent handle) {
  const auto event = find(Driver::get().work().events, handle, "not an event, or one that was destroyed");
  require(&event->context() == &context, CUDA_ERROR_INVALID_HANDLE, "the event is of another context");
  runtime::require_no_capture(context, green != nullptr ? green->id() : 0);
  const OpRef point = event->make_record_op(nullptr);
  context.streams().for_each_tail([&](Op& last, const StreamSet::Origin& origin) {
    if (green == nullptr || origin.green == green->id()) point->put_after(last);
  });
  point->submit();
}

void hold_back(Context& context, GreenContext* green, CUevent handle) {
  const auto event = find(Driver::get().work().events, handle, "not an event, or one that was destroyed");
  require(!event->is_captured(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the event is a part of a capture");
  runtime::require_no_capture(context, green != nullptr ? green->id() : 0);
  (green != nullptr ? green->gate() : context.gate()).add(event->make_wait_op());
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGreenCtxCreate(CUgreenCtx* green, CUdevResourceDesc descriptor, CUdevice device, unsigned flags) {
  return call(__func__, [&] {
    require_pointer(green);
    *green = create_green(descriptor, device, flags);
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx green) {
  return call(__func__, [&] { destroy_green(green); });
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green) {
  return call(__func__, [&] {
    require_pointer(context);
    *context = find_green(green)->context_handle();
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx green, unsigned flags, int priority) {
  return call(__func__, [&] {
    require_pointer(stream);
    const auto found = find_green(green);
    require_healthy(found->context());
    require(flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE,
            "the flags of a green context's stream are CU_STREAM_NON_BLOCKING");
    *stream = create_stream(found->context(), found.get(), flags, priority);
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx green, unsigned long long* id) {
  return call(__func__, [&] {
    require_pointer(id);
    if (green != nullptr) {
      *id = find_green(green)->id();
      return;
    }
    current_context();  // says what is wrong with it
    const auto current = current_green();
    require(current != nullptr, CUDA_ERROR_INVALID_CONTEXT, "the current context is not a green one");
    *id = current->id();
  });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event) {
  return call(__func__, [&] {
    const auto found = find_green(green);
    record_activity(found->context(), found.get(), event);
  });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event) {
  return call(__func__, [&] {
    const auto found = find_green(green);
    hold_back(found->context(), found.get(), event);
  });
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return call(__func__, [&] {
    const auto found = find_context(context);
    record_activity(*found, Driver::get().work().green_contexts.find(context).get(), event);
  });
}

CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  return call(__func__, [&] {
    const auto found = find_context(context);
    hold_back(*found, Driver::get().work().green_contexts.find(context).get(), event);
  });
}

}  // extern "C"
