// Kernels that do what they must not: the kernel ends with CUDA's error, and the process goes on. A failed context is
// of no more use, so each has a process of its own.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

const std::string kHeader = ".version 7.0\n.target sm_75\n.address_size 64\n";

class Faulty : public testing::Test {
 protected:
  void SetUp() override {
    CUcontext context = nullptr;
    ASSERT_SUCCESS(CU(cuInit)(0));
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  }

  // Runs kernel `k` of the module, whose one parameter is the address of 4 KiB of zeros.
  static CUresult run(const std::string& ptx, unsigned threads = 64) {
    const TestModule module((kHeader + ptx).c_str());
    CUdeviceptr memory = 0;
    EXPECT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
    EXPECT_SUCCESS(CU(cuMemsetD8)(memory, 0, 4096));
    EXPECT_SUCCESS(launch(module.function("k"), 2, threads, nullptr, memory));
    return CU(cuCtxSynchronize)();
  }
};

TEST_F(Faulty, DISABLED_StoreThroughAPointerThatIsNullInOneThread) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 5;
  selp.b64 %a, 0, %a, %p;
  st.global.u32 [%a], %t;
  ret;
})"));
}

TEST_F(Faulty, DISABLED_StoreToAddressZero) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %t;
  mov.u64 %a, 0;
  mov.u32 %t, %tid.x;
  st.global.u32 [%a], %t;
  ret;
})"));
}

TEST_F(Faulty, DISABLED_NullInOneThreadBehindABarrier) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  bar.sync 0;
  setp.eq.u32 %p, %t, 5;
  selp.b64 %a, 0, %a, %p;
  st.global.u32 [%a], %t;
  bar.sync 0;
  ret;
})"));
}

// A local array of 16 words, to which `statements` may write at the byte offset %i, with %v.
std::string kernel_with_array(const std::string& statements) {
  return R"(
.visible .entry k(.param .u64 data) {
  .local .align 4 .b8 array[64];
  .reg .b64 %a, %l, %i, %n; .reg .b32 %t, %v; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %v, 0x41414141;
  mov.u64 %l, array;
  ld.global.u64 %n, [%a];
  mov.u64 %i, %n;
)" + statements +
         R"(
  and.b64 %i, %i, 60;
  add.u64 %i, %i, %l;
  ld.local.u32 %v, [%i];
  mad.wide.u32 %a, %t, 4, %a;
  st.global.u32 [%a+8], %v;
  ret;
})";
}
const std::string kFill = R"(
FILL:
  add.u64 %n, %l, %i;
  st.local.u32 [%n], %v;
)";
const std::string kUpwards = kFill + "add.u64 %i, %i, 4; setp.lt.u64 %p, %i, 100000000; @%p bra FILL;\n";
const std::string kDownwards = kFill + "sub.u64 %i, %i, 4; setp.gt.s64 %p, %i, -1200000000; @%p bra FILL;\n";
const std::string kFar = "add.u64 %i, %i, 0x7ffffff0;" + kFill;
const std::string kFarBelow = "sub.u64 %i, %i, 0x7ffffff0;" + kFill;

