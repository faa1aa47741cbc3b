// Mapping memory to addresses, and who may access it there.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "conformance/kernels.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {
namespace {

using Mapping = VirtualMemoryTest;
using MappingAccess = VirtualMemoryTest;

// ---- Mappings

TEST_F(Mapping, IsMemoryLikeAnyOther) {
  const VirtualBlock block(bytes_);
  const TestModule module(kKernels);
  const std::size_t count = bytes_ / sizeof(int);
  fill(block.get(), 4, count);
  ASSERT_SUCCESS(launch(module.function("increment"), static_cast<unsigned>(count / 256), 256, nullptr, block.get(),
                        static_cast<int>(count)));
  EXPECT_EQ(read(block.get(), count), std::vector<int>(count, 5));
}

TEST_F(Mapping, ShowsTheSameMemoryInTwoPlaces) {
  const CreatedMemory memory(bytes_);
  const ReservedRange first(bytes_), second(bytes_);
  const MappedRange here(first.get(), bytes_, memory), there(second.get(), bytes_, memory);
  fill(here.get(), 1, 100);
  EXPECT_EQ(read(there.get(), 100), std::vector<int>(100, 1));
  fill(there.get(), 2, 50);
  EXPECT_EQ(read(here.get(), 50), std::vector<int>(50, 2));
}

TEST_F(Mapping, KeepsItsContentWhenItMoves) {
  const CreatedMemory memory(bytes_);
  const ReservedRange first(bytes_), second(bytes_);
  {
    const MappedRange mapped(first.get(), bytes_, memory);
    fill(mapped.get(), 3, 100);
  }
  const MappedRange mapped(second.get(), bytes_, memory);
  EXPECT_EQ(read(mapped.get(), 100), std::vector<int>(100, 3));
}

TEST_F(Mapping, KeepsMemoryWhoseHandleIsReleased) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  CreatedMemory memory(bytes_);
  const ReservedRange range(bytes_);
  const std::size_t before = free_memory();
  {
    const MappedRange mapped(range.get(), bytes_, memory);
    memory.release();
    fill(mapped.get(), 6, 100);
    EXPECT_EQ(read(mapped.get(), 100), std::vector<int>(100, 6));
    EXPECT_EQ(free_memory(), before);
  }
  EXPECT_GE(free_memory(), before + bytes_) << "freed with the last mapping";
}

TEST_F(Mapping, IsUsableAfterItsHandleIsReleased) {
  CreatedMemory memory(bytes_);
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  memory.release();
  fill(mapped.get(), 6, 100);
  EXPECT_EQ(read(mapped.get(), 100), std::vector<int>(100, 6));
}

TEST_F(Mapping, MemoryStaysWhileItsHandleIsHeld) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  const CreatedMemory memory(bytes_);
  const ReservedRange range(bytes_);
  const std::size_t before = free_memory();
  {
    const MappedRange mapped(range.get(), bytes_, memory);
  }
  EXPECT_EQ(free_memory(), before);
}

TEST_F(Mapping, JoinsMemoriesThatFollowEachOther) {
  const ReservedRange range(2 * bytes_);
  const CreatedMemory low(bytes_), high(bytes_);
  const MappedRange first(range.get(), bytes_, low), second(range.get() + bytes_, bytes_, high);
  const std::size_t count = 2 * bytes_ / sizeof(int);
  fill(range.get(), 8, count);
  EXPECT_EQ(read(range.get(), count), std::vector<int>(count, 8));
}

TEST_F(Mapping, GrowsBehindItself) {
  CUdeviceptr freed = 0;  // so that there is room behind the first
  ASSERT_SUCCESS(CU(cuMemAddressReserve)(&freed, 2 * bytes_, 0, 0, 0));
  ASSERT_SUCCESS(CU(cuMemAddressFree)(freed, 2 * bytes_));
  const ReservedRange range(bytes_, 0, freed), more(bytes_, 0, freed + bytes_);
  if (more.get() != range.get() + bytes_) GTEST_SKIP() << "the addresses behind the range are not free";
  const CreatedMemory low(bytes_), high(bytes_);
  const MappedRange first(range.get(), bytes_, low);
  fill(first.get(), 1, 1);
  const MappedRange second(more.get(), bytes_, high);
  const std::size_t count = 2 * bytes_ / sizeof(int);
  EXPECT_EQ(read(range.get(), 1).front(), 1);
  fill(range.get(), 9, count);
  EXPECT_EQ(read(range.get(), count), std::vector<int>(count, 9));
}

