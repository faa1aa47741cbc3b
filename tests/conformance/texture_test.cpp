// Texture objects and the instructions that read them.
#include "conformance/texture.hpp"

#include <cmath>

namespace conformance {
namespace {

using Texture = DriverTest;

constexpr const char* kTex1d = "tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0}];";
constexpr const char* kTex2d = "tex.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];";
constexpr const char* kTex2dInteger = "tex.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];";
constexpr const char* kTex3d = "tex.3d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1, %f2, %f2}];";

// value(x, y, z) = x + 10 y + 100 z
std::vector<float> ramp(std::size_t width, std::size_t height, std::size_t depth) {
  std::vector<float> values;
  for (std::size_t z = 0; z < depth; ++z)
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) values.push_back(static_cast<float>(x + 10 * y + 100 * z));
  return values;
}

class RampedArray : public TestArray {
 public:
  RampedArray(std::size_t width, std::size_t height, std::size_t depth, unsigned flags = 0)
      : TestArray(array_descriptor(width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags)) {
    const std::size_t rows = std::max<std::size_t>(height, 1), slices = std::max<std::size_t>(depth, 1);
    fill_array(get(), width, rows, slices, ramp(width, rows, slices));
  }
};

TEST_F(Texture, GivesTheTexelThatHoldsThePoint) {
  const RampedArray array(8, 8, 0);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  EXPECT_EQ(
      sample(kTex2d, texture.get(), {lanes(0, 0), lanes(0.99f, 0.5f), lanes(1, 0), lanes(7.5f, 3), lanes(3, 7.99f)}),
      (std::vector<float>{0, 0, 1, 37, 73}));
}

TEST_F(Texture, ClampsToItsEdges) {
  const RampedArray array(8, 8, 0);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  EXPECT_EQ(
      sample(kTex2d, texture.get(), {lanes(-5, 0), lanes(8, 0), lanes(100, 100), lanes(1, -1e30f), lanes(1e30f, 1)}),
      (std::vector<float>{0, 7, 77, 1, 17}));
}

TEST_F(Texture, HasABorderOfItsColour) {
  const RampedArray array(8, 8, 0);
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  sampling.borderColor[0] = 42;
  const TestTexture texture(resource_of(array.get()), sampling);
  EXPECT_EQ(sample(kTex2d, texture.get(), {lanes(0, 0), lanes(-0.1f, 0), lanes(8, 0), lanes(7, 8), lanes(7.9f, 7.9f)}),
            (std::vector<float>{0, 42, 42, 42, 77}));
}

TEST_F(Texture, WrapsAndMirrorsNormalizedCoordinates) {
  const RampedArray array(8, 0, 0);
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  const std::vector<Lanes> points = {lanes(0.0625f), lanes(0.9375f), lanes(1.0625f), lanes(-0.0625f), lanes(2.3125f)};
  sampling.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  const TestTexture wrapped(resource_of(array.get()), sampling);
  EXPECT_EQ(sample(kTex1d, wrapped.get(), points), (std::vector<float>{0, 7, 0, 7, 2}));
  sampling.addressMode[0] = CU_TR_ADDRESS_MODE_MIRROR;
  const TestTexture mirrored(resource_of(array.get()), sampling);
  EXPECT_EQ(sample(kTex1d, mirrored.get(), points), (std::vector<float>{0, 7, 7, 0, 2}));
}

TEST_F(Texture, ClampsOtherCoordinatesThatAreToBeWrapped) {
  const RampedArray array(8, 0, 0);
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  const TestTexture texture(resource_of(array.get()), sampling);
  EXPECT_EQ(sample(kTex1d, texture.get(), {lanes(9.5f), lanes(-1)}), (std::vector<float>{7, 0}));
}

TEST_F(Texture, BlendsNeighboursWithWeightsOf256ths) {
  const RampedArray array(8, 8, 0);
  const TestTexture texture(resource_of(array.get()), linear_filter());
  EXPECT_EQ(sample(kTex2d, texture.get(),
                   {lanes(0.5f, 0.5f), lanes(1, 0.5f), lanes(0.5f, 1), lanes(4, 5), lanes(0, 0), lanes(8, 8)}),
            (std::vector<float>{0, 0.5f, 5, 48.5f, 0, 77}));
  // A third is 85 of 256.
  const auto third = sample(kTex2d, texture.get(), {lanes(0.5f + 1.0f / 3, 0.5f)});
  EXPECT_EQ(third[0], 85.0f / 256);
}

TEST_F(Texture, BlendsWithItsBorder) {
  const RampedArray array(8, 0, 0);
  CUDA_TEXTURE_DESC sampling = linear_filter();
  sampling.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER;
  const TestTexture texture(resource_of(array.get()), sampling);
  EXPECT_EQ(sample(kTex1d, texture.get(), {lanes(8), lanes(8.25f), lanes(9)}), (std::vector<float>{3.5f, 1.75f, 0}));
}

TEST_F(Texture, BlendsEightTexelsOfAVolume) {
  const RampedArray array(4, 4, 4);
  const TestTexture texture(resource_of(array.get()), linear_filter());
  EXPECT_EQ(sample(kTex3d, texture.get(), {lanes(1, 1, 1), lanes(0.5f, 0.5f, 2), lanes(3.5f, 3.5f, 3.5f)}),
            (std::vector<float>{55.5f, 150, 333}));
}

TEST_F(Texture, HasLayersThatAreNotBlended) {
  const RampedArray lines(8, 0, 3, CUDA_ARRAY3D_LAYERED), planes(8, 4, 3, CUDA_ARRAY3D_LAYERED);
  const TestTexture of_lines(resource_of(lines.get()), linear_filter());
  const TestTexture of_planes(resource_of(planes.get()), linear_filter());
  const std::vector<Lanes> points = {
      {0, bits(1), bits(0.5f)}, {1, bits(2), bits(0.5f)}, {2, bits(2), bits(1)}, {9, bits(2), bits(0.5f)}};
  EXPECT_EQ(sample("tex.a1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%r0, %f1}];", of_lines.get(), points),
            (std::vector<float>{0.5f, 101.5f, 201.5f, 201.5f}));
  EXPECT_EQ(sample("tex.a2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%r0, %f1, %f2, %f2}];", of_planes.get(), points),
            (std::vector<float>{0.5f, 101.5f, 206.5f, 201.5f}));
}

TEST_F(Texture, OfACubeIsReadByDirection) {
  const TestArray array(array_descriptor(2, 2, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP));
  fill_array(array.get(), 2, 2, 6, ramp(2, 2, 6));
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  const TestTexture texture(resource_of(array.get()), sampling);
  // One point of each face, then the four quadrants of the first one.
  EXPECT_EQ(sample("tex.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1, %f2, %f2}];", texture.get(),
                   {lanes(1, 0.5f, 0.5f), lanes(-1, 0.5f, 0.5f), lanes(0.5f, 1, 0.5f), lanes(0.5f, -1, 0.5f),
                    lanes(0.5f, 0.5f, 1), lanes(0.5f, 0.5f, -1), lanes(1, 0.5f, -0.5f), lanes(1, -0.5f, 0.5f),
                    lanes(1, -0.5f, -0.5f)}),
            (std::vector<float>{0, 101, 211, 301, 401, 500, 1, 10, 11}));
}

TEST_F(Texture, ReadsSmallIntegersAsFractions) {
  const TestArray array(array_descriptor(4, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  fill_array(array.get(), 4, 1, 1, std::vector<std::uint8_t>{0, 51, 255, 128});
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.flags = 0;
  const TestTexture texture(resource_of(array.get()), sampling);
  const auto values = sample(kTex1d, texture.get(), {lanes(0.5f), lanes(1.5f), lanes(2.5f), lanes(3.5f)});
  EXPECT_EQ(values[0], 0);
  EXPECT_NEAR(values[1], 0.2f, 1e-6);
  EXPECT_EQ(values[2], 1);
  EXPECT_NEAR(values[3], 128 / 255.0, 1e-6);
}

TEST_F(Texture, ReadsSignedIntegersAsFractions) {
  const TestArray array(array_descriptor(4, 0, 0, CU_AD_FORMAT_SIGNED_INT16));
  fill_array(array.get(), 4, 1, 1, std::vector<std::int16_t>{32767, -32767, -32768, 16384});
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.flags = 0;
  const TestTexture texture(resource_of(array.get()), sampling);
  const auto values = sample(kTex1d, texture.get(), {lanes(0.5f), lanes(1.5f), lanes(2.5f), lanes(3.5f)});
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(values[2], -1);
  EXPECT_NEAR(values[3], 16384 / 32767.0, 1e-6);
}

TEST_F(Texture, ReadsIntegersAsTheyAre) {
  const TestArray array(array_descriptor(2, 1, 0, CU_AD_FORMAT_SIGNED_INT8, 4));
  fill_array(array.get(), 8, 1, 1, std::vector<std::int8_t>{1, -2, 3, -4, 5, 6, 7, -128});
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  const auto values = run_on_lanes(kTex2dInteger, texture.get(), {lanes(0.5f, 0.5f), lanes(1.5f, 0.5f)});
  EXPECT_EQ(values[0], (Lanes{1, 0xfffffffe, 3, 0xfffffffc}));
  EXPECT_EQ(values[1], (Lanes{5, 6, 7, 0xffffff80}));
}

TEST_F(Texture, ReadsHalves) {
  const TestArray array(array_descriptor(4, 0, 0, CU_AD_FORMAT_HALF));
  fill_array(array.get(), 4, 1, 1, std::vector<std::uint16_t>{0x3c00, 0xc000, 0x0001, 0x7c00});
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  EXPECT_EQ(sample(kTex1d, texture.get(), {lanes(0.5f), lanes(1.5f), lanes(2.5f), lanes(3.5f)}),
            (std::vector<float>{1, -2, 0x1p-24f, INFINITY}));
}

TEST_F(Texture, TurnsSrgbIntoLinearLight) {
  const TestArray array(array_descriptor(1, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4));
  fill_array(array.get(), 4, 1, 1, std::vector<std::uint8_t>{0, 255, 128, 128});
  CUDA_TEXTURE_DESC sampling = nearest_texel();
  sampling.flags = CU_TRSF_SRGB;
  const TestTexture texture(resource_of(array.get()), sampling);
  const auto values = run_on_lanes(kTex1d, texture.get(), {lanes(0.5f)});
  EXPECT_EQ(as_float(values[0][0]), 0);
  EXPECT_EQ(as_float(values[0][1]), 1);
  EXPECT_NEAR(as_float(values[0][2]), 0.2158605f, 1e-3);
  EXPECT_NEAR(as_float(values[0][3]), 128 / 255.0, 1e-6);
}

TEST_F(Texture, GathersOneChannelOfFourTexels) {
  const TestArray array(array_descriptor(4, 4, 0, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_TEXTURE_GATHER));
  std::vector<float> values;
  for (const float value : ramp(4, 4, 1)) values.insert(values.end(), {value, -value});
  fill_array(array.get(), 8, 4, 1, values);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  const auto first =
      run_on_lanes("tld4.r.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];", texture.get(), {lanes(2, 1)});
  EXPECT_EQ(first[0], (lanes(11, 12, 2, 1)));
  const auto second =
      run_on_lanes("tld4.g.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}];", texture.get(), {lanes(2, 1)});
  EXPECT_EQ(second[0], (lanes(-11, -12, -2, -1)));
}

TEST_F(Texture, OfLinearMemoryIsZeroBeyondItsEnd) {
  const DeviceMemory memory(1024);
  std::vector<std::uint32_t> values(16);
  for (std::uint32_t i = 0; i < 16; ++i) values[i] = 100 + i;
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), values.data(), 64));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory.get();
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = 64;
  const TestTexture texture(resource, nearest_texel());
  const auto results = run_on_lanes("tex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r0}];", texture.get(),
                                    {{0}, {15}, {16}, {0xffffffff}});
  EXPECT_EQ(results[0][0], 100u);
  EXPECT_EQ(results[1][0], 115u);
  EXPECT_EQ(results[2][0], 0u);
  EXPECT_EQ(results[3][0], 0u);
}

