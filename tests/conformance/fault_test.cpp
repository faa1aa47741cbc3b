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

#define FAULT_TEST(suite, name, body) \
  TEST(suite, name) { EXPECT_EQ(run_in_child("Faulty.DISABLED_" #body), 0); }

FAULT_TEST(NullPointer, FaultsInTheOneThreadThatHasIt, StoreThroughAPointerThatIsNullInOneThread)
FAULT_TEST(NullPointer, FaultsInAllThreads, StoreToAddressZero)
FAULT_TEST(NullPointer, FaultsBehindABarrier, NullInOneThreadBehindABarrier)

}  // namespace
}  // namespace conformance
