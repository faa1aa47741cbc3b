// Managed memory: advice, prefetching, discarding, and what is reported of a range.
#include <cstring>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

constexpr std::size_t kPage = 64 * 1024;  // a multiple of any processor's
constexpr std::size_t kBytes = 4 * kPage;

CUmemLocation location(CUmemLocationType type, int id = 0) {
  CUmemLocation result{};
  result.type = type;
  result.id = id;
  return result;
}

const CUmemLocation kHost = location(CU_MEM_LOCATION_TYPE_HOST);

class Managed : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int concurrent = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device_));
    if (concurrent == 0) GTEST_SKIP() << "host and device can't use managed memory at the same time";
    ASSERT_SUCCESS(CU(cuMemAllocManaged)(&memory_, kBytes, CU_MEM_ATTACH_GLOBAL));
  }
  void TearDown() override {
    CU(cuMemFree)(memory_);
    DriverTest::TearDown();
  }

  CUmemLocation device() const { return location(CU_MEM_LOCATION_TYPE_DEVICE, device_); }
  CUresult advise(CUmem_advise advice, CUmemLocation where, std::size_t offset = 0, std::size_t bytes = kBytes) {
    return CU(cuMemAdvise)(memory_ + offset, bytes, advice, where);
  }
  int attribute(CUmem_range_attribute which, std::size_t offset = 0, std::size_t bytes = kBytes) {
    int value = -77;
    EXPECT_SUCCESS(CU(cuMemRangeGetAttribute)(&value, sizeof value, which, memory_ + offset, bytes));
    return value;
  }
  std::vector<int> accessed_by(std::size_t room = 4) {
    std::vector<int> processors(room, -77);
    EXPECT_SUCCESS(CU(cuMemRangeGetAttribute)(processors.data(), room * sizeof(int), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                              memory_, kBytes));
    return processors;
  }

  CUdeviceptr memory_ = 0;
};

TEST_F(Managed, FreshMemoryHasNoAdvice) {
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_INVALID);
  EXPECT_EQ(accessed_by(2), (std::vector<int>{CU_DEVICE_INVALID, CU_DEVICE_INVALID}));
}

TEST_F(Managed, ReadMostlyIsSetAndUnset) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY, kHost));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
}

TEST_F(Managed, ReadMostlyHoldsForARangeWhenAllItsPagesHaveIt) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost, kPage, kPage));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, kPage, kPage), 1);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, kPage), 0);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 2 * kPage), 0);
}

TEST_F(Managed, PartsThatWereAdvisedApartCountTogether) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost, 0, 2 * kPage));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost, 2 * kPage, 2 * kPage));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
}

TEST_F(Managed, PreferredLocationCanBeADevice) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device()));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), device_);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), device_);
}

TEST_F(Managed, PreferredLocationCanBeTheHost) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kHost));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_HOST);
}

TEST_F(Managed, PreferringANodeOfTheHostIsAcceptedButNotReported) {
  for (const CUmemLocation node :
       {location(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0), location(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 99)}) {
    ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node));
    EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_INVALID);
    EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), CU_DEVICE_INVALID);
  }
}

TEST_F(Managed, PreferredLocationCanBeTakenBack) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device()));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, kHost));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_INVALID);
}

TEST_F(Managed, PagesThatPreferDifferentPlacesHaveNoCommonOne) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device(), 0, kPage));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kHost, kPage, 3 * kPage));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, kPage), device_);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, kPage, kPage), CU_DEVICE_CPU);
}

TEST_F(Managed, AccessedByListsDevices) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, device()));
  EXPECT_EQ(accessed_by(3), (std::vector<int>{device_, CU_DEVICE_INVALID, CU_DEVICE_INVALID}));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_ACCESSED_BY, device()));
  EXPECT_EQ(accessed_by(1), (std::vector<int>{CU_DEVICE_INVALID}));
}

