// What goes wrong in a kernel ends the kernel; what goes wrong elsewhere is none of ours.
#include "softgpu/exec/fault.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include "unit/softgpu_exec/launch.hpp"

extern "C" {
void softgpu_rt_trap();
std::uint32_t softgpu_rt_vprintf(void* format, void* arguments);
void softgpu_rt_divergent_barrier(std::uint32_t line);
void softgpu_rt_assert_fail(void* message, void* file, std::uint32_t line, void* function, std::uint32_t block_x,
                            std::uint32_t block_y, std::uint32_t block_z, std::uint32_t thread_x,
                            std::uint32_t thread_y, std::uint32_t thread_z);
}

namespace softgpu::exec {
namespace {

void bad_write(const abi::Block*) { write_to(4096); }

class Fault : public testing::TestWithParam<unsigned> {
 protected:
  Pool pool{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Workers, Fault, testing::Values(1, 4));

TEST_P(Fault, BadAccessIsAnIllegalAddressAndTheProcessGoesOn) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(run(pool, launch_of(plain(bad_write), {1}, {1})), Outcome::illegal_address);
    EXPECT_EQ(run(pool, launch_of(plain([](const abi::Block*) {}), {10}, {1})), Outcome::completed);
  }
}

TEST_P(Fault, RemainingBlocksAreDropped) {
  const auto fail_at_ten = [](const abi::Block* block) {
    argument<std::atomic<std::uint64_t>>(*block).fetch_add(1);
    if (block->index.x == 10) write_to(4096);
  };
  std::atomic<std::uint64_t> blocks = 0;
  EXPECT_EQ(run(pool, launch_of(plain(fail_at_ten), {0x7fffffff, 65535, 1}, {32}, &blocks)), Outcome::illegal_address);
  EXPECT_GE(blocks.load(), 10u);
}

TEST_P(Fault, AccessBehindSharedMemoryIsCaught) {
  const auto overrun = [](const abi::Block* block) {
    write_to(reinterpret_cast<std::uintptr_t>(block->shared) + argument<std::uint32_t>(*block));
  };
  for (std::uint32_t bytes : {0u, 128u, 4096u, 100u << 10})
    for (std::uint32_t behind : {0u, 5000u, 1u << 20, 0xffffffffu - (100u << 10)}) {
      std::uint32_t offset = bytes + behind;
      GridLaunch launch = launch_of(plain(overrun), {1}, {1}, &offset);
      launch.static_shared_bytes = bytes;
      EXPECT_EQ(run(pool, std::move(launch)), Outcome::illegal_address) << bytes << "+" << behind;
    }
}

TEST_P(Fault, IllegalInstructionAndDivisionTrapAreCaught) {
#if defined(__x86_64__)
  const auto undefined = [](const abi::Block*) { asm volatile("ud2"); };
  EXPECT_EQ(run(pool, launch_of(plain(undefined), {1}, {1})), Outcome::illegal_instruction);
  const auto divide = [](const abi::Block*) {
    asm volatile("xorl %%eax, %%eax\n xorl %%edx, %%edx\n xorl %%ecx, %%ecx\n divl %%ecx" ::
                     : "eax", "ecx", "edx", "cc");
  };
  EXPECT_EQ(run(pool, launch_of(plain(divide), {1}, {1})), Outcome::illegal_instruction);
#endif
}

[[gnu::noinline]] int recurse(volatile int* depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(*depth);
  if (*depth < 0) return 0;  // never
  *depth = *depth + 1;
  return recurse(depth) + frame[0];
}

TEST_P(Fault, StackOverflowIsCaught) {
  const auto overflow = [](const abi::Block*) {
    volatile int depth = 0;
    recurse(&depth);
  };
  KernelCode code = plain(overflow);
  EXPECT_EQ(run(pool, launch_of(code, {1}, {1})), Outcome::illegal_address);  // on this thread, perhaps
  code.stack_bytes = 1 << 20;
  EXPECT_EQ(run(pool, launch_of(code, {1}, {1})), Outcome::illegal_address);  // on a worker
  EXPECT_EQ(run(pool, launch_of(plain([](const abi::Block*) {}), {10}, {1})), Outcome::completed);
}

TEST_P(Fault, BadPointerOfPrintfIsAnIllegalAddress) {
  const auto print = [](const abi::Block* block) {
    static const char* const bad = reinterpret_cast<const char*>(4096);
    static char format[] = "%s and %s\n", number[] = "%d\n";
    struct {
      const char *first, *second;
    } strings = {"something", bad};
    switch (argument<int>(*block)) {
      case 0: softgpu_rt_vprintf(format, &strings); break;
      case 1: softgpu_rt_vprintf(const_cast<char*>(bad), &strings); break;
      default: softgpu_rt_vprintf(number, const_cast<char*>(bad)); break;
    }
  };
  for (int which : {0, 1, 2, 0})
    EXPECT_EQ(run(pool, launch_of(plain(print), {1}, {1}, &which)), Outcome::illegal_address) << which;
}

TEST_P(Fault, TrapEndsTheKernel) {
  EXPECT_EQ(run(pool, launch_of(plain([](const abi::Block*) { softgpu_rt_trap(); }), {100}, {1})), Outcome::trap);
}

TEST_P(Fault, FailedAssertSaysWhatCudaSays) {
  const auto fail = [](const abi::Block*) {
    char message[] = "i < n", file[] = "kernel.cu", function[] = "void f(int)";
    softgpu_rt_assert_fail(message, file, 12, function, 1, 2, 3, 4, 5, 6);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(pool, launch_of(plain(fail), {1}, {1})), Outcome::assertion);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "kernel.cu:12: void f(int): block: [1,2,3], thread: [4,5,6] Assertion `i < n` failed.\n");
}

