// Kernels that do what they must not: the kernel ends with CUDA's error, and the process goes on. A failed context is
// of no more use, so each has a process of its own.
#include <string>

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
TEST_F(Faulty, DISABLED_OutOfTheArrayOfAFunctionThatCallsItself) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(R"(
.func (.param .b32 result) f(.param .b32 depth) {
  .local .align 4 .b8 array[64];
  .reg .b64 %l, %i; .reg .b32 %d, %r; .reg .pred %p;
  ld.param.u32 %d, [depth];
  mov.u64 %l, array;
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
})"));
}

#define FAULT_TEST(suite, name, body) \
  TEST(suite, name) { EXPECT_EQ(run_in_child("Faulty.DISABLED_" #body), 0); }

FAULT_TEST(LocalArray, OverrunFaults, UpwardsOutOfALocalArray)
FAULT_TEST(LocalArray, UnderrunFaults, DownwardsOutOfALocalArray)
FAULT_TEST(LocalArray, AccessFarBehindItFaults, FarBehindALocalArray)
FAULT_TEST(LocalArray, AccessFarBeforeItFaults, FarBeforeALocalArray)
FAULT_TEST(LocalArray, OverrunBetweenBarriersFaults, OutOfALocalArrayBetweenBarriers)
FAULT_TEST(LocalArray, OverrunInPartOfAWarpFaults, OutOfALocalArrayOfAPartOfAWarp)
FAULT_TEST(LocalArray, OverrunInARecursiveFunctionFaults, OutOfTheArrayOfAFunctionThatCallsItself)
FAULT_TEST(NullPointer, FaultsInTheOneThreadThatHasIt, StoreThroughAPointerThatIsNullInOneThread)
FAULT_TEST(NullPointer, FaultsInAllThreads, StoreToAddressZero)
FAULT_TEST(NullPointer, FaultsBehindABarrier, NullInOneThreadBehindABarrier)

}  // namespace
}  // namespace conformance
