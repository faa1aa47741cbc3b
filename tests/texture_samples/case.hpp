// A texture, places to sample it at and the instruction that does: everything that decides what a GPU answers.
#pragma once

#include <cuda.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace texture_samples {

enum class Shape : std::uint8_t { line, plane, volume, lines, planes, cube, cubes, pitched, linear };

struct Format {
  const char* name;
  CUarray_format array;
  unsigned channels;
  unsigned channel_bytes;
  bool reads_integers;
  bool is_srgb;

  unsigned bytes() const { return channels * channel_bytes; }
};

inline constexpr Format kFloat{"f32", CU_AD_FORMAT_FLOAT, 1, 4, false, false};
inline constexpr Format kHalf{"f16", CU_AD_FORMAT_HALF, 1, 2, false, false};
inline constexpr Format kUnorm8{"unorm8", CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, false, false};
inline constexpr Format kSnorm8{"snorm8", CU_AD_FORMAT_SIGNED_INT8, 1, 1, false, false};
inline constexpr Format kUnorm16{"unorm16", CU_AD_FORMAT_UNSIGNED_INT16, 1, 2, false, false};
inline constexpr Format kSnorm16{"snorm16", CU_AD_FORMAT_SIGNED_INT16, 1, 2, false, false};
inline constexpr Format kSrgb{"srgb8", CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, false, true};
inline constexpr Format kUnorm8x4{"unorm8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, false, false};
inline constexpr Format kFloat4{"f32x4", CU_AD_FORMAT_FLOAT, 4, 4, false, false};

// What one thread gets: x, y, z, layer, two gradients of three, level, and one unused; floats are given by their bits.
using Input = std::array<std::uint32_t, 12>;
using Output = std::array<std::uint32_t, 4>;
inline constexpr std::size_t kLayer = 3, kRight = 4, kDown = 7, kLevel = 10;

inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

struct Case {
  Shape shape = Shape::plane;
  std::array<unsigned, 3> size{1, 1, 1};  // width, height, and depth, layers or cubes; 1 for what the shape lacks
  unsigned levels = 0;                    // 0: an array that is not mipmapped
  Format format = kFloat;
  CUDA_TEXTURE_DESC sampling{};
  bool gathers = false;
  std::vector<std::vector<std::byte>> texels;  // of each level
  std::string instruction;                     // PTX from %f0 … %f11, or the same bits in %r0 … %r11, to %o0 … %o3
  std::vector<Input> inputs;

  bool is_normalized() const { return (sampling.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0; }
  unsigned extent(unsigned axis, unsigned level) const;
  std::size_t texel_count(unsigned level) const;
};

// `tex`, with or without a level or gradients, for the shape and format of a case. `how` is "", ".level" or ".grad".
std::string tex(const Case& it, const std::string& how = "");
// By indices, at level 0 or with `how` ".level".
std::string tex_by_index(const Case& it, const std::string& how = "");
std::string gather(const Case& it, char channel);

// A setting of sampler and format that a driver refuses is no answer, but its error is.
struct Answer {
  CUresult created = CUDA_SUCCESS;
  std::vector<Output> outputs;
};
Answer run(const Case& it);

}  // namespace texture_samples
