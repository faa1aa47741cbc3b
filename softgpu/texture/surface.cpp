#include "softgpu/texture/surface.hpp"

#include <algorithm>

namespace softgpu::texture {

SurfacePlace locate(const Surface& surface, const abi::SurfaceAccess& access, const SurfacePosition& at) {
  if (at.x % static_cast<std::int32_t>(access.bytes) != 0) return {SurfaceStatus::misaligned, nullptr};
  const Image& image = surface.image;
  const Level& level = image.levels[0];
  const bool volume = access.geometry == abi::Geometry::volume && image.depth != 0 && !image.layered;
  const std::int64_t row_bytes = static_cast<std::int64_t>(level.width) * image.format.bytes();
  const std::int64_t last_x = row_bytes - static_cast<std::int64_t>(access.bytes);
  const std::int64_t last_y = level.height - 1, last_z = level.slices - 1;
  std::int64_t x = at.x, y = access.geometry == abi::Geometry::line ? 0 : at.y;
  std::int64_t z = volume ? std::int64_t{at.z} : std::int64_t{at.layer};
  const bool inside = x >= 0 && x <= last_x && y >= 0 && y <= last_y && z >= 0 && z <= last_z;
  if (!inside) {
    if (access.boundary == abi::SurfaceBoundary::zero) return {SurfaceStatus::skipped, nullptr};
    if (access.boundary == abi::SurfaceBoundary::trap || last_x < 0) return {SurfaceStatus::out_of_bounds, nullptr};
    x = std::clamp<std::int64_t>(x, 0, last_x);
    y = std::clamp<std::int64_t>(y, 0, last_y);
    z = std::clamp<std::int64_t>(z, 0, last_z);
  }
  return {SurfaceStatus::inside, level.row(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)) + x};
}

}  // namespace softgpu::texture
