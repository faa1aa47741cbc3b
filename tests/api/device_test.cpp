#include <cuprum/driver.hpp>
#include <thread>
#include <unordered_set>

#include "api/failing_api.hpp"
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
  EXPECT_THAT(device.uuid().to_string(), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  EXPECT_THAT(device.pci_bus_id(), MatchesRegex("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-9a-fA-F]"));
  EXPECT_GE(device.compute_capability(), (ComputeCapability{5, 0}));
  EXPECT_EQ(device.arch(),
            std::to_string(device.compute_capability().major) + std::to_string(device.compute_capability().minor));
}

TEST_F(DeviceTest, IsEqualToItselfByNumber) {
  EXPECT_EQ(Device(0), device);
  EXPECT_EQ(std::hash<Device>()(Device(0)), std::hash<Device>()(device));
  const std::unordered_set<Device> devices = {device, Device(0)};
  EXPECT_EQ(devices.size(), 1u);
}

TEST_F(DeviceTest, PrintsWhatItIs) { EXPECT_EQ(::testing::PrintToString(device), "device 0 (" + device.name() + ")"); }

TEST_F(DeviceTest, CanAccessItself) { EXPECT_TRUE(device.can_access_peer(device)); }

TEST_F(DeviceTest, IsCurrentInEachThreadForItself) {
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  std::thread([&] { device.set_current(); }).join();
  CUcontext current = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&current);
  EXPECT_EQ(current, nullptr);
}

TEST_F(DeviceTest, DefaultStreamsAreEqual) {
  EXPECT_EQ(device.default_stream(), device.default_stream());
  EXPECT_EQ(std::hash<Stream>()(device.default_stream()), std::hash<Stream>()(device.default_stream()));
}

TEST_F(DeviceTest, AskingWhatItIsEntersNoContext) {
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  FailingApi failing;
  failing.fail_next("cuCtxPushCurrent", CUDA_ERROR_UNKNOWN);
  (void)device.name();
  (void)device.uuid();
  (void)device.pci_bus_id();
  (void)device.compute_capability();
  (void)device.arch();
  (void)device.can_access_peer(Device(Device::count() - 1));
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) (void)device.properties().name();
#include <cuprum/detail/device_properties.def>
  EXPECT_EQ(failing.failed(), "");
}

TEST_F(DeviceTest, APropertyIsReadOnce) {
  const DeviceProperties properties = device.properties();
  const int threads = properties.max_threads_per_block();
  FailingApi failing;
  failing.fail_next("cuDeviceGetAttribute", CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(properties.max_threads_per_block(), threads);
  EXPECT_EQ(device.properties().max_threads_per_block(), threads);
  EXPECT_EQ(failing.failed(), "") << "the driver was asked again";
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
  launch(stream, {.grid = 1, .block = 1}, spin, out, 2'000'000u);
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
  buffer.fill<int>(7, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 7));
}

struct Property {
  const char* name;
  CUdevice_attribute attribute;
  int (*read)(const DeviceProperties&);
};

void PrintTo(const Property& property, std::ostream* out) { *out << property.name; }

class DevicePropertyTest : public ApiTest, public ::testing::WithParamInterface<Property> {};

TEST_P(DevicePropertyTest, IsWhatTheDriverSays) {
  int expected = 0;
  const CUresult result = driver::api().cuDeviceGetAttribute(&expected, GetParam().attribute, device.device_id());
  if (result == CUDA_ERROR_INVALID_VALUE) GTEST_SKIP() << "this driver doesn't know the attribute";
  ASSERT_EQ(result, CUDA_SUCCESS);
  EXPECT_EQ(GetParam().read(device.properties()), expected);
}

constexpr Property all_properties[] = {
#define CUPRUM_DEVICE_PROPERTY(type, name, ATTRIBUTE) \
  {#name, CU_DEVICE_ATTRIBUTE_##ATTRIBUTE,            \
   [](const DeviceProperties& properties) -> int { return static_cast<int>(properties.name()); }},
#include <cuprum/detail/device_properties.def>
};

INSTANTIATE_TEST_SUITE_P(All, DevicePropertyTest, ::testing::ValuesIn(all_properties),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cuprum::tests
