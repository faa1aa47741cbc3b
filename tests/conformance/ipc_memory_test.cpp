// Memory of cuMemAlloc between processes, by 64-byte handles. In each test the child opens what the test exports.
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/child.hpp"
#include "conformance/kernels.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {
namespace {

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

CUipcMemHandle exported(CUdeviceptr pointer) {
  CUipcMemHandle handle{};
  EXPECT_SUCCESS(CU(cuIpcGetMemHandle)(&handle, pointer));
  return handle;
}

CUresult try_open(CUdeviceptr* pointer, const CUipcMemHandle& handle,
                  unsigned flags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
  return CU(cuIpcOpenMemHandle)(pointer, handle, flags);
}

CUdeviceptr opened(const CUipcMemHandle& handle) {
  CUdeviceptr pointer = 0;
  EXPECT_SUCCESS(try_open(&pointer, handle));
  return pointer;
}

void put(CUdeviceptr pointer, int value) {
  EXPECT_SUCCESS(CU(cuMemsetD32)(pointer, static_cast<unsigned>(value), kCount));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
}

void expect_values(CUdeviceptr pointer, int value) {
  std::vector<int> values(kCount);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), pointer, kBytes));
  EXPECT_EQ(values, std::vector<int>(kCount, value));
}

class MemoryIpc : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    const DeviceMemory memory(64);
    CUipcMemHandle handle{};
    const CUresult result = CU(cuIpcGetMemHandle)(&handle, memory.get());
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NOT_PERMITTED ||
        result == CUDA_ERROR_OPERATING_SYSTEM)
      GTEST_SKIP() << "cuIpcGetMemHandle: " << name_of(result);
    ASSERT_SUCCESS(result);
  }
};

// The child gets memory that holds `before`, does its part and ends, and leaves `after` in it.
void share_with(const char* test, int before, int after) {
  const DeviceMemory memory(kBytes);
  put(memory.get(), before);
  Child child(test);
  child.channel().send(exported(memory.get()));
  EXPECT_EQ(child.wait(), 0);
  expect_values(memory.get(), after);
}

class Opener : public ChildProcess {
 protected:
  void SetUp() override {
    ChildProcess::SetUp();
    handle_ = parent().receive<CUipcMemHandle>();
    memory_ = opened(handle_);
  }
  void TearDown() override {
    if (memory_ != 0) {
      EXPECT_SUCCESS(CU(cuIpcCloseMemHandle)(memory_));
    }
    ChildProcess::TearDown();
  }
  CUipcMemHandle handle_{};
  CUdeviceptr memory_ = 0;
};

TEST_F(Opener, DISABLED_Reads) { expect_values(memory_, 7); }
TEST_F(MemoryIpc, OpenerSeesWhatTheExporterWrote) { share_with("Opener.DISABLED_Reads", 7, 7); }

TEST_F(Opener, DISABLED_Writes) { put(memory_, 8); }
TEST_F(MemoryIpc, ExporterSeesWhatTheOpenerWrote) { share_with("Opener.DISABLED_Writes", 7, 8); }

TEST_F(Opener, DISABLED_LaunchesAKernel) {
  const TestModule module(kKernels);
  EXPECT_SUCCESS(launch(module.function("increment"), 8, 128, nullptr, memory_, kCount));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}
TEST_F(MemoryIpc, KernelsUseOpenedMemory) { share_with("Opener.DISABLED_LaunchesAKernel", 1, 2); }

TEST_F(Opener, DISABLED_OpensTwice) {
  EXPECT_EQ(opened(handle_), memory_);
  EXPECT_SUCCESS(CU(cuIpcCloseMemHandle)(memory_));
  expect_values(memory_, 3);
}
TEST_F(MemoryIpc, OpeningTwiceGivesTheSameMemory) { share_with("Opener.DISABLED_OpensTwice", 3, 3); }

