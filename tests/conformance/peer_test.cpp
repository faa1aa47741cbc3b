// Several devices: copies between them, access to each other's memory, memory of their own. softgpu runs these tests a
// second time with three devices.
#include "conformance/peer.hpp"

#include <memory>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

TEST_F(Peer, CopiesBetweenDevicesNeedNoAccess) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  ASSERT_SUCCESS(CU(cuMemcpy)(a, b, kBytes));
  EXPECT_EQ(first_of(a), 2);
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(a, 5, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyAsync)(b, a, kBytes, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(first_of(b), 5);
  EXPECT_SUCCESS(CU(cuMemFree)(a));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, PeerCopiesNameTheContexts) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  ASSERT_SUCCESS(CU(cuMemcpyPeer)(a, contexts_[0], b, contexts_[1], kBytes));
  EXPECT_EQ(first_of(a), 2);
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(a, 6, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyPeerAsync)(b, contexts_[1], a, contexts_[0], kBytes, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(first_of(b), 6);
  EXPECT_SUCCESS(CU(cuMemFree)(a));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, VolumesAreCopiedBetweenDevices) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 3);
  use(0);
  CUDA_MEMCPY3D_PEER copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = b;
  copy.dstDevice = a;
  copy.srcContext = contexts_[1];
  copy.dstContext = contexts_[0];
  copy.srcPitch = copy.dstPitch = 64;
  copy.srcHeight = copy.dstHeight = 4;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  copy.Depth = 2;
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuMemcpy3DPeerAsync)(&copy, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(first_of(a), 3);
  EXPECT_EQ(first_of(a + 16), 1);
  EXPECT_EQ(first_of(a + 64 * 4), 3);
  EXPECT_SUCCESS(CU(cuMemFree)(a));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, AccessIsEnabledOnceAndDisabledOnce) {
  use(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CU(cuCtxDisablePeerAccess)(contexts_[1]));
  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
  EXPECT_SUCCESS(CU(cuCtxDisablePeerAccess)(contexts_[1]));
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CU(cuCtxDisablePeerAccess)(contexts_[1]));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCtxEnablePeerAccess)(contexts_[1], 1));
}

TEST_F(Peer, WithAccessKernelsUseTheOthersMemory) {
  const CUdeviceptr b = allocate(1, 2);
  use(0);
  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
  const TestModule module(kKernels);
  ASSERT_SUCCESS(launch(module.function("increment"), 1, 32, nullptr, b, 32));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(first_of(b), 3);
  EXPECT_SUCCESS(CU(cuCtxDisablePeerAccess)(contexts_[1]));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, PointersTellWhetherTheCurrentDeviceHasAccess) {
  const CUdeviceptr b = allocate(1, 2);
  use(0);
  unsigned flags = 7;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, b));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE));
  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, b));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
  EXPECT_SUCCESS(CU(cuCtxDisablePeerAccess)(contexts_[1]));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, PointersKnowTheirDevice) {
  const CUdeviceptr b = allocate(1, 2);
  use(0);
  int ordinal = -1;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, b));
  EXPECT_EQ(ordinal, 1);
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, MemoryOfAPoolIsOutOfReachWithoutAccess) {
  CUmemoryPool pool = make_pool(1);
  const CUdeviceptr a = allocate(0, 1);
  use(1);
  CUdeviceptr b = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&b, kBytes, pool, nullptr));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(b, 4, kBytes / 4, nullptr));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  use(0);
  const TestStream stream;
  CUmemLocation first = on(0);
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ASSERT_SUCCESS(CU(cuMemPoolGetAccess)(&flags, pool, &first));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAsync)(a, b, kBytes, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAsync)(b, a, kBytes, stream.get()));

  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ASSERT_SUCCESS(CU(cuMemPoolGetAccess)(&flags, pool, &first));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  ASSERT_SUCCESS(CU(cuMemcpyAsync)(a, b, kBytes, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(first_of(a), 4);

  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAsync)(a, b, kBytes, stream.get()));
  use(1);
  EXPECT_SUCCESS(CU(cuMemFree)(b));
  EXPECT_SUCCESS(CU(cuMemFree)(a));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Peer, StreamsAllocateFromTheOthersPool) {
  CUmemoryPool pool = make_pool(1);
  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  use(0);
  const TestStream stream;
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pointer, kBytes, pool, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pointer, 8, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  int ordinal = -1;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(first_of(pointer), 8);
  ASSERT_SUCCESS(CU(cuMemFreeAsync)(pointer, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Peer, APoolOfAnotherDeviceCantBeMadeCurrent) {
  CUmemoryPool pool = make_pool(1);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceSetMemPool)(0, pool));
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

TEST_F(Peer, StreamsOfDevicesWaitForEachOthersEvents) {
  use(1);
  const TestStream far(CU_STREAM_NON_BLOCKING);
  const TestEvent event;
  const PinnedMemory<int> result(1);
  Gate gate(far.get());
  ASSERT_SUCCESS(CU(cuEventRecord)(event.get(), far.get()));
  use(0);
  const TestStream near(CU_STREAM_NON_BLOCKING);
  ASSERT_SUCCESS(CU(cuStreamWaitEvent)(near.get(), event.get(), 0));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(result.device(), 1, 1, near.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(near.get()));
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(near.get()));
  EXPECT_EQ(result[0], 1);
  use(1);
}

