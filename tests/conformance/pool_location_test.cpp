// Pools by location and type, their limits, statistics and ends.
#include <cstdint>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

CUmemLocation location(CUmemLocationType type, int id = 0) {
  CUmemLocation result{};
  result.type = type;
  result.id = id;
  return result;
}

CUmemPoolProps properties(CUmemAllocationType type, CUmemLocation where, std::size_t most = 0) {
  CUmemPoolProps result{};
  result.allocType = type;
  result.location = where;
  result.maxSize = most;
  return result;
}

class PoolObject {
 public:
  explicit PoolObject(const CUmemPoolProps& properties) { EXPECT_SUCCESS(CU(cuMemPoolCreate)(&pool_, &properties)); }
  ~PoolObject() { destroy(); }
  PoolObject(const PoolObject&) = delete;
  PoolObject& operator=(const PoolObject&) = delete;
  void destroy() {
    if (pool_ != nullptr) CU(cuMemPoolDestroy)(pool_);
    pool_ = nullptr;
  }
  CUmemoryPool get() const { return pool_; }
  std::uint64_t operator[](CUmemPool_attribute which) const {
    cuuint64_t value = 0;
    EXPECT_SUCCESS(CU(cuMemPoolGetAttribute)(pool_, which, &value));
    return value;
  }
  CUdeviceptr allocate(std::size_t bytes, CUstream stream) const {
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, bytes, pool_, stream));
    return pointer;
  }

 private:
  CUmemoryPool pool_ = nullptr;
};

class PoolLocation : public DriverTest {
 protected:
  CUmemLocation here() const { return location(CU_MEM_LOCATION_TYPE_DEVICE, device_); }
  CUmemPoolProps on_device(std::size_t most = 0) const {
    return properties(CU_MEM_ALLOCATION_TYPE_PINNED, here(), most);
  }
  bool has_managed_pools() {
    CUmemLocation nowhere = location(CU_MEM_LOCATION_TYPE_NONE);
    CUmemoryPool pool = nullptr;
    return CU(cuMemGetDefaultMemPool)(&pool, &nowhere, CU_MEM_ALLOCATION_TYPE_MANAGED) == CUDA_SUCCESS;
  }
};

TEST_F(PoolLocation, DefaultOneOfADeviceIsFoundBothWays) {
  CUmemoryPool by_device = nullptr, by_location = nullptr;
  CUmemLocation where = here();
  ASSERT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&by_device, device_));
  ASSERT_SUCCESS(CU(cuMemGetDefaultMemPool)(&by_location, &where, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(by_device, by_location);
}

TEST_F(PoolLocation, CurrentOneIsTheDefaultUntilItIsSet) {
  CUmemoryPool by_default = nullptr, current = nullptr;
  CUmemLocation where = here();
  ASSERT_SUCCESS(CU(cuMemGetDefaultMemPool)(&by_default, &where, CU_MEM_ALLOCATION_TYPE_PINNED));
  ASSERT_SUCCESS(CU(cuMemGetMemPool)(&current, &where, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(current, by_default);
}

TEST_F(PoolLocation, SettingItByLocationIsSettingItForTheDevice) {
  const PoolObject pool(on_device());
  CUmemoryPool before = nullptr, current = nullptr;
  CUmemLocation where = here();
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&before, device_));
  ASSERT_SUCCESS(CU(cuMemSetMemPool)(&where, CU_MEM_ALLOCATION_TYPE_PINNED, pool.get()));
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&current, device_));
  EXPECT_EQ(current, pool.get());
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, before));
}

TEST_F(PoolLocation, CurrentOneServesPlainAllocations) {
  const TestStream stream;
  const PoolObject pool(on_device());
  CUmemoryPool before = nullptr, found = nullptr;
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&before, device_));
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, pool.get()));
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 4096, stream.get()));
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, before));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pointer));
  EXPECT_EQ(found, pool.get());
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(PoolLocation, DestroyingTheCurrentOneBringsBackTheDefault) {
  PoolObject pool(on_device());
  CUmemoryPool by_default = nullptr, current = nullptr;
  ASSERT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&by_default, device_));
  ASSERT_SUCCESS(CU(cuDeviceSetMemPool)(device_, pool.get()));
  pool.destroy();
  ASSERT_SUCCESS(CU(cuDeviceGetMemPool)(&current, device_));
  EXPECT_EQ(current, by_default);
}

TEST_F(PoolLocation, DefaultOneCantBeDestroyed) {
  CUmemoryPool pool = nullptr;
  ASSERT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&pool, device_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolDestroy)(pool));
}