TEST_F(Opener, DISABLED_OpensAgain) {
  EXPECT_SUCCESS(CU(cuIpcCloseMemHandle)(memory_));
  memory_ = opened(handle_);
  expect_values(memory_, 4);
}
TEST_F(MemoryIpc, ClosedMemoryCanBeOpenedAgain) { share_with("Opener.DISABLED_OpensAgain", 4, 4); }

TEST_F(Opener, DISABLED_ClosesTooOften) {
  const CUdeviceptr memory = std::exchange(memory_, 0);
  EXPECT_SUCCESS(CU(cuIpcCloseMemHandle)(memory));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcCloseMemHandle)(memory));
}
TEST_F(MemoryIpc, MemoryIsClosedAsOftenAsItWasOpened) { share_with("Opener.DISABLED_ClosesTooOften", 1, 1); }

TEST_F(Opener, DISABLED_Frees) { EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(memory_)); }
TEST_F(MemoryIpc, OpenedMemoryIsNotFreed) { share_with("Opener.DISABLED_Frees", 1, 1); }

TEST_F(Opener, DISABLED_LooksAtTheMemory) {
  unsigned type = 0;
  int ordinal = -1;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory_));
  EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory_));
  EXPECT_SUCCESS(CU(cuMemGetAddressRange)(&base, &bytes, memory_ + 4));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(base, memory_);
  EXPECT_GE(bytes, kBytes);
}
TEST_F(MemoryIpc, PointerAttributesKnowOpenedMemory) { share_with("Opener.DISABLED_LooksAtTheMemory", 1, 1); }

TEST_F(Opener, DISABLED_TriesOtherFlags) {
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_open(&pointer, handle_, 2));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, try_open(nullptr, handle_));
}
TEST_F(MemoryIpc, OpeningChecksItsArguments) { share_with("Opener.DISABLED_TriesOtherFlags", 1, 1); }

TEST_F(Opener, DISABLED_TriesChangedHandles) {
  for (std::size_t i = 0; i < sizeof handle_; ++i) {
    CUipcMemHandle changed = handle_;
    changed.reserved[i] = static_cast<char>(changed.reserved[i] ^ 0x40);
    CUdeviceptr pointer = 0;
    EXPECT_FALSE(succeeded(try_open(&pointer, changed))) << "byte " << i;
  }
  expect_values(memory_, 1);
}
TEST_F(MemoryIpc, ChangedHandlesAreRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver does not promise to notice";
  share_with("Opener.DISABLED_TriesChangedHandles", 1, 1);
}

TEST_F(Opener, DISABLED_CopiesToAndFro) {
  const DeviceMemory own(kBytes);
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(own.get(), memory_, kBytes));
  expect_values(own.get(), 5);
  put(own.get(), 6);
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(memory_, own.get(), kBytes));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}
TEST_F(MemoryIpc, OpenedMemoryIsCopiedLikeAnyOther) { share_with("Opener.DISABLED_CopiesToAndFro", 5, 6); }

TEST_F(Opener, DISABLED_ExportsItOn) {
  CUipcMemHandle handle{};
  EXPECT_FALSE(succeeded(CU(cuIpcGetMemHandle)(&handle, memory_)));
}
TEST_F(MemoryIpc, OpenedMemoryIsNotExportedOn) { share_with("Opener.DISABLED_ExportsItOn", 1, 1); }

TEST_F(MemoryIpc, HandleCanBeAskedForOften) {
  const DeviceMemory memory(kBytes);
  const CUipcMemHandle first = exported(memory.get()), second = exported(memory.get());
  EXPECT_EQ(std::memcmp(&first, &second, sizeof first), 0);
}

TEST_F(MemoryIpc, HandlesOfDifferentMemoryDiffer) {
  const DeviceMemory memory(4 << 20), other(4 << 20);
  const CUipcMemHandle first = exported(memory.get()), second = exported(other.get());
  EXPECT_NE(std::memcmp(&first, &second, sizeof first), 0);
}

TEST_F(MemoryIpc, NewMemoryAtTheSameAddressHasANewHandle) {
  CUipcMemHandle handles[2];
  for (CUipcMemHandle& handle : handles) {
    const DeviceMemory memory(4 << 20);
    handle = exported(memory.get());
  }
  EXPECT_NE(std::memcmp(&handles[0], &handles[1], sizeof handles[0]), 0);
}