TEST_F(Peer, AttributesOfAPair) {
  int value = -1;
  EXPECT_SUCCESS(CU(cuDeviceGetP2PAttribute)(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
  EXPECT_EQ(value, 1);
  EXPECT_SUCCESS(CU(cuDeviceGetP2PAttribute)(&value, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 1));
  EXPECT_GE(value, 0);
}

TEST_F(Peer, LegacyStreamsOfDevicesAreApart) {
  use(1);
  Latch latch(nullptr);
  use(0);
  const DeviceMemory memory(4);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 1, 1, nullptr));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
  use(1);
  latch.open();
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

using Alone = DriverTest;

TEST_F(Alone, ADeviceIsNotItsOwnPeer) {
  int value = -1;
  ASSERT_SUCCESS(CU(cuDeviceCanAccessPeer)(&value, device_, device_));
  EXPECT_EQ(value, 0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE,
                    CU(cuDeviceGetP2PAttribute)(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, device_, device_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CU(cuCtxEnablePeerAccess)(context_, 0));
}

TEST(Devices, DISABLED_HaveMemoryOfTheirOwn) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  const std::size_t expected[] = {std::size_t{64} << 20, std::size_t{32} << 20, std::size_t{32} << 20};
  for (int i = 0; i < 3; ++i) {
    CUcontext context = nullptr;
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, i));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
    size_t free = 0, total = 0, bytes = 0;
    ASSERT_SUCCESS(CU(cuDeviceTotalMem)(&bytes, i));
    ASSERT_SUCCESS(CU(cuMemGetInfo)(&free, &total));
    EXPECT_EQ(bytes, expected[i]);
    EXPECT_EQ(total, expected[i]);
    CUdeviceptr all = 0, more = 0;
    ASSERT_SUCCESS(CU(cuMemAlloc)(&all, free));
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&more, 4096)) << "device " << i;
  }
}

TEST(Devices, ThreeOfSoftgpu) {
  if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  EXPECT_EQ(run_in_child("Peer.*", {"SOFTGPU_DEVICES=3"}), 0);
  EXPECT_EQ(run_in_child("Devices.DISABLED_HaveMemoryOfTheirOwn", {"SOFTGPU_DEVICES=3", "SOFTGPU_MEMORY=64M,32M"}), 0);
}

// In the NULL stream a copy between two devices comes after the work of both and before what follows on either.
TEST_F(Peer, CopiesInTheNullStreamComeAfterTheWorkOfTheOtherDevice) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(1);
  const TestStream other;
  Gate gate(other.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(b, 3, kBytes / 4, other.get()));
  use(0);
  ASSERT_SUCCESS(CU(cuMemcpyDtoDAsync)(a, b, kBytes, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(nullptr));
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(nullptr));
  EXPECT_EQ(first_of(a), 3);
  ASSERT_SUCCESS(CU(cuMemFree)(a));
  ASSERT_SUCCESS(CU(cuMemFree)(b));
}

