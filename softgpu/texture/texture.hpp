// Textures: an image and how it is read. As the CUDA C++ Programming Guide's appendix "Texture Fetching" has it, with
// the texture unit's arithmetic: where a filter blends, the weights are multiples of 1/256.
#pragma once

#include "softgpu/abi/texture.hpp"
#include "softgpu/texture/image.hpp"

namespace softgpu::texture {

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };
enum class Filter : std::uint8_t { point, linear };

inline constexpr unsigned kMostAnisotropy = 16;

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  Filter filter = Filter::point;
  Filter mipmap_filter = Filter::point;
  bool normalized_coordinates = false;
  bool seamless_cube = false;
  float level_bias = 0, min_level = 0, max_level = 0;
  unsigned max_anisotropy = 1;                     // to kMostAnisotropy
  std::array<std::byte, kMaxTexelBytes> border{};  // a texel of its colour
};

struct Texture {
  virtual ~Texture() = default;

  Image image;
  Sampler sampler;
  TexelReader reader;
  bool is_linear_memory = false;  // has neither filter nor address mode: beyond its end it reads 0
};

// Where to sample. Coordinates that the geometry does not have are ignored.
struct Position {
  float x = 0, y = 0, z = 0;
  std::uint32_t layer = 0;
};
struct Gradients {
  std::array<float, 3> dx{}, dy{};  // of the coordinates, per pixel to the right and per pixel down
};

Words sample(const Texture& texture, abi::Geometry geometry, const Position& at, float level);
Words sample(const Texture& texture, abi::Geometry geometry, const Position& at, const Gradients& gradients);

// One texel by its indices.
struct TexelIndex {
  std::int32_t x = 0, y = 0, z = 0;
  std::uint32_t layer = 0;
};
Words fetch(const Texture& texture, abi::Geometry geometry, const TexelIndex& at, std::int32_t level);

// One channel of the four texels that a linear filter would blend: lower left, lower right, upper right, upper left.
Words gather(const Texture& texture, const Position& at, unsigned channel);

std::uint32_t query(const Image& image, abi::ImageQuery query, std::uint32_t level);

}  // namespace softgpu::texture