TEST_F(MemoryIpc, ExportedMemoryKeepsItsContent) {
  const std::size_t count = (std::size_t{3} << 20) / sizeof(int) + 5;
  const DeviceMemory memory(count * sizeof(int));
  std::vector<int> values(count), after(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), values.data(), count * sizeof(int)));
  exported(memory.get());
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(after.data(), memory.get(), count * sizeof(int)));
  EXPECT_EQ(values, after);
}

// Work that goes on in another stream while the memory is exported loses nothing.
TEST_F(MemoryIpc, KernelsMayWriteWhileMemoryIsExported) {
  const TestModule module(kKernels);
  const CUfunction increment = module.function("increment");
  constexpr int kRounds = 20, kLaunches = 10, kElements = 1 << 18;
  for (int round = 0; round < kRounds; ++round) {
    const DeviceMemory memory(kElements * sizeof(int));
    const TestStream stream(CU_STREAM_NON_BLOCKING);
    ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 0, kElements, stream.get()));
    for (int i = 0; i < kLaunches; ++i)
      ASSERT_SUCCESS(launch(increment, kElements / 256, 256, stream.get(), memory.get(), kElements));
    exported(memory.get());
    ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
    std::vector<int> values(kElements);
    ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), kElements * sizeof(int)));
    ASSERT_EQ(values, std::vector<int>(kElements, kLaunches)) << "round " << round;
  }
}

TEST_F(MemoryIpc, OwnHandleIsNotOpened) {
  const DeviceMemory memory(kBytes);
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, try_open(&pointer, exported(memory.get())));
}

TEST_F(MemoryIpc, NonsenseIsNotOpened) {
  CUipcMemHandle handle{};
  CUdeviceptr pointer = 0;
  EXPECT_FALSE(succeeded(try_open(&pointer, handle)));
  std::memset(&handle, 0x5a, sizeof handle);
  EXPECT_FALSE(succeeded(try_open(&pointer, handle)));
}

TEST_F(MemoryIpc, ExportingChecksItsArguments) {
  const DeviceMemory memory(kBytes);
  CUipcMemHandle handle{};
  int here = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(nullptr, memory.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(&handle, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(&handle, reinterpret_cast<CUdeviceptr>(&here)));
}

TEST_F(MemoryIpc, FreedMemoryIsNotExported) {
  CUdeviceptr pointer = 0;
  CUipcMemHandle handle{};
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, std::size_t{8} << 20));
  ASSERT_SUCCESS(CU(cuMemFree)(pointer));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcGetMemHandle)(&handle, pointer));
}

TEST_F(MemoryIpc, HostMemoryIsNotExported) {
  const PinnedMemory<int> memory(16);
  CUipcMemHandle handle{};
  EXPECT_FALSE(succeeded(CU(cuIpcGetMemHandle)(&handle, memory.device())));
}

