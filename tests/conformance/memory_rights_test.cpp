// What each device may do with memory that a program has mapped: kernels that do more fault, copies fail. softgpu runs
// the tests with several devices as peer_test.cpp says.
#include "conformance/driver.hpp"
#include "conformance/graph.hpp"
#include "conformance/peer.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {
namespace {

constexpr CUmemAccess_flags kNone = CU_MEM_ACCESS_FLAGS_PROT_NONE, kRead = CU_MEM_ACCESS_FLAGS_PROT_READ,
                            kReadWrite = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

constexpr const char* kUsers = R"(.version 7.1
.target sm_80
.address_size 64
.visible .entry load(.param .u64 to, .param .u64 from) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry volatile_load(.param .u64 to, .param .u64 from) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from];
  ld.volatile.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry store(.param .u64 to) {
  .reg .b64 %a;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], 3;
  ret;
}
.visible .entry add(.param .u64 to) {
  .reg .b64 %a;
  ld.param.u64 %a, [to];
  red.global.add.u32 [%a], 3;
  ret;
}
.visible .entry swap(.param .u64 to) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [to];
  atom.global.cas.b32 %v, [%a], 1000, 3;
  ret;
}
.visible .entry store_where_it_says(.param .u64 cell) {
  .reg .b64 %a;
  ld.param.u64 %a, [cell];
  ld.global.u64 %a, [%a];
  st.global.u32 [%a], 3;
  ret;
}
.visible .entry load_far(.param .u64 to, .param .u64 from, .param .u64 distance) {
  .reg .b64 %a, %b, %c; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from]; ld.param.u64 %c, [distance];
  add.s64 %b, %b, %c;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry copy_here(.param .u64 to, .param .u64 from) {
  .shared .align 16 .b8 place[16];
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [from];
  mov.u32 %v, place;
  cp.async.ca.shared.global [%v], [%b], 16;
  cp.async.wait_all;
  ld.shared.u32 %v, [place];
  st.global.u32 [%a], %v;
  ret;
})";

// Memory of device 0, or 1, that a program has mapped and filled with fives. What may leave a context unusable runs in
// a process of its own.
class PeerRights : public PeerFault {
 protected:
  void SetUp() override {
    PeerFault::SetUp();
    if (IsSkipped() || HasFailure()) return;
    to_ = allocate(0, 1);
    module_ = std::make_unique<TestModule>(kUsers);
  }
  void fill(const MappedMemory& memory, int device) {
    ASSERT_SUCCESS(memory.give_access(device, kReadWrite));
    use(device);
    ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 5, 1024));
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
    use(0);
  }
  template <typename... Arguments>
  CUresult run(const char* kernel, Arguments... arguments) {
    use(0);
    return PeerFault::run(*module_, kernel, arguments...);
  }

  CUdeviceptr to_ = 0;
  std::unique_ptr<TestModule> module_;
};
#define RIGHTS_TEST(name)                                                          \
  TEST_F(Peer, name) { EXPECT_EQ(run_in_child("PeerRights.DISABLED_" #name), 0); } \
  TEST_F(PeerRights, DISABLED_##name)

RIGHTS_TEST(OwnMappedMemoryNeedsAccess) {
  const MappedMemory memory(0);
  fill(memory, 0);
  ASSERT_SUCCESS(memory.give_access(1, kReadWrite));
  ASSERT_SUCCESS(run("load", to_, memory.get()));
  EXPECT_EQ(first_of(to_), 5);
  ASSERT_SUCCESS(memory.give_access(0, kNone));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("load", to_, memory.get()));
}

RIGHTS_TEST(OwnMappedMemoryForOthersAloneIsForOthers) {
  const MappedMemory memory(0);
  ASSERT_SUCCESS(memory.give_access(1, kReadWrite));
  use(1);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 5, 1));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(first_of(memory.get()), 5);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("load", to_, memory.get()));
}

