// Surface objects and the instructions that read and write them, and mipmapped textures.
#include <algorithm>
#include <chrono>
#include <thread>

#include "conformance/texture.hpp"

namespace conformance {
namespace {

using Surface = DriverTest;

TestArray surface_array(std::size_t width, std::size_t height, std::size_t depth, unsigned channels = 1,
                        unsigned flags = 0) {
  return TestArray(
      array_descriptor(width, height, depth, CU_AD_FORMAT_UNSIGNED_INT32, channels, CUDA_ARRAY3D_SURFACE_LDST | flags));
}

TEST_F(Surface, KeepsWhatAKernelWrites) {
  const TestArray array = surface_array(8, 4, 0);
  fill_array(array.get(), 8, 4, 1, std::vector<std::uint32_t>(32));
  const TestSurface surface(array.get());
  std::vector<Lanes> inputs;
  for (std::uint32_t i = 0; i < 32; ++i) inputs.push_back({i % 8 * 4, i / 8, 1000 + i});
  run_on_lanes("sust.b.2d.b32.trap [%h, {%r0, %r1}], {%r2};", surface.get(), inputs);
  const auto values = read_array<std::uint32_t>(array.get(), 8, 4, 1);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], 1000 + i);
}

TEST_F(Surface, IsReadByBytesOfARow) {
  const TestArray array = surface_array(4, 2, 0, 4);
  std::vector<std::uint32_t> values(32);
  for (std::uint32_t i = 0; i < 32; ++i) values[i] = 0x01010101 * i;
  fill_array(array.get(), 16, 2, 1, values);
  const TestSurface surface(array.get());
  const auto quads = run_on_lanes("suld.b.2d.v4.b32.trap {%r4, %r5, %r6, %r7}, [%h, {%r0, %r1}];", surface.get(),
                                  {{0, 0}, {48, 1}, {16, 0}});
  EXPECT_EQ(quads[0], (Lanes{values[0], values[1], values[2], values[3]}));
  EXPECT_EQ(quads[1], (Lanes{values[28], values[29], values[30], values[31]}));
  EXPECT_EQ(quads[2], (Lanes{values[4], values[5], values[6], values[7]}));
}

TEST_F(Surface, HasLayersAndDepth) {
  const TestArray volume = surface_array(4, 4, 4), layers = surface_array(4, 4, 3, 1, CUDA_ARRAY3D_LAYERED);
  const TestSurface of_volume(volume.get()), of_layers(layers.get());
  fill_array(volume.get(), 4, 4, 4, std::vector<std::uint32_t>(64));
  fill_array(layers.get(), 4, 4, 3, std::vector<std::uint32_t>(48));
  const std::vector<Lanes> inputs = {{4, 2, 1, 77}, {12, 3, 2, 88}};
  run_on_lanes("sust.b.3d.b32.trap [%h, {%r0, %r1, %r2, %r2}], {%r3};", of_volume.get(), inputs);
  run_on_lanes("sust.b.a2d.b32.trap [%h, {%r2, %r0, %r1, %r1}], {%r3};", of_layers.get(), inputs);
  const auto deep = read_array<std::uint32_t>(volume.get(), 4, 4, 4),
             layered = read_array<std::uint32_t>(layers.get(), 4, 4, 3);
  for (const auto& values : {deep, layered}) {
    EXPECT_EQ(values[1 * 16 + 2 * 4 + 1], 77u);
    EXPECT_EQ(values[2 * 16 + 3 * 4 + 3], 88u);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0u), static_cast<std::ptrdiff_t>(values.size()) - 2);
  }
}

TEST_F(Surface, ClampsOrLeavesOutWhatIsOutside) {
  const TestArray array = surface_array(4, 4, 0);
  std::vector<std::uint32_t> values(16);
  for (std::uint32_t i = 0; i < 16; ++i) values[i] = i + 1;
  fill_array(array.get(), 4, 4, 1, values);
  const TestSurface surface(array.get());
  const std::vector<Lanes> outside = {{16, 0}, {0, 4}, {0xfffffffc, 1}};
  const auto zero = run_on_lanes("suld.b.2d.b32.zero {%r4}, [%h, {%r0, %r1}];", surface.get(), outside);
  const auto clamped = run_on_lanes("suld.b.2d.b32.clamp {%r4}, [%h, {%r0, %r1}];", surface.get(), outside);
  for (const Lanes& result : zero) EXPECT_EQ(result[0], 0u);
  EXPECT_EQ(clamped[0][0], 4u);
  EXPECT_EQ(clamped[1][0], 13u);
  EXPECT_EQ(clamped[2][0], 5u);
  run_on_lanes("sust.b.2d.b32.zero [%h, {%r0, %r1}], {%r2};", surface.get(), {{16, 0, 99}, {0, 9, 99}});
  EXPECT_EQ(read_array<std::uint32_t>(array.get(), 4, 4, 1), values);
}