TEST_F(MemoryIpc, ManagedMemoryIsNotExported) {
  CUdeviceptr pointer = 0;
  CUipcMemHandle handle{};
  ASSERT_SUCCESS(CU(cuMemAllocManaged)(&pointer, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_FALSE(succeeded(CU(cuIpcGetMemHandle)(&handle, pointer)));
  EXPECT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(MemoryIpc, MemoryOfPoolsIsNotExported) {
  CUdeviceptr pointer = 0;
  CUipcMemHandle handle{};
  ASSERT_SUCCESS(CU(cuMemAllocAsync)(&pointer, 4096, nullptr));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
  EXPECT_FALSE(succeeded(CU(cuIpcGetMemHandle)(&handle, pointer)));
  EXPECT_SUCCESS(CU(cuMemFree)(pointer));
}

TEST_F(MemoryIpc, MappedMemoryIsNotExported) {
  const VirtualBlock block(granularity());
  CUipcMemHandle handle{};
  EXPECT_FALSE(succeeded(CU(cuIpcGetMemHandle)(&handle, block.get())));
}

TEST_F(MemoryIpc, WhatWasNotOpenedIsNotClosed) {
  const DeviceMemory memory(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcCloseMemHandle)(memory.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuIpcCloseMemHandle)(0));
}

TEST_F(MemoryIpc, PointerAttributesTellWhatCanBeExported) {
  const DeviceMemory memory(kBytes);
  const PinnedMemory<int> host(16);
  unsigned device_memory = 0, host_memory = 1;
  ASSERT_SUCCESS(
      CU(cuPointerGetAttribute)(&device_memory, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory.get()));
  ASSERT_SUCCESS(
      CU(cuPointerGetAttribute)(&host_memory, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, host.device()));
  EXPECT_EQ(device_memory, 1u);
  EXPECT_EQ(host_memory, 0u);
}

TEST_F(MemoryIpc, SeveralProcessesOpenTheSameMemory) {
  const DeviceMemory memory(kBytes);
  put(memory.get(), 7);
  Child first("Opener.DISABLED_Reads"), second("Opener.DISABLED_Reads");
  first.channel().send(exported(memory.get()));
  second.channel().send(exported(memory.get()));
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

TEST_F(ChildProcess, DISABLED_OpensAndWaitsToBeKilled) {
  const CUdeviceptr memory = opened(parent().receive<CUipcMemHandle>());
  put(memory, 5);
  parent().signal();
  parent().await();
}
TEST_F(MemoryIpc, OpenerThatDiesHarmsNobody) {
  const DeviceMemory memory(kBytes);
  Child child("ChildProcess.DISABLED_OpensAndWaitsToBeKilled");
  child.channel().send(exported(memory.get()));
  child.channel().await();
  child.kill();
  expect_values(memory.get(), 5);
  put(memory.get(), 6);
  expect_values(memory.get(), 6);
}

TEST_F(ChildProcess, DISABLED_ExportsMemoryAndEnds) {
  const DeviceMemory memory(kBytes);
  put(memory.get(), 9);
  parent().send(exported(memory.get()));
  parent().await();
}
TEST_F(MemoryIpc, OpenedMemoryOutlivesTheExporter) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  Child child("ChildProcess.DISABLED_ExportsMemoryAndEnds");
  const CUdeviceptr memory = opened(child.channel().receive<CUipcMemHandle>());
  child.kill();
  expect_values(memory, 9);
  EXPECT_SUCCESS(CU(cuIpcCloseMemHandle)(memory));
}

TEST_F(MemoryIpc, HandleOfAProcessThatIsGoneIsRefused) {
  Child child("ChildProcess.DISABLED_ExportsMemoryAndEnds");
  const auto handle = child.channel().receive<CUipcMemHandle>();
  child.kill();
  CUdeviceptr pointer = 0;
  EXPECT_FALSE(succeeded(try_open(&pointer, handle)));
}

TEST_F(ChildProcess, DISABLED_OpensAfterTheFree) {
  const auto handle = parent().receive<CUipcMemHandle>();
  CUdeviceptr pointer = 0;
  EXPECT_FALSE(succeeded(try_open(&pointer, handle)));
}
TEST_F(MemoryIpc, ReplayedHandleOfFreedMemoryIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "undefined for a GPU's driver";
  Child child("ChildProcess.DISABLED_OpensAfterTheFree");
  CUipcMemHandle handle;
  {
    const DeviceMemory memory(kBytes);
    handle = exported(memory.get());
  }
  const DeviceMemory again(kBytes);
  exported(again.get());  // most likely with the descriptor that the handle names
  child.channel().send(handle);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Opener, DISABLED_ResetsItsContext) {
  memory_ = 0;
  EXPECT_SUCCESS(CU(cuDevicePrimaryCtxReset)(0));
  EXPECT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context_, 0));
  EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
}
TEST_F(MemoryIpc, OpenedMemoryGoesWithItsContext) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver closes it when the process ends";
  share_with("Opener.DISABLED_ResetsItsContext", 2, 2);
}

}  // namespace
}  // namespace conformance