// Memory that device 0 may read, and device 1 may write; `store` is a kernel that writes.
class ReadOnlyRights : public PeerRights {
 protected:
  void expect_no(const char* store, int device) {
    const MappedMemory memory(device);
    fill(memory, device);
    ASSERT_SUCCESS(memory.give_access(1, kReadWrite));
    ASSERT_SUCCESS(memory.give_access(0, kRead));
    ASSERT_SUCCESS(run("load", to_, memory.get()));
    EXPECT_EQ(first_of(to_), 5);
    ASSERT_SUCCESS(run("volatile_load", to_, memory.get() + 4));
    ASSERT_SUCCESS(run("copy_here", to_, memory.get()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(store, memory.get()));
    use(1);
    EXPECT_EQ(first_of(memory.get()), 5);
  }
};
#define READ_ONLY_TEST(name)                                                           \
  TEST_F(Peer, name) { EXPECT_EQ(run_in_child("ReadOnlyRights.DISABLED_" #name), 0); } \
  TEST_F(ReadOnlyRights, DISABLED_##name)

READ_ONLY_TEST(OwnMemoryThatMayOnlyBeReadIsNotStoredTo) { expect_no("store", 0); }
READ_ONLY_TEST(MemoryOfOthersThatMayOnlyBeReadIsNotStoredTo) { expect_no("store", 1); }
READ_ONLY_TEST(OwnMemoryThatMayOnlyBeReadIsNotAddedTo) { expect_no("add", 0); }
READ_ONLY_TEST(MemoryOfOthersThatMayOnlyBeReadIsNotSwapped) { expect_no("swap", 1); }

RIGHTS_TEST(AddressThatIsFoundMayBeOneToReadOnly) {
  const MappedMemory memory(1);
  fill(memory, 1);
  const CUdeviceptr address = memory.get();
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(to_, &address, sizeof address));
  ASSERT_SUCCESS(memory.give_access(0, kReadWrite));
  ASSERT_SUCCESS(run("store_where_it_says", to_));
  ASSERT_SUCCESS(memory.give_access(0, kRead));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("store_where_it_says", to_));
}

// The kernel was given an address that it may use.
RIGHTS_TEST(RowsOfMappingsEndForADeviceWhereItsRightsDo) {
  const MappedMemory memory(0, 3);
  for (std::size_t piece = 0; piece < 3; ++piece) ASSERT_SUCCESS(memory.give_access(1, kReadWrite, piece));
  ASSERT_SUCCESS(memory.give_access(0, kReadWrite, 0));
  ASSERT_SUCCESS(memory.give_access(0, kReadWrite, 1));
  ASSERT_SUCCESS(run("load_far", to_, memory.get(), memory.piece_bytes()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("load_far", to_, memory.get(), 2 * memory.piece_bytes()));
}

TEST_F(Peer, CopiesNeedTheRightsOfTheirDevice) {
  const MappedMemory memory(0);
  const CUdeviceptr own = allocate(0, 6);
  ASSERT_SUCCESS(memory.give_access(1, kReadWrite));
  use(1);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 5, 1024));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  use(0);
  int value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&value, memory.get(), 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoD)(own, memory.get(), 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy)(own, memory.get(), 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(memory.get(), 1, 1));
  ASSERT_SUCCESS(memory.give_access(0, kRead));
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&value, memory.get(), 4));
  EXPECT_EQ(value, 5);
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(own, memory.get(), 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(memory.get(), &value, 4));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(memory.get(), 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWriteValue32)(nullptr, memory.get(), 1, 0));
  EXPECT_SUCCESS(CU(cuStreamWaitValue32)(nullptr, memory.get(), 5, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_SUCCESS(memory.give_access(0, kReadWrite));
  EXPECT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), &value, 4));
  EXPECT_SUCCESS(CU(cuStreamWriteValue32)(nullptr, memory.get(), 1, 0));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_SUCCESS(CU(cuMemFree)(own));
}