TEST_F(Faulty, DISABLED_UpwardsOutOfALocalArray) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array(kUpwards)));
}
TEST_F(Faulty, DISABLED_DownwardsOutOfALocalArray) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array(kDownwards)));
}
TEST_F(Faulty, DISABLED_FarBehindALocalArray) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array(kFar)));
}
TEST_F(Faulty, DISABLED_FarBeforeALocalArray) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array(kFarBelow)));
}
TEST_F(Faulty, DISABLED_OutOfALocalArrayBetweenBarriers) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array("bar.sync 0;" + kUpwards + "bar.sync 0;")));
}
TEST_F(Faulty, DISABLED_OutOfALocalArrayOfAPartOfAWarp) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_array(kUpwards), 7));
}
// A function that calls itself. With `barrier` its threads wait, too.
std::string kernel_with_recursion(const std::string& barrier) {
  return R"(
.func (.param .b32 result) f(.param .b32 depth) {
  .local .align 4 .b8 array[64];
  .reg .b64 %l, %i; .reg .b32 %d, %r; .reg .pred %p;
  ld.param.u32 %d, [depth];
  mov.u64 %l, array;
  st.local.u32 [%l], %d;
  )" + barrier +
         R"(
  setp.gt.u32 %p, %d, 0;
  @%p bra DEEPER;
  mov.u64 %i, 0;
FILL:
  add.u64 %i, %i, 4;
  add.u64 %l, %l, 4;
  st.local.u32 [%l], %d;
  setp.lt.u64 %p, %i, 100000000;
  @%p bra FILL;
DEEPER:
  sub.u32 %d, %d, 1;
  { .param .b32 in; .param .b32 out; st.param.b32 [in], %d; call (out), f, (in); ld.param.b32 %r, [out]; }
  st.local.u32 [%l], %r;
  st.param.b32 [result], %r;
  ret;
}
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %r;
  ld.param.u64 %a, [data];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], 3; call (out), f, (in); ld.param.b32 %r, [out]; }
  st.global.u32 [%a], %r;
  ret;
})";
}
TEST_F(Faulty, DISABLED_OutOfTheArrayOfAFunctionThatCallsItself) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_recursion("")));
}
TEST_F(Faulty, DISABLED_OutOfTheArrayOfAFunctionThatCallsItselfAndWaits) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(kernel_with_recursion("bar.sync 0;")));
}

TEST_F(Faulty, DISABLED_RecursionAroundABarrierWithoutAnEnd) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.func f(.param .b64 before) {
  .local .align 8 .b8 array[64];
  .reg .b64 %l, %b;
  ld.param.u64 %b, [before];
  mov.u64 %l, array;
  cvta.local.u64 %l, %l;
  st.u64 [%l], %b;
  bar.sync 0;
  { .param .b64 in; st.param.b64 [in], %l; call f, (in); }
  st.u64 [%b], %l;
  ret;
}
.visible .entry k(.param .u64 data) {
  .reg .b64 %a;
  ld.param.u64 %a, [data];
  { .param .b64 in; st.param.b64 [in], %a; call f, (in); }
  ret;
})",
                                                    32));
}

// In time that is proportional to the depth: else this would take minutes.
TEST_F(Faulty, DISABLED_DeepRecursionAroundABarrier) {
  ASSERT_SUCCESS(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, std::size_t{400} * 1024));
  const TestModule module((kHeader + R"(
.func (.param .b32 result) f(.param .b32 depth) {
  .reg .b32 %d, %r; .reg .pred %p;
  ld.param.u32 %d, [depth];
  mov.u32 %r, 0;
  bar.sync 0;
  setp.eq.u32 %p, %d, 0;
  @%p bra END;
  sub.u32 %d, %d, 1;
  { .param .b32 in; .param .b32 out; st.param.b32 [in], %d; call (out), f, (in); ld.param.b32 %r, [out]; }
  add.u32 %r, %r, 1;
END:
  st.param.b32 [result], %r;
  ret;
}
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %r;
  ld.param.u64 %a, [data];
  { .param .b32 in; .param .b32 out; st.param.b32 [in], 20000; call (out), f, (in); ld.param.b32 %r, [out]; }
  red.global.add.u32 [%a], %r;
  ret;
})")
                              .c_str());
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, 4));
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory, 0, 1));
  ASSERT_SUCCESS(launch(module.function("k"), 1, 64, nullptr, memory));
  std::uint32_t sum = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&sum, memory, 4));
  EXPECT_EQ(sum, 64U * 20000);
}

