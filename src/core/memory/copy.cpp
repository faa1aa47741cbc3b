#include "core/memory/copy.hpp"

#include <cuprum/error.hpp>

#include "core/base/context.hpp"
#include "core/memory/location.hpp"
#include "core/stream/queue_call.hpp"
#include "core/stream/resources.hpp"
#include "support/enumeration.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

auto copying(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream) {
  return Doing{[=, &stream] {
    return text("copying ", bytes, " bytes from ", reinterpret_cast<void*>(source), " to ",
                reinterpret_cast<void*>(destination), " on ", stream);
  }};
}

}  // namespace

void queue_copy(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream) {
  const Kept<StreamResource> queue = Access::keep(stream);
  if (bytes == 0) return;
  queue_work<&Api::cuMemcpyAsync>(*queue, copying(destination, source, bytes, stream), destination, source, bytes,
                                  queue->handle);
}

void queue_copy(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream,
                const CopyOptions& options) {
  check_takes_attributes(stream, "a copy with options");
  if (!driver::api().cuMemcpyWithAttributesAsync.function) {
    check_ordinary_copy_will_do(options, "a copy", "13.2");
    return queue_copy(destination, source, bytes, stream);
  }
  if (bytes == 0) return;
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(queue->context());
  CUmemcpyAttributes attributes = cu_attributes(options);
  driver::call<&Api::cuMemcpyWithAttributesAsync>(copying(destination, source, bytes, stream), destination, source,
                                                  bytes, &attributes, queue->handle);
}

CUmemcpyAttributes cu_attributes(const CopyOptions& options) {
  constexpr CUmemcpySrcAccessOrder orders[] = {
      CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
  CUmemcpyAttributes attributes{};
  const CUmemcpySrcAccessOrder* order = support::entry_of(orders, options.src_access_order);
  if (!order) {
    throw InvalidArgument(
        text("CopyOptions::src_access_order is none of its values, but ", static_cast<int>(options.src_access_order)));
  }
  attributes.srcAccessOrder = *order;
  if (options.src_location_hint) attributes.srcLocHint = cu_location(*options.src_location_hint);
  if (options.dst_location_hint) attributes.dstLocHint = cu_location(*options.dst_location_hint);
  if (options.overlap_mode == MemcpyOverlapMode::prefer_overlap_with_compute)
    attributes.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  return attributes;
}

void check_takes_attributes(const Stream& stream, std::string_view what) {
  const Kept<StreamResource> queue = Access::keep(stream);
  if (queue->handle == nullptr || queue->handle == CU_STREAM_LEGACY) {
    throw InvalidArgument(text(what, " can't be put into the legacy default stream: pass another stream"));
  }
  ContextGuard guard(queue->context());
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  driver::call<&Api::cuStreamIsCapturing>(Doing{[&] { return text("asking whether ", stream, " is being captured"); }},
                                          queue->handle, &status);
  if (status != CU_STREAM_CAPTURE_STATUS_NONE) {
    throw WrongState(text(what, " can't be captured into a graph, which ", stream,
                          " is being: copy buffer by buffer and without options"));
  }
}

// An ordinary copy reads its source in stream order, which is as good as `stream` and `any`. A caller who asked for the
// source to be read during the call goes on to overwrite it.
void check_ordinary_copy_will_do(const CopyOptions& options, std::string_view what, std::string_view needed) {
  if (options.src_access_order != MemcpySrcAccessOrder::during_api_call) return;
  throw NotSupported(text(what, " with MemcpySrcAccessOrder::during_api_call needs a driver of CUDA ", needed,
                          " or newer: this one reads the source in stream order, after the call has returned; use "
                          "MemcpySrcAccessOrder::stream and keep the source as it is until then"));
}

}  // namespace cuprum::core
