// The memory behind a texture or surface: texels in rows, rows in slices, for each level of detail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "softgpu/texture/texel.hpp"

namespace softgpu::texture {

struct Level {
  std::byte* base = nullptr;
  std::uint32_t width = 1, height = 1;
  std::uint32_t slices = 1;  // the depth of a volume, or the number of layers; each face of a cube is a layer
  std::size_t pitch = 0, slice_bytes = 0;

  std::byte* row(std::uint32_t y, std::uint32_t z) const { return base + z * slice_bytes + y * pitch; }
};

inline constexpr std::uint32_t kMaxLevels = 18;  // of the largest array, 131072 texels wide

struct Image {
  TexelFormat format;
  std::uint32_t faces = 1;  // 6: each group of six layers is a cube
  bool layered = false;
  std::uint32_t level_count = 1;
  std::array<Level, kMaxLevels> levels;
  // What queries report of an axis that the image does not have is 0.
  std::uint32_t height = 0, depth = 0;

  std::uint32_t layers() const { return layered || faces == 6 ? levels[0].slices / faces : 1; }
};

}  // namespace softgpu::texture