TEST_F(Managed, AccessedByListsTheHost) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, kHost));
  EXPECT_EQ(accessed_by(2), (std::vector<int>{CU_DEVICE_CPU, CU_DEVICE_INVALID}));
}

TEST_F(Managed, AccessedByListsAsManyAsThereIsRoomFor) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, device()));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, kHost));
  EXPECT_NE(accessed_by(1)[0], CU_DEVICE_INVALID);
  const std::vector<int> both = accessed_by(3);
  EXPECT_NE(both[0], CU_DEVICE_INVALID);
  EXPECT_NE(both[1], CU_DEVICE_INVALID);
  EXPECT_NE(both[0], both[1]);
  EXPECT_EQ(both[2], CU_DEVICE_INVALID);
}

TEST_F(Managed, AccessedByNamesWhoHasTheWholeRange) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, device(), 0, kPage));
  EXPECT_EQ(accessed_by(1), (std::vector<int>{CU_DEVICE_INVALID}));
}

TEST_F(Managed, NodesOfTheHostAccessNothing) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    advise(CU_MEM_ADVISE_SET_ACCESSED_BY, location(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)));
}

TEST_F(Managed, KindsOfAdviceDoNotDisturbEachOther) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device()));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_ACCESSED_BY, kHost));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, kHost));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  EXPECT_EQ(accessed_by(1), (std::vector<int>{CU_DEVICE_CPU}));
}

TEST_F(Managed, UnknownAdviceIsRefused) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, advise(static_cast<CUmem_advise>(7), kHost));
}

TEST_F(Managed, AdviceNeedsALocationThatThereIs) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(CU_MEM_LOCATION_TYPE_DEVICE, 4711)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    advise(CU_MEM_ADVISE_SET_ACCESSED_BY, location(CU_MEM_LOCATION_TYPE_DEVICE, 4711)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location(static_cast<CUmemLocationType>(99))));
}

TEST_F(Managed, AdviceForNoPlaceTakesAnyLocation) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, location(CU_MEM_LOCATION_TYPE_DEVICE, 7)));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY, location(CU_MEM_LOCATION_TYPE_DEVICE, 7)));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
  EXPECT_SUCCESS(advise(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, location(CU_MEM_LOCATION_TYPE_DEVICE, 7)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    advise(CU_MEM_ADVISE_SET_READ_MOSTLY, location(CU_MEM_LOCATION_TYPE_INVALID)));
}

TEST_F(Managed, AdviceIsNotForDeviceMemory) {
  const DeviceMemory other(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemAdvise)(other.get(), kBytes, CU_MEM_ADVISE_SET_READ_MOSTLY, kHost));
}

TEST_F(Managed, AdviceIsNotForMoreThanTheAllocation) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost, 0, std::size_t{1} << 40));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost, 0, 0));
}

TEST_F(Managed, OldFormOfAdviceNamesDevices) {
  using Advise = CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUdevice);
  void* address = nullptr;
  ASSERT_SUCCESS(CU(cuGetProcAddress)("cuMemAdvise", &address, 8000, 0, nullptr));
  const auto old = reinterpret_cast<Advise>(address);
  ASSERT_SUCCESS(old(memory_, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
  ASSERT_SUCCESS(old(memory_, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device_));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), device_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, old(memory_, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 4711));
}

TEST_F(Managed, AdviceGoesWithTheMemory) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost));
  ASSERT_SUCCESS(CU(cuMemFree)(memory_));
  ASSERT_SUCCESS(CU(cuMemAllocManaged)(&memory_, kBytes, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
}

TEST_F(Managed, PrefetchIsRemembered) {
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kBytes, device(), 0, stream.get()));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), device_);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID), device_);
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kBytes, kHost, 0, stream.get()));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE), CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(Managed, PrefetchOfAPartIsNotTheWholes) {
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kPage, device(), 0, nullptr));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, kPage), device_);
}

