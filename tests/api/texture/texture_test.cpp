#include <unordered_set>

#include "api/texture/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TextureObjectTest : public TextureTest {
 protected:
  /// What the texture of a row has at each x.
  std::vector<float> at(const TextureObject& of, const std::vector<float>& x) {
    const Buffer places = upload(x, stream), out = device.allocate<float>(x.size(), stream);
    launch(stream, {.grid = 1, .block = static_cast<unsigned>(x.size())}, row, of, places, out);
    return download<float>(out, stream);
  }

  Kernel row = compile(row_source(), "row");
  OpaqueArray image = filled({4, 1}, {10, 20, 30, 40});
};

TEST_F(TextureObjectTest, IsReadByKernels) {
  EXPECT_THAT(at(texture(image), {0.5f, 1.5f, 3.9f, -7, 100}), ElementsAre(10, 20, 40, 10, 40));
}

TEST_F(TextureObjectTest, OptionsSayHowItIsRead) {
  EXPECT_THAT(at(texture(image, {.filter_mode = FilterModeType::linear}), {0.5f, 1, 1.25f, 4}),
              ElementsAre(10, 15, 17.5f, 40));
  EXPECT_THAT(at(texture(image, {.normalized_coords = true}), {0.1f, 0.3f, 0.99f}), ElementsAre(10, 20, 40));
  EXPECT_THAT(at(texture(image, {.address_mode = AddressModeType::wrap, .normalized_coords = true}), {1.1f, -0.1f}),
              ElementsAre(10, 40));
  EXPECT_THAT(
      at(texture(image, {.address_mode = {AddressModeType::mirror, AddressModeType::clamp}, .normalized_coords = true}),
         {1.3f, -0.3f}),
      ElementsAre(30, 20));
  EXPECT_THAT(at(texture(image, {.address_mode = AddressModeType::border, .border_color = {7, 0, 0, 0}}), {-1, 1, 5}),
              ElementsAre(7, 20, 7));
}

TEST_F(TextureObjectTest, NormalizedFloatsAreReadOfIntegers) {
  const OpaqueArray bytes = array({4, 1}, ArrayFormatType::uint8);
  bytes.copy_from(std::vector<std::uint8_t>{0, 51, 255, 102}, stream);
  EXPECT_THAT(at(texture(bytes, {.read_mode = ReadModeType::normalized_float}), {0.5f, 1.5f, 2.5f}),
              ElementsAre(0, ::testing::FloatNear(0.2f, 1e-6f), 1));
}

TEST_F(TextureObjectTest, ShowsBuffers) {
  const Buffer memory = upload(std::vector<float>{1, 2, 3, 4}, stream);
  const TextureObject line = device.create_texture_object(
      ResourceDescriptor::from_linear(memory, {.format = ArrayFormatType::float32, .size_bytes = 12}));
  const Kernel fetch = compile(R"(extern "C" __global__ void fetch(cudaTextureObject_t image, float* out) {
    out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x);
  })",
                               "fetch");
  const Buffer out = device.allocate<float>(4, stream);
  launch(stream, {.grid = 1, .block = 4}, fetch, line, out);
  EXPECT_THAT(download<float>(out, stream), ElementsAre(1, 2, 3, 0));  // beyond the end are zeros

  const auto pitch = static_cast<std::size_t>(std::max(device.properties().texture_pitch_alignment(), 32));
  const Buffer rows = device.allocate(2 * pitch, stream);
  rows.fill<std::uint8_t>(0, stream);
  rows.slice(0, 16).copy_from(memory, stream);
  const TextureObject plane = device.create_texture_object(
      ResourceDescriptor::from_pitch2d(rows, {.width = 4, .height = 2, .pitch_bytes = pitch}));
  EXPECT_THAT(at(plane, {0.5f, 3.5f, 9}), ElementsAre(1, 4, 4));
}

