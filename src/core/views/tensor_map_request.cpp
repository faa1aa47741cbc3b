#include "core/views/tensor_map_request.hpp"

#include <bit>

#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

struct TypeRow {
  const char* name;
  std::int64_t size;
  bool is_floating;
};

constexpr std::array<TypeRow, 13> types = {{{"UINT8", 1, false},
                                            {"UINT16", 2, false},
                                            {"UINT32", 4, false},
                                            {"INT32", 4, false},
                                            {"UINT64", 8, false},
                                            {"INT64", 8, false},
                                            {"FLOAT16", 2, true},
                                            {"FLOAT32", 4, true},
                                            {"FLOAT64", 8, true},
                                            {"BFLOAT16", 2, true},
                                            {"FLOAT32_FTZ", 4, true},
                                            {"TFLOAT32", 4, true},
                                            {"TFLOAT32_FTZ", 4, true}}};

const TypeRow& row_of(TensorMapDataType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number >= types.size())
    throw InvalidArgument(text("TensorMapDataType ", number, " is none that tensor maps have"));
  return types[number];
}

/// What a copy has side by side.
std::int64_t inner_bytes(const TensorMapRequest& request) {
  const cuuint32_t elements = request.kind == TensorMapKind::tiled ? request.box[0] : request.channels_per_pixel;
  return elements * size_of(request.data_type);
}

std::string broken_by_swizzle(const TensorMapRequest& request) {
  if (request.kind == TensorMapKind::im2col_wide && request.swizzle != TensorMapSwizzle::swizzle_64b &&
      request.swizzle != TensorMapSwizzle::swizzle_128b) {
    return text("im2col-wide has SWIZZLE_64B and SWIZZLE_128B, not ", name_of(request.swizzle));
  }
  if (request.interleave != TensorMapInterleave::none || request.swizzle == TensorMapSwizzle::none) return {};
  const std::int64_t span = 16LL << static_cast<int>(request.swizzle);
  if (inner_bytes(request) <= span) return {};
  return text(name_of(request.swizzle), " has room for ", span, " bytes along the last axis, and ",
              request.kind == TensorMapKind::tiled ? "the box" : "a pixel", " has ", inner_bytes(request));
}

std::string broken_by_extents(const TensorMapRequest& request) {
  const auto alignment = static_cast<cuuint64_t>(alignment_of(request.interleave));
  for (std::size_t axis = 0; axis < request.rank; ++axis) {
    const std::size_t of_view = request.rank - 1 - axis;
    if (request.extents[axis] > cuuint64_t{1} << 32)
      return text("the extent ", request.extents[axis], " of axis ", of_view, " is over the limit of 2^32");
    if (axis == 0) continue;
    const cuuint64_t stride = request.strides[axis - 1];
    if (stride % alignment != 0)
      return text("the stride of axis ", of_view, " is ", stride, " bytes; it must be a multiple of ", alignment);
    if (stride >= cuuint64_t{1} << 40)
      return text("the stride of axis ", of_view, " is ", stride, " bytes; it must be less than 2^40");
  }
  return {};
}

/// What a copy has along the last axis, and in all.
std::string broken_by_size(const TensorMapRequest& request) {
  const bool is_tiled = request.kind == TensorMapKind::tiled;
  if (inner_bytes(request) % 16 != 0) {
    const std::string what = is_tiled ? text("box_dim[", request.rank - 1, "]") : std::string("channels_per_pixel");
    return text(what, " is ", is_tiled ? request.box[0] : request.channels_per_pixel, " elements of ",
                size_of(request.data_type), " bytes; the bytes along the last axis must be a multiple of 16");
  }
  std::int64_t bytes = size_of(request.data_type);
  if (!is_tiled) bytes = inner_bytes(request) * request.pixels_per_column;
  for (std::size_t axis = 0; is_tiled && axis < request.rank; ++axis)
    bytes *= request.box[axis] / request.element_strides[axis];
  constexpr std::int64_t most = 228 << 10;
  if (bytes <= most) return {};
  return text("a copy would have ", bytes, " bytes, and shared memory has room for ", most);
}

std::string broken_by_corners(const TensorMapRequest& request) {
  // Interleaved channels have no axis of their own behind those of the corners.
  const std::size_t first = request.interleave == TensorMapInterleave::none ? 1 : 0;
  for (std::size_t i = 0; request.kind != TensorMapKind::tiled && i + 2 < request.rank; ++i) {
    const std::size_t of_view = request.rank - 1 - first - i;
    const std::int64_t end = static_cast<std::int64_t>(request.extents[first + i]) + request.upper_corner[i];
    if (end <= request.lower_corner[i]) {
      return text("the box of pixels is empty along axis ", of_view, ": it goes from ", request.lower_corner[i], " to ",
                  end - 1);
    }
    if (end >= std::int64_t{1} << 31)
      return text("the box of pixels ends at ", end - 1, " along axis ", of_view, ", beyond the limit of 2^31 - 2");
  }
  return {};
}