TEST_F(PoolLocation, PropertiesHaveToMakeSense) {
  CUmemoryPool pool = nullptr;
  const auto create = [&](const CUmemPoolProps& p) { return CU(cuMemPoolCreate)(&pool, &p); };
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, create(properties(CU_MEM_ALLOCATION_TYPE_INVALID, here())));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, create(properties(CU_MEM_ALLOCATION_TYPE_PINNED,
                                                                location(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT))));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    create(properties(CU_MEM_ALLOCATION_TYPE_PINNED, location(CU_MEM_LOCATION_TYPE_NONE))));
  EXPECT_NE(create(properties(CU_MEM_ALLOCATION_TYPE_PINNED, location(CU_MEM_LOCATION_TYPE_DEVICE, 4711))),
            CUDA_SUCCESS);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolCreate)(&pool, nullptr));
}

TEST_F(PoolLocation, UnknownAttributesAreRefused) {
  const PoolObject pool(on_device());
  cuuint64_t value = 0;
  const auto unknown = static_cast<CUmemPool_attribute>(15);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolGetAttribute)(pool.get(), unknown, &value));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolSetAttribute)(pool.get(), unknown, &value));
}

TEST_F(PoolLocation, CurrentUsageCantBeSet) {
  const PoolObject pool(on_device());
  cuuint64_t value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolSetAttribute)(pool.get(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolSetAttribute)(pool.get(), CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
}

TEST_F(PoolLocation, HighWaterMarksStayUntilTheyAreReset) {
  const TestStream stream;
  const PoolObject pool(on_device());
  CUdeviceptr pointer = pool.allocate(8 * MiB, stream.get());
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemPoolTrimTo)(pool.get(), 0));
  EXPECT_EQ(pool[CU_MEMPOOL_ATTR_USED_MEM_CURRENT], 0u);
  EXPECT_EQ(pool[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT], 0u);
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_USED_MEM_HIGH], 8 * MiB);
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH], 8 * MiB);
  for (const auto mark : {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH}) {
    cuuint64_t value = 5;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolSetAttribute)(pool.get(), mark, &value));
    value = 0;
    EXPECT_SUCCESS(CU(cuMemPoolSetAttribute)(pool.get(), mark, &value));
    EXPECT_EQ(pool[mark], 0u);
  }
}

TEST_F(PoolLocation, UsageCountsWhatIsAllocated) {
  const TestStream stream;
  const PoolObject pool(on_device());
  const CUdeviceptr a = pool.allocate(4 * MiB, stream.get()), b = pool.allocate(2 * MiB, stream.get());
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_USED_MEM_CURRENT], 6 * MiB);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(a, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_USED_MEM_CURRENT], 2 * MiB);
  EXPECT_LT(pool[CU_MEMPOOL_ATTR_USED_MEM_CURRENT], 6 * MiB);
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_USED_MEM_HIGH], 6 * MiB);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(b, stream.get()));
}

TEST_F(PoolLocation, ThresholdKeepsMemoryOverASynchronisation) {
  const TestStream stream;
  const PoolObject pool(on_device());
  EXPECT_EQ(pool[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD], 0u);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pool.allocate(64 * MiB, stream.get()), stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(pool[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT], 0u);
  cuuint64_t threshold = 256 * MiB;
  ASSERT_SUCCESS(CU(cuMemPoolSetAttribute)(pool.get(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pool.allocate(64 * MiB, stream.get()), stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT], 64 * MiB);
}

TEST_F(PoolLocation, TrimmingLeavesWhatIsInUse) {
  const TestStream stream;
  const PoolObject pool(on_device());
  const CUdeviceptr used = pool.allocate(64 * MiB, stream.get());
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemPoolTrimTo)(pool.get(), 0));
  EXPECT_GE(pool[CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT], 64 * MiB);
  EXPECT_SUCCESS(CU(cuMemsetD8Async)(used, 1, 64, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(used, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(PoolLocation, LargestSizeIsALimit) {
  const TestStream stream;
  const PoolObject pool(on_device(64 * MiB));
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY,
                    CU(cuMemAllocFromPoolAsync)(&pointer, 256 * MiB, pool.get(), stream.get()));
  const CUdeviceptr fits = pool.allocate(32 * MiB, stream.get());
  EXPECT_SUCCESS(CU(cuMemsetD8Async)(fits, 1, 64, stream.get())) << "the pool goes on after a failure";
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(fits, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pool.allocate(64 * MiB, stream.get()), stream.get()));
}

TEST_F(PoolLocation, FailedAllocationsLeaveTheRestUsable) {
  const TestStream stream;
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAllocAsync)(&pointer, std::size_t{1} << 50, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamQuery)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, MiB, stream.get()));
  EXPECT_SUCCESS(CU(cuMemsetD8Async)(pointer, 1, MiB, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(PoolLocation, MemoryOutlivesItsDestroyedPool) {
  const TestStream stream;
  PoolObject pool(on_device());
  const CUdeviceptr pointer = pool.allocate(4096, stream.get());
  pool.destroy();
  int value = 0;
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 9, 1024, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(&value, pointer, 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value, 9);
  EXPECT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(PoolLocation, MemoryOfAPoolCanBeFreedTheOldWay) {
  const TestStream stream;
  const PoolObject pool(on_device());
  const CUdeviceptr pointer = pool.allocate(MiB, stream.get());
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  // It is gone, although NVIDIA's driver still counts it as used.
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(pointer));
}

TEST_F(PoolLocation, OrdinaryMemoryCanBeFreedInAStream) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> result(1);
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 4096));
  {
    Gate gate(stream.get());
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 6, 1024, stream.get()));
    ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), pointer, 4, stream.get()));
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 6);
}

