#include <bit>
#include <cuprum/device.hpp>
#include <cuprum/tensor_map.hpp>
#include <ostream>
#include <string_view>

#include "core/base/context.hpp"
#include "core/base/device_facts.hpp"
#include "core/views/tensor_map_request.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextChoice;
using core::ContextGuard;
using core::making;
using core::max_tensor_rank;
using core::TensorMapKind;
using core::TensorMapRequest;
using support::text;

namespace {

void check_between(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw InvalidArgument(text(what, " must be in [", least, ", ", most, "], got ", value));
}

void check_between(const char* what, std::size_t index, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) check_between(text(what, '[', index, ']').c_str(), value, least, most);
}

void check_count(const char* what, const std::vector<std::int64_t>& numbers, std::size_t count, const char* as) {
  if (numbers.size() != count)
    throw InvalidArgument(text(what, " must have ", count, " elements (", as, "), got ", numbers.size()));
}

/// Of an enumeration whose members are numbered without gaps.
template <typename Enumeration>
void check_member(const char* what, Enumeration value, Enumeration last) {
  if (static_cast<unsigned>(value) <= static_cast<unsigned>(last)) return;
  throw InvalidArgument(text(what, " is ", static_cast<int>(value), ", which is none of its enumeration"));
}

TensorMapDataType type_for(const StridedMemoryView& view, const std::optional<TensorMapDataType>& given) {
  if (given) return *given;
  if (!view.dtype())
    throw InvalidArgument(text(making(view), ": it has no data type; give one in the options: .data_type = …"));
  using enum DataTypeCode;
  constexpr std::pair<DataType, TensorMapDataType> matches[] = {
      {{unsigned_integer, 8}, TensorMapDataType::uint8},   {{unsigned_integer, 16}, TensorMapDataType::uint16},
      {{unsigned_integer, 32}, TensorMapDataType::uint32}, {{integer, 32}, TensorMapDataType::int32},
      {{unsigned_integer, 64}, TensorMapDataType::uint64}, {{integer, 64}, TensorMapDataType::int64},
      {{floating, 16}, TensorMapDataType::float16},        {{floating, 32}, TensorMapDataType::float32},
      {{floating, 64}, TensorMapDataType::float64},        {{bfloat, 16}, TensorMapDataType::bfloat16},
  };
  for (const auto& [type, match] : matches) {
    if (type == *view.dtype()) return match;
  }
  throw InvalidArgument(text(making(view), ": tensor maps have no ", *view.dtype(),
                             "; give the options a type of the same size, such as .data_type = "
                             "TensorMapDataType::uint8"));
}

/// `doing` is asked what is being done when it fails.
void check_address(const StridedMemoryView& view, TensorMapInterleave interleave, const auto& doing) {
  if (!view.is_device_accessible())
    throw InvalidArgument(text(doing(), ": the tensor must be device-accessible; copy it to memory of a device"));
  const std::int64_t alignment = core::alignment_of(interleave);
  if (view.ptr() % static_cast<DevicePointer>(alignment) != 0)
    throw InvalidArgument(text(doing(), ": its address must be a multiple of ", alignment, " bytes"));
}

void check_device(const StridedMemoryView& view, int device, const auto& doing) {
  // Pinned and managed memory is for all devices.
  if (view.memory_kind() != MemoryKind::device || view.device_id() == device) return;
  throw InvalidArgument(text(doing(), ": a tensor on device ", device, " is expected, and this is on device ",
                             view.device_id().value_or(-1)));
}

void check_capability(const core::DeviceFacts& device, TensorMapKind kind, const StridedMemoryView& view) {
  const int needed = kind == TensorMapKind::im2col_wide ? 10 : 9;
  if (device.compute_capability.major >= needed) return;
  throw NotSupported(text(making(view), ": device ", device.device, " (", device.name, ") has compute capability ",
                          device.compute_capability.major, '.', device.compute_capability.minor, ", and ",
                          kind == TensorMapKind::im2col_wide ? "im2col-wide needs" : "tensor maps need", ' ', needed,
                          ".0 or higher"));
}

