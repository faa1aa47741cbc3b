// The driver under test: softgpu or NVIDIA's, opened at run time, called by its C ABI alone.
//
// CUPRUM_DRIVER=softgpu (the default) or nvidia chooses; CUPRUM_SOFTGPU_PATH overrides where softgpu is.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace conformance {

// The exported function of this name. Ends the program when there is none.
void* symbol(const char* name);
bool is_softgpu();

// CU(cuMemAlloc)(&pointer, 64): the entry point that <cuda.h> maps the name to.
#define CONFORMANCE_TEXT(name) #name
#define CONFORMANCE_NAME(name) CONFORMANCE_TEXT(name)
#define CU(name)                                                                                                     \
  ([] {                                                                                                              \
    static const auto entry_point_ = reinterpret_cast<decltype(&name)>(conformance::symbol(CONFORMANCE_NAME(name))); \
    return entry_point_;                                                                                             \
  }())

std::string name_of(CUresult result);

// For EXPECT_TRUE and the like: says the error's name.
testing::AssertionResult succeeded(CUresult result);
#define EXPECT_SUCCESS(call) EXPECT_TRUE(conformance::succeeded(call)) << #call
#define ASSERT_SUCCESS(call) ASSERT_TRUE(conformance::succeeded(call)) << #call
#define EXPECT_CUDA_ERROR(code, call) EXPECT_EQ(conformance::name_of(call), #code) << #call

// Device 0 with its primary context current.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

// Runs one disabled test of this program in a process of its own: for what leaves a context or a process unusable, or
// needs other settings ("NAME=value"). Returns its exit status.
int run_in_child(const std::string& test, const std::vector<std::string>& settings = {});

// Device memory that is freed with the object.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) { EXPECT_SUCCESS(CU(cuMemAlloc)(&pointer_, bytes)); }
  ~DeviceMemory() { CU(cuMemFree)(pointer_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  CUdeviceptr get() const { return pointer_; }

 private:
  CUdeviceptr pointer_ = 0;
};

// Page-locked host memory that kernels can use.
template <typename T>
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t count) {
    EXPECT_SUCCESS(CU(cuMemHostAlloc)(&memory_, count * sizeof(T), CU_MEMHOSTALLOC_DEVICEMAP));
    for (std::size_t i = 0; i < count; ++i) (*this)[i] = T{};
  }
  ~PinnedMemory() { CU(cuMemFreeHost)(memory_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  T& operator[](std::size_t i) const { return static_cast<T*>(memory_)[i]; }
  T* data() const { return static_cast<T*>(memory_); }
  CUdeviceptr device() const {
    CUdeviceptr pointer = 0;
    EXPECT_SUCCESS(CU(cuMemHostGetDevicePointer)(&pointer, memory_, 0));
    return pointer;
  }

 private:
  void* memory_ = nullptr;
};

class TestStream {
 public:
  explicit TestStream(unsigned flags = CU_STREAM_DEFAULT) { EXPECT_SUCCESS(CU(cuStreamCreate)(&stream_, flags)); }
  ~TestStream() { CU(cuStreamDestroy)(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  CUstream get() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = CU_EVENT_DEFAULT) { EXPECT_SUCCESS(CU(cuEventCreate)(&event_, flags)); }
  ~TestEvent() { CU(cuEventDestroy)(event_); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  CUevent get() const { return event_; }

 private:
  CUevent event_ = nullptr;
};

// A loaded module and launches of its kernels.
class TestModule {
 public:
  explicit TestModule(const char* ptx) { EXPECT_SUCCESS(CU(cuModuleLoadData)(&module_, ptx)); }
  ~TestModule() { CU(cuModuleUnload)(module_); }
  TestModule(const TestModule&) = delete;
  TestModule& operator=(const TestModule&) = delete;
  CUmodule get() const { return module_; }

  CUfunction function(const char* name) const {
    CUfunction function = nullptr;
    EXPECT_SUCCESS(CU(cuModuleGetFunction)(&function, module_, name));
    return function;
  }

 private:
  CUmodule module_ = nullptr;
};

// One-dimensional launch with the arguments as they are.
template <typename... Arguments>
CUresult launch(CUfunction function, unsigned grid, unsigned block, CUstream stream, Arguments... arguments) {
  void* parameters[sizeof...(arguments) + 1] = {&arguments..., nullptr};
  return CU(cuLaunchKernel)(function, grid, 1, 1, block, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace conformance
