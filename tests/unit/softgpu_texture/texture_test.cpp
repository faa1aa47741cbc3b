// The texture unit alone: what the driver's tests don't see from outside.
#include "softgpu/texture/texture.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "softgpu/texture/cube.hpp"
#include "softgpu/texture/object_table.hpp"
#include "softgpu/texture/surface.hpp"

namespace softgpu::texture {
namespace {

using abi::Geometry;

float first(const Words& words) { return std::bit_cast<float>(words[0]); }

// An image of floats with one texel for each value.
struct FloatTexture : Texture {
  FloatTexture(std::uint32_t width, std::uint32_t height, std::uint32_t slices, std::vector<float> texels)
      : values(std::move(texels)) {
    image.format = {ChannelType::f32, 1};
    image.height = height;
    image.levels[0] = {.base = reinterpret_cast<std::byte*>(values.data()),
                       .width = width,
                       .height = height,
                       .slices = slices,
                       .pitch = 4 * width,
                       .slice_bytes = 4 * width * height};
    reader = texel_reader(image.format, Reading::element);
  }
  std::vector<float> values;
};

TEST(Texel, LacksChannelsAsZeroes) {
  const std::uint8_t stored[2] = {7, 9};
  const auto* texel = reinterpret_cast<const std::byte*>(stored);
  EXPECT_EQ(texel_reader({ChannelType::u8, 1}, Reading::element).read(texel), (Words{7, 0, 0, 0}));
  EXPECT_EQ(texel_reader({ChannelType::u8, 2}, Reading::element).read(texel), (Words{7, 9, 0, 0}));
  EXPECT_EQ(texel_reader({ChannelType::unorm8, 1}, Reading::element).read(texel)[3], 0u);
}

TEST(Texel, OfEveryHalfIsExact) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>(bits >> 10);
    const double fraction = (bits & 0x3ff) / 1024.0;
    EXPECT_EQ(value, exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
    EXPECT_EQ(half_to_float(static_cast<std::uint16_t>(bits | 0x8000)), -value);
  }
  EXPECT_TRUE(std::isinf(half_to_float(0x7c00)));
  EXPECT_TRUE(std::isnan(half_to_float(0x7c01)));
}

TEST(Cube, FindsItsFacesAgain) {
  for (std::uint32_t face = 0; face < 6; ++face)
    for (const float s : {-0.75f, 0.25f})
      for (const float t : {-0.5f, 0.125f}) {
        const Direction direction = direction_of(face, s, t);
        EXPECT_EQ(face_of(direction), face);
        const FaceVector point = on_face(face, direction);
        EXPECT_EQ(point.s, s);
        EXPECT_EQ(point.t, t);
        EXPECT_EQ(point.major, 1);
      }
}

TEST(Cube, WithoutSeamsIsContinuousOverItsEdges) {
  std::vector<float> values;
  for (int face = 0; face < 6; ++face) values.insert(values.end(), 16, static_cast<float>(face));
  FloatTexture cube(4, 4, 6, values);
  cube.image.faces = 6;
  cube.sampler.filter = Filter::linear;
  cube.sampler.normalized_coordinates = true;
  // Just at both sides of the edge between the faces +x (0) and +z (4).
  const Position left{1, 0.1f, 1.001f, 0}, right{1.001f, 0.1f, 1, 0};
  EXPECT_EQ(first(sample(cube, Geometry::cube, left, 0)), 4);
  EXPECT_EQ(first(sample(cube, Geometry::cube, right, 0)), 0);
  cube.sampler.seamless_cube = true;
  EXPECT_NEAR(first(sample(cube, Geometry::cube, left, 0)), 2, 0.05);
  EXPECT_NEAR(first(sample(cube, Geometry::cube, right, 0)), 2, 0.05);
}

TEST(Sample, OfAnAnisotropicTextureCoversItsFootprint) {
  std::vector<float> values(64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 64 < 32 ? 0.0f : 1.0f;
  FloatTexture texture(64, 64, 1, values);
  texture.sampler.filter = Filter::linear;
  texture.sampler.normalized_coordinates = true;
  const Gradients wide{{0.5f, 0, 0}, {0, 1 / 64.0f, 0}};
  const Position beside{0.4f, 0.5f, 0, 0};
  EXPECT_EQ(first(sample(texture, Geometry::plane, beside, wide)), 0);
  texture.sampler.max_anisotropy = 16;
  EXPECT_NEAR(first(sample(texture, Geometry::plane, beside, wide)), 0.3, 0.05);
}

// A plane of one value, and gradients that ask for each number of samples.
template <typename Expect>
void sample_with_any_anisotropy(Texture& texture, Expect&& expect) {
  texture.sampler.filter = Filter::linear;
  texture.sampler.normalized_coordinates = true;
  texture.sampler.max_anisotropy = 16;
  for (float samples = 1; samples <= 20; ++samples) {
    const Gradients wide{{samples / 4, 0, 0}, {0, 1 / 4.0f, 0}};
    expect(sample(texture, Geometry::plane, {0.5f, 0.5f, 0, 0}, wide)[0]);
  }
}

TEST(Sample, OfAnAnisotropicTextureOfOneValueIsThatValue) {
  for (const float value : {1.0f, 0.1f, 3e38f, -7.0f}) {
    FloatTexture texture(4, 4, 1, std::vector<float>(16, value));
    sample_with_any_anisotropy(texture, [&](std::uint32_t word) { EXPECT_EQ(std::bit_cast<float>(word), value); });
  }
}

TEST(Sample, OfAnAnisotropicTextureOfIntegersIsTheirMean) {
  const auto bits = [](std::int32_t value) { return std::bit_cast<float>(value); };
  for (const std::int32_t value : {5, -5, 0x7fffffff}) {
    FloatTexture texture(4, 4, 1, std::vector<float>(16, bits(value)));
    texture.reader = texel_reader({ChannelType::s32, 1}, Reading::element);
    sample_with_any_anisotropy(texture, [&](std::uint32_t word) { EXPECT_EQ(static_cast<std::int32_t>(word), value); });
  }
}

TEST(Sample, GathersNothingFromLinearMemory) {
  FloatTexture texture(4, 1, 1, {1, 2, 3, 4});
  texture.is_linear_memory = true;
  EXPECT_EQ(gather(texture, {1.5f, 0.5f, 0, 0}, 0), Words{});
}

TEST(Sample, TakesAnyNumberForACoordinate) {
  FloatTexture texture(4, 4, 1, std::vector<float>(16, 1.0f));
  for (const AddressMode mode : {AddressMode::wrap, AddressMode::clamp, AddressMode::mirror, AddressMode::border})
    for (const Filter filter : {Filter::point, Filter::linear})
      for (const bool normalized : {false, true})
        for (const float x : {NAN, INFINITY, -INFINITY, 1e38f, -1e38f, 1e-45f, -1e-45f, 16777217.0f}) {
          texture.sampler.address = {mode, mode, mode};
          texture.sampler.filter = filter;
          texture.sampler.normalized_coordinates = normalized;
          const float value = first(sample(texture, Geometry::plane, {x, x, x, 0}, x));
          EXPECT_TRUE(value >= 0 && value <= 1) << x;
        }
}

TEST(Surface, HasNoPlaceForWhatIsWiderThanItself) {
  std::byte memory[4]{};
  Surface surface;
  surface.image.levels[0].base = memory;
  surface.image.levels[0].pitch = surface.image.levels[0].slice_bytes = 1;
  const abi::SurfaceAccess wide{Geometry::line, abi::SurfaceBoundary::clamp, 4};
  EXPECT_EQ(locate(surface, wide, {}).status, SurfaceStatus::out_of_bounds);
  const abi::SurfaceAccess narrow{Geometry::line, abi::SurfaceBoundary::clamp, 1};
  EXPECT_EQ(locate(surface, narrow, {.x = 100}).memory, memory);
}

TEST(ObjectTable, GivesUpNumbersLate) {
  ObjectTable<int> table;
  const auto handle = table.add(std::make_shared<int>(1));
  EXPECT_EQ(*table[handle], 1);
  EXPECT_EQ(table[0], nullptr);
  EXPECT_EQ(table[handle + 1], nullptr);
  EXPECT_EQ(table[~std::uint64_t{0}], nullptr);
  EXPECT_EQ(*table.remove(handle), 1);
  EXPECT_EQ(*table[handle], 1) << "kernels that were launched before may still read it";
  EXPECT_EQ(table.find(handle), nullptr);
  EXPECT_EQ(table.remove(handle), nullptr);
  for (int i = 0; i < 1000; ++i) {
    const auto next = table.add(std::make_shared<int>(i));
    EXPECT_NE(next, handle);
    table.remove(next);
  }
}

}  // namespace
}  // namespace softgpu::texture
