// What others do to a device: pools that they put into the place of the driver's own and destroy, contexts that end.
#include <cuprum/driver.hpp>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "support/own_process.hpp"

namespace cuprum::tests {
namespace {

using driver::Api;

CUmemoryPool pool_of(const Buffer& buffer) {
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuPointerGetAttribute>(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, buffer.handle());
  return pool;
}

CUmemoryPool create_pool(int device) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuMemPoolCreate>(&pool, &properties);
  return pool;
}

TEST(ForeignPool, IsTestedInAProcessOfItsOwn) {
  // Which pool a device allocates from may be settled in this one.
  EXPECT_EQ(own_process::run("ForeignPoolTest.*"), 0);
}

using ForeignPoolTest = ApiTest;

TEST_F(ForeignPoolTest, DISABLED_IsNotUsedAfterItsOwnerDestroyedIt) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "there are no pools";
  const Stream stream = device.create_stream();
  CUmemoryPool own = nullptr;
  driver::call<&Api::cuDeviceGetDefaultMemPool>(&own, device.device_id());
  for (int round = 0; round < 2; ++round) {
    const CUmemoryPool foreign = create_pool(device.device_id());
    driver::call<&Api::cuDeviceSetMemPool>(device.device_id(), foreign);
    EXPECT_EQ(pool_of(device.allocate(64, stream)), foreign);
    EXPECT_EQ(device.memory_resource().as<DeviceMemoryResource>().value().handle(), foreign);
    stream.sync();
    driver::call<&Api::cuMemPoolDestroy>(foreign);  // the driver's own is the current one again
    EXPECT_EQ(pool_of(device.allocate(64, stream)), own);
    EXPECT_EQ(device.memory_resource().as<DeviceMemoryResource>().value().handle(), own);
  }
}

class KernelOfSeveralContexts : public ApiTest {
 protected:
  /// Launches in a context that is gone afterwards.
  void launch_in_a_context_that_ends() const {
    const Context own = device.create_context();
    const Stream stream = own.create_stream();
    const Buffer data = device.allocate(64, stream);
    launch(stream, {.grid = 1, .block = 1}, scale, data, 1.0f, std::size_t{0});
    stream.sync();
  }
  Kernel scale = compile(scale_source, "scale");
};

TEST_F(KernelOfSeveralContexts, CanBeSetAfterOneHasEnded) {
  launch_in_a_context_that_ends();
  scale.attributes(device).set_max_dynamic_shared_size_bytes(1024);
  EXPECT_EQ(scale.attributes(device).max_dynamic_shared_size_bytes(), 1024);
  launch_in_a_context_that_ends();
  scale.attributes(device).set_max_dynamic_shared_size_bytes(2048);
  EXPECT_EQ(scale.attributes(device).max_dynamic_shared_size_bytes(), 2048);
}

TEST_F(KernelOfSeveralContexts, SettingIsSeenByLaterLaunches) {
  const Stream stream = device.create_stream();
  const Buffer data = device.allocate(64, stream);
  const auto launch_with = [&](std::size_t bytes) {
    launch(stream, {.grid = 1, .block = 1, .shmem_size = bytes}, scale, data, 1.0f, std::size_t{0});
    stream.sync();
  };
  launch_with(0);
  for (const int bytes : {1024, 4096, 1024}) {
    scale.attributes(device).set_max_dynamic_shared_size_bytes(bytes);
    launch_with(static_cast<std::size_t>(bytes));
    launch_with(2 * static_cast<std::size_t>(bytes));  // the launch raises the limit
  }
}

}  // namespace
}  // namespace cuprum::tests