TEST_F(PoolLocation, OwnDeviceAlwaysHasAccess) {
  const PoolObject pool(on_device());
  CUmemLocation where = here();
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  ASSERT_SUCCESS(CU(cuMemPoolGetAccess)(&flags, pool.get(), &where));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemAccessDesc access{};
  access.location = where;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  EXPECT_SUCCESS(CU(cuMemPoolSetAccess)(pool.get(), &access, 1));
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_NE(CU(cuMemPoolSetAccess)(pool.get(), &access, 1), CUDA_SUCCESS);
}

TEST_F(PoolLocation, HostPoolsByNodeAndWithoutGiveHostMemory) {
  for (const CUmemLocation where : {location(CU_MEM_LOCATION_TYPE_HOST), location(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)}) {
    const TestStream stream;
    const PoolObject pool(properties(CU_MEM_ALLOCATION_TYPE_PINNED, where));
    const CUdeviceptr pointer = pool.allocate(4096, stream.get());
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    *reinterpret_cast<int*>(pointer) = 4;
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  }
}

TEST_F(PoolLocation, DevicesHaveNoAccessToHostPoolsUntilItIsGiven) {
  for (const CUmemLocation where : {location(CU_MEM_LOCATION_TYPE_HOST), location(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)}) {
    const TestStream stream;
    const PoolObject pool(properties(CU_MEM_ALLOCATION_TYPE_PINNED, where));
    const CUdeviceptr before = pool.allocate(4096, stream.get());
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32Async)(before, 4, 1024, stream.get()));
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(before, stream.get()));
    CUmemAccessDesc access{};
    access.location = here();
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_SUCCESS(CU(cuMemPoolSetAccess)(pool.get(), &access, 1));
    const CUdeviceptr pointer = pool.allocate(4096, stream.get());
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 4, 1024, stream.get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    EXPECT_EQ(*reinterpret_cast<int*>(pointer), 4);
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  }
}

TEST_F(PoolLocation, ManagedPoolsGiveManagedMemory) {
  if (!has_managed_pools()) GTEST_SKIP() << "the device has no managed memory pools";
  const TestStream stream;
  for (const CUmemLocation where : {location(CU_MEM_LOCATION_TYPE_NONE), here(), location(CU_MEM_LOCATION_TYPE_HOST)}) {
    const PoolObject pool(properties(CU_MEM_ALLOCATION_TYPE_MANAGED, where));
    const CUdeviceptr pointer = pool.allocate(4096, stream.get());
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 4, 1024, stream.get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    EXPECT_EQ(*reinterpret_cast<int*>(pointer), 4);
    ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(pointer, 4096, here(), 0, stream.get()));
    ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  }
}

TEST_F(PoolLocation, ManagedPoolsAreFoundByType) {
  if (!has_managed_pools()) GTEST_SKIP() << "the device has no managed memory pools";
  CUmemLocation where = here();
  CUmemoryPool managed = nullptr, pinned = nullptr, current = nullptr;
  ASSERT_SUCCESS(CU(cuMemGetDefaultMemPool)(&managed, &where, CU_MEM_ALLOCATION_TYPE_MANAGED));
  ASSERT_SUCCESS(CU(cuMemGetDefaultMemPool)(&pinned, &where, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_NE(managed, pinned);
  const PoolObject own(properties(CU_MEM_ALLOCATION_TYPE_MANAGED, where));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemSetMemPool)(&where, CU_MEM_ALLOCATION_TYPE_PINNED, own.get()));
  ASSERT_SUCCESS(CU(cuMemSetMemPool)(&where, CU_MEM_ALLOCATION_TYPE_MANAGED, own.get()));
  ASSERT_SUCCESS(CU(cuMemGetMemPool)(&current, &where, CU_MEM_ALLOCATION_TYPE_MANAGED));
  EXPECT_EQ(current, own.get());
  ASSERT_SUCCESS(CU(cuMemSetMemPool)(&where, CU_MEM_ALLOCATION_TYPE_MANAGED, managed));
}

TEST_F(PoolLocation, NoBytesGetAnAddressToo) {
  const TestStream stream;
  CUdeviceptr pointer = 0;
  const CUresult result = CU(cuMemAllocAsync)(&pointer, 0, stream.get());
  if (result == CUDA_SUCCESS) {
    EXPECT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  }
  EXPECT_SUCCESS(CU(cuMemFreeAsync)(0, stream.get())) << "nothing can be freed";
}

TEST_F(PoolLocation, FreeingTwiceInAStreamFails) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined on a GPU";
  const TestStream stream;
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 4096, stream.get()));
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(pointer, stream.get()));
}

}  // namespace
}  // namespace conformance
