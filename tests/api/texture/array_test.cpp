#include <random>
#include <unordered_set>

#include "api/gate.hpp"
#include "api/texture/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OpaqueArrayTest : public TextureTest {};

TEST_F(OpaqueArrayTest, SaysWhatItIs) {
  const OpaqueArray image = array({32, 16}, ArrayFormatType::uint8, 4);
  EXPECT_EQ(image.shape(), (std::vector<std::size_t>{32, 16}));
  EXPECT_EQ(image.format(), ArrayFormatType::uint8);
  EXPECT_EQ(image.num_channels(), 4);
  EXPECT_EQ(image.element_bytes(), 4u);
  EXPECT_EQ(image.size_bytes(), 32u * 16 * 4);
  EXPECT_FALSE(image.is_surface_load_store());
  EXPECT_EQ(image.device(), device);
  EXPECT_EQ(image.context(), device.context());
  EXPECT_NE(image.handle(), nullptr);
  EXPECT_TRUE(array({8}, ArrayFormatType::uint8, 1, true).is_surface_load_store());
}

TEST_F(OpaqueArrayTest, PrintsItself) {
  OpaqueArray image = array({8, 4, 2}, ArrayFormatType::float16, 2);
  const auto printed = [&] { return ::testing::PrintToString(image); };
  EXPECT_EQ(printed(), "an array of 8 x 4 x 2 texels of 2 x float16 on device 0");
  image.close();
  EXPECT_EQ(printed(), "a closed array");
  image = OpaqueArray();
  EXPECT_EQ(printed(), "an empty array");
}

TEST_F(OpaqueArrayTest, CopiesShareOneArray) {
  OpaqueArray image = array({8});
  const OpaqueArray copy = image, other = array({8});
  EXPECT_EQ(copy, image);
  EXPECT_NE(other, image);
  EXPECT_EQ(std::unordered_set({image, copy, other}).size(), 2u);
  image.close();
  image.close();
  EXPECT_EQ(copy.handle(), nullptr);
  EXPECT_EQ(copy, image);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)copy.shape(); }), HasSubstr("this array is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)OpaqueArray().format(); }), HasSubstr("this array is empty"));
}

TEST_F(OpaqueArrayTest, AMovedFromArrayIsEmpty) {
  OpaqueArray image = array({8});
  const OpaqueArray taken = std::move(image);
  EXPECT_EQ(taken.size_bytes(), 32u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)image.size_bytes(); }), HasSubstr("this array is empty"));
}

TEST_F(OpaqueArrayTest, RandomContentsComeBackWhicheverWayTheyTake) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return random() % limit; };
    std::vector<std::size_t> shape(1 + below(3));
    for (std::size_t& extent : shape) extent = 1 + below(shape.size() == 3 ? 9 : 40);
    const auto format = static_cast<ArrayFormatType>(below(8));
    const int channels = 1 << below(3);
    const OpaqueArray first = array(shape, format, channels, below(2) != 0), second = array(shape, format, channels);
    std::vector<std::uint8_t> values(first.size_bytes());
    for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random());
    if (below(2) != 0)
      first.copy_from(values, stream);
    else
      first.copy_from(upload(values, stream), stream);
    if (below(2) != 0)
      second.copy_from(first, stream);
    else
      EXPECT_EQ(first.copy_to(second, stream), second);
    EXPECT_EQ(contents<std::uint8_t>(second), values);
    const Buffer back = device.allocate(values.size() + below(16), stream);
    EXPECT_EQ(second.copy_to(back, stream), back);
    std::vector<std::uint8_t> bytes = download<std::uint8_t>(back, stream);
    bytes.resize(values.size());
    EXPECT_EQ(bytes, values);
  }
}

TEST_F(OpaqueArrayTest, CopiesHappenInTheOrderOfTheStream) {
  const OpaqueArray image = filled({4}, {1, 2, 3, 4});
  const Buffer later = upload(std::vector<float>{5, 6, 7, 8}, stream);
  const Buffer seen = PinnedMemoryResource().allocate(16, stream);
  stream.sync();
  Gate gate(stream);
  image.copy_to(seen, stream);
  image.copy_from(later, stream);
  gate.open();
  EXPECT_EQ(contents<float>(image), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_THAT(seen.as_span<float>(), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(OpaqueArrayTest, HostMemoryOfAnyTypeIsCopied) {
  const OpaqueArray image = array({2, 2}, ArrayFormatType::int16);
  const std::int16_t values[] = {1, -2, 3, -4};
  image.copy_from(values, stream);
  std::array<std::int16_t, 4> back{};
  image.copy_to(std::span(back), stream);
  stream.sync();
  EXPECT_THAT(back, ::testing::ElementsAreArray(values));
}

TEST_F(OpaqueArrayTest, RefusesSidesThatAreTooSmall) {
  const OpaqueArray image = array({16});
  const Buffer small = device.allocate(63, stream);
  std::vector<float> host(15);
  const auto text = AllOf(HasSubstr("an array of 16 texels of 1 x float32"), HasSubstr("it has 64 bytes"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_from(small, stream); }),
              AllOf(text, HasSubstr("the buffer only 63")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_to(small, stream); }), text);
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_from(host, stream); }),
              AllOf(text, HasSubstr("the host memory only 60")));
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_to(host, stream); }), text);
}

