#include <algorithm>
#include <cuprum/detail/kernel_arguments.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <ostream>

#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/keeper.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/graph_changes.hpp"
#include "core/stream/resources.hpp"
#include "core/views/strided_copy.hpp"
#include "core/views/view_maker.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using core::CopyPlan;
using detail::Access;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::join;
using support::text;

namespace {

MemoryKind kind_of(const Buffer& buffer) {
  const bool by_device = buffer.is_device_accessible();
  const bool by_host = buffer.is_host_accessible();
  if (by_device && by_host) return buffer.is_managed() ? MemoryKind::managed : MemoryKind::pinned;
  if (by_device) return MemoryKind::device;
  if (by_host) return MemoryKind::host;
  throw InvalidArgument(text("a view of ", buffer, ": neither a device nor the host can access it"));
}

void check_itemsize(const StridedLayout& layout, const std::optional<DataType>& dtype) {
  if (!dtype || dtype->itemsize() == layout.itemsize()) return;
  throw WrongType(text("a view of ", *dtype, ", which has ", dtype->itemsize(), " bytes, with a layout of itemsize ",
                       layout.itemsize(), ": they must be equal"));
}

void check_copy(const StridedMemoryView& to, const StridedMemoryView& from) {
  static_cast<void>(to.ptr()), static_cast<void>(from.ptr());  // both are there
  if (to.is_readonly()) throw WrongState(text("copying to ", to, ": it is read-only"));
  if (!std::equal(to.shape().begin(), to.shape().end(), from.shape().begin(), from.shape().end())) {
    throw InvalidArgument(text("copying shape (", join(from.shape()), ") to shape (", join(to.shape()),
                               "): they must be equal; broadcast_to and reshaped change a view's"));
  }
  if (to.layout().itemsize() != from.layout().itemsize()) {
    throw WrongType(text("copying elements of ", from.layout().itemsize(), " bytes to elements of ",
                         to.layout().itemsize(), " bytes: they must be equal"));
  }
  if (to.dtype() && from.dtype() && *to.dtype() != *from.dtype())
    throw WrongType(text("copying ", *from.dtype(), " to ", *to.dtype(), ": a copy converts nothing"));
  if (!to.layout().is_unique())
    throw InvalidArgument(text("copying to ", to, ": some of its elements share their memory"));
}

/// Copies the block of a plan that starts at these addresses.
void copy_block(const CopyPlan& plan, DevicePointer to, DevicePointer from, CUstream stream, const auto& doing) {
  if (plan.rows.extent == 1) {
    driver::call<&Api::cuMemcpyAsync>(doing, to, from, static_cast<std::size_t>(plan.width), stream);
    return;
  }
  const auto rows_per_slice = [&](std::int64_t distance, std::int64_t pitch) {
    return static_cast<std::size_t>(plan.slices.extent == 1 ? plan.rows.extent : distance / pitch);
  };
  CUDA_MEMCPY3D block{};
  block.srcMemoryType = block.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  block.srcDevice = from;
  block.dstDevice = to;
  block.srcPitch = plan.rows.source_stride;
  block.dstPitch = plan.rows.destination_stride;
  block.srcHeight = rows_per_slice(plan.slices.source_stride, plan.rows.source_stride);
  block.dstHeight = rows_per_slice(plan.slices.destination_stride, plan.rows.destination_stride);
  block.WidthInBytes = plan.width;
  block.Height = plan.rows.extent;
  block.Depth = plan.slices.extent;
  driver::call<&Api::cuMemcpy3DAsync>(doing, &block, stream);
}

/// Goes along the axes of `loops` from `axis` on.
void copy_blocks(const CopyPlan& plan, std::size_t axis, DevicePointer to, DevicePointer from, CUstream stream,
                 const auto& doing) {
  if (axis == plan.loops.size()) return copy_block(plan, to, from, stream, doing);
  for (std::int64_t step = 0; step < plan.loops[axis].extent; ++step) {
    copy_blocks(plan, axis + 1, to + step * plan.loops[axis].destination_stride,
                from + step * plan.loops[axis].source_stride, stream, doing);
  }
}

std::int64_t max_pitch(const core::ContextRecord& context) {
  int pitch = 0;
  driver::call<&Api::cuDeviceGetAttribute>(&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, context.device);
  return pitch;
}

}  // namespace

