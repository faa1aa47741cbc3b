#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class DeviceTest : public ApiTest {};

TEST_F(DeviceTest, AllHasAsManyAsCount) {
  EXPECT_GE(Device::count(), 1);
  EXPECT_EQ(Device::all().size(), static_cast<std::size_t>(Device::count()));
  EXPECT_EQ(Device::all().front(), Device(0));
}

TEST_F(DeviceTest, SaysWhatItIs) {
  EXPECT_NE(device.name(), "");
  EXPECT_THAT(device.uuid(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  EXPECT_THAT(device.pci_bus_id(), MatchesRegex("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-9a-fA-F]"));
  EXPECT_GE(device.compute_capability(), (ComputeCapability{5, 0}));
  EXPECT_EQ(device.arch(),
            std::to_string(device.compute_capability().major) + std::to_string(device.compute_capability().minor));
}

TEST_F(DeviceTest, HasPropertiesThatMakeSense) {
  const DeviceProperties properties = device.properties();
  EXPECT_GE(properties.multiprocessor_count(), 1);
  EXPECT_EQ(properties.warp_size(), 32);
  EXPECT_GE(properties.max_threads_per_block(), 512);
  EXPECT_GE(properties.max_grid_dim_x(), 65535);
  EXPECT_EQ(properties.compute_capability_major(), device.compute_capability().major);
  EXPECT_TRUE(properties.unified_addressing());
}

TEST_F(DeviceTest, DefaultsToTheCurrentOne) {
  const Device last(Device::count() - 1);
  last.set_current();
  EXPECT_EQ(Device(), last);
}

TEST_F(DeviceTest, RefusesANumberThatThereIsNot) {
  EXPECT_THAT(error_of<InvalidArgument>([] { Device{Device::count()}; }), HasSubstr("numbered from 0"));
  EXPECT_THAT(error_of<InvalidArgument>([] { Device{-1}; }), HasSubstr("there is no device -1"));
}

TEST_F(DeviceTest, SyncWaitsForAllStreams) {
  Kernel spin = compile(spin_source, "spin");
  Stream stream = device.create_stream();
  Buffer out = device.allocate(sizeof(unsigned), stream);
  launch(stream, {}, spin, out, 2'000'000u);
  Event end = stream.record();
  device.sync();
  EXPECT_TRUE(end.is_done());
}

TEST_F(DeviceTest, SetMemoryResourceChangesWhatAllocateUses) {
  const MemoryResource before = device.memory_resource();
  const PinnedMemoryResource pinned;
  device.set_memory_resource(pinned);
  Stream stream = device.create_stream();
  EXPECT_TRUE(device.allocate(16, stream).is_host_accessible());
  device.set_memory_resource(before);
  EXPECT_FALSE(device.allocate(16, stream).is_host_accessible());
}

TEST_F(DeviceTest, DefaultStreamRunsWork) {
  Stream stream = device.default_stream();
  Buffer buffer = device.allocate(64, stream);
  buffer.fill(7, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 7));
}

}  // namespace
}  // namespace cuprum::tests
