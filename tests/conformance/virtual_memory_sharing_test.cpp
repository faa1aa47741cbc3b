// Created memory between processes: exported as a file descriptor, imported and mapped by the child.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "conformance/child.hpp"
#include "conformance/kernels.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {
namespace {

constexpr auto kDescriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr int kCount = 1000;

class MemorySharing : public VirtualMemoryTest {
 protected:
  void SetUp() override {
    VirtualMemoryTest::SetUp();
    if (IsSkipped()) return;
    int supported = 0;
    ASSERT_SUCCESS(
        CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
    if (supported == 0) GTEST_SKIP() << "the device's memory can't be shared by file descriptor";
  }
};

int exported(const CreatedMemory& memory) {
  int descriptor = -1;
  EXPECT_SUCCESS(CU(cuMemExportToShareableHandle)(&descriptor, memory.get(), kDescriptor, 0));
  return descriptor;
}

void send(Channel& channel, const CreatedMemory& memory) {
  const int descriptor = exported(memory);
  channel.send_descriptor(descriptor);
  close(descriptor);
}

CUresult try_import(CUmemGenericAllocationHandle* handle, int descriptor,
                    CUmemAllocationHandleType type = kDescriptor) {
  return CU(cuMemImportFromShareableHandle)(handle, reinterpret_cast<void*>(std::intptr_t{descriptor}), type);
}

CUmemGenericAllocationHandle imported(int descriptor) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_SUCCESS(try_import(&handle, descriptor));
  close(descriptor);
  return handle;
}

void put(CUdeviceptr pointer, int value) {
  EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, static_cast<unsigned>(value), kCount));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
}

void expect_values(CUdeviceptr pointer, int value) {
  std::vector<int> values(kCount);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), pointer, kCount * sizeof(int)));
  EXPECT_EQ(values, std::vector<int>(kCount, value));
}

// The child adds 1 to each value of the memory that it is sent.
TEST_F(ChildProcess, DISABLED_IncrementsSharedMemory) {
  const CreatedMemory memory(imported(parent().receive_descriptor()));
  const std::size_t bytes = granularity();
  const ReservedRange range(bytes);
  const MappedRange mapped(range.get(), bytes, memory);
  const TestModule module(kKernels);
  EXPECT_SUCCESS(launch(module.function("increment"), 8, 128, nullptr, mapped.get(), kCount));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(MemorySharing, BothProcessesUseTheSameMemory) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  put(mapped.get(), 4);
  Child child("ChildProcess.DISABLED_IncrementsSharedMemory");
  send(child.channel(), memory);
  EXPECT_EQ(child.wait(), 0);
  expect_values(mapped.get(), 5);
}

TEST_F(MemorySharing, SeveralProcessesUseTheSameMemory) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  put(mapped.get(), 0);
  for (int i = 0; i < 3; ++i) {
    Child child("ChildProcess.DISABLED_IncrementsSharedMemory");
    send(child.channel(), memory);
    EXPECT_EQ(child.wait(), 0);
  }
  expect_values(mapped.get(), 3);
}

