#include <unistd.h>

#include <cuprum/driver.hpp>
#include <thread>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class VirtualMemoryTest : public ApiTest {
 protected:
  void SetUp() override {
    if (!device.properties().virtual_memory_management_supported()) GTEST_SKIP() << "needs virtual memory management";
    resource.emplace(device, VirtualMemoryResourceOptions{.granularity = VirtualMemoryGranularityType::minimum});
    unit = resource->granularity();
  }

  /// Takes the addresses behind a buffer, so that it can't grow in place.
  struct Obstacle {
    Obstacle(const Buffer& buffer, std::size_t unit_size) : size(unit_size) {
      const CUdeviceptr end = (buffer.handle() + buffer.size() + size - 1) / size * size;
      driver::call<&driver::Api::cuMemAddressReserve>(&address, size, size, end, 0ull);
      is_behind = address == end;
    }
    ~Obstacle() { driver::call<&driver::Api::cuMemAddressFree>(address, size); }
    Obstacle(const Obstacle&) = delete;
    Obstacle& operator=(const Obstacle&) = delete;
    CUdeviceptr address = 0;
    std::size_t size;
    bool is_behind = false;
  };

  unsigned long long access_of(const Buffer& buffer) const {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned long long flags = 0;
    driver::call<&driver::Api::cuMemGetAccess>(&flags, &location, buffer.handle());
    return flags;
  }

  Stream stream = device.create_stream();
  std::optional<VirtualMemoryResource> resource;
  std::size_t unit = 0;
};

TEST_F(VirtualMemoryTest, HasTheDefaultsOfTheOptions) {
  const VirtualMemoryResourceOptions options = VirtualMemoryResource(device).options();
  EXPECT_EQ(options.allocation_type, VirtualMemoryAllocationType::pinned);
  EXPECT_EQ(options.location_type, VirtualMemoryLocationType::device);
  EXPECT_EQ(options.handle_type, VirtualMemoryHandleType::posix_fd);
  EXPECT_EQ(options.granularity, VirtualMemoryGranularityType::recommended);
  EXPECT_FALSE(options.gpu_direct_rdma);
  EXPECT_EQ(options.addr_hint, 0u);
  EXPECT_EQ(options.addr_align, std::nullopt);
  EXPECT_TRUE(options.peers.empty());
  EXPECT_EQ(options.self_access, VirtualMemoryAccessType::read_write);
  EXPECT_EQ(options.peer_access, VirtualMemoryAccessType::read_write);
}

TEST_F(VirtualMemoryTest, KnowsItsGranularity) {
  EXPECT_GT(unit, 0u);
  EXPECT_EQ(unit & (unit - 1), 0u) << "a power of two";
  EXPECT_GE(VirtualMemoryResource(device).granularity(), unit);
}

TEST_F(VirtualMemoryTest, AlignsItsMemory) {
  VirtualMemoryResource aligned(device, {.addr_align = 4 * unit});
  EXPECT_EQ(aligned.allocate(64, stream).handle() % (4 * unit), 0u);
}

TEST_F(VirtualMemoryTest, TakesTheWishedAddressWhenItIsFree) {
  Buffer probe = resource->allocate(unit, stream);
  const DevicePointer where = probe.handle();
  probe.close();
  VirtualMemoryResource wishing(device, {.granularity = VirtualMemoryGranularityType::minimum, .addr_hint = where});
  Buffer first = wishing.allocate(unit, stream);
  EXPECT_EQ(first.handle(), where);
  Buffer second = wishing.allocate(unit, stream);
  EXPECT_NE(second.handle(), where);
}

TEST_F(VirtualMemoryTest, GivesTheMemoryBack) {
  const FailingApi counted;
  Buffer buffer = resource->allocate(8 * unit, stream);
  EXPECT_GE(counted.memory_held(), 3) << "memory, addresses, and a mapping";
  buffer.close();
  EXPECT_EQ(counted.memory_held(), 0);
}

TEST_F(VirtualMemoryTest, WorksWithoutAStream) {
  Buffer buffer = resource->allocate(64);
  buffer.fill<int>(3, stream);
  EXPECT_THAT(download<int>(buffer, stream), Each(3));
  const DevicePointer pointer = resource->implementation()->allocate(64, stream);
  resource->deallocate(pointer, 64);
  resource->deallocate(0, 0);
}

