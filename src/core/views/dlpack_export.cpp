#include <dlpack/dlpack.h>

#include <cuprum/dlpack.hpp>

#include "core/memory/buffer_resource.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/resources.hpp"
#include "core/views/dlpack_types.hpp"
#include "core/views/view_maker.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;
using support::text;

namespace {

/// What a tensor points to, with the tensor itself.
template <typename Tensor>
struct Exported {
  explicit Exported(const StridedMemoryView& the_view) : view(the_view) {}
  StridedMemoryView view;
  Tensor tensor{};
};

/// DLPack's pointers are not const, though nobody may write to the shape.
std::int64_t* pointer_to(std::span<const std::int64_t> numbers) {
  return numbers.empty() ? nullptr : const_cast<std::int64_t*>(numbers.data());
}

template <typename Tensor>
std::unique_ptr<Tensor, DLPackDeleter> export_view(const StridedMemoryView& view) {
  if (!view.dtype()) {
    throw WrongState(text("exporting ", view, " by DLPack: it has no data type; view(layout, dtype) gives it one"));
  }
  auto exported = std::make_unique<Exported<Tensor>>(view);
  const StridedLayout& layout = exported->view.layout();
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = view.size() == 0 ? nullptr : reinterpret_cast<void*>(view.ptr());
  tensor.device = core::to_dl_device(view);
  tensor.ndim = layout.ndim();
  tensor.dtype = core::to_dl_type(*view.dtype());
  tensor.shape = pointer_to(layout.shape());
  tensor.strides = pointer_to(layout.strides());
  exported->tensor.deleter = [](Tensor* self) { delete static_cast<Exported<Tensor>*>(self->manager_ctx); };
  exported->tensor.manager_ctx = exported.get();
  return std::unique_ptr<Tensor, DLPackDeleter>(&exported.release()->tensor);
}

constexpr std::intptr_t no_order = -1;

Stream consumer_stream(const StridedMemoryView& view, std::intptr_t stream) {
  if (stream == 0 || stream < no_order) {
    throw InvalidArgument(text("exporting by DLPack for stream ", stream,
                               ": it can be -1 (no order), 1 (legacy default), 2 (per-thread default) or a CUstream"));
  }
  if (!view.is_device_accessible()) {
    throw InvalidArgument(text("exporting ", view, " by DLPack for stream ", stream,
                               ": host memory is used on no stream; sync() what fills it and pass -1"));
  }
  return Stream::from_handle(reinterpret_cast<CUstream_st*>(stream));
}

Stream producer_stream(const StridedMemoryView& view, const DLPackExportOptions& options) {
  if (options.producer) return *options.producer;
  if (const auto allocated_on = detail::ViewMaker::memory(view).allocated_on())
    return core::handle_of(core::reachable(allocated_on));
  throw InvalidArgument(text("exporting ", view, " by DLPack for stream ", options.stream,
                             ": its memory was not allocated on a stream, so say in `producer` which one to wait for"));
}

/// Default streams of one name are equal, but in different contexts they are different queues.
bool is_same_queue(const Stream& a, const Stream& b) {
  return a == b && &Access::keep(a)->context().resolve() == &Access::keep(b)->context().resolve();
}

/// Makes the importing library's stream wait.
void order(const StridedMemoryView& view, const DLPackExportOptions& options) {
  if (options.stream == no_order) return;
  // The default streams are those of the context that is current.
  const core::ContextGuard guard(view.device_id() ? core::ContextChoice::current_of(*view.device_id())
                                                  : core::ContextChoice::current());
  const Stream consumer = consumer_stream(view, options.stream);
  const Stream producer = producer_stream(view, options);
  if (!is_same_queue(consumer, producer)) consumer.wait(producer);
}

StridedMemoryView bytes_of(const Buffer& buffer) {
  return StridedMemoryView::from_buffer<std::int8_t>(buffer, {static_cast<std::int64_t>(buffer.size())});
}

}  // namespace

void DLPackDeleter::operator()(DLManagedTensor* tensor) const noexcept {
  if (tensor->deleter) tensor->deleter(tensor);
}

void DLPackDeleter::operator()(DLManagedTensorVersioned* tensor) const noexcept {
  if (tensor->deleter) tensor->deleter(tensor);
}

DLPackTensorVersioned to_dlpack_versioned(const StridedMemoryView& view, const DLPackExportOptions& options) {
  DLPackTensorVersioned tensor = export_view<DLManagedTensorVersioned>(view);
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->flags = (view.is_readonly() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
                  (view.is_copied() ? DLPACK_FLAG_BITMASK_IS_COPIED : 0) |
                  (view.dtype()->bits % 8 != 0 ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0);
  order(view, options);
  return tensor;
}

DLPackTensor to_dlpack(const StridedMemoryView& view, const DLPackExportOptions& options) {
  if (view.is_readonly()) {
    throw WrongState(
        text("exporting ", view, " by DLPack before 1.0: it is read-only, which only to_dlpack_versioned can say"));
  }
  if (view.dtype() && view.dtype()->bits % 8 != 0) {
    throw InvalidArgument(text(
        "exporting ", view, " by DLPack before 1.0: its elements are padded, which only to_dlpack_versioned can say"));
  }
  DLPackTensor tensor = export_view<DLManagedTensor>(view);
  order(view, options);
  return tensor;
}

DLPackTensorVersioned to_dlpack_versioned(const Buffer& buffer, const DLPackExportOptions& options) {
  return to_dlpack_versioned(bytes_of(buffer), options);
}

DLPackTensor to_dlpack(const Buffer& buffer, const DLPackExportOptions& options) {
  return to_dlpack(bytes_of(buffer), options);
}

}  // namespace cuprum::inline CUPRUM_ABI
