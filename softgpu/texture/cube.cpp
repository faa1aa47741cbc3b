#include "softgpu/texture/cube.hpp"

#include <cmath>

namespace softgpu::texture {
namespace {

// Along which axis a face's s, t and major run, and which way.
struct Axis {
  std::uint8_t index;
  float sign;
};
struct Face {
  Axis s, t, major;
};

constexpr std::array<Face, 6> kFaces = {{
    {{2, -1}, {1, -1}, {0, 1}},
    {{2, 1}, {1, -1}, {0, -1}},
    {{0, 1}, {2, 1}, {1, 1}},
    {{0, 1}, {2, -1}, {1, -1}},
    {{0, 1}, {1, -1}, {2, 1}},
    {{0, -1}, {1, -1}, {2, -1}},
}};

}  // namespace

Direction scaled_to_cube(const Direction& direction) {
  const float largest = std::fmax(std::fmax(std::abs(direction[0]), std::abs(direction[1])), std::abs(direction[2]));
  const float scale = 1 / largest;
  return {direction[0] * scale, direction[1] * scale, direction[2] * scale};
}

std::uint32_t face_of(const Direction& direction) {
  const auto length = [&](std::size_t axis) { return std::isnan(direction[axis]) ? -1 : std::abs(direction[axis]); };
  const float x = length(0), y = length(1), z = length(2);
  const std::uint32_t axis = x > y && x > z ? 0 : y > z ? 1 : 2;
  return 2 * axis + (direction[axis] < 0 ? 1 : 0);
}

FaceVector on_face(std::uint32_t face, const Direction& direction) {
  const Face& axes = kFaces[face];
  const auto along = [&](const Axis& axis) { return axis.sign * direction[axis.index]; };
  return {along(axes.s), along(axes.t), along(axes.major)};
}

Direction direction_of(std::uint32_t face, float s, float t) {
  const Face& axes = kFaces[face];
  Direction direction{};
  direction[axes.s.index] = axes.s.sign * s;
  direction[axes.t.index] = axes.t.sign * t;
  direction[axes.major.index] = axes.major.sign;
  return direction;
}

}  // namespace softgpu::texture