TEST_F(Mapping, MayTakeAPartOfTheRange) {
  const ReservedRange range(4 * bytes_);
  const CreatedMemory memory(bytes_);
  const MappedRange mapped(range.get() + 2 * bytes_, bytes_, memory);
  fill(mapped.get(), 5, 10);
  EXPECT_EQ(read(mapped.get(), 10), std::vector<int>(10, 5));
  EXPECT_FALSE(succeeded(CU(cuMemsetD32)(range.get(), 0, 10)));
}

TEST_F(Mapping, NeedsReservedAddresses) {
  const CreatedMemory memory(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(0, bytes_, 0, memory.get(), 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(0x10000, bytes_, 0, memory.get(), 0));
}

TEST_F(Mapping, EndsWithTheReservedAddresses) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver maps beyond them, to addresses that nobody has";
  const CreatedMemory memory(4 * bytes_);
  const ReservedRange range(2 * bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(range.get(), 4 * bytes_, 0, memory.get(), 0));
}

TEST_F(Mapping, NeedsAddressesThatAreFree) {
  const VirtualBlock block(bytes_);
  const CreatedMemory memory(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(block.get(), bytes_, 0, memory.get(), 0));
}

TEST_F(Mapping, NeedsMultiplesOfTheGranularity) {
  const ReservedRange range(4 * bytes_);
  const CreatedMemory memory(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(range.get(), 0, 0, memory.get(), 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemMap)(range.get(), bytes_ / 2, 0, memory.get(), 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(range.get() + 4096, bytes_, 0, memory.get(), 0));
}

TEST_F(Mapping, IsNotLargerThanTheMemory) {
  const ReservedRange range(4 * bytes_);
  const CreatedMemory memory(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemMap)(range.get(), 2 * bytes_, 0, memory.get(), 0));
}

TEST_F(Mapping, RefusesFlags) {
  const ReservedRange range(bytes_);
  const CreatedMemory memory(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(range.get(), bytes_, 0, memory.get(), 1));
}

TEST_F(Mapping, StartsAtTheBeginningOfTheMemory) {
  const ReservedRange range(bytes_);
  const CreatedMemory memory(2 * bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemMap)(range.get(), bytes_, bytes_, memory.get(), 0));
}

TEST_F(Mapping, IsUnmappedAsAWhole) {
  const VirtualBlock block(4 * bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemUnmap)(block.get(), bytes_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemUnmap)(block.get() + bytes_, 3 * bytes_));
  fill(block.get(), 1, 4 * bytes_ / sizeof(int));
}

TEST_F(Mapping, NeighboursAreUnmappedTogether) {
  const ReservedRange range(2 * bytes_);
  const CreatedMemory low(bytes_), high(bytes_);
  ASSERT_SUCCESS(CU(cuMemMap)(range.get(), bytes_, 0, low.get(), 0));
  ASSERT_SUCCESS(CU(cuMemMap)(range.get() + bytes_, bytes_, 0, high.get(), 0));
  EXPECT_SUCCESS(CU(cuMemUnmap)(range.get(), 2 * bytes_));
}

TEST_F(Mapping, UnmappingWhatIsNotMappedChangesNothing) {
  const ReservedRange range(2 * bytes_);
  const CreatedMemory memory(bytes_);
  EXPECT_SUCCESS(CU(cuMemUnmap)(range.get(), bytes_));
  const MappedRange mapped(range.get(), bytes_, memory);
  EXPECT_SUCCESS(CU(cuMemUnmap)(range.get() + bytes_, bytes_));
  fill(mapped.get(), 5, 10);
  EXPECT_EQ(read(mapped.get(), 10), std::vector<int>(10, 5));
}