TEST_F(OpaqueArrayTest, RefusesArraysThatAreNotAlike) {
  const OpaqueArray image = array({16, 2});
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_from(array({2, 16}), stream); }),
              HasSubstr("the shapes must be equal"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_to(array({16, 2}, ArrayFormatType::uint8), stream); }),
              HasSubstr("the texels must have as many bytes"));
  image.copy_to(array({16, 2}, ArrayFormatType::uint8, 4), stream);
  stream.sync();
}

TEST_F(OpaqueArrayTest, RefusesWhatIsClosed) {
  const OpaqueArray image = array({16});
  Buffer memory = device.allocate(64, stream);
  OpaqueArray other = array({16});
  memory.close();
  other.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_from(memory, stream); }), HasSubstr("this buffer is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_to(other, stream); }), HasSubstr("this array is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { other.copy_from(image, stream); }), HasSubstr("this array is closed"));
  Stream ended = device.create_stream();
  ended.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { image.copy_to(array({16}), ended); }), HasSubstr("stream is closed"));
}

TEST_F(OpaqueArrayTest, RefusesOptionsThatMakeNoArray) {
  const auto error = [&](const texture::OpaqueArrayOptions& options) {
    return error_of<InvalidArgument>([&] { device.create_opaque_array(options); });
  };
  EXPECT_THAT(error({}), HasSubstr("a shape is {width}, {width, height} or {width, height, depth}, not 0 extents"));
  EXPECT_THAT(error({.shape = {2, 2, 2, 2}}),
              AllOf(HasSubstr("creating an array of 2 x 2 x 2 x 2 texels"), HasSubstr("not 4 extents")));
  EXPECT_THAT(error({.shape = {8, 0}}), HasSubstr("extent 1 of the shape must be at least 1"));
  EXPECT_THAT(error({.shape = {8}, .num_channels = 3}), HasSubstr("num_channels must be 1, 2 or 4, and is 3"));
  EXPECT_THAT(error({.shape = {8}, .format = static_cast<ArrayFormatType>(8)}), HasSubstr("no ArrayFormatType"));
  EXPECT_THAT(error({.shape = {~std::size_t{0}, 2}}), HasSubstr("no place in any memory"));
}

TEST_F(OpaqueArrayTest, RefusesWhatIsTooLargeForTheDevice) {
  const auto limits = device.properties();
  const auto error = [&](std::vector<std::size_t> shape, bool is_surface = false) {
    return error_of<InvalidArgument>([&] { array(std::move(shape), ArrayFormatType::uint8, 1, is_surface); });
  };
  const auto beyond = [](int limit) { return static_cast<std::size_t>(limit) + 1; };
  EXPECT_THAT(error({beyond(limits.maximum_texture1d_width())}),
              AllOf(HasSubstr("it is too large"), HasSubstr("maximum_texture1d_width")));
  EXPECT_THAT(error({1, beyond(limits.maximum_texture2d_height())}), HasSubstr("maximum_texture2d_height"));
  EXPECT_THAT(
      error({1, 1, beyond(std::max(limits.maximum_texture3d_depth(), limits.maximum_texture3d_depth_alternate()))}),
      HasSubstr("maximum_texture3d_depth"));
  if (limits.maximum_surface1d_width() < limits.maximum_texture1d_width()) {
    EXPECT_THAT(error({beyond(limits.maximum_surface1d_width())}, true), HasSubstr("maximum_surface1d_width"));
  }
}

TEST_F(OpaqueArrayTest, WrapsArraysOfOthers) {
  const OpaqueArray image = filled({4, 2}, numbers(8));
  auto owner = std::make_shared<int>();
  const std::weak_ptr<int> watch = owner;
  OpaqueArray wrapped = OpaqueArray::from_handle(image.handle(), std::move(owner));
  EXPECT_EQ(wrapped.shape(), image.shape());
  EXPECT_EQ(wrapped.format(), ArrayFormatType::float32);
  EXPECT_EQ(wrapped, image);
  EXPECT_EQ(contents<float>(wrapped), numbers(8));
  EXPECT_FALSE(watch.expired());
  wrapped.close();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(contents<float>(image), numbers(8));
}

TEST_F(OpaqueArrayTest, KeepsTheContextThatItWasMadeIn) {
  OpaqueArray image;
  {
    const Context own = device.create_context();
    device.set_current(own);
    image = array({4});
    EXPECT_EQ(image.context(), own);
    device.set_current();
  }
  EXPECT_EQ(live_objects().contexts, 1u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { array({4}).copy_from(image, stream); }),
              HasSubstr("they are of different contexts"));
  image.close();
  EXPECT_EQ(live_objects().contexts, 0u);
}