TEST_P(Fault, DivergentBarrierNamesKernelAndLine) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(pool, launch_of(plain([](const abi::Block*) { softgpu_rt_divergent_barrier(77); }), {1}, {1})),
            Outcome::misuse);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("test_kernel"), testing::HasSubstr("line 77")));
}

TEST(FaultOutsideKernels, MeetsTheDefaultAction) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto crash = [] {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would report and exit
    Pool pool({.workers = 1});
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    write_to(4096);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV), "");
}

TEST(FaultOutsideKernels, GoesToTheHandlerThatWasThereBefore) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto crash = [] {
    signal(SIGSEGV, [](int) { _exit(42); });
    Pool pool({.workers = 1});
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    write_to(4096);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(42), "");
}

// The program's handlers, installed after ours.
TEST(FaultInKernels, IsOursAlsoWhenTheProgramHasInstalledAHandlerSince) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto survive = [] {
    Pool pool({.workers = 2});
    bool contained = run(pool, launch_of(plain(bad_write), {1}, {1})) == Outcome::illegal_address;
    for (int round = 0; round < 3; ++round) {
      signal(SIGSEGV, [](int) { _exit(42); });
      signal(SIGBUS, SIG_DFL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      contained &= run(pool, launch_of(plain(bad_write), {1}, {1})) == Outcome::illegal_address;
    }
    _exit(contained ? 0 : 1);
  };
  EXPECT_EXIT(survive(), testing::ExitedWithCode(0), "");
}

TEST(FaultOutsideKernels, GoesToTheHandlerThatWasInstalledSince) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto crash = [] {
    Pool pool({.workers = 1});
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    signal(SIGSEGV, [](int) { _exit(42); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    write_to(4096);
  };
  EXPECT_EXIT(crash(), testing::ExitedWithCode(42), "");
}

struct sigaction g_before_the_programs;
int g_seen = 0;

TEST(FaultOutsideKernels, EndsWhenTheLaterHandlerPutsBackTheOneBefore) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto crash = [](bool chain) {
    signal(SIGSEGV, [](int) { _exit(40 + g_seen); });  // there before ours
    Pool pool({.workers = 1});
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    struct sigaction later = {};
    if (chain) {
      later.sa_flags = SA_SIGINFO;
      later.sa_sigaction = [](int number, siginfo_t* info, void* context) {
        ++g_seen;
        g_before_the_programs.sa_sigaction(number, info, context);
      };
    } else {
      later.sa_handler = [](int number) {
        ++g_seen;
        sigaction(number, &g_before_the_programs, nullptr);
      };
    }
    sigaction(SIGSEGV, &later, &g_before_the_programs);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run(pool, launch_of(plain(bad_write), {1}, {1}));
    write_to(4096);
  };
  EXPECT_EXIT(crash(false), testing::ExitedWithCode(41), "");
  EXPECT_EXIT(crash(true), testing::ExitedWithCode(41), "");
}

TEST(FloatControl, IsTheDefaultInsideKernels) {
#if defined(__x86_64__)
  Pool pool({.workers = 2});
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // flush denormals, as -ffast-math does
  for (int round = 0; round < 10; ++round) {
    unsigned inside = 0;
    const auto record = [](const abi::Block* block) { argument<unsigned>(*block) = __builtin_ia32_stmxcsr(); };
    run(pool, launch_of(plain(record), {1}, {1}, &inside));
    EXPECT_EQ(inside & 0xffc0u, 0x1f80u);
    run(pool, launch_of(plain(bad_write), {1}, {1}));
  }
  EXPECT_EQ(__builtin_ia32_stmxcsr() & 0xffc0u, (before | 0x8040) & 0xffc0u);
  __builtin_ia32_ldmxcsr(before);
#endif
}

}  // namespace
}  // namespace softgpu::exec
