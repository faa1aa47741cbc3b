// Ctrl-C while a kernel runs that never ends.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

// One that could yield to others, and one that never gives its thread back.
const char* kEndless = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry wait_for_ever(.param .u64 flag)
{
  .reg .b64 %at; .reg .b32 %v; .reg .pred %more;
  ld.param.u64 %at, [flag];
AGAIN:
  ld.volatile.global.u32 %v, [%at];
  setp.eq.u32 %more, %v, 0;
  @%more bra AGAIN;
  ret;
}
.visible .entry count_for_ever(.param .u64 flag)
{
  .reg .b64 %at; .reg .b32 %v;
  ld.param.u64 %at, [flag];
  mov.u32 %v, 0;
AGAIN:
  add.u32 %v, %v, 1;
  st.global.u32 [%at+4], %v;
  bra AGAIN;
}
)";

class Endless : public testing::Test {
 protected:
  // Waits for the kernel on this thread, as a program would, and has SIGINT sent from another.
  static void run(const char* kernel) {
    std::signal(SIGINT, SIG_DFL);  // what a shell starts in the background ignores it
    CUcontext context = nullptr;
    ASSERT_SUCCESS(CU(cuInit)(0));
    ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
    const TestModule module(kEndless);
    const DeviceMemory flag(64);
    ASSERT_SUCCESS(CU(cuMemsetD8)(flag.get(), 0, 64));
    ASSERT_SUCCESS(launch(module.function(kernel), 1, 1, nullptr, flag.get()));
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      kill(getpid(), SIGINT);
      std::this_thread::sleep_for(std::chrono::seconds(20));
      _exit(42);  // still here: the signal did not get through
    }).detach();
    CU(cuCtxSynchronize)();
  }
};

TEST_F(Endless, DISABLED_Waiting) { run("wait_for_ever"); }
TEST_F(Endless, DISABLED_Counting) { run("count_for_ever"); }

void expect_interrupted(const char* test) {
  const int status = run_in_child(test);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << "status " << status;
}

TEST(Interrupt, EndsAProgramWhoseKernelWaitsForEver) { expect_interrupted("Endless.DISABLED_Waiting"); }
TEST(Interrupt, EndsAProgramWhoseKernelCountsForEver) { expect_interrupted("Endless.DISABLED_Counting"); }

}  // namespace
}  // namespace conformance