// Each call has an array of its own, also behind a barrier, and finds in it what it has put there.
TEST_F(Faulty, DISABLED_ArraysOfFunctionsThatWaitAreTheirOwn) {
  const TestModule module((kHeader + R"(
.func (.param .b32 result) f(.param .b32 depth, .param .b32 thread) {
  .local .align 4 .b8 array[64];
  .reg .b64 %l, %i; .reg .b32 %d, %t, %r, %v; .reg .pred %p;
  ld.param.u32 %d, [depth];
  ld.param.u32 %t, [thread];
  mad.lo.u32 %v, %d, 1000, %t;
  mov.u64 %l, array;
  and.b32 %r, %v, 15;
  mul.wide.u32 %i, %r, 4;
  add.u64 %l, %l, %i;
  st.local.u32 [%l], %v;
  bar.sync 0;
  mov.u32 %r, 0;
  setp.eq.u32 %p, %d, 0;
  @%p bra LAST;
  sub.u32 %d, %d, 1;
  { .param .b32 in; .param .b32 in2; .param .b32 out; st.param.b32 [in], %d; st.param.b32 [in2], %t;
    call (out), f, (in, in2); ld.param.b32 %r, [out]; }
LAST:
  bar.sync 0;
  ld.local.u32 %v, [%l];
  add.u32 %r, %r, %v;
  st.param.b32 [result], %r;
  ret;
}
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %r, %t, %i; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 4, %a;
  mov.u32 %i, 0;
AGAIN:
  { .param .b32 in; .param .b32 in2; .param .b32 out; st.param.b32 [in], 5; st.param.b32 [in2], %t;
    call (out), f, (in, in2); ld.param.b32 %r, [out]; }
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra AGAIN;
  st.global.u32 [%a], %r;
  ret;
})")
                              .c_str());
  const DeviceMemory memory(4 * 64);
  ASSERT_SUCCESS(launch(module.function("k"), 1, 64, nullptr, memory.get()));
  std::vector<std::uint32_t> results(64);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(results.data(), memory.get(), 4 * 64));
  for (std::uint32_t thread = 0; thread < 64; ++thread) EXPECT_EQ(results[thread], 15000 + 6 * thread);
}

const char* kHeapKernels = R"(
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.extern .func free(.param .b64 memory);

// Keeps the address of what it allocates.
.visible .entry allocate(.param .u64 out, .param .u64 bytes) {
  .reg .b64 %o, %n, %m; .reg .b32 %t;
  ld.param.u64 %o, [out];
  ld.param.u64 %n, [bytes];
  { .param .b64 in; .param .b64 back; st.param.b64 [in], %n; call (back), malloc, (in); ld.param.b64 %m, [back]; }
  mov.u32 %t, %tid.x;
  mad.wide.u32 %o, %t, 8, %o;
  st.global.u64 [%o], %m;
  ret;
}
.visible .entry release(.param .u64 out, .param .u64 offset) {
  .reg .b64 %o, %n, %m; .reg .b32 %t;
  ld.param.u64 %o, [out];
  ld.param.u64 %n, [offset];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %o, %t, 8, %o;
  ld.global.u64 %m, [%o];
  add.u64 %m, %m, %n;
  { .param .b64 in; st.param.b64 [in], %m; call free, (in); }
  ret;
}
// Writes from `first` on, words in the direction of `step`, to what `allocate` has allocated.
.visible .entry fill(.param .u64 out, .param .u64 first, .param .u64 step, .param .u32 words) {
  .reg .b64 %o, %n, %m; .reg .b32 %t, %w; .reg .pred %p;
  ld.param.u64 %o, [out];
  ld.param.u64 %n, [first];
  ld.global.u64 %m, [%o];
  add.u64 %m, %m, %n;
  ld.param.u64 %n, [step];
  ld.param.u32 %w, [words];
NEXT:
  st.u32 [%m], %w;
  add.u64 %m, %m, %n;
  sub.u32 %w, %w, 1;
  setp.ne.u32 %p, %w, 0;
  @%p bra NEXT;
  ret;
})";