TEST_F(Peer, CopiesNeedRightsToAllThatTheyTouch) {
  const MappedMemory memory(0, 2);
  for (std::size_t piece = 0; piece < 2; ++piece) {
    ASSERT_SUCCESS(memory.give_access(0, kReadWrite, piece));
    ASSERT_SUCCESS(memory.give_access(1, kReadWrite, piece));
  }
  use(0);
  const CUdeviceptr middle = memory.get(1) - 4;
  EXPECT_SUCCESS(CU(cuMemsetD32)(middle, 5, 2));
  ASSERT_SUCCESS(memory.give_access(0, kRead, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(middle, 5, 2));
  EXPECT_SUCCESS(CU(cuMemsetD32)(middle, 5, 1));
  std::uint64_t both = 0;
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&both, middle, 8));
  EXPECT_EQ(both, 0x5'0000'0005u);
  ASSERT_SUCCESS(memory.give_access(0, kNone, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&both, middle, 8));
}

TEST_F(Peer, PeerCopiesUseEachSideByItsOwnContext) {
  const MappedMemory near(0), far(1);
  ASSERT_SUCCESS(near.give_access(0, kReadWrite));
  ASSERT_SUCCESS(far.give_access(1, kReadWrite));
  use(1);
  ASSERT_SUCCESS(CU(cuMemsetD32)(far.get(), 5, 1024));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  use(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoD)(near.get(), far.get(), 4));
  ASSERT_SUCCESS(CU(cuMemcpyPeer)(near.get(), contexts_[0], far.get(), contexts_[1], 4096));
  EXPECT_EQ(first_of(near.get()), 5);
  ASSERT_SUCCESS(CU(cuMemsetD32)(near.get(), 7, 1024));
  const TestStream stream;
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  ASSERT_SUCCESS(CU(cuMemcpyPeerAsync)(far.get(), contexts_[1], near.get(), contexts_[0], 4096, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuMemcpyPeer)(near.get(), contexts_[0], far.get(), contexts_[0], 4096));
  use(1);
  EXPECT_EQ(first_of(far.get()), 7);
}

TEST_F(Peer, PointersTellTheRightsOfTheCurrentDevice) {
  const MappedMemory memory(0);
  const auto flags_in = [&](int device) {
    use(device);
    unsigned flags = 7;
    EXPECT_SUCCESS(CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, memory.get()));
    return flags;
  };
  EXPECT_EQ(flags_in(0), static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE));
  ASSERT_SUCCESS(memory.give_access(1, kReadWrite));
  EXPECT_EQ(flags_in(0), static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE));
  EXPECT_EQ(flags_in(1), static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
  ASSERT_SUCCESS(memory.give_access(0, kRead));
  EXPECT_EQ(flags_in(0), static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ));
}

// ---- With one device, there is memory of the host that is not for the device.

class HostMapping {
 public:
  explicit HostMapping(std::size_t bytes)
      : bytes_(bytes),
        memory_(bytes, memory_properties(CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_HOST_NUMA)),
        range_(bytes),
        mapped_(range_.get(), bytes, memory_, kNone) {}
  CUdeviceptr get() const { return range_.get(); }
  void give_access(CUmemLocationType to, CUmemAccess_flags flags) const {
    const CUmemAccessDesc access = access_for(flags, to);
    EXPECT_SUCCESS(CU(cuMemSetAccess)(get(), bytes_, &access, 1));
  }

 private:
  std::size_t bytes_;
  CreatedMemory memory_;
  ReservedRange range_;
  MappedRange mapped_;
};