StridedMemoryView::StridedMemoryView(const Buffer& buffer, std::int64_t origin, const StridedLayout& layout)
    : buffer_(buffer), memory_(Access::keep(buffer)), origin_(origin), layout_(layout) {}

StridedMemoryView StridedMemoryView::from_buffer(const Buffer& buffer, const StridedLayout& layout,
                                                 const StridedMemoryViewOptions& options) {
  check_itemsize(layout, options.dtype);
  return detail::ViewMaker::make(buffer, 0, layout, options.dtype, kind_of(buffer), buffer.device_id(),
                                 options.is_readonly, false);
}

StridedMemoryView StridedMemoryView::from_pointer(DevicePointer pointer, const StridedLayout& layout,
                                                  const StridedMemoryViewOptions& options,
                                                  std::shared_ptr<void> owner) {
  check_itemsize(layout, options.dtype);
  if (!pointer && layout.volume() > 0)
    throw InvalidArgument(text("a view from a pointer of ", layout.volume(), " elements: the pointer is null"));
  // The memory is what the layout reaches, also before the pointer.
  const bool reaches_none = layout.volume() == 0;
  const std::int64_t before = reaches_none ? 0 : std::max<std::int64_t>(-layout.min_offset() * layout.itemsize(), 0);
  const std::int64_t after = reaches_none ? 0 : (layout.max_offset() + 1) * layout.itemsize();
  const Buffer memory =
      Buffer::from_handle(pointer - static_cast<DevicePointer>(before),
                          static_cast<std::size_t>(before + std::max<std::int64_t>(after, 0)), std::move(owner));
  return detail::ViewMaker::make(memory, before, layout, options.dtype, kind_of(memory), memory.device_id(),
                                 options.is_readonly, false);
}

StridedMemoryView StridedMemoryView::view(const StridedLayout& layout, const std::optional<DataType>& dtype) const {
  StridedMemoryView result = *this;
  result.layout_ = layout;
  if (dtype) result.dtype_ = dtype;
  check_itemsize(layout, result.dtype_);
  result.check_fits();
  return result;
}

StridedMemoryView StridedMemoryView::view(const DataType& dtype) const { return view(layout_, dtype); }

StridedMemoryView StridedMemoryView::sliced(std::span<const SliceItem> items) const {
  return view(layout_.sliced(items));
}

StridedMemoryView StridedMemoryView::sliced(std::initializer_list<SliceItem> items) const {
  return view(layout_.sliced(items));
}

StridedMemoryView StridedMemoryView::operator[](const SliceItem& item) const { return view(layout_[item]); }

StridedMemoryView StridedMemoryView::permuted(const StridedLayout::Axes& axis_order) const {
  return view(layout_.permuted(axis_order));
}

StridedMemoryView StridedMemoryView::transposed() const { return view(layout_.transposed()); }

StridedMemoryView StridedMemoryView::reshaped(const Extents& new_shape) const {
  return view(layout_.reshaped(new_shape));
}

StridedMemoryView StridedMemoryView::flattened() const { return view(layout_.flattened()); }

StridedMemoryView StridedMemoryView::squeezed() const { return view(layout_.squeezed()); }

StridedMemoryView StridedMemoryView::unsqueezed(int axis) const { return view(layout_.unsqueezed(axis)); }

StridedMemoryView StridedMemoryView::broadcast_to(const Extents& new_shape) const {
  return view(layout_.broadcast_to(new_shape));
}