class KernelHeap : public DriverTest {
 protected:
  // Addresses that `threads` threads get.
  std::vector<CUdeviceptr> allocate(std::size_t bytes, unsigned threads = 1) {
    EXPECT_SUCCESS(launch(module_->function("allocate"), 1, threads, nullptr, memory_->get(), bytes));
    std::vector<CUdeviceptr> addresses(threads);
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(addresses.data(), memory_->get(), threads * sizeof(CUdeviceptr)));
    return addresses;
  }
  CUresult release(unsigned threads = 1, std::size_t offset = 0) {
    EXPECT_SUCCESS(launch(module_->function("release"), 1, threads, nullptr, memory_->get(), offset));
    return CU(cuCtxSynchronize)();
  }
  CUresult fill(std::int64_t first, std::int64_t step, unsigned words) {
    EXPECT_SUCCESS(launch(module_->function("fill"), 1, 1, nullptr, memory_->get(), first, step, words));
    return CU(cuCtxSynchronize)();
  }
  void SetUp() override {
    DriverTest::SetUp();
    module_ = std::make_unique<TestModule>((kHeader + kHeapKernels).c_str());
    memory_ = std::make_unique<DeviceMemory>(1024 * sizeof(CUdeviceptr));
  }
  void TearDown() override {
    module_.reset();
    memory_.reset();
    CU(cuCtxSetCurrent)(nullptr);
    CU(cuDevicePrimaryCtxRelease)(device_);
  }
  std::unique_ptr<TestModule> module_;
  std::unique_ptr<DeviceMemory> memory_;
};

TEST_F(KernelHeap, DISABLED_LimitIsHonouredAndFixedByUse) {
  std::size_t limit = 0;
  EXPECT_SUCCESS(CU(cuCtxGetLimit)(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT_EQ(limit, 8u << 20);
  EXPECT_SUCCESS(CU(cuCtxSetLimit)(CU_LIMIT_MALLOC_HEAP_SIZE, 64u << 20));
  EXPECT_SUCCESS(CU(cuCtxGetLimit)(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT_EQ(limit, 64u << 20);
  EXPECT_NE(allocate(40u << 20)[0], 0u);
  EXPECT_EQ(allocate(40u << 20)[0], 0u);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuCtxSetLimit)(CU_LIMIT_MALLOC_HEAP_SIZE, 128u << 20));
  EXPECT_SUCCESS(CU(cuCtxGetLimit)(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT_EQ(limit, 64u << 20);
  EXPECT_SUCCESS(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 2048));
}
TEST_F(KernelHeap, DISABLED_LastsFromKernelToKernel) {
  const std::vector<CUdeviceptr> addresses = allocate(100, 1024);
  std::set<CUdeviceptr> different(addresses.begin(), addresses.end());
  EXPECT_EQ(different.size(), 1024u);
  EXPECT_EQ(different.count(0), 0u);
  EXPECT_SUCCESS(fill(0, 4, 25));
  EXPECT_SUCCESS(release(1024));
}
TEST_F(KernelHeap, DISABLED_Overrun) {
  allocate(4096);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, fill(0, 4, 1u << 30));
}
TEST_F(KernelHeap, DISABLED_Underrun) {
  allocate(4096);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, fill(0, -4, 1u << 30));
}
TEST_F(KernelHeap, DISABLED_OverrunOfALargeAllocation) {
  allocate(1u << 20);
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, fill(1u << 20, 4, 1));
}
TEST_F(KernelHeap, DISABLED_FreedTwice) {
  allocate(64);
  EXPECT_SUCCESS(release());
  EXPECT_NE(release(), CUDA_SUCCESS);
}
TEST_F(KernelHeap, DISABLED_FreedInTheMiddle) {
  allocate(64);
  EXPECT_NE(release(1, 16), CUDA_SUCCESS);
}

