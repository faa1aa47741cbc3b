// How generated code tells the texture unit (softgpu/texture) what an instruction asks for: these numbers are
// arguments of the texture and surface functions of runtime_calls.def.
#pragma once

#include <cstdint>

namespace softgpu::abi {

// The shape that an instruction takes its texture or surface for. The layered forms (.a1d, .a2d, .acube) have a layer
// besides their coordinates.
enum class Geometry : std::uint32_t { line, plane, volume, cube };

// txq and suq.
enum class ImageQuery : std::uint32_t {
  width,
  height,
  depth,
  array_size,
  mipmap_levels,
  samples,
  channel_type,
  channel_order,
  normalized_coordinates,
  memory_layout,
};

// What a surface instruction does outside the surface.
enum class SurfaceBoundary : std::uint32_t { trap, clamp, zero };

// The geometry and boundary of a surface instruction, and how many bytes it moves, in one argument.
struct SurfaceAccess {
  Geometry geometry;
  SurfaceBoundary boundary;
  std::uint32_t bytes;  // 1 to 16

  constexpr std::uint32_t packed() const {
    return static_cast<std::uint32_t>(geometry) | static_cast<std::uint32_t>(boundary) << 4 | bytes << 8;
  }
  static constexpr SurfaceAccess unpacked(std::uint32_t word) {
    return {static_cast<Geometry>(word & 15), static_cast<SurfaceBoundary>(word >> 4 & 15), word >> 8};
  }
};

}  // namespace softgpu::abi