void StridedMemoryView::check_fits() const {
  if (!memory_) core::refuse_empty("view");
  if (size() == 0) return;
  const auto bytes = static_cast<std::int64_t>(memory_->size);
  const std::int64_t first = layout_.min_offset() * layout_.itemsize();
  const std::int64_t end = (layout_.max_offset() + 1) * layout_.itemsize();
  if (first < -origin_) {
    throw InvalidArgument(text("a view of ", buffer_, " with ", layout_, ": it would begin ", -(first + origin_),
                               " bytes before the memory"));
  }
  if (end > bytes - origin_) {
    throw InvalidArgument(text("a view of ", buffer_, " with ", layout_, ": that needs ", end, " bytes, and there are ",
                               bytes - origin_));
  }
}

DevicePointer StridedMemoryView::ptr() const {
  if (!memory_) core::refuse_empty("view");
  return memory_->pointer + origin_ + layout_.slice_offset_in_bytes();
}

void StridedMemoryView::check_type(std::optional<DataType> type, bool is_const) const {
  if (is_readonly_ && !is_const)
    throw WrongState(text("access to ", *this, ": it is read-only, so ask for const elements"));
  if (type && dtype_ && *type != *dtype_)
    throw WrongType(text("access to ", *this, " as ", *type, ": view(layout, dtype) changes a view's type"));
}

void StridedMemoryView::check_access(std::size_t size, std::size_t alignment, std::optional<DataType> type,
                                     bool is_const) const {
  if (!is_host_accessible())
    throw WrongState(text("access to ", *this, ": the host can't; copy it to a view of host memory"));
  check_type(type, is_const);
  if (static_cast<std::int64_t>(size) != layout_.itemsize())
    throw WrongType(text("access to ", *this, " as elements of ", size, " bytes"));
  if (this->size() > 0 && ptr() % alignment != 0)
    throw InvalidArgument(text("access to ", *this, ": it is not aligned to the element's ", alignment, " bytes"));
}

void StridedMemoryView::check_contiguous() const {
  if (!layout_.is_contiguous_c())
    throw InvalidArgument(text("as_span: ", *this, " is not contiguous in C order; as_strided_span takes any layout"));
}

void StridedMemoryView::check_rank(std::size_t rank) const {
  if (static_cast<int>(rank) != ndim())
    throw InvalidArgument(text("as_strided_span with ", rank, " axes: ", *this, " has ", ndim()));
}

void* StridedMemoryView::host_address() const {
  // Memory that comes from a resource may not have been reached by its stream yet: the buffer sees to that.
  const DevicePointer address = ptr();
  memory_->wait_for_allocation();
  return reinterpret_cast<void*>(address);
}

void StridedMemoryView::copy_from(const StridedMemoryView& source, const Stream& stream,
                                  const StridedCopyOptions& options) const {
  check_copy(*this, source);
  const Kept<StreamResource> queue = Access::keep(stream);
  if (size() > 0) {
    core::keep_if_captured(
        *queue, [&] { return core::Owners{core::memory_keeper(memory_), core::memory_keeper(source.memory_)}; });
    const core::QueuingWork queuing(*queue);
    const ContextGuard guard(queue->context());
    const CopyPlan plan = core::plan_copy(layout_, source.layout_, max_pitch(guard.context()));
    const Doing doing{[&] { return text("copying ", source, " to ", *this, " on ", stream); }};
    copy_blocks(plan, 0, memory_->pointer + origin_ + plan.destination_offset,
                source.memory_->pointer + source.origin_ + plan.source_offset, queue->handle, doing);
  }
  const bool between_devices = kind_ == MemoryKind::device && source.kind_ == MemoryKind::device;
  if (options.blocking.value_or(!between_devices)) stream.sync();
}

void StridedMemoryView::copy_to(const StridedMemoryView& destination, const Stream& stream,
                                const StridedCopyOptions& options) const {
  destination.copy_from(*this, stream, options);
}

std::ostream& operator<<(std::ostream& out, const StridedMemoryView& view) {
  if (!detail::MemoryOf::view(view)) return out << "an empty view";
  out << "a view of ";
  if (view.dtype()) {
    out << *view.dtype();
  } else {
    out << view.layout().itemsize() << "-byte elements";
  }
  out << " with " << view.layout();
  return out << " at " << reinterpret_cast<void*>(view.ptr());
}

}  // namespace cuprum::inline CUPRUM_ABI