TEST_F(Peer, CopiesInTheNullStreamComeBeforeTheOtherDevicesLaterWork) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(1);
  const TestStream other;
  use(0);
  const TestStream own;
  Gate gate(own.get());
  ASSERT_SUCCESS(CU(cuMemcpyPeerAsync)(a, contexts_[0], b, contexts_[1], kBytes, nullptr));
  use(1);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(b, 3, kBytes / 4, other.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(other.get()));
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(other.get()));
  EXPECT_EQ(first_of(b), 3);
  use(0);
  EXPECT_EQ(first_of(a), 2);
  ASSERT_SUCCESS(CU(cuMemFree)(a));
  ASSERT_SUCCESS(CU(cuMemFree)(b));
}

// ---- Kernels that are given memory of a device to which no access was given

constexpr const char* kUsers = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry read(.param .u64 to, .param .u64 from) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry read_if(.param .u64 to, .param .u64 from, .param .u32 condition) {
  .reg .b64 %a, %b; .reg .b32 %v, %c; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from]; ld.param.u32 %c, [condition];
  mov.u32 %v, %tid.x;
  setp.ne.u32 %p, %v, %c;
  @%p bra DONE;
  ld.global.u32 %v, [%b];
DONE:
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry pass_on(.param .align 8 .b8 pair[16]) {
  .reg .b64 %a, %b;
  ld.param.u64 %a, [pair]; ld.param.u64 %b, [pair+8];
  st.global.u64 [%a], %b;
  ret;
}
.visible .entry write(.param .align 8 .b8 pair[16]) {
  .reg .b64 %a;
  ld.param.u64 %a, [pair+8];
  st.global.u64 [%a], %a;
  ret;
})";

struct Pair {
  CUdeviceptr first, second;
};

TEST_F(Peer, KernelsCanPassOnAddressesThatTheyMayNotUse) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  const TestModule module(kUsers);
  ASSERT_SUCCESS(launch(module.function("pass_on"), 1, 32, nullptr, Pair{a, b}));
  CUdeviceptr passed = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&passed, a, sizeof passed));
  EXPECT_EQ(passed, b);
  ASSERT_SUCCESS(launch(module.function("read_if"), 1, 64, nullptr, a, b, 64));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_SUCCESS(CU(cuMemFree)(a));
  EXPECT_SUCCESS(CU(cuMemFree)(b));
}

PEER_FAULT_TEST(WithoutAccessReadingFaults) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(TestModule(kUsers), "read", a, b));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemcpy)(a, b, 4));
  use(1);
  EXPECT_EQ(first_of(b), 2) << "the other device is none the worse for it";
}
PEER_FAULT_TEST(WithoutAccessReadingInOneThreadFaults) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(TestModule(kUsers), "read_if", a, b, 37));
}
PEER_FAULT_TEST(WithoutAccessWritingThroughAMemberFaults) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(TestModule(kUsers), "write", Pair{a, b}));
}
PEER_FAULT_TEST(AccessThatWasTakenBackIsNone) {
  const CUdeviceptr a = allocate(0, 1), b = allocate(1, 2);
  use(0);
  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
  EXPECT_SUCCESS(run(TestModule(kUsers), "read", a, b));
  EXPECT_EQ(first_of(a), 2);
  ASSERT_SUCCESS(CU(cuCtxDisablePeerAccess)(contexts_[1]));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(TestModule(kUsers), "read", a, b));
}
PEER_FAULT_TEST(WithoutAccessToAPoolReadingFaults) {
  const CUmemoryPool pool = make_pool(1);
  const CUdeviceptr a = allocate(0, 1);
  use(1);
  const TestStream stream;
  CUdeviceptr b = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&b, kBytes, pool, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(b, 7, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  use(0);
  EXPECT_SUCCESS(run(TestModule(kUsers), "read", a, b));
  EXPECT_EQ(first_of(a), 7);
  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(TestModule(kUsers), "read", a, b));
}

}  // namespace
}  // namespace conformance