TEST_F(VirtualMemoryTest, FreeingWaitsForTheStream) {
  Buffer result = device.allocate(64, stream);
  Buffer buffer = resource->allocate(64, stream);
  buffer.fill<int>(4, stream);
  std::optional<std::jthread> closer;
  {
    Gate gate(stream);
    result.copy_from(buffer, stream);
    closer.emplace([&] { buffer.close(); });
  }
  closer.reset();
  EXPECT_THAT(download<int>(result, stream), Each(4));
}

TEST_F(VirtualMemoryTest, RefusesToFreeWhatIsNotItsOwn) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource->deallocate(0x1000, 64); }),
              HasSubstr("freeing virtual memory at 0x1000: nothing was allocated there"));
  EXPECT_THROW(resource->deallocate(0x1000, 64, stream), InvalidArgument);
}

TEST_F(VirtualMemoryTest, GrowsWithinItsLastUnitWithoutMoreMemory) {
  Buffer buffer = resource->allocate(100, stream);
  const FailingApi counted;
  const DevicePointer where = buffer.handle();
  resource->modify_allocation(buffer, unit);
  EXPECT_EQ(buffer.size(), unit);
  EXPECT_EQ(buffer.handle(), where);
  EXPECT_EQ(counted.memory_held(), 0);
}

TEST_F(VirtualMemoryTest, GrowsInPlaceWhenTheAddressesBehindAreFree) {
  Buffer buffer = resource->allocate(unit, stream);
  buffer.fill<int>(1, stream);
  stream.sync();
  const DevicePointer where = buffer.handle();
  {
    Obstacle probe(buffer, unit);
    if (!probe.is_behind) GTEST_SKIP() << "the driver does not give out the addresses behind a buffer";
  }
  Buffer grown = resource->modify_allocation(buffer, 3 * unit);
  EXPECT_EQ(grown.handle(), where);
  EXPECT_EQ(grown.size(), 3 * unit);
  EXPECT_EQ(grown, buffer);
  const std::vector<int> values = download<int>(buffer, stream);
  EXPECT_EQ(values.front(), 1);
  EXPECT_EQ(values[unit / sizeof(int) - 1], 1);
}

TEST_F(VirtualMemoryTest, MovesWhenTheAddressesBehindAreTaken) {
  Buffer buffer = resource->allocate(unit, stream);
  buffer.fill<int>(2, stream);
  const DevicePointer where = buffer.handle();
  Obstacle obstacle(buffer, unit);
  if (!obstacle.is_behind) GTEST_SKIP() << "the driver does not give out the addresses behind a buffer";
  resource->modify_allocation(buffer, 2 * unit);
  EXPECT_NE(buffer.handle(), where);
  EXPECT_EQ(buffer.size(), 2 * unit);
  EXPECT_EQ(download<int>(buffer, stream)[unit / sizeof(int) - 1], 2);
}

TEST_F(VirtualMemoryTest, AllCopiesOfABufferGrow) {
  Buffer buffer = resource->allocate(unit, stream);
  const Buffer copy = buffer;
  Obstacle obstacle(buffer, unit);
  resource->modify_allocation(buffer, 2 * unit);
  EXPECT_EQ(copy.size(), 2 * unit);
  EXPECT_EQ(copy.handle(), buffer.handle());
}

TEST_F(VirtualMemoryTest, TheNewPartCanBeUsed) {
  Buffer buffer = resource->allocate(unit, stream);
  for (std::size_t units : {2u, 3u, 5u}) {
    resource->modify_allocation(buffer, units * unit);
    buffer.fill<int>(static_cast<int>(units), stream);
    EXPECT_THAT(download<int>(buffer, stream).back(), static_cast<int>(units));
  }
}