/// Elements of another size than the view's are made of the bytes along the last axis.
void put_extents(TensorMapRequest& request, const StridedMemoryView& view) {
  const auto last = request.rank - 1;
  const std::int64_t size = core::size_of(request.data_type), itemsize = view.layout().itemsize();
  if (view.size() == 0) throw InvalidArgument(text(making(view), ": it has no elements"));
  if (view.shape()[last] > 1 && view.strides()[last] != 1) {
    throw InvalidArgument(text(making(view),
                               ": the elements of its last axis must lie side by side; permuted() can put "
                               "the axis last whose elements do"));
  }
  const std::int64_t bytes = view.shape()[last] * itemsize;
  if (bytes % size != 0) {
    throw InvalidArgument(text(making(view), ": ", bytes, " bytes along its last axis are no whole number of ",
                               core::name_of(request.data_type)));
  }
  request.extents[0] = static_cast<cuuint64_t>(bytes / size);
  for (std::size_t axis = 1; axis < request.rank; ++axis) {
    const std::int64_t stride = view.strides()[last - axis];
    if (stride < 0) throw InvalidArgument(text(making(view), ": strides of tensor maps can't be negative"));
    request.extents[axis] = static_cast<cuuint64_t>(view.shape()[last - axis]);
    request.strides[axis - 1] = static_cast<cuuint64_t>(stride) * static_cast<cuuint64_t>(itemsize);
  }
}

void put_element_strides(TensorMapRequest& request, const std::optional<std::vector<std::int64_t>>& given) {
  if (given) check_count("element_strides", *given, request.rank, "as many as the tensor has axes");
  for (std::size_t axis = 0; axis < request.rank; ++axis) {
    request.element_strides[axis] = 1;
    // Without interleaving there are no steps along the innermost axis, and what is said there is ignored.
    if (!given || (axis == 0 && request.interleave == TensorMapInterleave::none)) continue;
    const std::size_t of_view = request.rank - 1 - axis;
    check_between("element_strides", of_view, (*given)[of_view], 1, 8);
    request.element_strides[axis] = static_cast<cuuint32_t>((*given)[of_view]);
  }
}

/// What all kinds have.
template <typename Options>
TensorMapRequest request_for(TensorMapKind kind, const StridedMemoryView& view, const Options& options) {
  check_member("interleave", options.interleave, TensorMapInterleave::interleave_32b);
  check_member("swizzle", options.swizzle, TensorMapSwizzle::swizzle_128b);
  check_member("l2_promotion", options.l2_promotion, TensorMapL2Promotion::l2_256b);
  check_member("oob_fill", options.oob_fill, TensorMapOOBFill::nan_request_zero_fma);
  const int least = kind == TensorMapKind::tiled ? 1 : 3;
  if (view.ndim() < least || view.ndim() > static_cast<int>(max_tensor_rank)) {
    constexpr std::string_view names[] = {"Tensor", "Im2col tensor", "Im2col-wide tensor"};
    throw InvalidArgument(text(names[static_cast<int>(kind)], " rank must be between ", least, " and ", max_tensor_rank,
                               ", got ", view.ndim()));
  }
  check_address(view, options.interleave, [&] { return making(view); });
  TensorMapRequest request;
  request.kind = kind;
  request.rank = static_cast<std::size_t>(view.ndim());
  request.address = view.ptr();
  request.data_type = type_for(view, options.data_type);
  request.interleave = options.interleave;
  request.swizzle = options.swizzle;
  request.l2_promotion = options.l2_promotion;
  request.oob_fill = options.oob_fill;
  put_extents(request, view);
  put_element_strides(request, options.element_strides);
  return request;
}

void put_pixels(TensorMapRequest& request, std::int64_t channels_per_pixel, std::int64_t pixels_per_column) {
  check_between("channels_per_pixel", channels_per_pixel, 1, 256);
  check_between("pixels_per_column", pixels_per_column, 1, 1024);
  request.channels_per_pixel = static_cast<cuuint32_t>(channels_per_pixel);
  request.pixels_per_column = static_cast<cuuint32_t>(pixels_per_column);
}

}  // namespace

namespace detail {

struct TensorMapMaker {
  static TensorMapDescriptor make(const StridedMemoryView& view, const TensorMapRequest& request) {
    const ContextGuard guard(ContextChoice::current());
    const int device = guard.context().device;
    check_device(view, device, [&] { return making(view); });
    check_capability(core::device_facts(device), request.kind, view);
    TensorMapDescriptor map(view);
    map.opaque_ = core::encode(request, view);
    constexpr const char* kinds[] = {"tiled", "im2col", "im2col_wide"};
    map.kind_ = kinds[static_cast<int>(request.kind)];
    map.device_id_ = device;
    map.rank_ = static_cast<int>(request.rank);
    map.data_type_ = request.data_type;
    map.interleave_ = request.interleave;
    map.swizzle_ = request.swizzle;
    return map;
  }
};

}  // namespace detail

