// Tensor maps: descriptions of arrays for the copy engine of GPUs since compute capability 9.0, the Tensor Memory
// Accelerator, which moves boxes of them between global and shared memory.
//
//   auto matrix = StridedMemoryView::from_buffer<float>(buffer, {512, 1024});
//   TensorMapDescriptor map = matrix.as_tensor_map({.box_dim = {64, 32}, .swizzle = TensorMapSwizzle::swizzle_128b});
//   launch(stream, config, kernel, map, out);    // for a parameter `const __grid_constant__ CUtensorMap map`
#pragma once

#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/opaque_tensor_map.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <iosfwd>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Device;

namespace detail {
struct TensorMapMaker;
}

/// The type of a tensor map's elements, numbered as CUtensorMapDataType.
enum class TensorMapDataType {
  uint8 = 0,          ///< 8 bits, unsigned
  uint16 = 1,         ///< 16 bits, unsigned
  uint32 = 2,         ///< 32 bits, unsigned
  int32 = 3,          ///< 32 bits, signed
  uint64 = 4,         ///< 64 bits, unsigned
  int64 = 5,          ///< 64 bits, signed
  float16 = 6,        ///< IEEE 754 of 16 bits
  float32 = 7,        ///< IEEE 754 of 32 bits
  float64 = 8,        ///< IEEE 754 of 64 bits
  bfloat16 = 9,       ///< the upper half of a float32
  float32_ftz = 10,   ///< float32 whose denormal numbers become 0
  tfloat32 = 11,      ///< float32 that is rounded to 10 bits of mantissa
  tfloat32_ftz = 12,  ///< both
};

/// How channels lie in global memory: all of a pixel side by side, or in slices of 16 or 32 bytes (NC/8HWC8,
/// NC/16HWC16).
enum class TensorMapInterleave {
  none = 0,            ///< side by side
  interleave_16b = 1,  ///< slices of 16 bytes
  interleave_32b = 2,  ///< slices of 32 bytes; needs TensorMapSwizzle::swizzle_32b
};

/// How 16-byte chunks are exchanged in shared memory, so that threads which read a column use different banks.
enum class TensorMapSwizzle {
  none = 0,          ///< they stay in order
  swizzle_32b = 1,   ///< within 32 bytes
  swizzle_64b = 2,   ///< within 64 bytes
  swizzle_128b = 3,  ///< within 128 bytes
};

/// How many bytes the second-level cache fetches at least.
enum class TensorMapL2Promotion {
  none = 0,     ///< as many as are asked for
  l2_64b = 1,   ///< 64
  l2_128b = 2,  ///< 128
  l2_256b = 3,  ///< 256
};

/// What elements outside of the tensor are read as.
enum class TensorMapOOBFill {
  none = 0,                  ///< 0
  nan_request_zero_fma = 1,  ///< a NaN that multiply-adds take for 0; for floating-point types only
};

/// What an im2col-wide map loads along the width.
enum class TensorMapIm2ColWideMode {
  w = 0,     ///< TensorMapIm2ColWideOptions::pixels_per_column of them
  w128 = 1,  ///< 128
};

/// What a tensor map of tiles is like. Numbers are by axis, in the order of the view's shape.
struct TensorMapDescriptorOptions {
  std::vector<std::int64_t> box_dim = {};  ///< elements of a tile: 1 to 256; must be given
  /// Every how many elements of the tile one is taken: 1 to 8. All 1 unless given.
  std::optional<std::vector<std::int64_t>> element_strides = {};
  /// What the elements are. Unless given, the type that the view has; must be given when that has no match here.
  std::optional<TensorMapDataType> data_type = {};
  TensorMapInterleave interleave = TensorMapInterleave::none;      ///< in global memory
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;               ///< in shared memory
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;  ///< of the second-level cache
  TensorMapOOBFill oob_fill = TensorMapOOBFill::none;              ///< outside of the tensor
};

/// What an im2col tensor map is like, whose copies make columns of a convolution from a view with the axes N, D, H, W,
/// C (or N, H, W, C, or N, W, C). Spatial numbers are in that order.
struct TensorMapIm2ColOptions {
  /// The first pixel of the box, from the tensor's first one: one number for each of D, H, W.
  std::vector<std::int64_t> pixel_box_lower_corner = {};
  /// The last pixel of the box, from the tensor's last one.
  std::vector<std::int64_t> pixel_box_upper_corner = {};
  std::int64_t channels_per_pixel = 0;  ///< elements along C: 1 to 256
  std::int64_t pixels_per_column = 0;   ///< pixels of one copy: 1 to 1024
  /// Every how many elements of each axis one is taken: 1 to 8. All 1 unless given.
  std::optional<std::vector<std::int64_t>> element_strides = {};
  std::optional<TensorMapDataType> data_type = {};                 ///< as in TensorMapDescriptorOptions
  TensorMapInterleave interleave = TensorMapInterleave::none;      ///< in global memory
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;               ///< in shared memory
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;  ///< of the second-level cache
  TensorMapOOBFill oob_fill = TensorMapOOBFill::none;              ///< outside of the tensor
};