#define HEAP_TEST(name) \
  TEST(DeviceMalloc, name) { EXPECT_EQ(run_in_child("KernelHeap.DISABLED_" #name), 0); }

HEAP_TEST(LimitIsHonouredAndFixedByUse)
HEAP_TEST(LastsFromKernelToKernel)
HEAP_TEST(Overrun)
HEAP_TEST(FreedTwice)

// What a GPU need not notice.
#define STRICT_TEST(suite, name, body, reason) \
  TEST(suite, name) {                          \
    if (!is_softgpu()) GTEST_SKIP() << reason; \
    EXPECT_EQ(run_in_child(#body), 0);         \
  }

STRICT_TEST(DeviceMalloc, OverrunOfALargeAllocation, KernelHeap.DISABLED_OverrunOfALargeAllocation,
            "a GPU's pages are larger")
STRICT_TEST(DeviceMalloc, Underrun, KernelHeap.DISABLED_Underrun, "a GPU has other memory in front of its heap")
STRICT_TEST(DeviceMalloc, FreedInTheMiddle, KernelHeap.DISABLED_FreedInTheMiddle,
            "a GPU's heap believes what it is given")

TEST_F(Faulty, DISABLED_BarrierThatDoesNotExist) {
  const CUresult result = run(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %n;
  ld.param.u64 %a, [data];
  ld.global.u32 %n, [%a];
  add.u32 %n, %n, 16;
  bar.sync %n;
  ret;
})");
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION, result);
}

TEST_F(Faulty, DISABLED_SaysWhere) {
  for (const std::string barrier : {"", "bar.sync 0;"}) {
    CUcontext context = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %t, %b; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  )" + barrier + R"(
  setp.eq.u32 %p, %b, 1;
  st.global.u32 [%a], %t;
  @!%p bra DONE;
  st.global.u32 [4660], %t;
DONE:
  st.global.u32 [%a+4], %t;
  ret;
})"));
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("kernel k, block (1,0,0), one of the threads (0,0,0) to "), std::string::npos) << said;
    EXPECT_NE(said.find("illegal access to address 0x1234, in line 14 of the PTX"), std::string::npos) << said;
    EXPECT_EQ(said.find("softgpu:"), said.rfind("softgpu:")) << said;
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxReset)(0));
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  }
}

TEST(IllegalAccess, SaysWhere) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU needs a tool for that";
  EXPECT_EQ(run_in_child("Faulty.DISABLED_SaysWhere"), 0);
}

#define FAULT_TEST(suite, name, body) \
  TEST(suite, name) { EXPECT_EQ(run_in_child("Faulty.DISABLED_" #body), 0); }

STRICT_TEST(BarrierNumber, OutOfRangeEndsTheKernel, Faulty.DISABLED_BarrierThatDoesNotExist,
            "a GPU takes another barrier for it")
FAULT_TEST(LocalArray, OverrunFaults, UpwardsOutOfALocalArray)
FAULT_TEST(LocalArray, UnderrunFaults, DownwardsOutOfALocalArray)
FAULT_TEST(LocalArray, AccessFarBehindItFaults, FarBehindALocalArray)
FAULT_TEST(LocalArray, AccessFarBeforeItFaults, FarBeforeALocalArray)
FAULT_TEST(LocalArray, OverrunBetweenBarriersFaults, OutOfALocalArrayBetweenBarriers)
FAULT_TEST(LocalArray, OverrunInPartOfAWarpFaults, OutOfALocalArrayOfAPartOfAWarp)
FAULT_TEST(LocalArray, OverrunInARecursiveFunctionFaults, OutOfTheArrayOfAFunctionThatCallsItself)
FAULT_TEST(LocalArray, OverrunInARecursiveFunctionThatWaitsFaults, OutOfTheArrayOfAFunctionThatCallsItselfAndWaits)
FAULT_TEST(Recursion, AroundABarrierWithoutAnEndFaults, RecursionAroundABarrierWithoutAnEnd)
FAULT_TEST(Recursion, AroundABarrierMayBeDeep, DeepRecursionAroundABarrier)
FAULT_TEST(LocalArray, IsEachCallsOwn, ArraysOfFunctionsThatWaitAreTheirOwn)
FAULT_TEST(NullPointer, FaultsInTheOneThreadThatHasIt, StoreThroughAPointerThatIsNullInOneThread)
FAULT_TEST(NullPointer, FaultsInAllThreads, StoreToAddressZero)
FAULT_TEST(NullPointer, FaultsBehindABarrier, NullInOneThreadBehindABarrier)

}  // namespace
}  // namespace conformance
