// Kernels that fail leave their context unusable, so these tests have processes of their own.
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Failing : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_SUCCESS(CU(cuInit)(0));
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context_, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, kKernels));
  }
  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_SUCCESS(CU(cuModuleGetFunction)(&found, module_, name));
    return found;
  }
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

TEST_F(Failing, DISABLED_IllegalAddress) {
  const CUfunction store = function("store_to");
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
  ASSERT_SUCCESS(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  ASSERT_SUCCESS(launch(store, 1, 1, stream, CUdeviceptr{0x10}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuStreamSynchronize)(stream));
  // The error stays, whoever asks.
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemAlloc)(&memory, 64));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, launch(store, 1, 1, nullptr, memory));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemsetD8)(memory, 0, 64));
}

TEST_F(Failing, DISABLED_Trap) {
  ASSERT_SUCCESS(launch(function("trap_now"), 1, 1, nullptr));
  const CUresult result = CU(cuCtxSynchronize)();
  EXPECT_TRUE(result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_INSTRUCTION) << name_of(result);
}

// What comes before in the graph has run, what comes after has not, and the next launch is told.
TEST_F(Failing, DISABLED_TrapInARowOfKernels) {
  CUstream stream = nullptr;
  ASSERT_SUCCESS(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  int* value = nullptr;
  ASSERT_SUCCESS(CU(cuMemHostAlloc)(reinterpret_cast<void**>(&value), sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP));
  *value = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(value);
  ASSERT_SUCCESS(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  for (int i = 0; i < 3; ++i) ASSERT_SUCCESS(launch(function("add_value"), 1, 1, stream, address, 1, 1));
  ASSERT_SUCCESS(launch(function("trap_now"), 1, 1, stream));
  for (int i = 0; i < 3; ++i) ASSERT_SUCCESS(launch(function("add_value"), 1, 1, stream, address, 1, 100));
  CUgraph graph = nullptr;
  ASSERT_SUCCESS(CU(cuStreamEndCapture)(stream, &graph));
  CUgraphExec exec = nullptr;
  ASSERT_SUCCESS(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
  ASSERT_SUCCESS(CU(cuGraphLaunch)(exec, stream));
  const CUresult result = CU(cuStreamSynchronize)(stream);
  EXPECT_TRUE(result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_INSTRUCTION) << name_of(result);
  EXPECT_EQ(*value, 3);
  EXPECT_EQ(CU(cuGraphLaunch)(exec, stream), result);
}

TEST_F(Failing, DISABLED_ResetMakesTheDeviceUsableAgain) {
  ASSERT_SUCCESS(launch(function("store_to"), 1, 1, nullptr, CUdeviceptr{0x10}));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxReset)(0));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context_, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
  CUdeviceptr memory = 0;
  EXPECT_SUCCESS(CU(cuMemAlloc)(&memory, 64));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST_F(Failing, DISABLED_PastTheEndOfAnAllocation) {
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
  ASSERT_SUCCESS(launch(function("store_to"), 1, 1, nullptr, memory + 4096));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
}

TEST_F(Failing, DISABLED_UseAfterFree) {
  CUdeviceptr memory = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
  ASSERT_SUCCESS(CU(cuMemFree)(memory));
  ASSERT_SUCCESS(launch(function("store_to"), 1, 1, nullptr, memory));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)());
}

TEST_F(Failing, DISABLED_Fork) {
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    _exit(CU(cuMemAlloc)(&memory, 64) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

TEST(Sticky, IllegalAddressStaysWithTheContext) { EXPECT_EQ(run_in_child("Failing.DISABLED_IllegalAddress"), 0); }

TEST(Sticky, TrapFailsTheLaunch) { EXPECT_EQ(run_in_child("Failing.DISABLED_Trap"), 0); }

TEST(Sticky, TrapEndsARowOfKernels) { EXPECT_EQ(run_in_child("Failing.DISABLED_TrapInARowOfKernels"), 0); }

TEST(Sticky, ResetOfThePrimaryContextClearsIt) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU needs a new process after a fault";
  EXPECT_EQ(run_in_child("Failing.DISABLED_ResetMakesTheDeviceUsableAgain"), 0);
}

TEST(Sticky, AccessRightPastTheEndIsFound) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's pages are larger";
  EXPECT_EQ(run_in_child("Failing.DISABLED_PastTheEndOfAnAllocation"), 0);
}

TEST(Sticky, AccessToFreedMemoryIsFound) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's pages are larger";
  EXPECT_EQ(run_in_child("Failing.DISABLED_UseAfterFree"), 0);
}

TEST(Fork, ChildGetsAnError) {
  if (!is_softgpu()) GTEST_SKIP() << "what a GPU's driver does in a forked child is not specified";
  EXPECT_EQ(run_in_child("Failing.DISABLED_Fork"), 0);
}

}  // namespace
}  // namespace conformance
