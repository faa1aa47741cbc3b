// Reserving addresses, creating memory, and mapping the one to the other.
#include "conformance/virtual_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "conformance/kernels.hpp"

namespace conformance {
namespace {

using AddressRange = VirtualMemoryTest;
using PhysicalMemory = VirtualMemoryTest;
using Mapping = VirtualMemoryTest;
using MappingAccess = VirtualMemoryTest;

std::vector<int> read(CUdeviceptr pointer, std::size_t count) {
  std::vector<int> values(count);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), pointer, count * sizeof(int)));
  return values;
}

// Done when it returns: a mapping must not change while the device works on it.
void fill(CUdeviceptr pointer, int value, std::size_t count) {
  EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, static_cast<unsigned>(value), count));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_SUCCESS(CU(cuMemGetInfo)(&free, &total));
  return free;
}

bool supports(CUdevice_attribute attribute) {
  int value = 0;
  EXPECT_SUCCESS(CU(cuDeviceGetAttribute)(&value, attribute, 0));
  return value != 0;
}

// ---- Addresses

TEST_F(AddressRange, IsAlignedToTheGranularity) {
  const ReservedRange range(bytes_);
  EXPECT_NE(range.get(), 0u);
  EXPECT_EQ(range.get() % bytes_, 0u);
}

TEST_F(AddressRange, IsAlignedAsAskedFor) {
  const std::size_t alignment = 16 * bytes_;
  const ReservedRange first(bytes_), range(bytes_, alignment);
  EXPECT_EQ(range.get() % alignment, 0u);
}

TEST_F(AddressRange, TakesAddressesThatAreFreeAsAHint) {
  CUdeviceptr freed = 0;
  ASSERT_SUCCESS(CU(cuMemAddressReserve)(&freed, 4 * bytes_, 0, 0, 0));
  ASSERT_SUCCESS(CU(cuMemAddressFree)(freed, 4 * bytes_));
  const ReservedRange range(bytes_, 0, freed + bytes_);
  EXPECT_EQ(range.get(), freed + bytes_);
}

TEST_F(AddressRange, GoesElsewhereWhenTheHintIsTaken) {
  const ReservedRange range(bytes_), other(bytes_, 0, range.get());
  EXPECT_NE(other.get(), 0u);
  EXPECT_NE(other.get(), range.get());
}

TEST_F(AddressRange, DoesNotOverlapOthers) {
  const ReservedRange first(4 * bytes_), second(4 * bytes_);
  const auto [low, high] = std::minmax({first.get(), second.get()});
  EXPECT_LE(low + 4 * bytes_, high);
}

TEST_F(AddressRange, CostsNoMemory) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  const std::size_t before = free_memory();
  const ReservedRange range(std::size_t{1} << 35);
  EXPECT_EQ(free_memory(), before);
}

TEST_F(AddressRange, RefusesWhatIsNoRange) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressReserve)(nullptr, bytes_, 0, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressReserve)(&pointer, 0, 0, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressReserve)(&pointer, bytes_ + 1, 0, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressReserve)(&pointer, bytes_, 3 * bytes_, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressReserve)(&pointer, bytes_, 0, 0, 1));
}

TEST_F(AddressRange, MoreThanThereIsIsRefused) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAddressReserve)(&pointer, std::size_t{1} << 60, 0, 0, 0));
}

TEST_F(AddressRange, IsGivenBackAsAWhole) {
  const ReservedRange range(4 * bytes_);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(range.get(), bytes_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(range.get() + bytes_, 3 * bytes_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(range.get(), 8 * bytes_));
}

TEST_F(AddressRange, IsNotGivenBackTwice) {
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAddressReserve)(&pointer, bytes_, 0, 0, 0));
  ASSERT_SUCCESS(CU(cuMemAddressFree)(pointer, bytes_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(pointer, bytes_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemAddressFree)(0, bytes_));
}

TEST_F(AddressRange, IsNotMemoryForCopiesAndSets) {
  const ReservedRange range(bytes_);
  int value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(range.get(), &value, sizeof value));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&value, range.get(), sizeof value));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(range.get(), 0, 1));
}

// ---- Memory

TEST_F(PhysicalMemory, GranularityIsAPowerOfTwo) {
  const CUmemAllocationProp properties = memory_properties();
  std::size_t recommended = 0;
  ASSERT_SUCCESS(CU(cuMemGetAllocationGranularity)(&recommended, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  EXPECT_TRUE(std::has_single_bit(bytes_));
  EXPECT_EQ(recommended % bytes_, 0u);
  EXPECT_EQ(bytes_, std::size_t{2} << 20);
}

TEST_F(PhysicalMemory, GranularityChecksItsArguments) {
  const CUmemAllocationProp properties = memory_properties();
  std::size_t bytes = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemGetAllocationGranularity)(nullptr, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemGetAllocationGranularity)(&bytes, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

TEST_F(PhysicalMemory, GranularityIsKnownAlsoForMemoryThatCantBe) {
  CUmemAllocationProp properties = memory_properties();
  properties.location.id = 7000;
  EXPECT_EQ(granularity(properties), bytes_);
  properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 7000};
  EXPECT_EQ(granularity(properties), bytes_);
  properties.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_EQ(granularity(properties), bytes_);
}

TEST_F(PhysicalMemory, IsCountedWhenItIsCreated) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  const std::size_t before = free_memory();
  {
    const CreatedMemory memory(8 * bytes_);
    EXPECT_LE(free_memory() + 8 * bytes_, before);
  }
  EXPECT_EQ(free_memory(), before);
}

TEST_F(PhysicalMemory, MoreThanTheDeviceHasIsRefused) {
  const CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemCreate)(&handle, std::size_t{1} << 50, &properties, 0));
}