/// The first rule that the request breaks, of CUDA's documentation and of the driver; empty when it seems to break
/// none. What has a check of its own before the driver is called is not here.
std::string broken_rule(const TensorMapRequest& request) {
  if (request.interleave != TensorMapInterleave::none && request.rank < 3)
    return text("an interleaved tensor has 3 to 5 axes, and this one has ", request.rank);
  if (std::string rule = broken_by_extents(request); !rule.empty()) return rule;
  if (std::string rule = broken_by_size(request); !rule.empty()) return rule;
  if (std::string rule = broken_by_swizzle(request); !rule.empty()) return rule;
  if (request.oob_fill != TensorMapOOBFill::none && !row_of(request.data_type).is_floating)
    return text("TensorMapOOBFill::nan_request_zero_fma is for floating-point types, not ", name_of(request.data_type));
  return broken_by_corners(request);
}

CUresult call_driver(const TensorMapRequest& request, CUtensorMap& map) {
  const auto data_type = static_cast<CUtensorMapDataType>(request.data_type);
  const auto rank = static_cast<cuuint32_t>(request.rank);
  void* const address = reinterpret_cast<void*>(request.address);
  const auto interleave = static_cast<CUtensorMapInterleave>(request.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(request.swizzle);
  const auto l2_promotion = static_cast<CUtensorMapL2promotion>(request.l2_promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(request.oob_fill);
  switch (request.kind) {
    case TensorMapKind::tiled:
      return driver::try_call<&Api::cuTensorMapEncodeTiled>(
          &map, data_type, rank, address, request.extents.data(), request.strides.data(), request.box.data(),
          request.element_strides.data(), interleave, swizzle, l2_promotion, fill);
    case TensorMapKind::im2col:
      return driver::try_call<&Api::cuTensorMapEncodeIm2col>(
          &map, data_type, rank, address, request.extents.data(), request.strides.data(), request.lower_corner.data(),
          request.upper_corner.data(), request.channels_per_pixel, request.pixels_per_column,
          request.element_strides.data(), interleave, swizzle, l2_promotion, fill);
    case TensorMapKind::im2col_wide: break;
  }
  return driver::try_call<&Api::cuTensorMapEncodeIm2colWide>(
      &map, data_type, rank, address, request.extents.data(), request.strides.data(), request.lower_corner[0],
      request.upper_corner[0], request.channels_per_pixel, request.pixels_per_column, request.element_strides.data(),
      interleave, static_cast<CUtensorMapIm2ColWideMode>(request.mode), swizzle, l2_promotion, fill);
}

std::size_t entry_point_of(TensorMapKind kind) {
  switch (kind) {
    case TensorMapKind::tiled: return driver::detail::index_of_cuTensorMapEncodeTiled;
    case TensorMapKind::im2col: return driver::detail::index_of_cuTensorMapEncodeIm2col;
    case TensorMapKind::im2col_wide: break;
  }
  return driver::detail::index_of_cuTensorMapEncodeIm2colWide;
}

}  // namespace

std::int64_t size_of(TensorMapDataType type) { return row_of(type).size; }

const char* name_of(TensorMapDataType type) { return row_of(type).name; }

const char* name_of(TensorMapSwizzle swizzle) {
  constexpr std::array names = {"NONE", "SWIZZLE_32B", "SWIZZLE_64B", "SWIZZLE_128B"};
  const auto number = static_cast<std::size_t>(swizzle);
  if (number >= names.size())
    throw InvalidArgument(text("TensorMapSwizzle ", number, " is none that tensor maps have"));
  return names[number];
}

std::string making(const StridedMemoryView& view) { return text("making a tensor map of ", view); }

OpaqueTensorMap encode(const TensorMapRequest& request, const StridedMemoryView& view) {
  CUtensorMap map{};
  const CUresult code = call_driver(request, map);
  if (code != CUDA_SUCCESS) {
    const std::string rule = code == CUDA_ERROR_INVALID_VALUE ? broken_rule(request) : std::string();
    if (!rule.empty())
      throw InvalidArgument(text(making(view), ": ", rule, " (the driver said CUDA_ERROR_INVALID_VALUE)"));
    driver::detail::raise(code, entry_point_of(request.kind), making(view));
  }
  return std::bit_cast<OpaqueTensorMap>(map);
}

}  // namespace cuprum::core