TEST_F(TextureObjectTest, ShowsLevelsOfDetail) {
  const MipmappedArray levels = device.create_mipmapped_array({.shape = {4, 4}, .num_levels = 3});
  levels.get_level(0).copy_from(std::vector<float>(16, 1), stream);
  levels.get_level(1).copy_from(std::vector<float>(4, 2), stream);
  levels.get_level(2).copy_from(std::vector<float>(1, 3), stream);
  const Kernel detail = compile(R"(extern "C" __global__ void detail(cudaTextureObject_t image, float* out) {
    out[threadIdx.x] = tex2DLod<float>(image, 0.5f, 0.5f, threadIdx.x / 2.0f);
  })",
                                "detail");
  const Buffer out = device.allocate<float>(5, stream);
  const TextureObject blended = device.create_texture_object(ResourceDescriptor::from_mipmapped_array(levels),
                                                             {.filter_mode = FilterModeType::linear,
                                                              .normalized_coords = true,
                                                              .mipmap_filter_mode = FilterModeType::linear,
                                                              .max_mipmap_level_clamp = 2});
  launch(stream, {.grid = 1, .block = 5}, detail, blended, out);
  EXPECT_THAT(download<float>(out, stream), ElementsAre(1, 1.5f, 2, 2.5f, 3));
}

TEST_F(TextureObjectTest, SaysWhatItIs) {
  const TextureObjectOptions options{.filter_mode = FilterModeType::linear, .max_anisotropy = 4};
  TextureObject shown = texture(image, options);
  EXPECT_NE(shown.handle(), 0u);
  EXPECT_EQ(shown.options(), options);
  EXPECT_EQ(shown.resource().kind(), ResourceKind::array);
  EXPECT_EQ(std::get<OpaqueArray>(shown.resource().source()), image);
  EXPECT_EQ(shown.device(), device);
  EXPECT_EQ(shown.context(), device.context());
  EXPECT_THAT(::testing::PrintToString(shown), AllOf(HasSubstr("texture 0x"), HasSubstr("on device 0")));
  const TextureObject copy = shown, other = texture(image);
  EXPECT_EQ(std::unordered_set({shown, copy, other}).size(), 2u);
  shown.close();
  EXPECT_EQ(copy.handle(), 0u);
  EXPECT_EQ(::testing::PrintToString(copy), "a closed texture");
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.options(); }), HasSubstr("this texture is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)TextureObject().resource(); }), HasSubstr("texture is empty"));
}

TEST_F(TextureObjectTest, DescriptorsSayWhatTheyDescribe) {
  const Buffer memory = device.allocate(4096, stream);
  const ResourceDescriptor line = ResourceDescriptor::from_linear(memory, {.format = ArrayFormatType::int8});
  EXPECT_EQ(line.kind(), ResourceKind::linear);
  EXPECT_EQ(line.format(), ArrayFormatType::int8);
  EXPECT_EQ(line.num_channels(), 1);
  EXPECT_EQ(line.size_bytes(), 4096u);
  EXPECT_EQ(line.width(), std::nullopt);
  EXPECT_EQ(std::get<Buffer>(line.source()), memory);
  EXPECT_THAT(::testing::PrintToString(line), HasSubstr("4096 bytes of 1 x int8 in a buffer of 4096 bytes"));
  const ResourceDescriptor rows = ResourceDescriptor::from_pitch2d(
      memory, {.format = ArrayFormatType::uint8, .num_channels = 4, .width = 16, .height = 8, .pitch_bytes = 512});
  EXPECT_EQ(rows.kind(), ResourceKind::pitch2d);
  EXPECT_EQ(rows.pitch_bytes(), 512u);
  EXPECT_THAT(::testing::PrintToString(rows), HasSubstr("16 x 8 texels of 4 x uint8 in a buffer"));
  EXPECT_EQ(ResourceDescriptor::from_opaque_array(image).format(), std::nullopt);
  EXPECT_EQ(::testing::PrintToString(ResourceDescriptor::from_opaque_array(image)),
            "an array of 4 x 1 texels of 1 x float32 on device 0");
}

