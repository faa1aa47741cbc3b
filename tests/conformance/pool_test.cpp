#include <cstdint>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

using Pool = DriverTest;

std::uint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
  cuuint64_t value = 0;
  EXPECT_SUCCESS(CU(cuMemPoolGetAttribute)(pool, which, &value));
  return value;
}

CUmemoryPool create(CUmemLocationType location) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = location;
  CUmemoryPool pool = nullptr;
  EXPECT_SUCCESS(CU(cuMemPoolCreate)(&pool, &properties));
  return pool;
}

TEST_F(Pool, MemoryIsUsableInItsStream) {
  const TestStream stream;
  CUdeviceptr pointer = 0;
  std::vector<int> out(256);
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 1024, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 9, 256, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(out.data(), pointer, 1024, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(out, std::vector<int>(256, 9));
}

TEST_F(Pool, CountsWhatIsUsedAndReserved) {
  const TestStream stream;
  CUmemoryPool pool = create(CU_MEM_LOCATION_TYPE_DEVICE);
  cuuint64_t threshold = UINT64_MAX;
  ASSERT_SUCCESS(CU(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), UINT64_MAX);
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, 1 << 20, pool, stream.get()));
  EXPECT_GE(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1u << 20);
  EXPECT_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1u << 20);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  EXPECT_GE(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1u << 20);
  EXPECT_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1u << 20);
  ASSERT_SUCCESS(CU(cuMemPoolTrimTo)(pool, 0));
  EXPECT_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Pool, SameStreamUsesFreedMemoryAgain) {
  const TestStream stream;
  CUdeviceptr first = 0, second = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&first, 1 << 20, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(first, stream.get()));
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&second, 1 << 20, stream.get()));
  EXPECT_EQ(first, second);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(second, stream.get()));
}

TEST_F(Pool, MemoryKnowsItsPool) {
  const TestStream stream;
  CUmemoryPool pool = nullptr, found = nullptr;
  ASSERT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&pool, device_));
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 4096, stream.get()));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer));
  EXPECT_EQ(found, pool);
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(Pool, CanBeMadeCurrentForItsDevice) {
  CUmemoryPool pool = create(CU_MEM_LOCATION_TYPE_DEVICE), current = nullptr, otherwise = nullptr;
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&otherwise, device_));
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, pool));
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&current, device_));
  EXPECT_EQ(current, pool);
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, otherwise));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Pool, OnTheHostGivesHostMemory) {
  int supported = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, device_));
  if (supported == 0) GTEST_SKIP() << "the device has no host memory pools";
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  properties.location.id = 0;
  CUmemoryPool pool = nullptr;
  ASSERT_SUCCESS(CU(cuMemPoolCreate)(&pool, &properties));
  const TestStream stream;
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, 4096, pool, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  *reinterpret_cast<int*>(pointer) = 5;
  unsigned type = 0;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

}  // namespace
}  // namespace conformance