TEST_F(VirtualMemoryTest, KeepsItsContentsThroughManyGrowths) {
  Buffer buffer = resource->allocate(unit, stream);
  buffer.fill<int>(7, stream);
  std::vector<std::unique_ptr<Obstacle>> obstacles;
  for (std::size_t units = 2; units <= 6; ++units) {
    if (units % 2 == 0) obstacles.push_back(std::make_unique<Obstacle>(buffer, unit));
    resource->modify_allocation(buffer, units * unit);
    EXPECT_EQ(download<int>(buffer, stream).front(), 7) << units;
  }
  EXPECT_EQ(buffer.size(), 6 * unit);
}

TEST_F(VirtualMemoryTest, AGrownBufferIsFreedAsAWhole) {
  const FailingApi counted;
  Buffer buffer = resource->allocate(unit, stream);
  resource->modify_allocation(buffer, 2 * unit);
  Obstacle obstacle(buffer, unit);
  const int others = 1;
  resource->modify_allocation(buffer, 4 * unit);
  buffer.close();
  EXPECT_EQ(counted.memory_held(), others);
}

TEST_F(VirtualMemoryTest, GrowsToASizeThatIsNoMultiple) {
  Buffer buffer = resource->allocate(unit, stream);
  resource->modify_allocation(buffer, unit + 5);
  EXPECT_EQ(buffer.size(), unit + 5);
  buffer.fill<std::uint8_t>(9, stream);
  EXPECT_THAT(download<std::uint8_t>(buffer, stream), Each(9));
}

TEST_F(VirtualMemoryTest, ASizeThatIsNotLargerChangesNothing) {
  Buffer buffer = resource->allocate(2 * unit, stream);
  const DevicePointer where = buffer.handle();
  resource->modify_allocation(buffer, 2 * unit);
  resource->modify_allocation(buffer, unit);
  EXPECT_EQ(buffer.size(), 2 * unit);
  EXPECT_EQ(buffer.handle(), where);
}

TEST_F(VirtualMemoryTest, NewOptionsChangeTheAccessRights) {
  Buffer buffer = resource->allocate(unit, stream);
  EXPECT_EQ(access_of(buffer), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  resource->modify_allocation(buffer, unit, {.self_access = VirtualMemoryAccessType::read});
  EXPECT_EQ(access_of(buffer), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(resource->options().self_access, VirtualMemoryAccessType::read);
}

TEST_F(VirtualMemoryTest, NewOptionsStayInForce) {
  Buffer buffer = resource->allocate(unit, stream);
  const VirtualMemoryResourceOptions options{.handle_type = std::nullopt};
  resource->modify_allocation(buffer, 2 * unit, options);
  EXPECT_EQ(resource->options(), options);
  EXPECT_EQ(resource->allocate(64, stream).size(), 64u);
}

TEST_F(VirtualMemoryTest, ReadOnlyMemoryCanBeRead) {
  Buffer buffer = resource->allocate(unit, stream);
  buffer.fill<int>(5, stream);
  stream.sync();
  resource->modify_allocation(buffer, unit, {.self_access = VirtualMemoryAccessType::read});
  EXPECT_EQ(download<int>(buffer, stream).back(), 5);
}

TEST_F(VirtualMemoryTest, RefusesToModifyAnothersBuffer) {
  Buffer foreign = device.allocate(64, stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { resource->modify_allocation(foreign, 128); }),
      AllOf(StartsWith("modify_allocation: a buffer of 64 bytes"), HasSubstr("is not from this memory resource")));
  Buffer empty = resource->allocate(0, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource->modify_allocation(empty, 128); }), HasSubstr("of size 0"));
  Buffer closed = resource->allocate(64, stream);
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource->modify_allocation(closed, 128); }), HasSubstr("closed"));
}

TEST_F(VirtualMemoryTest, AGrowthThatFailsLeavesTheBufferAsItWas) {
  Buffer buffer = resource->allocate(unit, stream);
  buffer.fill<int>(6, stream);
  const DevicePointer where = buffer.handle();
  const FailingApi counted;
  EXPECT_THROW(resource->modify_allocation(buffer, std::size_t{1} << 50), OutOfMemory);
  EXPECT_EQ(buffer.handle(), where);
  EXPECT_EQ(buffer.size(), unit);
  EXPECT_EQ(counted.memory_held(), 0);
  EXPECT_EQ(download<int>(buffer, stream).back(), 6);
  resource->modify_allocation(buffer, 2 * unit);
}

