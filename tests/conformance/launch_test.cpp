#include <memory>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Launch : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    module_ = std::make_unique<TestModule>(kKernels);
  }
  void TearDown() override {
    module_.reset();
    DriverTest::TearDown();
  }
  CUfunction function(const char* name) { return module_->function(name); }

  // cuLaunchKernel of a kernel without parameters.
  CUresult launch_shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared = 0) {
    return CU(cuLaunchKernel)(function("bounded"), gx, gy, gz, bx, by, bz, shared, nullptr, nullptr, nullptr);
  }

  std::unique_ptr<TestModule> module_;
};

TEST_F(Launch, EveryThreadDoesItsPart) {
  constexpr int n = 100003;
  const DeviceMemory memory(n * 4);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 7, n));
  ASSERT_SUCCESS(launch(function("increment"), (n + 255) / 256, 256, nullptr, memory.get(), n));
  std::vector<int> values(n);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), n * 4));
  EXPECT_EQ(values, std::vector<int>(n, 8));
}

TEST_F(Launch, KernelsOfAStreamRunInOrder) {
  constexpr int n = 1000, times = 200;
  const TestStream stream;
  const DeviceMemory memory(n * 4);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 0, n, stream.get()));
  for (int i = 0; i < times; ++i)
    ASSERT_SUCCESS(launch(function("add_value"), 8, 128, stream.get(), memory.get(), n, i));
  std::vector<int> values(n);
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(values.data(), memory.get(), n * 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(values, std::vector<int>(n, times * (times - 1) / 2));
}

TEST_F(Launch, StructuresArePassedByValue) {
  const struct {
    float factor;
    int pad;
    CUdeviceptr data;
  } argument = {2.5f, 0, 0};
  const DeviceMemory memory(40);
  auto by_value = argument;
  by_value.data = memory.get();
  const std::vector<float> in(10, 2.0f);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), in.data(), 40));
  ASSERT_SUCCESS(launch(function("scale_struct"), 1, 32, nullptr, by_value, 10));
  std::vector<float> out(10);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(out.data(), memory.get(), 40));
  EXPECT_EQ(out, std::vector<float>(10, 5.0f));
}

TEST_F(Launch, ArgumentsCanComeInABuffer) {
  const DeviceMemory memory(40);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 1, 10));
  struct {
    CUdeviceptr data;
    int n;
    int value;
  } arguments = {memory.get(), 10, 5};
  size_t size = sizeof arguments;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  ASSERT_SUCCESS(CU(cuLaunchKernel)(function("add_value"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  std::vector<int> out(10);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(out.data(), memory.get(), 40));
  EXPECT_EQ(out, std::vector<int>(10, 6));
}

TEST_F(Launch, DynamicSharedMemoryAndBarrier) {
  constexpr int n = 512;
  const DeviceMemory memory(n * 4);
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(memory.get(), values.data(), n * 4));
  CUdeviceptr pointer = memory.get();
  void* parameters[] = {&pointer};
  ASSERT_SUCCESS(CU(cuLaunchKernel)(function("reverse"), 1, 1, 1, n, 1, 1, n * 4, nullptr, parameters, nullptr));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values.data(), memory.get(), n * 4));
  for (int i = 0; i < n; ++i) ASSERT_EQ(values[i], n - 1 - i);
}

TEST_F(Launch, MoreThan48KiBOfSharedMemoryIsOptIn) {
  const DeviceMemory memory(128);
  CUdeviceptr pointer = memory.get();
  void* parameters[] = {&pointer};
  const auto reverse = [&](unsigned shared) {
    return CU(cuLaunchKernel)(function("reverse"), 1, 1, 1, 32, 1, 1, shared, nullptr, parameters, nullptr);
  };
  int limit = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&limit, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device_));
  EXPECT_SUCCESS(reverse(48 * 1024));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, reverse(48 * 1024 + 16));
  const auto allow = [&](int bytes) {
    return CU(cuFuncSetAttribute)(function("reverse"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
  };
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, allow(limit + 1));
  EXPECT_SUCCESS(allow(limit));
  EXPECT_SUCCESS(reverse(static_cast<unsigned>(limit)));
}

TEST_F(Launch, RefusesShapesOverTheLimits) {
  EXPECT_SUCCESS(launch_shape(1, 1, 1, 64, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(0, 1, 1, 1, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1, 1, 1, 0, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 65536, 1, 1, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1, 65536, 1, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1, 1, 2048, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1, 1, 1, 1, 65));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1, 1, 128, 1, 1)) << "the kernel says at most 64 threads";
}

TEST_F(Launch, ExtendedFormTakesAttributes) {
  const DeviceMemory memory(40);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 1, 10));
  const TestStream stream;
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = 0;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream.get();
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUdeviceptr pointer = memory.get();
  int n = 10;
  void* parameters[] = {&pointer, &n};
  ASSERT_SUCCESS(CU(cuLaunchKernelEx)(&config, function("increment"), parameters, nullptr));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  int value = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, memory.get() + 36, 4));
  EXPECT_EQ(value, 2);
}

TEST_F(Launch, ReturnsBeforeTheKernelEnds) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> flag(1);
  ASSERT_SUCCESS(launch(function("wait_for"), 1, 1, stream.get(), flag.device()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  reinterpret_cast<volatile int&>(flag[0]) = 1;
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

TEST_F(Launch, BadHandlesAreRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver follows dead handles";
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, launch(reinterpret_cast<CUfunction>(0x1234), 1, 1, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, launch(nullptr, 1, 1, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, launch(function("bounded"), 1, 1, reinterpret_cast<CUstream>(0x123450)));
}

}  // namespace
}  // namespace conformance