/// The same for copies that go along the width alone, on GPUs since compute capability 10.0.
struct TensorMapIm2ColWideOptions {
  std::int64_t pixel_box_lower_corner_width = 0;  ///< the first pixel of the box, from the first one of a row
  std::int64_t pixel_box_upper_corner_width = 0;  ///< the last pixel of the box, from the last one of a row
  std::int64_t channels_per_pixel = 0;            ///< elements along C: 1 to 256
  std::int64_t pixels_per_column = 0;             ///< pixels of one copy: 1 to 1024
  /// Every how many elements of each axis one is taken: 1 to 8. All 1 unless given.
  std::optional<std::vector<std::int64_t>> element_strides = {};
  std::optional<TensorMapDataType> data_type = {};                 ///< as in TensorMapDescriptorOptions
  TensorMapInterleave interleave = TensorMapInterleave::none;      ///< in global memory
  TensorMapIm2ColWideMode mode = TensorMapIm2ColWideMode::w;       ///< how many pixels a copy has
  TensorMapSwizzle swizzle = TensorMapSwizzle::swizzle_128b;       ///< swizzle_64b or swizzle_128b
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;  ///< of the second-level cache
  TensorMapOOBFill oob_fill = TensorMapOOBFill::none;              ///< outside of the tensor
};

/// A tensor map. A value: a copy has bytes of its own, and both keep the memory that they describe, also when its
/// buffer is closed. Launches copy the bytes; a graph and a prepared launch that were given the map keep the memory,
/// too. Threads may share it; replace_address() must not run beside any other use.
///
/// Maps belong to the device that is current when they are made. The view must be device-accessible and, unless it is
/// pinned or managed memory, on that device; its last axis must be dense, and its address and other strides must be
/// multiples of 16 bytes. Functions throw InvalidArgument for what does not fit, NotSupported where the device has no
/// tensor maps of that kind, and DriverError for what only the driver refuses.
class CUPRUM_API TensorMapDescriptor {
 public:
  /// A map for copies of tiles; see StridedMemoryView::as_tensor_map.
  static TensorMapDescriptor from_tiled(const StridedMemoryView& view, const TensorMapDescriptorOptions& options);
  /// A map for copies of columns, from a view of 3 to 5 axes.
  static TensorMapDescriptor from_im2col(const StridedMemoryView& view, const TensorMapIm2ColOptions& options);
  /// A map for copies of columns along the width, from a view of 3 to 5 axes.
  static TensorMapDescriptor from_im2col_wide(const StridedMemoryView& view, const TensorMapIm2ColWideOptions& options);

  /// Makes it a map of other memory, with shape, strides and everything else as they are: for a tensor that moved. The
  /// view's own shape is not looked at; its memory must have room for the tensor. Launches from now on use it; the
  /// memory so far is kept no longer. After an exception everything is as before.
  void replace_address(const StridedMemoryView& view);

  /// The one that it was made for.
  Device device() const;
  /// The memory that it describes.
  const StridedMemoryView& view() const { return view_; }
  /// What kernels get.
  const OpaqueTensorMap& opaque() const { return opaque_; }
  /// The number of axes.
  int rank() const { return rank_; }
  /// What the elements are.
  TensorMapDataType data_type() const { return data_type_; }
  /// How they are arranged in shared memory.
  TensorMapSwizzle swizzle() const { return swizzle_; }

  /// Whether both describe the same memory in the same way.
  friend bool operator==(const TensorMapDescriptor& a, const TensorMapDescriptor& b) { return a.opaque_ == b.opaque_; }

 private:
  friend struct detail::TensorMapMaker;
  friend CUPRUM_API std::ostream& operator<<(std::ostream& out, const TensorMapDescriptor& map);
  explicit TensorMapDescriptor(const StridedMemoryView& view) : view_(view) {}

  OpaqueTensorMap opaque_;
  StridedMemoryView view_;
  const char* kind_ = "";
  int device_id_ = 0;
  int rank_ = 0;
  TensorMapDataType data_type_ = TensorMapDataType::uint8;
  TensorMapInterleave interleave_ = TensorMapInterleave::none;
  TensorMapSwizzle swizzle_ = TensorMapSwizzle::none;
};

/// Prints "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=SWIZZLE_128B)".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const TensorMapDescriptor& map);

}  // namespace cuprum::inline CUPRUM_ABI