TEST_F(VirtualMemoryTest, OutOfMemoryTellsHowMuchIsFree) {
  EXPECT_THAT(error_of<OutOfMemory>([&] { resource->allocate(std::size_t{1} << 50, stream); }),
              AllOf(HasSubstr("of memory of device 0 to be mapped ("), HasSubstr(" bytes are free)"),
                    HasSubstr("cuMemCreate")));
}

TEST_F(VirtualMemoryTest, RefusesSizesBeyondTheAddresses) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource->allocate(~std::size_t{0}, stream); }),
              HasSubstr("more than there are addresses"));
}

TEST_F(VirtualMemoryTest, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { VirtualMemoryResource wrong(device, {.addr_align = 3 * unit}); }),
              HasSubstr("is not a power of two"));
}

TEST_F(VirtualMemoryTest, RefusesHandlesOfAnotherSystem) {
  EXPECT_THAT(error_of<NotSupported>(
                  [&] { VirtualMemoryResource wrong(device, {.handle_type = VirtualMemoryHandleType::win32_kmt}); }),
              AllOf(HasSubstr("win32_kmt"), HasSubstr("posix_fd")));
}

TEST_F(VirtualMemoryTest, RefusesPeersThatDoNotExist) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { VirtualMemoryResource wrong(device, {.peers = {1000}}); }),
              HasSubstr("there is no device 1000"));
}

TEST_F(VirtualMemoryTest, ChecksWhetherTheDeviceHasDirectRdma) {
  auto make = [&] { VirtualMemoryResource direct(device, {.gpu_direct_rdma = true}); };
  if (device.properties().gpu_direct_rdma_supported()) {
    EXPECT_NO_THROW(make());
  } else {
    EXPECT_THAT(error_of<NotSupported>(make), HasSubstr("does not support GPU Direct RDMA"));
  }
}

TEST_F(VirtualMemoryTest, ExportableMemoryCanBeExported) {
  Buffer buffer = resource->allocate(unit, stream);
  CUmemGenericAllocationHandle handle = 0;
  int descriptor = -1;
  driver::call<&driver::Api::cuMemRetainAllocationHandle>(&handle, reinterpret_cast<void*>(buffer.handle()));
  EXPECT_EQ(
      driver::api().cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_SUCCESS);
  if (descriptor >= 0) ::close(descriptor);
  driver::call<&driver::Api::cuMemRelease>(handle);
}

class VirtualHostMemoryTest : public ApiTest, public ::testing::WithParamInterface<LocationType> {};

TEST_P(VirtualHostMemoryTest, IsTheHosts) {
  std::optional<VirtualMemoryResource> resource;
  try {
    resource.emplace(device, VirtualMemoryResourceOptions{.location_type = GetParam()});
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_TRUE(resource->is_host_accessible());
  EXPECT_FALSE(resource->is_device_accessible());
  EXPECT_EQ(resource->device_id(), std::nullopt);
}

TEST_P(VirtualHostMemoryTest, IsOpenToDevicesThatAreNamed) {
  Stream stream = device.create_stream();
  try {
    VirtualMemoryResource resource(device, {.location_type = GetParam(), .peers = {0}});
    EXPECT_TRUE(resource.is_device_accessible());
    Buffer buffer = resource.allocate(400, stream);
    buffer.as_span<float>()[99] = 2.0f;
    Kernel scale = compile(scale_source, "scale");
    launch(stream, {.grid = 1, .block = 128}, scale, buffer, 3.0f, std::size_t{100});
    stream.sync();
    EXPECT_EQ(buffer.as_span<float>()[99], 6.0f);
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
}

std::string name_of(const ::testing::TestParamInfo<LocationType>& instance) {
  constexpr const char* names[] = {"Device", "Host", "NumaNode", "NumaNodeOfTheThread"};
  return names[static_cast<std::size_t>(instance.param)];
}

INSTANTIATE_TEST_SUITE_P(On, VirtualHostMemoryTest,
                         ::testing::Values(LocationType::host, LocationType::host_numa,
                                           LocationType::host_numa_current),
                         name_of);

}  // namespace
}  // namespace cuprum::tests
