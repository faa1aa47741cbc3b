#include <dlpack/dlpack.h>

#include <algorithm>
#include <cuprum/dlpack.hpp>
#include <cuprum/error.hpp>

#include "core/views/dlpack_types.hpp"
#include "core/views/view_maker.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using support::text;

namespace {

[[noreturn]] void refuse(const auto&... why) { throw InvalidArgument(text("a DLPack tensor ", why...)); }

MemoryKind kind_of(const DLDevice& device) {
  const auto* row = std::find_if(std::begin(core::device_kinds), std::end(core::device_kinds),
                                 [&](const core::DeviceKind& each) { return each.type == device.device_type; });
  if (row == std::end(core::device_kinds)) {
    refuse("on a device of type ", static_cast<int>(device.device_type),
           ": only the CPU's memory (1) and CUDA's (2, 3 and 13) can be viewed");
  }
  if (device.device_id < 0) refuse("on device ", device.device_id, ": there is none of that number");
  return row->kind;
}

/// The type, whose elements must take whole bytes: sub-byte ones only where each is padded to one.
DataType type_of(const DLTensor& tensor, bool is_padded) {
  const DataType type = core::from_dl_type(tensor.dtype);
  if (type.bits == 0 || type.lanes == 0) refuse("of elements without bits (", type, ")");
  const bool whole_bytes = type.bits * type.lanes % 8 == 0;
  if (!whole_bytes && !(is_padded && type.lanes == 1)) refuse("of ", type, ": its elements don't fill whole bytes");
  return type;
}

StridedLayout layout_of(const DLTensor& tensor, std::int64_t itemsize) {
  if (tensor.ndim < 0 || tensor.ndim > StridedLayout::max_ndim)
    refuse("of ", tensor.ndim, " dimensions: there can be 0 to ", StridedLayout::max_ndim);
  if (tensor.ndim > 0 && !tensor.shape) refuse("of ", tensor.ndim, " dimensions has no shape");
  const StridedLayout::Extents shape(tensor.shape, tensor.shape + tensor.ndim);
  if (!tensor.strides) return StridedLayout(shape, itemsize);  // allowed before DLPack 1.2: C order
  return StridedLayout(shape, StridedLayout::Extents(tensor.strides, tensor.strides + tensor.ndim), itemsize);
}

/// What the flags of a versioned tensor say.
struct Flags {
  bool is_readonly = false;
  bool is_copied = false;
  bool is_padded = false;
};

template <typename Tensor>
StridedMemoryView import_tensor(std::unique_ptr<Tensor, DLPackDeleter> owned, const Flags& flags) {
  const DLTensor& tensor = owned->dl_tensor;
  const MemoryKind kind = kind_of(tensor.device);
  const DataType type = type_of(tensor, flags.is_padded);
  const StridedLayout layout = layout_of(tensor, type.itemsize());
  const auto data = reinterpret_cast<DevicePointer>(tensor.data) + tensor.byte_offset;
  if (layout.volume() > 0 && !tensor.data) refuse("of ", layout.volume(), " elements has no data");

  // The memory is what the tensor reaches, also before its first element.
  const std::int64_t origin = -layout.min_offset() * type.itemsize();
  const std::int64_t end = (layout.max_offset() + 1) * type.itemsize();
  const std::optional<int> device =
      kind == MemoryKind::device ? std::optional<int>(tensor.device.device_id) : std::nullopt;
  std::shared_ptr<void> owner = std::move(owned);
  const Buffer memory = Buffer::from_handle(data - origin, origin + end, std::move(owner));
  return detail::ViewMaker::make(memory, origin, layout, type, kind, device, flags.is_readonly, flags.is_copied);
}

}  // namespace

StridedMemoryView from_dlpack(DLPackTensorVersioned tensor) {
  if (!tensor) throw InvalidArgument("from_dlpack: the tensor is null");
  // With another major version nothing but the version and the deleter may be looked at.
  if (tensor->version.major != DLPACK_MAJOR_VERSION) {
    refuse("of DLPack version ", tensor->version.major, ".", tensor->version.minor,
           ": this library understands versions ", DLPACK_MAJOR_VERSION, ".x");
  }
  const Flags flags{.is_readonly = (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0,
                    .is_copied = (tensor->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0,
                    .is_padded = (tensor->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0};
  return import_tensor(std::move(tensor), flags);
}

StridedMemoryView from_dlpack(DLPackTensor tensor) {
  if (!tensor) throw InvalidArgument("from_dlpack: the tensor is null");
  return import_tensor(std::move(tensor), {});
}

}  // namespace cuprum::inline CUPRUM_ABI
