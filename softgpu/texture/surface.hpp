// Surfaces: an image whose texels kernels read and write as they are.
#pragma once

#include "softgpu/abi/texture.hpp"
#include "softgpu/texture/image.hpp"

namespace softgpu::texture {

struct Surface {
  virtual ~Surface() = default;

  Image image;
};

// As instructions give it: x counts bytes, so that it does not depend on the format.
struct SurfacePosition {
  std::int32_t x = 0, y = 0, z = 0;
  std::uint32_t layer = 0;
};

enum class SurfaceStatus : std::uint8_t { inside, skipped, out_of_bounds, misaligned };

struct SurfacePlace {
  SurfaceStatus status;
  std::byte* memory;  // inside only
};
// Where an access goes. Outside the surface that is, as the boundary mode says, the nearest place inside, nowhere
// (reads give 0, writes nothing), or an error. Wherever it is, x must be a multiple of the access's size.
SurfacePlace locate(const Surface& surface, const abi::SurfaceAccess& access, const SurfacePosition& at);

}  // namespace softgpu::texture