TEST_F(Managed, PrefetchKeepsTheContents) {
  const TestStream stream;
  auto* values = reinterpret_cast<int*>(memory_);
  for (std::size_t i = 0; i < kBytes / 4; ++i) values[i] = static_cast<int>(i);
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kBytes, device(), 0, stream.get()));
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kBytes, kHost, 0, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (std::size_t i = 0; i < kBytes / 4; ++i) ASSERT_EQ(values[i], static_cast<int>(i));
}

TEST_F(Managed, PrefetchTakesItsTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuMemPrefetchAsync)(memory_, kBytes, device(), 0, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  gate.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(Managed, PrefetchRefusesBadRequests) {
  const DeviceMemory other(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPrefetchAsync)(other.get(), kBytes, device(), 0, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPrefetchAsync)(memory_, 0, device(), 0, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemPrefetchAsync)(memory_, kBytes, device(), 1, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE,
                    CU(cuMemPrefetchAsync)(memory_, kBytes, location(CU_MEM_LOCATION_TYPE_DEVICE, 4711), 0, nullptr));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_INVALID);
}

TEST_F(Managed, OldFormOfPrefetchNamesDevices) {
  using Prefetch = CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream);
  void* address = nullptr;
  ASSERT_SUCCESS(CU(cuGetProcAddress)("cuMemPrefetchAsync", &address, 8000, 0, nullptr));
  const auto old = reinterpret_cast<Prefetch>(address);
  ASSERT_SUCCESS(old(memory_, kBytes, CU_DEVICE_CPU, nullptr));
  EXPECT_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
}

TEST_F(Managed, SeveralAttributesAtOnce) {
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_READ_MOSTLY, kHost));
  ASSERT_SUCCESS(advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kHost));
  int read_mostly = -77, preferred = -77, prefetched = -77, accessed[2] = {-77, -77};
  void* data[] = {&read_mostly, &preferred, accessed, &prefetched};
  size_t sizes[] = {4, 4, 8, 4};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                                        CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
  ASSERT_SUCCESS(CU(cuMemRangeGetAttributes)(data, sizes, attributes, 4, memory_, kBytes));
  EXPECT_EQ(read_mostly, 1);
  EXPECT_EQ(preferred, CU_DEVICE_CPU);
  EXPECT_EQ(prefetched, CU_DEVICE_INVALID);
  EXPECT_EQ(accessed[0], CU_DEVICE_INVALID);
  EXPECT_EQ(accessed[1], CU_DEVICE_INVALID);
}

TEST_F(Managed, MemoryOfAPoolTakesNoAdvice) {
  const CUmemLocation nowhere = location(CU_MEM_LOCATION_TYPE_NONE);
  CUmemoryPool pool = nullptr;
  if (CU(cuMemGetDefaultMemPool)(&pool, const_cast<CUmemLocation*>(&nowhere), CU_MEM_ALLOCATION_TYPE_MANAGED) !=
      CUDA_SUCCESS)
    GTEST_SKIP() << "no pool of managed memory";
  const TestStream stream;
  CUdeviceptr pooled = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pooled, kBytes, pool, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (const CUmem_advise advice : {CU_MEM_ADVISE_SET_READ_MOSTLY, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                                    CU_MEM_ADVISE_SET_ACCESSED_BY, CU_MEM_ADVISE_UNSET_ACCESSED_BY})
    EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemAdvise)(pooled, kBytes, advice, device())) << advice;
  EXPECT_SUCCESS(CU(cuMemPrefetchAsync)(pooled, kBytes, kHost, 0, stream.get()));
  EXPECT_SUCCESS(CU(cuMemFreeAsync)(pooled, stream.get()));
}

TEST_F(Managed, AttributesHaveTheirSizes) {
  long long value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemRangeGetAttribute)(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory_, kBytes));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemRangeGetAttribute)(&value, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory_, kBytes));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemRangeGetAttribute)(&value, 0, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory_, kBytes));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemRangeGetAttribute)(&value, 4, static_cast<CUmem_range_attribute>(15), memory_, kBytes));
}