TEST_F(Surface, MovesElementsOfAnySize) {
  const TestArray array(array_descriptor(64, 1, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST));
  fill_array(array.get(), 64, 1, 1, std::vector<std::uint8_t>(64));
  const TestSurface surface(array.get());
  run_on_lanes("cvt.u16.u32 %s0, %r1; sust.b.2d.b8.trap [%h, {%r0, 0}], {%s0};", surface.get(), {{0, 0x12345678}});
  run_on_lanes("cvt.u16.u32 %s0, %r1; sust.b.2d.v2.b16.trap [%h, {%r0, 0}], {%s0, %s0};", surface.get(), {{4, 0x9abc}});
  run_on_lanes("mov.b64 %d4, {%r1, %r2}; sust.b.2d.v2.b64.trap [%h, {%r0, 0}], {%d4, %d4};", surface.get(),
               {{16, 1, 2}});
  const auto values = read_array<std::uint8_t>(array.get(), 64, 1, 1);
  EXPECT_EQ(values[0], 0x78);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ((std::vector<std::uint8_t>{values.begin() + 4, values.begin() + 9}),
            (std::vector<std::uint8_t>{0xbc, 0x9a, 0xbc, 0x9a, 0}));
  for (std::size_t i = 16; i < 32; ++i) EXPECT_EQ(values[i], i % 8 == 0 ? 1 : i % 8 == 4 ? 2 : 0) << i;
  EXPECT_EQ(run_on_lanes("suld.b.2d.b8.trap {%s0}, [%h, {%r0, 0}]; cvt.u32.u16 %r4, %s0;", surface.get(), {{5}})[0][0],
            0x9au);
  EXPECT_EQ(run_on_lanes("suld.b.2d.v2.b64.trap {%d4, %d5}, [%h, {%r0, 0}]; mov.b64 {%r4, %r5}, %d5;", surface.get(),
                         {{16}})[0],
            (Lanes{1, 2, 0, 0}));
}

// Leaves its context unusable.
class AbusedSurface : public Surface {
  void TearDown() override {}
};

