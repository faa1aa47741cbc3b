// Whatever call of the driver fails in what arrays, textures and surfaces do, it is reported and nothing leaks.
#include "api/failing_api.hpp"
#include "api/faults.hpp"
#include "api/texture/fixture.hpp"

namespace cuprum::tests {
namespace {

class TextureFaultTest : public TextureTest {
 protected:
  void array_life() {
    OpaqueArray image = array({4, 2}, ArrayFormatType::uint8, 4);
    image.copy_from(std::vector<std::uint8_t>(32, 7), stream);
    OpaqueArray other = array({4, 2}, ArrayFormatType::uint32);
    other.copy_from(image, stream);
    const Buffer back = device.allocate(32, stream);
    other.copy_to(back, stream);
    EXPECT_EQ(download<std::uint8_t>(back, stream), std::vector<std::uint8_t>(32, 7));
    EXPECT_EQ(OpaqueArray::from_handle(image.handle()).num_channels(), 4);
    stream.sync();
  }

  void texture_life() {
    const MipmappedArray levels =
        device.create_mipmapped_array({.shape = {4, 4}, .num_levels = 2, .is_surface_load_store = true});
    const OpaqueArray level = levels.get_level(1);
    const TextureObject all =
        device.create_texture_object(ResourceDescriptor::from_mipmapped_array(levels), {.normalized_coords = true});
    const TextureObject one = texture(level);
    const SurfaceObject written = surface(level);
    const Buffer memory = device.allocate(64, stream);
    const TextureObject line = device.create_texture_object(ResourceDescriptor::from_linear(memory, {}));
    EXPECT_EQ(one.resource().kind(), ResourceKind::array);
    EXPECT_NE(all.handle(), line.handle());
    EXPECT_EQ(written.device(), device);
  }
};

TEST_F(TextureFaultTest, EveryCallOfAnArraysLife) {
  FailingApi failing;
  EXPECT_GT(failing.fail_each_call([&] { array_life(); }), 8);
  EXPECT_EQ(failing.handles_held(), 0);
}

TEST_F(TextureFaultTest, EveryCallOfATexturesLife) {
  FailingApi failing;
  EXPECT_GT(failing.fail_each_call([&] { texture_life(); }), 6);
  EXPECT_EQ(failing.handles_held(), 0);
}

TEST_F(TextureFaultTest, EveryAllocationOfAnArraysLife) {
  fail_each_allocation([&] { array_life(); });
}

TEST_F(TextureFaultTest, EveryAllocationOfATexturesLife) {
  fail_each_allocation([&] { texture_life(); });
}

}  // namespace
}  // namespace cuprum::tests