TEST_F(TextureObjectTest, RefusesMemoryThatIsNoTexels) {
  Buffer memory = device.allocate(64, stream);
  const auto line = [&](const texture::LinearOptions& options) {
    return error_of<InvalidArgument>([&] { (void)ResourceDescriptor::from_linear(memory, options); });
  };
  EXPECT_THAT(line({.size_bytes = 65}), HasSubstr("size_bytes is 65, and the buffer has 64"));
  EXPECT_THAT(line({.size_bytes = 10}), HasSubstr("10 bytes are no whole number of texels of 4 bytes"));
  EXPECT_THAT(line({.size_bytes = 0}), HasSubstr("or none"));
  EXPECT_THAT(line({.num_channels = 5}), HasSubstr("num_channels must be 1, 2 or 4"));
  const auto rows = [&](const texture::Pitch2DOptions& options) {
    return error_of<InvalidArgument>([&] { (void)ResourceDescriptor::from_pitch2d(memory, options); });
  };
  EXPECT_THAT(rows({.width = 0, .height = 1, .pitch_bytes = 32}), HasSubstr("both must be at least 1"));
  EXPECT_THAT(rows({.width = 9, .height = 1, .pitch_bytes = 32}),
              HasSubstr("pitch_bytes is 32, and a row of 9 texels"));
  EXPECT_THAT(rows({.width = 8, .height = 3, .pitch_bytes = 32}), HasSubstr("3 rows of 32 bytes are more than"));
  memory.close();
  EXPECT_THAT(line({}), HasSubstr("this buffer is closed"));
  OpaqueArray closed = array({2});
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)ResourceDescriptor::from_opaque_array(closed); }),
              HasSubstr("this array is closed"));
}

TEST_F(TextureObjectTest, RefusesMemoryThatIsNotAligned) {
  const auto alignment = static_cast<std::size_t>(device.properties().texture_alignment());
  const auto pitch = static_cast<std::size_t>(device.properties().texture_pitch_alignment());
  const Buffer memory = device.allocate(4 * alignment + 4 * pitch + 4096, stream);
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { device.create_texture_object(ResourceDescriptor::from_linear(memory.slice(4, 64), {})); }),
              AllOf(HasSubstr("the address of the buffer must be a multiple of"), HasSubstr("texture_alignment")));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                device.create_texture_object(
                    ResourceDescriptor::from_pitch2d(memory, {.width = 1, .height = 2, .pitch_bytes = pitch + 4}));
              }),
              AllOf(HasSubstr("pitch_bytes must be a multiple of"), HasSubstr("texture_pitch_alignment")));
}

TEST_F(TextureObjectTest, RefusesMemoryThatIsTooLarge) {
  const auto limits = device.properties();
  const Buffer some = device.allocate(1 << 20, stream);
  const Buffer memory = Buffer::from_handle(some.handle(), std::size_t{1} << 40);  // nobody looks into it
  const auto texels = static_cast<std::size_t>(limits.maximum_texture1d_linear_width()) + 1;
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                device.create_texture_object(
                    ResourceDescriptor::from_linear(memory, {.format = ArrayFormatType::uint8, .size_bytes = texels}));
              }),
              HasSubstr("maximum_texture1d_linear_width"));
  const auto width = static_cast<std::size_t>(limits.maximum_texture2d_linear_width()) + 1;
  const auto pitch = (width / 512 + 1) * 512;
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                device.create_texture_object(ResourceDescriptor::from_pitch2d(
                    memory, {.format = ArrayFormatType::uint8, .width = width, .height = 1, .pitch_bytes = pitch}));
              }),
              HasSubstr("maximum_texture2d_linear_width"));
}

TEST_F(TextureObjectTest, RefusesFiltersOfIntegers) {
  const TextureObjectOptions linear{.filter_mode = FilterModeType::linear};
  EXPECT_THAT(error_of<InvalidArgument>([&] { texture(array({4}, ArrayFormatType::uint8), linear); }),
              AllOf(HasSubstr("filter_mode is linear, but uint8 is read as integers"), HasSubstr("normalized_float")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { texture(array({4}, ArrayFormatType::int32), linear); }),
              AllOf(HasSubstr("int32 is read as integers"), HasSubstr("a format of floats")));
  texture(array({4}, ArrayFormatType::float16), linear);
  texture(array({4}, ArrayFormatType::int16),
          {.filter_mode = FilterModeType::linear, .read_mode = ReadModeType::normalized_float});
  const MipmappedArray levels =
      device.create_mipmapped_array({.shape = {4}, .format = ArrayFormatType::uint16, .num_levels = 2});
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                device.create_texture_object(ResourceDescriptor::from_mipmapped_array(levels),
                                             {.normalized_coords = true, .mipmap_filter_mode = FilterModeType::linear});
              }),
              HasSubstr("mipmap_filter_mode is linear, but uint16 is read as integers"));
  // Linear memory has no filter, whatever is asked for.
  const Buffer memory = device.allocate(64, stream);
  device.create_texture_object(ResourceDescriptor::from_linear(memory, {.format = ArrayFormatType::uint32}), linear);
}