TEST_F(ChildProcess, DISABLED_LooksAtSharedMemory) {
  const CreatedMemory memory(imported(parent().receive_descriptor()));
  CUmemAllocationProp properties{};
  ASSERT_SUCCESS(CU(cuMemGetAllocationPropertiesFromHandle)(&properties, memory.get()));
  EXPECT_EQ(properties.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(properties.location.id, 0);
  EXPECT_EQ(properties.requestedHandleTypes, CU_MEM_HANDLE_TYPE_NONE) << "those are its creator's";
}
TEST_F(MemorySharing, PropertiesComeWithTheMemory) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  Child child("ChildProcess.DISABLED_LooksAtSharedMemory");
  send(child.channel(), memory);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(ChildProcess, DISABLED_CreatesSharesAndDies) {
  const std::size_t bytes = granularity();
  const CreatedMemory memory(bytes, memory_properties(kDescriptor));
  const ReservedRange range(bytes);
  const MappedRange mapped(range.get(), bytes, memory);
  put(mapped.get(), 21);
  send(parent(), memory);
  parent().await();
}
TEST_F(MemorySharing, MemoryOutlivesItsCreator) {
  Child child("ChildProcess.DISABLED_CreatesSharesAndDies");
  const CreatedMemory memory(imported(child.channel().receive_descriptor()));
  child.kill();
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  expect_values(mapped.get(), 21);
}

TEST_F(MemorySharing, DescriptorKeepsTheMemory) {
  int descriptor = -1;
  {
    const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
    const ReservedRange range(bytes_);
    const MappedRange mapped(range.get(), bytes_, memory);
    put(mapped.get(), 6);
    descriptor = exported(memory);
  }
  const CreatedMemory memory(imported(descriptor));
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  expect_values(mapped.get(), 6);
}

TEST_F(MemorySharing, OwnMemoryCanBeImported) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const CreatedMemory again(imported(exported(memory)));
  const ReservedRange first(bytes_), second(bytes_);
  const MappedRange here(first.get(), bytes_, memory), there(second.get(), bytes_, again);
  put(here.get(), 3);
  expect_values(there.get(), 3);
}

TEST_F(MemorySharing, OwnMemoryIsCountedOnce) {
  if (!is_softgpu()) GTEST_SKIP() << "other processes change how much memory a GPU has free";
  std::size_t before = 0, after = 0, total = 0;
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&before, &total));
  const CreatedMemory again(imported(exported(memory)));
  ASSERT_SUCCESS(CU(cuMemGetInfo)(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(MemorySharing, ImportIsReleasedForItself) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  {
    const CreatedMemory again(imported(exported(memory)));
  }
  const ReservedRange range(bytes_);
  const MappedRange mapped(range.get(), bytes_, memory);
  put(mapped.get(), 2);
  expect_values(mapped.get(), 2);
}

TEST_F(MemorySharing, EveryExportIsADescriptorOfItsOwn) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const int first = exported(memory), second = exported(memory);
  EXPECT_NE(first, second);
  EXPECT_EQ(close(first), 0);
  EXPECT_EQ(close(second), 0);
}

TEST_F(MemorySharing, MemoryThatWasNotCreatedForItIsNotExported) {
  const CreatedMemory memory(bytes_);
  int descriptor = -1;
  EXPECT_FALSE(succeeded(CU(cuMemExportToShareableHandle)(&descriptor, memory.get(), kDescriptor, 0)));
}

TEST_F(MemorySharing, ExportingChecksItsArguments) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  int descriptor = -1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemExportToShareableHandle)(nullptr, memory.get(), kDescriptor, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemExportToShareableHandle)(&descriptor, memory.get(), kDescriptor, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemExportToShareableHandle)(&descriptor, memory.get(), CU_MEM_HANDLE_TYPE_NONE, 0));
}

TEST_F(MemorySharing, ImportingChecksItsArguments) {
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const int descriptor = exported(memory);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(nullptr, descriptor));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_import(&handle, descriptor, CU_MEM_HANDLE_TYPE_NONE));
  close(descriptor);
}

TEST_F(MemorySharing, DescriptorsOfOtherFilesAreRefused) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const int other = memfd_create("something else", MFD_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_EQ(ftruncate(other, 1 << 22), 0);
  for (const int descriptor : {-1, 1 << 20, ends[0], ends[1], other, null}) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_FALSE(succeeded(try_import(&handle, descriptor))) << descriptor;
  }
  for (const int descriptor : {ends[0], ends[1], other, null}) close(descriptor);
}

TEST_F(MemorySharing, PoolsAndMemoryAreNotTakenForEachOther) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver does not promise to notice";
  const CreatedMemory memory(bytes_, memory_properties(kDescriptor));
  const int descriptor = exported(memory);
  CUmemoryPool pool = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemPoolImportFromShareableHandle)(&pool, reinterpret_cast<void*>(std::intptr_t{descriptor}),
                                                           kDescriptor, 0));
  close(descriptor);
}

}  // namespace
}  // namespace conformance
