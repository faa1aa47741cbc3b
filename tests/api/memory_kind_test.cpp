// Which kind of resource a MemoryResource is, and resources that hand out buffers of their own making.
#include <unordered_set>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class MemoryKindTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(MemoryKindTest, IsFoundOutAgain) {
  const MemoryResource of_device = DeviceMemoryResource(device);
  EXPECT_EQ(of_device.as<DeviceMemoryResource>(), of_device);
  EXPECT_TRUE(of_device.as<MemoryPool>());
  EXPECT_FALSE(of_device.as<PinnedMemoryResource>());
  EXPECT_FALSE(of_device.as<ManagedMemoryResource>());
  EXPECT_FALSE(of_device.as<VirtualMemoryResource>());
  const MemoryResource pinned = PinnedMemoryResource();
  EXPECT_EQ(pinned.as<PinnedMemoryResource>(), pinned);
  EXPECT_FALSE(pinned.as<DeviceMemoryResource>());
  EXPECT_FALSE(pinned.as<LegacyPinnedMemoryResource>());
  const MemoryResource legacy = LegacyPinnedMemoryResource();
  EXPECT_EQ(legacy.as<LegacyPinnedMemoryResource>(), legacy);
  EXPECT_FALSE(legacy.as<PinnedMemoryResource>());
  EXPECT_FALSE(legacy.as<MemoryPool>());
  const MemoryResource virtual_memory = VirtualMemoryResource(device);
  EXPECT_EQ(virtual_memory.as<VirtualMemoryResource>(), virtual_memory);
  EXPECT_FALSE(virtual_memory.as<DeviceMemoryResource>());
}

TEST_F(MemoryKindTest, OfABufferHasItsFunctions) {
  const Buffer buffer = device.allocate(16, stream);
  const std::optional<DeviceMemoryResource> pool = buffer.memory_resource()->as<DeviceMemoryResource>();
  ASSERT_TRUE(pool);
  EXPECT_GE(pool->attributes().used_mem_current(), 16u);
}

TEST_F(MemoryKindTest, ManagedMemoryIsOne) {
  if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "no default pool of managed memory";
  const MemoryResource managed = ManagedMemoryResource();
  EXPECT_EQ(managed.as<ManagedMemoryResource>(), managed);
  EXPECT_FALSE(managed.as<DeviceMemoryResource>());
  EXPECT_EQ(managed.as<ManagedMemoryResource>()->allocate<int>(4, stream).size(), 16u);
}

TEST_F(MemoryKindTest, ResourcesAreKeys) {
  const DeviceMemoryResource own(device, {});
  const std::unordered_set<MemoryResource> resources = {DeviceMemoryResource(device), PinnedMemoryResource(), own};
  EXPECT_EQ(resources.size(), 3u);
  EXPECT_TRUE(resources.contains(own));
  EXPECT_FALSE(resources.contains(MemoryResource()));
  EXPECT_EQ(std::hash<DeviceMemoryResource>()(own), std::hash<MemoryResource>()(own));
}

TEST_F(MemoryKindTest, AnEmptyHandleSaysSo) {
  MemoryResource none;
  EXPECT_EQ(none, MemoryResource());
  EXPECT_FALSE(none.as<DeviceMemoryResource>());
  EXPECT_THAT(error_of<InvalidArgument>([&] { none.allocate(16, stream); }), HasSubstr("memory resource is empty"));
  EXPECT_THROW(none.device_id(), InvalidArgument);
  none = DeviceMemoryResource(device);
  EXPECT_EQ(none.allocate(16, stream).size(), 16u);
}

/// Hands out parts of one large buffer.
class Arena : public MemoryResource::Interface {
 public:
  explicit Arena(const Buffer& room) : room_(room) {}

  Buffer allocate_buffer(const MemoryResource&, std::size_t size, const Stream&) override {
    return room_.slice(std::exchange(used_, used_ + size), size);
  }
  DevicePointer allocate(std::size_t, const Stream&) override { throw NotSupported("an arena has buffers only"); }
  void deallocate(DevicePointer, std::size_t, const Stream&) override { ADD_FAILURE() << "nothing comes back"; }
  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return false; }
  std::optional<int> device_id() const override { return room_.device_id(); }

 private:
  Buffer room_;
  std::size_t used_ = 0;
};

TEST_F(MemoryKindTest, AUsersResourceHandsOutBuffers) {
  Buffer room = device.allocate(64, stream);
  const DevicePointer begin = room.handle();
  const MemoryResource arena(std::make_shared<Arena>(room));
  Buffer first = arena.allocate(16, stream);
  Buffer second = arena.allocate(32, stream);
  EXPECT_EQ(first.handle(), begin);
  EXPECT_EQ(second.handle(), begin + 16);
  EXPECT_THROW(arena.allocate(32, stream), InvalidArgument);
  second.fill<int>(3, stream);
  EXPECT_EQ(download<int>(second, stream), std::vector<int>(8, 3));
}

}  // namespace
}  // namespace cuprum::tests