TEST_F(AbusedSurface, DISABLED_AccessedOutside) {
  const TestArray array = surface_array(4, 4, 0);
  const TestSurface surface(array.get());
  const DeviceMemory memory(16);
  const TestModule module(R"(.version 7.1
.target sm_75
.address_size 64
.visible .entry outside(.param .u64 surface) {
  .reg .b64 %h;
  ld.param.u64 %h, [surface];
  sust.b.2d.b32.trap [%h, {16, 0}], {0};
  ret;
})");
  EXPECT_SUCCESS(launch(module.function("outside"), 1, 1, nullptr, surface.get()));
  EXPECT_NE(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
  EXPECT_NE(CU(cuMemsetD8)(memory.get(), 0, 16), CUDA_SUCCESS);
}

TEST_F(AbusedSurface, DISABLED_AccessedBesideItsTexels) {
  const TestArray array = surface_array(4, 4, 0);
  const TestSurface surface(array.get());
  const TestModule module(R"(.version 7.1
.target sm_75
.address_size 64
.visible .entry misaligned(.param .u64 surface) {
  .reg .b32 %r0;
  .reg .b64 %h;
  ld.param.u64 %h, [surface];
  suld.b.2d.b32.zero {%r0}, [%h, {6, 0}];
  sust.b.2d.b32.zero [%h, {0, 0}], {%r0};
  ret;
})");
  EXPECT_SUCCESS(launch(module.function("misaligned"), 1, 1, nullptr, surface.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, CU(cuCtxSynchronize)());
}

TEST_F(Surface, EndsTheKernelThatIsNotAligned) {
  EXPECT_EQ(run_in_child("AbusedSurface.DISABLED_AccessedBesideItsTexels"), 0);
}

TEST_F(Surface, EndsTheKernelThatLeavesIt) { EXPECT_EQ(run_in_child("AbusedSurface.DISABLED_AccessedOutside"), 0); }

TEST_F(Surface, CanBeDestroyedBehindTheLaunchThatUsesIt) {
  const TestModule module(R"(
.version 7.1
.target sm_75
.address_size 64
.visible .entry write_seven(.param .u64 surface) {
  .reg .b32 %r<2>;
  .reg .b64 %h;
  ld.param.u64 %h, [surface];
  mov.u32 %r0, 0;
  mov.u32 %r1, 7;
  sust.b.2d.b32.trap [%h, {%r0, %r0}], {%r1};
  ret;
})");
  const TestArray array = surface_array(4, 4, 0);
  const TestStream stream;
  {
    const TestSurface surface(array.get());
    const CUhostFn take_a_while = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    ASSERT_SUCCESS(CU(cuLaunchHostFunc)(stream.get(), take_a_while, nullptr));
    ASSERT_SUCCESS(launch(module.function("write_seven"), 1, 1, stream.get(), surface.get()));
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(read_array<std::uint32_t>(array.get(), 4, 4, 1)[0], 7u);
}

TEST_F(Surface, IsMadeOfAnyArray) {
  const TestArray array(array_descriptor(8, 8, 0, CU_AD_FORMAT_FLOAT));
  const CUDA_RESOURCE_DESC resource = resource_of(array.get());
  CUsurfObject surface = 0;
  ASSERT_SUCCESS(CU(cuSurfObjectCreate)(&surface, &resource));
  EXPECT_SUCCESS(CU(cuSurfObjectDestroy)(surface));
}

TEST_F(Surface, RemembersItsArray) {
  const TestArray array = surface_array(4, 4, 0);
  const TestSurface surface(array.get());
  CUDA_RESOURCE_DESC resource{};
  ASSERT_SUCCESS(CU(cuSurfObjectGetResourceDesc)(&resource, surface.get()));
  EXPECT_EQ(resource.res.array.hArray, array.get());
}

// Levels whose texels are all the level's number times 10.
class MipmappedTexture : public DriverTest {
 protected:
  static constexpr unsigned kLevels = 4, kSize = 8;

  void SetUp() override {
    DriverTest::SetUp();
    const auto descriptor = array_descriptor(kSize, kSize, 0);
    ASSERT_SUCCESS(CU(cuMipmappedArrayCreate)(&array_, &descriptor, kLevels));
    for (unsigned level = 0; level < kLevels; ++level) {
      CUarray plane = nullptr;
      ASSERT_SUCCESS(CU(cuMipmappedArrayGetLevel)(&plane, array_, level));
      const std::size_t size = kSize >> level;
      fill_array(plane, size, size, 1, std::vector<float>(size * size, 10.0f * static_cast<float>(level)));
    }
    resource_.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource_.res.mipmap.hMipmappedArray = array_;
  }
  void TearDown() override {
    CU(cuMipmappedArrayDestroy)(array_);
    DriverTest::TearDown();
  }

  static CUDA_TEXTURE_DESC sampling(CUfilter_mode between_levels) {
    CUDA_TEXTURE_DESC description = linear_filter();
    description.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    description.mipmapFilterMode = between_levels;
    description.maxMipmapLevelClamp = kLevels - 1;
    return description;
  }

  static constexpr const char* kLevel = "tex.level.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f1}], %f2;";
  CUmipmappedArray array_ = nullptr;
  CUDA_RESOURCE_DESC resource_{};
};

TEST_F(MipmappedTexture, GivesTheNearestLevel) {
  const TestTexture texture(resource_, sampling(CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ(sample(kLevel, texture.get(),
                   {lanes(0.5f, 0.5f, 0), lanes(0.5f, 0.5f, 1.25f), lanes(0.5f, 0.5f, 1.75f), lanes(0.5f, 0.5f, 9),
                    lanes(0.5f, 0.5f, -1)}),
            (std::vector<float>{0, 10, 20, 30, 0}));
}

TEST_F(MipmappedTexture, BlendsTwoLevels) {
  const TestTexture texture(resource_, sampling(CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(sample(kLevel, texture.get(), {lanes(0.5f, 0.5f, 0.5f), lanes(0.5f, 0.5f, 1.25f), lanes(0.5f, 0.5f, 3)}),
            (std::vector<float>{5, 12.5f, 30}));
}

TEST_F(MipmappedTexture, TakesTheLevelThatGradientsAskFor) {
  const TestTexture texture(resource_, sampling(CU_TR_FILTER_MODE_POINT));
  // Steps of one, two and eight texels of the largest level.
  EXPECT_EQ(sample("tex.grad.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f0, %f0}], {%f1, %f3}, {%f3, %f2};",
                   texture.get(), {lanes(0.5f, 0.125f, 0.125f), lanes(0.5f, 0.25f, 0.25f), lanes(0.5f, 1, 1)}),
            (std::vector<float>{0, 10, 30}));
}

TEST_F(MipmappedTexture, StaysWithinItsLimitsAndItsView) {
  CUDA_TEXTURE_DESC limited = sampling(CU_TR_FILTER_MODE_POINT);
  limited.minMipmapLevelClamp = 1;
  limited.maxMipmapLevelClamp = 2;
  const TestTexture texture(resource_, limited);
  EXPECT_EQ(sample(kLevel, texture.get(), {lanes(0.5f, 0.5f, 0), lanes(0.5f, 0.5f, 3)}), (std::vector<float>{10, 20}));
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = kSize;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const TestTexture viewed(resource_, sampling(CU_TR_FILTER_MODE_POINT), &view);
  EXPECT_EQ(sample(kLevel, viewed.get(), {lanes(0.5f, 0.5f, 0), lanes(0.5f, 0.5f, 1), lanes(0.5f, 0.5f, 3)}),
            (std::vector<float>{10, 20, 20}));
}

TEST_F(MipmappedTexture, HasTheExtentsOfTheLevelsInItsView) {
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = kSize;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const TestTexture viewed(resource_, sampling(CU_TR_FILTER_MODE_POINT), &view);
  const auto extents = run_on_lanes(
      "txq.width.b32 %r4, [%h]; txq.height.b32 %r5, [%h];\n"
      "txq.level.width.b32 %r6, [%h], 1; txq.level.height.b32 %r7, [%h], 1;",
      viewed.get(), {lanes(0)});
  EXPECT_EQ(extents[0], (Lanes{kSize / 2, kSize / 2, kSize / 4, kSize / 4}));
}

}  // namespace
}  // namespace conformance