TensorMapDescriptor StridedMemoryView::as_tensor_map(const TensorMapDescriptorOptions& options) const {
  return TensorMapDescriptor::from_tiled(*this, options);
}

TensorMapDescriptor TensorMapDescriptor::from_tiled(const StridedMemoryView& view,
                                                    const TensorMapDescriptorOptions& options) {
  TensorMapRequest request = request_for(TensorMapKind::tiled, view, options);
  check_count("box_dim", options.box_dim, request.rank, "same as tensor rank");
  for (std::size_t axis = 0; axis < request.rank; ++axis) {
    check_between("box_dim", axis, options.box_dim[axis], 1, 256);
    request.box[request.rank - 1 - axis] = static_cast<cuuint32_t>(options.box_dim[axis]);
  }
  return detail::TensorMapMaker::make(view, request);
}

TensorMapDescriptor TensorMapDescriptor::from_im2col(const StridedMemoryView& view,
                                                     const TensorMapIm2ColOptions& options) {
  TensorMapRequest request = request_for(TensorMapKind::im2col, view, options);
  const std::size_t spatial = request.rank - 2;
  check_count("pixel_box_lower_corner", options.pixel_box_lower_corner, spatial, "rank - 2");
  check_count("pixel_box_upper_corner", options.pixel_box_upper_corner, spatial, "rank - 2");
  const std::int64_t limit = spatial == 1 ? 1 << 15 : spatial == 2 ? 1 << 7 : 1 << 4;  // all of them have 32 bits
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    check_between("pixel_box_lower_corner", axis, options.pixel_box_lower_corner[axis], -limit, limit - 1);
    check_between("pixel_box_upper_corner", axis, options.pixel_box_upper_corner[axis], -limit, limit - 1);
    request.lower_corner[spatial - 1 - axis] = static_cast<int>(options.pixel_box_lower_corner[axis]);
    request.upper_corner[spatial - 1 - axis] = static_cast<int>(options.pixel_box_upper_corner[axis]);
  }
  put_pixels(request, options.channels_per_pixel, options.pixels_per_column);
  return detail::TensorMapMaker::make(view, request);
}

TensorMapDescriptor TensorMapDescriptor::from_im2col_wide(const StridedMemoryView& view,
                                                          const TensorMapIm2ColWideOptions& options) {
  check_member("mode", options.mode, TensorMapIm2ColWideMode::w128);
  TensorMapRequest request = request_for(TensorMapKind::im2col_wide, view, options);
  check_between("pixel_box_lower_corner_width", options.pixel_box_lower_corner_width, -(1 << 15), (1 << 15) - 1);
  check_between("pixel_box_upper_corner_width", options.pixel_box_upper_corner_width, -(1 << 15), (1 << 15) - 1);
  request.lower_corner[0] = static_cast<int>(options.pixel_box_lower_corner_width);
  request.upper_corner[0] = static_cast<int>(options.pixel_box_upper_corner_width);
  request.mode = options.mode;
  // Ignored by W128, which has a number of its own.
  put_pixels(request, options.channels_per_pixel,
             options.mode == TensorMapIm2ColWideMode::w ? options.pixels_per_column : 128);
  return detail::TensorMapMaker::make(view, request);
}

void TensorMapDescriptor::replace_address(const StridedMemoryView& view) {
  const auto doing = [&] { return text("replacing the address of ", *this, " by that of ", view); };
  check_address(view, interleave_, doing);
  check_device(view, device_id_, doing);
  const ContextGuard guard(ContextChoice::current_of(device_id_));
  StridedMemoryView next = view;
  CUtensorMap map = std::bit_cast<CUtensorMap>(opaque_);
  driver::call<&driver::Api::cuTensorMapReplaceAddress>(driver::Doing{doing}, &map,
                                                        reinterpret_cast<void*>(view.ptr()));
  view_ = std::move(next);
  opaque_ = std::bit_cast<OpaqueTensorMap>(map);
}

Device TensorMapDescriptor::device() const { return Device(device_id_); }

std::ostream& operator<<(std::ostream& out, const TensorMapDescriptor& map) {
  return out << "TensorMapDescriptor(" << map.kind_ << ", rank=" << map.rank_
             << ", dtype=" << core::name_of(map.data_type_) << ", swizzle=" << core::name_of(map.swizzle_) << ')';
}

}  // namespace cuprum::inline CUPRUM_ABI
