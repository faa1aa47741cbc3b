// Cube maps: which face a direction meets, and where.
#pragma once

#include <array>
#include <cstdint>

namespace softgpu::texture {

using Direction = std::array<float, 3>;

// A direction seen from one face: `s` to the right and `t` down, both from -major to major on the face itself.
struct FaceVector {
  float s, t, major;
};

// The direction's point on the cube from -1 to 1, by one reciprocal: what is next to an edge may get onto it.
Direction scaled_to_cube(const Direction& direction);
// Faces are in the order +x, -x, +y, -y, +z, -z.
std::uint32_t face_of(const Direction& direction);
FaceVector on_face(std::uint32_t face, const Direction& direction);
// The direction of a point of a face, from -1 to 1; beyond that it goes on to the neighbouring face.
Direction direction_of(std::uint32_t face, float s, float t);

}  // namespace softgpu::texture