TEST_F(Mapping, OtherMemoryIsNotUnmapped) {
  const DeviceMemory other(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemUnmap)(other.get(), bytes_));
}

TEST_F(Mapping, MemoryIsNotFreedByMemFree) {
  const VirtualBlock block(bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(block.get()));
}

TEST_F(Mapping, KeepsItsAddressesReserved) {
  const CreatedMemory memory(bytes_);
  CUdeviceptr base = 0;
  ASSERT_SUCCESS(CU(cuMemAddressReserve)(&base, bytes_, 0, 0, 0));
  {
    const MappedRange mapped(base, bytes_, memory);
    EXPECT_FALSE(succeeded(CU(cuMemAddressFree)(base, bytes_)));
  }
  EXPECT_SUCCESS(CU(cuMemAddressFree)(base, bytes_));
}

TEST_F(Mapping, GivesItsHandleBack) {
  const VirtualBlock block(2 * bytes_);
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_SUCCESS(CU(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(block.get() + bytes_ + 4)));
  EXPECT_EQ(handle, block.handle());
  EXPECT_SUCCESS(CU(cuMemRelease)(handle));
}

TEST_F(Mapping, RetainedHandleKeepsTheMemory) {
  CUmemGenericAllocationHandle handle = 0;
  {
    CreatedMemory memory(bytes_);
    const ReservedRange range(bytes_);
    const MappedRange mapped(range.get(), bytes_, memory);
    fill(mapped.get(), 4, 10);
    ASSERT_SUCCESS(CU(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(mapped.get())));
  }
  const CreatedMemory retained(handle);
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, retained);
  EXPECT_EQ(read(mapped.get(), 10), std::vector<int>(10, 4));
}

TEST_F(Mapping, ReleasedHandleCanBeRetainedAgain) {
  CreatedMemory memory(bytes_);
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  const CUmemGenericAllocationHandle before = memory.get();
  memory.release();
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_SUCCESS(CU(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(mapped.get())));
  EXPECT_EQ(handle, before);
  EXPECT_SUCCESS(CU(cuMemRelease)(handle));
}

TEST_F(Mapping, OtherMemoryHasNoHandle) {
  const DeviceMemory memory(64);
  const ReservedRange range(bytes_);
  CUmemGenericAllocationHandle handle = 0;
  int here = 0;
  EXPECT_FALSE(succeeded(CU(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(memory.get()))));
  EXPECT_FALSE(succeeded(CU(cuMemRetainAllocationHandle)(&handle, reinterpret_cast<void*>(range.get()))));
  EXPECT_FALSE(succeeded(CU(cuMemRetainAllocationHandle)(&handle, &here)));
}

TEST_F(Mapping, PointerAttributesKnowIt) {
  const VirtualBlock block(2 * bytes_);
  unsigned type = 0, mapped = 0;
  int ordinal = -1;
  CUdeviceptr start = 0;
  std::size_t size = 0;
  const CUdeviceptr inside = block.get() + bytes_ + 4;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, inside));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(mapped, 1u);
  EXPECT_EQ(ordinal, device_);
  EXPECT_EQ(start, block.get());
  EXPECT_EQ(size, 2 * bytes_);
}