TEST_F(Texture, OfPitchedMemoryIsFilteredAsAnArrayIs) {
  constexpr std::size_t kPitch = 64;
  const DeviceMemory memory(kPitch * 8);
  const auto values = ramp(8, 8, 1);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values.data();
  copy.srcPitch = copy.WidthInBytes = 32;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory.get();
  copy.dstPitch = kPitch;
  copy.Height = 8;
  ASSERT_SUCCESS(CU(cuMemcpy2D)(&copy));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {.devPtr = memory.get(),
                          .format = CU_AD_FORMAT_FLOAT,
                          .numChannels = 1,
                          .width = 8,
                          .height = 8,
                          .pitchInBytes = kPitch};
  const TestTexture texture(resource, linear_filter());
  EXPECT_EQ(sample(kTex2d, texture.get(), {lanes(4, 5), lanes(9, 9)}), (std::vector<float>{48.5f, 77}));
  resource.res.pitch2D.pitchInBytes = 40;
  CUtexObject none = 0;
  const CUDA_TEXTURE_DESC sampling = nearest_texel();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTexObjectCreate)(&none, &resource, &sampling, nullptr));
}

TEST_F(Texture, RemembersItsDescriptors) {
  const RampedArray array(8, 8, 0);
  const CUDA_TEXTURE_DESC sampling = linear_filter();
  const TestTexture texture(resource_of(array.get()), sampling);
  CUDA_RESOURCE_DESC resource{};
  ASSERT_SUCCESS(CU(cuTexObjectGetResourceDesc)(&resource, texture.get()));
  EXPECT_EQ(resource.resType, CU_RESOURCE_TYPE_ARRAY);
  EXPECT_EQ(resource.res.array.hArray, array.get());
  CUDA_TEXTURE_DESC found{};
  ASSERT_SUCCESS(CU(cuTexObjectGetTextureDesc)(&found, texture.get()));
  EXPECT_EQ(found.filterMode, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ(found.flags, sampling.flags);
  EXPECT_EQ(found.addressMode[1], CU_TR_ADDRESS_MODE_CLAMP);
}

TEST_F(Texture, OfIntegersMayAskForAFilter) {
  const TestArray array(array_descriptor(8, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8));
  const CUDA_RESOURCE_DESC resource = resource_of(array.get());
  const CUDA_TEXTURE_DESC sampling = linear_filter();
  CUtexObject texture = 0;
  ASSERT_SUCCESS(CU(cuTexObjectCreate)(&texture, &resource, &sampling, nullptr));
  EXPECT_SUCCESS(CU(cuTexObjectDestroy)(texture));
}

TEST_F(Texture, AnswersQueries) {
  const RampedArray array(8, 4, 0);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  const auto results = run_on_lanes("txq.width.b32 %r4, [%h]; txq.height.b32 %r5, [%h];", texture.get(), {lanes(0)});
  EXPECT_EQ(results[0][0], 8u);
  EXPECT_EQ(results[0][1], 4u);
}

TEST_F(Texture, TellsThatItsTexelsAreThere) {
  const RampedArray array(8, 8, 0);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  const auto results = run_on_lanes("tex.2d.v4.f32.f32 {%r4, _, _, _}|%p1, [%h, {%f0, %f1}]; selp.u32 %r5, 7, 8, %p1;",
                                    texture.get(), {lanes(3, 2)});
  EXPECT_EQ(results[0], (Lanes{bits(23), 7, 0, 0}));
}

TEST_F(Texture, IsReadByIndicesToo) {
  const RampedArray array(8, 8, 0);
  const TestTexture texture(resource_of(array.get()), nearest_texel());
  EXPECT_EQ(sample("tex.2d.v4.f32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r0, %r1}];", texture.get(), {{3, 2}, {7, 7}}),
            (std::vector<float>{23, 77}));
}

TEST_F(Texture, MayDifferFromLaneToLane) {
  // And some lanes read nothing at all.
  const RampedArray first(8, 0, 0), second(16, 0, 0);
  const TestTexture of_first(resource_of(first.get()), nearest_texel()),
      of_second(resource_of(second.get()), nearest_texel());
  std::vector<Lanes> inputs;
  for (unsigned i = 0; i < 70; ++i) {
    const std::uint64_t handle = i % 3 == 0 ? of_first.get() : of_second.get();
    inputs.push_back({bits(static_cast<float>(i % 20)), static_cast<std::uint32_t>(handle),
                      static_cast<std::uint32_t>(handle >> 32), i % 5});
  }
  const auto results = run_on_lanes(
      "mov.b64 %d4, {%r1, %r2}; setp.ne.u32 %p1, %r3, 0;\n"
      "@%p1 tex.1d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%d4, {%f0}];",
      0, inputs);
  for (unsigned i = 0; i < 70; ++i) {
    const unsigned last = i % 3 == 0 ? 7 : 15;
    EXPECT_EQ(as_float(results[i][0]), i % 5 == 0 ? 0.0f : static_cast<float>(std::min(i % 20, last))) << i;
  }
}

}  // namespace
}  // namespace conformance