TEST_F(TextureObjectTest, RefusesReadModesThatDoNotGoWithTheFormat) {
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { texture(array({4}, ArrayFormatType::uint32), {.read_mode = ReadModeType::normalized_float}); }),
              HasSubstr("read_mode is normalized_float, but uint32 can't be"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { texture(image, {.srgb = true}); }), HasSubstr("srgb is for uint8"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { texture(image, {.seamless_cubemap = true}); }),
              HasSubstr("seamless_cubemap is for cubemaps"));
  const MipmappedArray levels = device.create_mipmapped_array({.shape = {4}, .num_levels = 2});
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { device.create_texture_object(ResourceDescriptor::from_mipmapped_array(levels)); }),
              HasSubstr("a mipmapped array needs normalized_coords"));
}

TEST_F(TextureObjectTest, RefusesModesThatThereAreNot) {
  const auto refusal = [&](const TextureObjectOptions& options) {
    return error_of<InvalidArgument>([&] { texture(image, options); });
  };
  const auto filter = static_cast<FilterModeType>(7);
  EXPECT_THAT(refusal({.address_mode = {AddressModeType::wrap, static_cast<AddressModeType>(4)}}),
              HasSubstr("address_mode is an unknown value (4), which is no AddressModeType"));
  EXPECT_THAT(refusal({.filter_mode = filter}), HasSubstr("filter_mode is an unknown value (7)"));
  EXPECT_THAT(refusal({.mipmap_filter_mode = filter}), HasSubstr("mipmap_filter_mode is an unknown value (7)"));
  EXPECT_THAT(refusal({.read_mode = static_cast<ReadModeType>(2)}), HasSubstr("which is no ReadModeType"));
}

class SurfaceObjectTest : public TextureTest {};

TEST_F(SurfaceObjectTest, IsWrittenByKernels) {
  const OpaqueArray image = array({4, 1}, ArrayFormatType::float32, 1, true);
  launch(stream, {.grid = 1, .block = 4}, compile(paint_source(), "paint"), surface(image), 7.0f);
  EXPECT_THAT(contents<float>(image), ElementsAre(7, 8, 9, 10));
}

TEST_F(SurfaceObjectTest, IsALevelOfAMipmappedArray) {
  const MipmappedArray levels =
      device.create_mipmapped_array({.shape = {8, 2}, .num_levels = 2, .is_surface_load_store = true});
  const OpaqueArray level = levels.get_level(1);
  launch(stream, {.grid = 1, .block = 4}, compile(paint_source(), "paint"), surface(level), 1.0f);
  EXPECT_THAT(contents<float>(level), ElementsAre(1, 2, 3, 4));
}

TEST_F(SurfaceObjectTest, SaysWhatItIs) {
  const OpaqueArray image = array({4, 1}, ArrayFormatType::float32, 1, true);
  SurfaceObject shown = surface(image);
  EXPECT_EQ(std::get<OpaqueArray>(shown.resource().source()), image);
  EXPECT_EQ(shown.device(), device);
  EXPECT_EQ(shown.context(), device.context());
  EXPECT_THAT(::testing::PrintToString(shown), AllOf(HasSubstr("surface 0x"), HasSubstr("on device 0")));
  EXPECT_EQ(std::unordered_set({shown, SurfaceObject(shown), surface(image)}).size(), 2u);
  shown.close();
  EXPECT_EQ(shown.handle(), 0u);
  EXPECT_EQ(::testing::PrintToString(shown), "a closed surface");
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)shown.resource(); }), HasSubstr("this surface is closed"));
}

TEST_F(SurfaceObjectTest, RefusesWhatKernelsCannotWrite) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { surface(array({4, 1})); }), HasSubstr("is_surface_load_store = true"));
  const Buffer memory = device.allocate(64, stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { device.create_surface_object(ResourceDescriptor::from_linear(memory, {})); }),
      HasSubstr("it is made of an OpaqueArray"));
  const MipmappedArray levels =
      device.create_mipmapped_array({.shape = {8, 2}, .num_levels = 2, .is_surface_load_store = true});
  EXPECT_THAT(error_of<InvalidArgument>(
                  [&] { device.create_surface_object(ResourceDescriptor::from_mipmapped_array(levels)); }),
              HasSubstr("use get_level()"));
}

}  // namespace
}  // namespace cuprum::tests