class HostRights : public VirtualMemoryTest {
 protected:
  void SetUp() override {
    VirtualMemoryTest::SetUp();
    if (IsSkipped() || HasFailure()) return;
    if (!supports(CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
      GTEST_SKIP() << "no virtual memory management for the host's NUMA nodes";
    host_ = std::make_unique<HostMapping>(
        granularity(memory_properties(CU_MEM_HANDLE_TYPE_NONE, CU_MEM_LOCATION_TYPE_HOST_NUMA)));
    host_->give_access(CU_MEM_LOCATION_TYPE_HOST_NUMA, kReadWrite);
    *reinterpret_cast<int*>(host_->get()) = 5;
    module_ = std::make_unique<TestModule>(kUsers);
    EXPECT_SUCCESS(CU(cuMemAlloc)(&to_, 4096));
  }
  void TearDown() override {}
  template <typename... Arguments>
  CUresult run(const char* kernel, Arguments... arguments) {
    EXPECT_SUCCESS(launch(module_->function(kernel), 1, 1, nullptr, arguments...));
    return CU(cuCtxSynchronize)();
  }
  int result() const { return read(to_, 1)[0]; }

  std::unique_ptr<HostMapping> host_;
  std::unique_ptr<TestModule> module_;
  CUdeviceptr to_ = 0;
};
#define HOST_RIGHTS_TEST(name)                                                           \
  TEST(MemoryRights, name) { EXPECT_EQ(run_in_child("HostRights.DISABLED_" #name), 0); } \
  TEST_F(HostRights, DISABLED_##name)

HOST_RIGHTS_TEST(MappedMemoryForTheHostAloneIsNotForKernels) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("load", to_, host_->get()));
}
HOST_RIGHTS_TEST(MappedMemoryOfTheHostCanBeForReadingOnly) {
  host_->give_access(CU_MEM_LOCATION_TYPE_DEVICE, kRead);
  EXPECT_SUCCESS(run("load", to_, host_->get()));
  EXPECT_EQ(result(), 5);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("store", host_->get()));
  EXPECT_EQ(*reinterpret_cast<int*>(host_->get()), 5);
}
HOST_RIGHTS_TEST(CopiesFromTheHostNeedNoRightsOfTheDevice) {
  EXPECT_SUCCESS(CU(cuMemcpyDtoD)(to_, host_->get(), 4));
  EXPECT_EQ(result(), 5);
  ASSERT_SUCCESS(CU(cuMemsetD32)(to_, 0, 1));
  EXPECT_SUCCESS(CU(cuMemcpyHtoD)(to_, reinterpret_cast<const void*>(host_->get()), 4));
  EXPECT_EQ(result(), 5);
}
HOST_RIGHTS_TEST(PoolsOfTheHostAreForKernelsWhenAccessIsGiven) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST;
  CUmemoryPool pool = nullptr;
  if (CU(cuMemPoolCreate)(&pool, &properties) != CUDA_SUCCESS) GTEST_SKIP() << "no pools of the host's memory";
  CUmemAccessDesc access = access_for(kReadWrite);
  ASSERT_SUCCESS(CU(cuMemPoolSetAccess)(pool, &access, 1));
  CUdeviceptr pooled = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pooled, 4096, pool, nullptr));
  ASSERT_SUCCESS(run("store", pooled));
  EXPECT_EQ(*reinterpret_cast<int*>(pooled), 3);
  access.flags = kNone;
  ASSERT_SUCCESS(CU(cuMemPoolSetAccess)(pool, &access, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run("store", pooled));
}
// Kernels that follow each other in a graph are run as one.
HOST_RIGHTS_TEST(LaunchesOfGraphsSeeWhatRightsThereAreThen) {
  host_->give_access(CU_MEM_LOCATION_TYPE_DEVICE, kReadWrite);
  const TestGraph graph;
  CUgraphNode nodes[2] = {};
  CUdeviceptr from = host_->get();
  void* arguments[] = {&to_, &from};
  for (int i = 0; i < 2; ++i) {
    CUDA_KERNEL_NODE_PARAMS kernel{};
    kernel.func = module_->function("load");
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = arguments;
    ASSERT_SUCCESS(CU(cuGraphAddKernelNode)(&nodes[i], graph.get(), nodes, i == 0 ? 0 : 1, &kernel));
  }
  CUgraphExec exec = nullptr;
  ASSERT_SUCCESS(CU(cuGraphInstantiate)(&exec, graph.get(), 0));
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec, nullptr));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(result(), 5);
  host_->give_access(CU_MEM_LOCATION_TYPE_DEVICE, kNone);
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
}

}  // namespace
}  // namespace conformance
