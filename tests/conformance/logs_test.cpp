// The log of errors: the reason of a failed call, in words.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Logs : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int version = 0;
    ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
    if (version < 12090) GTEST_SKIP() << "the driver has no log of errors";
    ASSERT_SUCCESS(CU(cuLogsCurrent)(&start_, 0));
  }

  // What was logged since the last time, or since the test began.
  std::string dump() {
    std::string text(25600, '\0');
    size_t size = text.size();
    EXPECT_SUCCESS(CU(cuLogsDumpToMemory)(&start_, text.data(), &size, 0));
    text.resize(size);
    return text;
  }
  static CUresult launch_too_large(const TestModule& module) {
    return CU(cuLaunchKernel)(module.function("trap_now"), 1, 1, 1, 4096, 1, 1, 0, nullptr, nullptr, nullptr);
  }

  CUlogIterator start_ = 0;
};

TEST_F(Logs, SayWhyACallFailed) {
  const TestModule module(kKernels);
  EXPECT_EQ(dump(), "");
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_too_large(module));
  const std::string log = dump();
  EXPECT_NE(log.find("4096"), std::string::npos) << log;
  EXPECT_NE(log.find("CUDA_ERROR_INVALID_VALUE"), std::string::npos) << log;
  EXPECT_NE(log.find("cuLaunchKernel"), std::string::npos) << log;
  EXPECT_EQ(dump(), "") << "the iterator has moved on";
}

TEST_F(Logs, GoToCallbacksUntilTheseAreUnregistered) {
  const TestModule module(kKernels);
  std::string heard;
  const auto hear = [](void* data, CUlogLevel level, char* message, size_t length) {
    EXPECT_EQ(level, CU_LOG_LEVEL_ERROR);
    static_cast<std::string*>(data)->append(message, length).append("\n");
  };
  CUlogsCallbackHandle callback = nullptr;
  ASSERT_SUCCESS(CU(cuLogsRegisterCallback)(hear, &heard, &callback));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_too_large(module));
  EXPECT_NE(heard.find("4096"), std::string::npos) << heard;
  ASSERT_SUCCESS(CU(cuLogsUnregisterCallback)(callback));
  heard.clear();
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_too_large(module));
  EXPECT_EQ(heard, "");
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsRegisterCallback)(nullptr, nullptr, nullptr));
}

TEST_F(Logs, KeepTheLastOfMoreThanFits) {
  const TestModule module(kKernels);
  for (int i = 0; i < 2000; ++i) launch_too_large(module);
  std::string text(2000, '\0');
  size_t size = text.size();
  ASSERT_SUCCESS(CU(cuLogsDumpToMemory)(nullptr, text.data(), &size, 0));
  EXPECT_GT(size, 1000u);
  EXPECT_LT(size, 2000u);
  EXPECT_EQ(text[size], '\0');
  EXPECT_NE(text.substr(0, size).rfind("cuLaunchKernel"), std::string::npos);
  size = 4;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsDumpToMemory)(nullptr, text.data(), &size, 0));
  EXPECT_EQ(size, 0u);
}

TEST_F(Logs, GoToAFile) {
  const TestModule module(kKernels);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_too_large(module));
  char path[] = "/tmp/conformance-log-XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  ASSERT_SUCCESS(CU(cuLogsDumpToFile)(&start_, path, 0));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::remove(path);
  EXPECT_NE(text.find("4096"), std::string::npos) << text;
}

TEST_F(Logs, RefuseWhatMakesNoSense) {
  char buffer[16];
  size_t size = sizeof buffer;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsCurrent)(nullptr, 0));
  if (is_softgpu()) {  // NVIDIA's driver does not look at flags
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsCurrent)(&start_, 1));
  }
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsDumpToMemory)(nullptr, nullptr, &size, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLogsDumpToMemory)(nullptr, buffer, nullptr, 0));
}

// With CUDA_LOG_FILE set, in a process of its own.
TEST_F(Logs, DISABLED_FailInACall) {
  const TestModule module(kKernels);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, launch_too_large(module));
}

TEST_F(Logs, GoToTheFileThatTheEnvironmentNames) {
  char path[] = "/tmp/conformance-log-XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  EXPECT_EQ(run_in_child("Logs.DISABLED_FailInACall", {std::string("CUDA_LOG_FILE=") + path}), 0);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::remove(path);
  EXPECT_NE(text.find("4096"), std::string::npos) << text;
}

}  // namespace
}  // namespace conformance