TEST_F(Managed, AttributesAreNotForDeviceMemory) {
  const DeviceMemory other(kBytes);
  int value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemRangeGetAttribute)(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, other.get(), kBytes));
}

TEST_F(Managed, AllocatingNeedsFlagsAndASize) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocManaged)(&pointer, 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocManaged)(&pointer, 4096, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocManaged)(&pointer, 4096, CU_MEM_ATTACH_SINGLE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAllocManaged)(nullptr, 4096, CU_MEM_ATTACH_GLOBAL));
}

TEST_F(Managed, AttachingChecksTheMemoryAndTheFlags) {
  const TestStream stream;
  const DeviceMemory other(kBytes);
  EXPECT_SUCCESS(CU(cuStreamAttachMemAsync)(stream.get(), memory_, 0, CU_MEM_ATTACH_SINGLE));
  EXPECT_SUCCESS(CU(cuStreamAttachMemAsync)(stream.get(), memory_, kBytes, CU_MEM_ATTACH_GLOBAL));
  EXPECT_SUCCESS(CU(cuStreamAttachMemAsync)(stream.get(), memory_, 0, CU_MEM_ATTACH_HOST));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamAttachMemAsync)(stream.get(), memory_, 0, 99));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuStreamAttachMemAsync)(stream.get(), memory_, kPage, CU_MEM_ATTACH_GLOBAL))
      << "only as a whole";
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuStreamAttachMemAsync)(stream.get(), other.get(), 0, CU_MEM_ATTACH_GLOBAL));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamAttachMemAsync)(nullptr, memory_, 0, CU_MEM_ATTACH_SINGLE));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

class ManagedBatch : public Managed {
 protected:
  void SetUp() override {
    Managed::SetUp();
    if (IsSkipped()) return;
    int version = 0;
    ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
    if (version < 13000) GTEST_SKIP() << "the driver is older than CUDA 13";
    ASSERT_SUCCESS(CU(cuMemAllocManaged)(&pointers_[0], kBytes, CU_MEM_ATTACH_GLOBAL));
    ASSERT_SUCCESS(CU(cuMemAllocManaged)(&pointers_[1], kBytes, CU_MEM_ATTACH_GLOBAL));
    pointers_[2] = memory_;
  }
  void TearDown() override {
    CU(cuMemFree)(pointers_[0]);
    CU(cuMemFree)(pointers_[1]);
    Managed::TearDown();
  }
  int last_prefetch(int which) {
    int value = -77;
    EXPECT_SUCCESS(
        CU(cuMemRangeGetAttribute)(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, pointers_[which], kBytes));
    return value;
  }
  CUresult prefetch(std::vector<CUmemLocation> locations, std::vector<size_t> starts, CUstream stream,
                    unsigned long long flags = 0) {
    return CU(cuMemPrefetchBatchAsync)(pointers_, sizes_, 3, locations.data(), starts.data(), locations.size(), flags,
                                       stream);
  }

  CUdeviceptr pointers_[3] = {};
  size_t sizes_[3] = {kBytes, kBytes, kBytes};
};