TEST_F(PhysicalMemory, SizeIsAMultipleOfTheGranularity) {
  const CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, 0, &properties, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_ / 2, &properties, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_ + 1, &properties, 0));
}

TEST_F(PhysicalMemory, CreatingChecksItsArguments) {
  CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(nullptr, bytes_, &properties, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_, nullptr, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_, &properties, 1));
  properties.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_, &properties, 0));
}

TEST_F(PhysicalMemory, NeedsADeviceThatIsThere) {
  CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  properties.location.id = 1000;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, CU(cuMemCreate)(&handle, bytes_, &properties, 0));
}

TEST_F(PhysicalMemory, TellsItsProperties) {
  const CreatedMemory memory(bytes_, memory_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CUmemAllocationProp properties{};
  ASSERT_SUCCESS(CU(cuMemGetAllocationPropertiesFromHandle)(&properties, memory.get()));
  EXPECT_EQ(properties.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(properties.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(properties.location.id, device_);
  EXPECT_EQ(properties.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST_F(PhysicalMemory, HandlesDiffer) {
  const CreatedMemory first(bytes_), second(bytes_);
  EXPECT_NE(first.get(), second.get());
}

TEST_F(PhysicalMemory, ReleasedHandleIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  CreatedMemory memory(bytes_);
  const CUmemGenericAllocationHandle handle = memory.get();
  memory.release();
  CUmemAllocationProp properties{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemGetAllocationPropertiesFromHandle)(&properties, handle));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(handle));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemRelease)(12345));
}

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

TEST_F(PhysicalMemory, OfTheHostCantBeShared) {
  if (!supports(CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
    GTEST_SKIP() << "no virtual memory management for the host";
  const CUmemAllocationProp properties =
      memory_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_LOCATION_TYPE_HOST);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_, &properties, 0));
}

TEST_F(PhysicalMemory, OfTheCurrentNumaNodeIsRefused) {
  const CUmemAllocationProp properties =
      memory_properties(CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemCreate)(&handle, bytes_, &properties, 0));
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

// What may leave a context unusable is tried in a process of its own: a driver may refuse it at once, or find it while
// the work is done.
class Faulting : public VirtualMemoryTest {
 protected:
  void TearDown() override {}

  static void expect_refused(CUresult result) {
    if (result == CUDA_SUCCESS) result = CU(cuCtxSynchronize)();
    EXPECT_TRUE(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_ILLEGAL_ADDRESS) << name_of(result);
  }
  void store_to(CUdeviceptr pointer) {
    CUmodule module = nullptr;
    CUfunction store = nullptr;
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
    ASSERT_SUCCESS(CU(cuModuleGetFunction)(&store, module, "store_to"));
    ASSERT_SUCCESS(launch(store, 1, 1, nullptr, pointer));
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr base = 0;
    EXPECT_SUCCESS(CU(cuMemAddressReserve)(&base, bytes, 0, 0, 0));
    return base;
  }
  CUdeviceptr mapped(CUmemAccess_flags flags) {
    const CUmemAllocationProp properties = memory_properties();
    CUmemGenericAllocationHandle handle = 0;
    const CUdeviceptr base = reserve(bytes_);
    EXPECT_SUCCESS(CU(cuMemCreate)(&handle, bytes_, &properties, 0));
    EXPECT_SUCCESS(CU(cuMemMap)(base, bytes_, 0, handle, 0));
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      EXPECT_SUCCESS(set_access(base, bytes_, flags));
    }
    return base;
  }
};

TEST_F(Faulting, DISABLED_StoresToReservedAddresses) { store_to(reserve(bytes_)); }
TEST(VirtualMemoryFaults, KernelCantUseReservedAddresses) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToReservedAddresses"), 0);
}

TEST_F(Faulting, DISABLED_StoresWithoutAccess) { store_to(mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE)); }
TEST(VirtualMemoryFaults, KernelNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_StoresToReadOnlyMemory) { store_to(mapped(CU_MEM_ACCESS_FLAGS_PROT_READ)); }
TEST(VirtualMemoryFaults, KernelCantWriteReadOnlyMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToReadOnlyMemory"), 0);
}

TEST_F(Faulting, DISABLED_StoresToUnmappedMemory) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  fill(base, 1, 10);
  ASSERT_SUCCESS(CU(cuMemUnmap)(base, bytes_));
  store_to(base);
}
TEST(VirtualMemoryFaults, KernelCantUseUnmappedMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresToUnmappedMemory"), 0);
}

