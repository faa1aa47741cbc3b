// Reserving addresses and creating memory.
#include "conformance/virtual_memory.hpp"

#include <bit>
#include <vector>

namespace conformance {
namespace {

using AddressRange = VirtualMemoryTest;
using PhysicalMemory = VirtualMemoryTest;

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

}  // namespace
}  // namespace conformance
