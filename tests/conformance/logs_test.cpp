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

// What a kernel did wrong is said with every call that returns the context's error. The kernels are all called k.
class FaultLogs : public Logs {
 protected:
  void TearDown() override {}  // the context is of no more use

  std::string log_of(const std::string& body, CUresult error) {
    const std::string text = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data) {
  .reg .b64 %a; .reg .b32 %t, %v; .reg .pred %p;
  ld.param.u64 %a, [data];
  mov.u32 %t, %tid.x;
  )" + body + "\n  ret;\n}";
    const TestModule module(text.c_str());
    CUdeviceptr memory = 0;
    EXPECT_SUCCESS(CU(cuMemAlloc)(&memory, 4096));
    EXPECT_SUCCESS(launch(module.function("k"), 1, 64, nullptr, memory));
    EXPECT_EQ(name_of(CU(cuCtxSynchronize)()), name_of(error));
    std::string log = dump();
    EXPECT_EQ(name_of(CU(cuMemAlloc)(&memory, 4096)), name_of(error));
    EXPECT_NE(dump().find("kernel k, block (0,0,0)"), std::string::npos) << "every call says it";
    return log;
  }
};

#define FAULT_LOG_TEST(name, body, error, ...)                                            \
  TEST_F(FaultLogs, DISABLED_##name) {                                                    \
    const std::string log = log_of(body, error);                                          \
    for (const char* part : {"kernel k, block (0,0,0)", "cuCtxSynchronize", __VA_ARGS__}) \
      EXPECT_NE(log.find(part), std::string::npos) << log;                                \
  }                                                                                       \
  TEST(LogOfFaults, name) {                                                               \
    if (!is_softgpu()) GTEST_SKIP() << "a GPU's driver doesn't say";                      \
    EXPECT_EQ(run_in_child("FaultLogs.DISABLED_" #name), 0);                              \
  }

FAULT_LOG_TEST(SaysWhereAnIllegalAccessWas, "st.global.u32 [4660], %t;", CUDA_ERROR_ILLEGAL_ADDRESS,
               "one of the threads (0,0,0) to", "illegal access to address 0x1234, in line 8 of the PTX")
FAULT_LOG_TEST(SaysWhereAMisalignedAccessWas, "st.global.u32 [%a+2], %t;", CUDA_ERROR_MISALIGNED_ADDRESS,
               "not a multiple of its size, in line 8 of the PTX")
FAULT_LOG_TEST(SaysWhichBarrierWasReachedByAPartOfAWarp,
               "setp.lt.u32 %p, %t, 7; @!%p bra L; bar.sync 0; L: bar.sync 1;", CUDA_ERROR_LAUNCH_FAILED,
               "the barrier in line 8 of the PTX was reached by only some threads of a warp")
FAULT_LOG_TEST(SaysWhereThreadsWaitForEver,
               "setp.lt.u32 %p, %t, 32; @!%p bra L; bar.sync 1, 64; L:", CUDA_ERROR_LAUNCH_FAILED,
               "all remaining threads wait and none can go on: ", "line 8 of the PTX")
FAULT_LOG_TEST(NamesABarrierThatDoesNotExist, "add.u32 %v, %t, 16; mov.u32 %v, 17; bar.sync %v;",
               CUDA_ERROR_ILLEGAL_INSTRUCTION, "line 8 of the PTX names barrier 17")
FAULT_LOG_TEST(SaysThatAKernelTrapped, "trap;", CUDA_ERROR_LAUNCH_FAILED, "trap instruction")

}  // namespace
}  // namespace conformance