TEST_F(Faulting, DISABLED_StoresBehindTheMapping) {
  const CUmemAllocationProp properties = memory_properties();
  CUmemGenericAllocationHandle handle = 0;
  const CUdeviceptr base = reserve(2 * bytes_);
  ASSERT_SUCCESS(CU(cuMemCreate)(&handle, bytes_, &properties, 0));
  ASSERT_SUCCESS(CU(cuMemMap)(base, bytes_, 0, handle, 0));
  ASSERT_SUCCESS(set_access(base, bytes_, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  store_to(base + bytes_);
}
TEST(VirtualMemoryFaults, KernelCantUseWhatIsBehindAMapping) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresBehindTheMapping"), 0);
}

TEST_F(Faulting, DISABLED_StoresAfterAccessWasTaken) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  fill(base, 1, 10);
  ASSERT_SUCCESS(set_access(base, bytes_, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  store_to(base);
}
TEST(VirtualMemoryFaults, AccessCanBeTakenAway) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_StoresAfterAccessWasTaken"), 0);
}

TEST_F(Faulting, DISABLED_CopiesWithoutAccess) {
  int value = 0;
  expect_refused(CU(cuMemcpyDtoH)(&value, mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE), sizeof value));
}
TEST(VirtualMemoryFaults, CopyNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_CopiesWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_SetsWithoutAccess) {
  expect_refused(CU(cuMemsetD32)(mapped(CU_MEM_ACCESS_FLAGS_PROT_NONE), 1, 10));
}
TEST(VirtualMemoryFaults, SetNeedsAccess) { EXPECT_EQ(run_in_child("Faulting.DISABLED_SetsWithoutAccess"), 0); }

TEST_F(Faulting, DISABLED_WritesReadOnlyMemory) {
  const int value = 0;
  expect_refused(CU(cuMemcpyHtoD)(mapped(CU_MEM_ACCESS_FLAGS_PROT_READ), &value, sizeof value));
}
TEST(VirtualMemoryFaults, CopyCantWriteReadOnlyMemory) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_WritesReadOnlyMemory"), 0);
}

TEST_F(Faulting, DISABLED_CopiesPastTheMapping) {
  const CUdeviceptr base = mapped(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  std::vector<char> values(8);
  expect_refused(CU(cuMemcpyDtoH)(values.data(), base + bytes_ - 4, 8));
}
TEST(VirtualMemoryFaults, CopyCantGoPastAMapping) {
  EXPECT_EQ(run_in_child("Faulting.DISABLED_CopiesPastTheMapping"), 0);
}

// ---- With several devices, which softgpu has as many of as it is told.

TEST(WithDevices, DISABLED_CountMemoryEachForItself) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUmemAllocationProp properties = memory_properties();
  properties.location.id = 2;
  CUmemGenericAllocationHandle handle = 0, more = 0;
  const std::size_t bytes = std::size_t{40} << 20;
  ASSERT_SUCCESS(CU(cuMemCreate)(&handle, bytes, &properties, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemCreate)(&more, bytes, &properties, 0));
  properties.location.id = 1;
  EXPECT_SUCCESS(CU(cuMemCreate)(&more, bytes, &properties, 0));
  properties.location.id = 2;
  EXPECT_SUCCESS(CU(cuMemRelease)(handle));
  EXPECT_SUCCESS(CU(cuMemCreate)(&handle, bytes, &properties, 0));
}
TEST(VirtualMemoryDevices, CountMemoryEachForItself) {
  if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  EXPECT_EQ(run_in_child("WithDevices.DISABLED_CountMemoryEachForItself", {"SOFTGPU_DEVICES=3", "SOFTGPU_MEMORY=64M"}),
            0);
}

TEST(WithDevices, DISABLED_HaveRightsOfTheirOwn) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  const std::size_t bytes = granularity();
  const VirtualBlock block(bytes);
  CUmemAccessDesc access[2] = {access_for(CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
                               access_for(CU_MEM_ACCESS_FLAGS_PROT_READ)};
  access[1].location.id = 1;
  ASSERT_SUCCESS(CU(cuMemSetAccess)(block.get(), bytes, access, 2));
  const CUmemAccess_flags expected[3] = {CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CU_MEM_ACCESS_FLAGS_PROT_READ,
                                         CU_MEM_ACCESS_FLAGS_PROT_NONE};
  for (int i = 0; i < 3; ++i) {
    const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, i};
    unsigned long long flags = 99;
    ASSERT_SUCCESS(CU(cuMemGetAccess)(&flags, &location, block.get()));
    EXPECT_EQ(flags, expected[i]) << "device " << i;
  }
}
TEST(VirtualMemoryDevices, HaveRightsOfTheirOwn) {
  if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  EXPECT_EQ(run_in_child("WithDevices.DISABLED_HaveRightsOfTheirOwn", {"SOFTGPU_DEVICES=3"}), 0);
}

}  // namespace
}  // namespace conformance
