// What the driver is asked for when a tensor map is made, and why it refuses.
#pragma once

#include <array>
#include <cstddef>
#include <cuprum/driver.hpp>
#include <cuprum/tensor_map.hpp>
#include <string>

namespace cuprum::core {

inline constexpr std::size_t max_tensor_rank = 5;

enum class TensorMapKind { tiled, im2col, im2col_wide };

/// In the driver's order: axis 0 is the innermost, the last one of a view.
struct TensorMapRequest {
  TensorMapKind kind = TensorMapKind::tiled;
  std::size_t rank = 0;
  DevicePointer address = 0;
  TensorMapDataType data_type = TensorMapDataType::uint8;
  std::array<cuuint64_t, max_tensor_rank> extents{};
  std::array<cuuint64_t, max_tensor_rank> strides{};  ///< in bytes, of the axes from 1 on
  std::array<cuuint32_t, max_tensor_rank> element_strides{};
  std::array<cuuint32_t, max_tensor_rank> box{};              ///< of tiles
  std::array<int, max_tensor_rank - 2> lower_corner{};        ///< of im2col, of the axes from 1 on
  std::array<int, max_tensor_rank - 2> upper_corner{};        ///< of im2col
  cuuint32_t channels_per_pixel = 0;                          ///< of im2col
  cuuint32_t pixels_per_column = 0;                           ///< of im2col
  TensorMapIm2ColWideMode mode = TensorMapIm2ColWideMode::w;  ///< of im2col-wide
  TensorMapInterleave interleave = TensorMapInterleave::none;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapOOBFill oob_fill = TensorMapOOBFill::none;
};

/// In bytes.
std::int64_t size_of(TensorMapDataType type);
/// "FLOAT32", as Python's members are called.
const char* name_of(TensorMapDataType type);
/// "SWIZZLE_128B".
const char* name_of(TensorMapSwizzle swizzle);

/// What an address must be a multiple of.
inline std::int64_t alignment_of(TensorMapInterleave interleave) {
  return interleave == TensorMapInterleave::interleave_32b ? 32 : 16;
}

/// "making a tensor map of a view of float32 with …".
std::string making(const StridedMemoryView& view);

/// Calls the driver for a map of the view. Throws InvalidArgument with the rule of CUDA that the request breaks when
/// the driver refuses it, and DriverError when it does for another reason.
OpaqueTensorMap encode(const TensorMapRequest& request, const StridedMemoryView& view);

}  // namespace cuprum::core