class MipmappedArrayTest : public TextureTest {};

TEST_F(MipmappedArrayTest, SaysWhatItIs) {
  MipmappedArray image =
      device.create_mipmapped_array({.shape = {64, 32}, .format = ArrayFormatType::uint16, .num_levels = 4});
  EXPECT_EQ(image.shape(), (std::vector<std::size_t>{64, 32}));
  EXPECT_EQ(image.format(), ArrayFormatType::uint16);
  EXPECT_EQ(image.num_channels(), 1);
  EXPECT_EQ(image.num_levels(), 4);
  EXPECT_FALSE(image.is_surface_load_store());
  EXPECT_EQ(image.device(), device);
  EXPECT_EQ(image.context(), device.context());
  EXPECT_EQ(::testing::PrintToString(image), "a mipmapped array of 4 levels, 64 x 32 texels of 1 x uint16 on device 0");
  EXPECT_EQ(std::unordered_set({image, MipmappedArray(image)}).size(), 1u);
  image.close();
  EXPECT_EQ(image.handle(), nullptr);
  EXPECT_EQ(::testing::PrintToString(image), "a closed mipmapped array");
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)image.get_level(0); }), HasSubstr("mipmapped array is closed"));
}

TEST_F(MipmappedArrayTest, EachLevelIsHalfAsLarge) {
  const MipmappedArray image = device.create_mipmapped_array({.shape = {64, 20, 3}, .num_levels = 7});
  for (int level = 0; level < 7; ++level) {
    const std::vector<std::size_t> shape = image.get_level(level).shape();
    EXPECT_EQ(shape,
              (std::vector<std::size_t>{std::size_t{64} >> level, std::max(std::size_t{20} >> level, std::size_t{1}),
                                        std::max(std::size_t{3} >> level, std::size_t{1})}));
  }
}

TEST_F(MipmappedArrayTest, ALevelKeepsTheMemory) {
  MipmappedArray image = device.create_mipmapped_array({.shape = {16, 16}, .num_levels = 3});
  OpaqueArray level = image.get_level(1);
  image.close();
  EXPECT_EQ(live_objects().mipmapped_arrays, 1u);
  level.copy_from(numbers(64), stream);
  EXPECT_EQ(contents<float>(level), numbers(64));
  level.close();
  EXPECT_EQ(live_objects().mipmapped_arrays, 0u);
}

TEST_F(MipmappedArrayTest, RefusesLevelsThatAreNotThere) {
  const MipmappedArray image = device.create_mipmapped_array({.shape = {16}, .num_levels = 2});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)image.get_level(2); }),
              AllOf(HasSubstr("level 2"), HasSubstr("there are levels 0 to 1")));
  EXPECT_THROW((void)image.get_level(-1), InvalidArgument);
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_mipmapped_array({.shape = {16}, .num_levels = 0}); }),
              HasSubstr("num_levels must be at least 1"));
}

TEST_F(MipmappedArrayTest, HasNoLevelsAfterASingleTexel) {
  const MipmappedArray image = device.create_mipmapped_array({.shape = {16, 3}, .num_levels = 6});
  EXPECT_EQ(image.num_levels(), 5);
  EXPECT_EQ(image.get_level(4).shape(), (std::vector<std::size_t>{1, 1}));
  EXPECT_THROW((void)image.get_level(5), InvalidArgument);
}

class TextureMultiDeviceTest : public TextureTest {
 protected:
  void SetUp() override {
    if (Device::count() < 2) GTEST_SKIP() << "needs two devices";
  }
};

TEST_F(TextureMultiDeviceTest, AnArrayIsUsedOnItsOwnDevice) {
  const Device other(1);
  const OpaqueArray there = other.create_opaque_array({.shape = {4, 1}, .is_surface_load_store = true});
  EXPECT_EQ(there.device(), other);
  const ResourceDescriptor described = ResourceDescriptor::from_opaque_array(there);
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_texture_object(described); }),
              HasSubstr("creating a texture on device 0: the array is one of device 1"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { device.create_surface_object(described); }),
              HasSubstr("creating a surface on device 0: the array is one of device 1"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { array({4, 1}).copy_from(there, stream); }),
              HasSubstr("they are of different contexts"));
  EXPECT_EQ(other.create_texture_object(described).device(), other);

  // Its work is done there, whichever device is current.
  const Stream queue = other.create_stream();
  there.copy_from(numbers(4), queue);
  launch(queue, {.grid = 1, .block = 4}, compile(paint_source(), "paint"), other.create_surface_object(described),
         5.0f);
  std::vector<float> back(4);
  there.copy_to(back, queue);
  queue.sync();
  EXPECT_EQ(back, (std::vector<float>{5, 6, 7, 8}));
}

}  // namespace
}  // namespace cuprum::tests