TEST_F(ManagedBatch, PrefetchesToALocationForAll) {
  const TestStream stream;
  ASSERT_SUCCESS(prefetch({device()}, {0}, stream.get()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(last_prefetch(i), device_);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(ManagedBatch, PrefetchesRunsToTheirLocations) {
  const TestStream stream;
  ASSERT_SUCCESS(prefetch({kHost, device()}, {0, 2}, stream.get()));
  EXPECT_EQ(last_prefetch(0), CU_DEVICE_CPU);
  EXPECT_EQ(last_prefetch(1), CU_DEVICE_CPU);
  EXPECT_EQ(last_prefetch(2), device_);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(ManagedBatch, RunsOfLocationsHaveToCoverTheBatchInOrder) {
  const TestStream stream;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({kHost}, {1}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({kHost, kHost}, {0, 3}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({}, {}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({kHost}, {0}, stream.get(), 1));
}

TEST_F(ManagedBatch, RunsOfLocationsMayBeEmpty) {
  const TestStream stream;
  EXPECT_SUCCESS(prefetch({kHost, kHost}, {0, 0}, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(ManagedBatch, TheLegacyDefaultStreamTakesNone) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({kHost}, {0}, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({kHost}, {0}, CU_STREAM_LEGACY));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemDiscardBatchAsync)(pointers_, sizes_, 3, 0, nullptr));
}

TEST_F(ManagedBatch, ThePerThreadDefaultStreamDoes) {
  EXPECT_SUCCESS(prefetch({kHost}, {0}, CU_STREAM_PER_THREAD));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD));
}

TEST_F(ManagedBatch, RangesBeforeABadOneArePrefetched) {
  const TestStream stream;
  const DeviceMemory other(kBytes);
  const CUdeviceptr good = std::exchange(pointers_[1], other.get());
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, prefetch({device()}, {0}, stream.get()));
  EXPECT_EQ(last_prefetch(0), device_);
  pointers_[1] = good;
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(ManagedBatch, DiscardedMemoryCanBeWrittenAgain) {
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointers_[0], 1, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemDiscardBatchAsync)(pointers_, sizes_, 3, 0, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointers_[0], 7, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(reinterpret_cast<int*>(pointers_[0])[kBytes / 4 - 1], 7);
}

TEST_F(ManagedBatch, DiscardLeavesNeighboursAlone) {
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemsetD8Async)(pointers_[0], 5, kBytes, stream.get()));
  CUdeviceptr inside = pointers_[0] + 100;
  size_t bytes = 2 * kPage;
  ASSERT_SUCCESS(CU(cuMemDiscardBatchAsync)(&inside, &bytes, 1, 0, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  const auto* values = reinterpret_cast<unsigned char*>(pointers_[0]);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(values[i], 5);
  for (std::size_t i = 100 + bytes; i < kBytes; ++i) ASSERT_EQ(values[i], 5);
}

TEST_F(ManagedBatch, DiscardTakesItsTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  ASSERT_SUCCESS(CU(cuMemsetD8Async)(pointers_[0], 5, kBytes, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuMemDiscardBatchAsync)(pointers_, sizes_, 1, 0, stream.get()));
  EXPECT_EQ(*reinterpret_cast<unsigned char*>(pointers_[0]), 5);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  gate.open();
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(ManagedBatch, DiscardRefusesBadRequests) {
  const TestStream stream;
  const DeviceMemory other(kBytes);
  CUdeviceptr wrong = other.get();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemDiscardBatchAsync)(pointers_, sizes_, 0, 0, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemDiscardBatchAsync)(pointers_, sizes_, 3, 1, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemDiscardBatchAsync)(&wrong, sizes_, 1, 0, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemDiscardBatchAsync)(nullptr, sizes_, 1, 0, stream.get()));
}

TEST_F(ManagedBatch, DiscardAndPrefetchInOne) {
  const TestStream stream;
  CUmemLocation to = device();
  size_t start = 0;
  ASSERT_SUCCESS(CU(cuMemDiscardAndPrefetchBatchAsync)(pointers_, sizes_, 3, &to, &start, 1, 0, stream.get()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(last_prefetch(i), device_);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointers_[2], 3, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(*reinterpret_cast<int*>(pointers_[2]), 3);
  to = location(CU_MEM_LOCATION_TYPE_DEVICE, 4711);
  EXPECT_NE(CU(cuMemDiscardAndPrefetchBatchAsync)(pointers_, sizes_, 3, &to, &start, 1, 0, stream.get()), CUDA_SUCCESS);
}

}  // namespace
}  // namespace conformance