TEST_F(Mapping, PointerAttributesKnowItsHandleTypes) {
  const CreatedMemory memory(bytes_, memory_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  unsigned long long types = 0;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, mapped.get()));
  EXPECT_EQ(types, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST_F(Mapping, OfTheHostsMemoryIsUsedByBothSides) {
  if (!supports(CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
    GTEST_SKIP() << "no virtual memory management for the host's NUMA nodes";
  const CUmemAllocationProp properties = memory_properties(CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  const std::size_t bytes = granularity(properties);
  const CreatedMemory memory(bytes, properties);
  const ReservedRange range(bytes);
  const MappedRange mapped(range.get(), bytes, memory);
  const CUmemAccessDesc host = access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  ASSERT_SUCCESS(CU(cuMemSetAccess)(mapped.get(), bytes, &host, 1));
  auto* values = reinterpret_cast<int*>(mapped.get());
  for (int i = 0; i < 100; ++i) values[i] = i;
  const TestModule module(kKernels);
  ASSERT_SUCCESS(launch(module.function("increment"), 1, 128, nullptr, mapped.get(), 100));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(values[i], i + 1);
}

// ---- Access

TEST_F(MappingAccess, IsNoneUntilItIsGiven) {
  const VirtualBlock block(bytes_, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(access_of(block.get()), CU_MEM_ACCESS_FLAGS_PROT_NONE);
  ASSERT_SUCCESS(set_access(block.get(), bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(access_of(block.get()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(access_of(block.get() + bytes_ - 1), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(MappingAccess, IsGoneWhenItIsMappedAgain) {
  const CreatedMemory memory(bytes_);
  const ReservedRange range(bytes_);
  {
    const MappedRange mapped(range.get(), bytes_, memory);
  }
  const MappedRange mapped(range.get(), bytes_, memory, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(access_of(mapped.get()), CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_F(MappingAccess, IsEachMappingsOwn) {
  const CreatedMemory memory(bytes_);
  const ReservedRange first(bytes_), second(bytes_);
  const MappedRange here(first.get(), bytes_, memory);
  const MappedRange there(second.get(), bytes_, memory, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_EQ(access_of(here.get()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(access_of(there.get()), CU_MEM_ACCESS_FLAGS_PROT_NONE);
}

TEST_F(MappingAccess, IsGivenToSeveralMappingsAtOnce) {
  const ReservedRange range(2 * bytes_);
  const CreatedMemory low(bytes_), high(bytes_);
  const MappedRange first(range.get(), bytes_, low, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  const MappedRange second(range.get() + bytes_, bytes_, high, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  ASSERT_SUCCESS(set_access(range.get(), 2 * bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(access_of(first.get()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(access_of(second.get()), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(MappingAccess, NeedsMappedMemory) {
  const ReservedRange range(2 * bytes_);
  const CreatedMemory memory(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, set_access(range.get(), 2 * bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    set_access(range.get() + bytes_, bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemGetAccess)(&flags, &location, range.get() + bytes_));
}

TEST_F(MappingAccess, ChecksItsArguments) {
  const VirtualBlock block(bytes_);
  const CUmemAccessDesc access = access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  unsigned long long flags = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemSetAccess)(block.get(), bytes_, nullptr, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemSetAccess)(block.get(), 0, &access, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemGetAccess)(nullptr, &location, block.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemGetAccess)(&flags, nullptr, block.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, set_access(block.get(), bytes_, static_cast<CUmemAccess_flags>(2)));
}

TEST_F(MappingAccess, IsForDevicesThatAreThere) {
  const VirtualBlock block(bytes_);
  CUmemAccessDesc access = access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  access.location.id = 1000;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemSetAccess)(block.get(), bytes_, &access, 1));
}

TEST_F(MappingAccess, OfADevicesMemoryIsNotForTheHost) {
  const VirtualBlock block(bytes_);
  const CUmemAccessDesc access = access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_LOCATION_TYPE_HOST);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemSetAccess)(block.get(), bytes_, &access, 1));
}

TEST_F(MappingAccess, ReadOnlyMemoryIsRead) {
  const CreatedMemory memory(bytes_);
  const ReservedRange writable(bytes_), readable(bytes_);
  const MappedRange here(writable.get(), bytes_, memory);
  ASSERT_SUCCESS(CU(cuMemMap)(readable.get(), bytes_, 0, memory.get(), 0));
  if (const CUresult result = set_access(readable.get(), bytes_, CU_MEM_ACCESS_FLAGS_PROT_READ);
      result == CUDA_ERROR_NOT_SUPPORTED && !is_softgpu()) {
    EXPECT_SUCCESS(CU(cuMemUnmap)(readable.get(), bytes_));
    GTEST_SKIP() << "the driver has no read-only access";
  } else {
    EXPECT_SUCCESS(result);
  }
  fill(here.get(), 7, 100);
  EXPECT_EQ(read(readable.get(), 100), std::vector<int>(100, 7));
  EXPECT_EQ(access_of(readable.get()), CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT_SUCCESS(CU(cuMemUnmap)(readable.get(), bytes_));
}

}  // namespace
}  // namespace conformance
