// What NVIDIA's driver allows of the arguments of cuTensorMapEncode*: each rule by its name, written down independently
// of softgpu, and random arguments, most of which break one rule or none. For devices of compute capability 9.0 these
// rules are what an H200 answered to 828,662 calls; what only newer devices have is after CUDA's documentation.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tensor_map_model {

struct Arguments {
  enum class Kind { tiled, im2col, im2col_wide };
  Kind kind = Kind::tiled;
  std::uint32_t data_type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint32_t rank = 2;
  std::uint64_t address = 1 << 20;
  std::array<cuuint64_t, 5> extents{64, 64, 1, 1, 1};
  std::array<cuuint64_t, 5> strides{256, 256, 256, 256, 0};
  std::array<cuuint32_t, 5> box{32, 8, 1, 1, 1};
  std::array<cuuint32_t, 5> element_strides{1, 1, 1, 1, 1};
  std::array<int, 3> lower_corner{};
  std::array<int, 3> upper_corner{};
  cuuint32_t channels_per_pixel = 32;
  cuuint32_t pixels_per_column = 16;
  std::uint32_t wide_mode = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
  std::uint32_t interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  std::uint32_t swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  std::uint32_t l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  std::uint32_t fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

// The names of the rules that the arguments break on a device of a compute capability: 90 for 9.0.
std::vector<std::string> broken_rules(const Arguments& arguments, unsigned compute_capability);
// All of them, that can be broken there.
std::vector<std::string> all_rules(Arguments::Kind kind, unsigned compute_capability);

Arguments random_arguments(std::mt19937_64& random, Arguments::Kind kind, unsigned compute_capability);

// For messages.
std::string text(const Arguments& arguments);

// Calls the one of three entry points that is for the kind.
template <typename Tiled, typename Im2col, typename Im2colWide>
CUresult encode(const Arguments& a, CUtensorMap& map, Tiled tiled, Im2col im2col, Im2colWide im2col_wide) {
  const auto type = static_cast<CUtensorMapDataType>(a.data_type);
  const auto interleave = static_cast<CUtensorMapInterleave>(a.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(a.swizzle);
  const auto l2_promotion = static_cast<CUtensorMapL2promotion>(a.l2_promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(a.fill);
  void* const address = reinterpret_cast<void*>(a.address);
  switch (a.kind) {
    case Arguments::Kind::tiled:
      return tiled(&map, type, a.rank, address, a.extents.data(), a.strides.data(), a.box.data(),
                   a.element_strides.data(), interleave, swizzle, l2_promotion, fill);
    case Arguments::Kind::im2col:
      return im2col(&map, type, a.rank, address, a.extents.data(), a.strides.data(), a.lower_corner.data(),
                    a.upper_corner.data(), a.channels_per_pixel, a.pixels_per_column, a.element_strides.data(),
                    interleave, swizzle, l2_promotion, fill);
    case Arguments::Kind::im2col_wide: break;
  }
  return im2col_wide(&map, type, a.rank, address, a.extents.data(), a.strides.data(), a.lower_corner[0],
                     a.upper_corner[0], a.channels_per_pixel, a.pixels_per_column, a.element_strides.data(), interleave,
                     static_cast<CUtensorMapIm2ColWideMode>(a.wide_mode), swizzle, l2_promotion, fill);
}

}  // namespace tensor_map_model
