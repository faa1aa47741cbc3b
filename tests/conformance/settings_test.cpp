// softgpu's settings, which are read once per process.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Settings : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_softgpu()) GTEST_SKIP() << "settings of softgpu";
  }
};

TEST(WithSettings, DISABLED_BadValue) { EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuInit)(0)); }

TEST_F(Settings, BadValuesMakeInitFail) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_DEVICES=none"}), 0);
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_MEMORY=much"}), 0);
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_BadValue", {"SOFTGPU_CONFIG=/no/such/file"}), 0);
}

TEST(WithSettings, DISABLED_SmallDevice) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  size_t bytes = 0;
  int major = 0, minor = 0, multiprocessors = 0;
  ASSERT_SUCCESS(CU(cuDeviceTotalMem)(&bytes, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(bytes, std::size_t{64} << 20);
  EXPECT_EQ(10 * major + minor, 86);
  EXPECT_EQ(multiprocessors, 7);

  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  CUdeviceptr most = 0, more = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&most, std::size_t{60} << 20));
  EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&more, std::size_t{8} << 20));
  ASSERT_SUCCESS(CU(cuMemFree)(most));
  EXPECT_SUCCESS(CU(cuMemAlloc)(&more, std::size_t{8} << 20));
}

TEST_F(Settings, ShapeTheDevice) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_SmallDevice",
                         {"SOFTGPU_MEMORY=64M", "SOFTGPU_COMPUTE_CAPABILITY=8.6", "SOFTGPU_MULTIPROCESSORS=7"}),
            0);
}

TEST(WithSettings, DISABLED_TwoDevices) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  int count = 0, can = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetCount)(&count));
  ASSERT_EQ(count, 2);
  ASSERT_SUCCESS(CU(cuDeviceCanAccessPeer)(&can, 0, 1));
  EXPECT_EQ(can, 1);

  CUcontext contexts[2];
  CUdeviceptr memory[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&contexts[i], i));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(contexts[i]));
    ASSERT_SUCCESS(CU(cuMemAlloc)(&memory[i], 400));
    ASSERT_SUCCESS(CU(cuMemsetD32)(memory[i], static_cast<unsigned>(i + 1), 100));
    ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  }
  // The second is current: its kernel works on what comes from the first.
  ASSERT_SUCCESS(CU(cuMemcpyPeer)(memory[1], contexts[1], memory[0], contexts[0], 400));
  const TestModule module(kKernels);
  ASSERT_SUCCESS(launch(module.function("increment"), 4, 32, nullptr, memory[1], 100));
  std::vector<int> values(100);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory[1], 400));
  EXPECT_EQ(values, std::vector<int>(100, 2));

  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts[0], 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, CU(cuCtxEnablePeerAccess)(contexts[0], 0));
  int ordinal = -1;
  ASSERT_SUCCESS(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[0]));
  EXPECT_EQ(ordinal, 0);
  // A kernel of one context can't go into a stream of the other.
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(contexts[0]));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, launch(module.function("bounded"), 1, 1, nullptr));
}

TEST_F(Settings, MakeSeveralDevices) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_TwoDevices", {"SOFTGPU_DEVICES=2"}), 0);
}

TEST(WithSettings, DISABLED_ExitWhileAKernelRuns) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  CUmodule module = nullptr;
  CUfunction wait = nullptr;
  CUdeviceptr flag = 0;
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
  ASSERT_SUCCESS(CU(cuModuleGetFunction)(&wait, module, "wait_for"));
  ASSERT_SUCCESS(CU(cuMemAlloc)(&flag, 4));
  ASSERT_SUCCESS(CU(cuMemsetD32)(flag, 0, 1));
  ASSERT_SUCCESS(launch(wait, 1, 1, nullptr, flag));
  std::exit(0);
}

TEST_F(Settings, ProcessExitsWhileAKernelRuns) {
  EXPECT_EQ(run_in_child("WithSettings.DISABLED_ExitWhileAKernelRuns"), 0);
}

}  // namespace
}  // namespace conformance
