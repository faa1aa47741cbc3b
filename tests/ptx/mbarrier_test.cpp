// Barriers in shared memory and asynchronous copies.
#include <numeric>

#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using Mbarrier = PtxTest;

constexpr const char* kShared = ".shared .align 8 .b64 bar;\n.shared .align 16 .b32 cell[128];\n";

// Thread 0 makes the barrier, for `count` arrivals; all see it.
std::string initialised(unsigned count) {
  return "setp.eq.u32 %p15, %t, 0; @%p15 mbarrier.init.shared.b64 [bar], " + std::to_string(count) +
         "; @%p15 fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %r30, cell; shl.b32 %r29, %t, 2; add.u32 "
         "%r30, "
         "%r30, %r29;\n";
}

std::vector<U> run(const std::string& statements, unsigned threads) {
  return run_threads(statements, threads, kShared);
}

TEST_F(Mbarrier, ThreadsWaitForAllArrivals) {
  // Each thread writes its cell, and reads the one opposite behind the barrier.
  const auto result =
      run(initialised(96) +
              "mad.lo.u32 %r0, %t, 3, 1; st.shared.u32 [%r30], %r0; mbarrier.arrive.shared.b64 %d0, [bar];\n"
              "WAIT: mbarrier.test_wait.shared.b64 %p0, [bar], %d0; @!%p0 bra WAIT;\n"
              "sub.u32 %r1, 95, %t; shl.b32 %r1, %r1, 2; mov.u32 %r2, cell; add.u32 %r1, %r1, %r2; "
              "ld.shared.u32 %r3, [%r1];\n" +
              store("%r3"),
          96);
  EXPECT_EQ(result, each_thread(96, [](unsigned i) { return (95 - i) * 3 + 1; }));
}

TEST_F(Mbarrier, PhasesFollowEachOther) {
  // Ten rounds, waited for by parity; in each the thread adds its neighbour's value of the round before.
  const auto result = run(
      initialised(64) +
          "mov.u32 %r0, 0; mov.u32 %r1, %t; xor.b32 %r2, %t, 33; shl.b32 %r2, %r2, 2; mov.u32 %r3, cell; add.u32 %r2, "
          "%r2, %r3;\n"
          "ROUND: st.shared.u32 [%r30], %r1; and.b32 %r4, %r0, 1; mbarrier.arrive.release.cta.shared::cta.b64 _, "
          "[bar];\n"
          "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p0, [bar], %r4, 100; @!%p0 bra WAIT;\n"
          "ld.shared.u32 %r5, [%r2]; bar.sync 0; add.u32 %r1, %r5, 1; add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 10; "
          "@%p1 bra ROUND;\n" +
          store("%r1"),
      64);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i + 10; }));
}

TEST_F(Mbarrier, CountsWhatIsPendingAndWhatIsDropped) {
  const auto result =
      run(initialised(5) +
              "mbarrier.arrive.shared.b64 %d0, [bar], 2; mbarrier.arrive.noComplete.shared.b64 %d1, [bar], 1; "
              "mbarrier.arrive_drop.shared.b64 %d2, [bar], 2;\n"
              "mbarrier.pending_count.b64 %r0, %d0; mbarrier.pending_count.b64 %r1, %d1; mbarrier.pending_count.b64 "
              "%r2, %d2;\n"
              "mbarrier.test_wait.shared.b64 %p0, [bar], %d2; selp.u32 %r3, 1, 0, %p0;\n"
              // The next phase waits for the three that are left.
              "mbarrier.arrive.shared.b64 %d3, [bar], 3; mbarrier.pending_count.b64 %r4, %d3; "
              "mbarrier.test_wait.shared.b64 "
              "%p0, [bar], %d3; selp.u32 %r5, 1, 0, %p0;\n"
              "mul.lo.u32 %r0, %r0, 100000; mad.lo.u32 %r0, %r1, 10000, %r0; mad.lo.u32 %r0, %r2, 1000, %r0; "
              "mad.lo.u32 %r0, "
              "%r3, 100, %r0; mad.lo.u32 %r0, %r4, 10, %r0; add.u32 %r0, %r0, %r5;\n" +
              store("%r0"),
          1);
  EXPECT_EQ(result, std::vector<U>{532131});
}

TEST_F(Mbarrier, WaitsForBytes) {
  const auto result = run(initialised(1) +
                              "mbarrier.arrive.expect_tx.shared.b64 %d0, [bar], 12; mbarrier.test_wait.shared.b64 %p0, "
                              "[bar], %d0; selp.u32 %r0, "
                              "100, 0, %p0;\n"
                              "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8; "
                              "mbarrier.test_wait.shared.b64 %p0, [bar], %d0; selp.u32 "
                              "%r1, 10, 0, %p0;\n"
                              "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 4; "
                              "mbarrier.test_wait.shared.b64 %p0, [bar], %d0; selp.u32 "
                              "%r2, 1, 0, %p0;\nadd.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2;\n" +
                              store("%r0"),
                          1);
  EXPECT_EQ(result, std::vector<U>{1});
}

// data[0 … n) is copied to shared memory and from there, reversed, behind itself.
std::vector<U> reversed_copy(const std::string& copy, unsigned threads) {
  std::vector<U> data(2 * threads);
  std::iota(data.begin(), data.end(), 1);
  const auto result = run_kernel(
      kernel_text(initialised(threads) + "mul.wide.u32 %d1, %t, 4; add.u64 %d2, %data, %d1;\n" + copy +
                      "sub.u32 %r1, " + std::to_string(threads - 1) +
                      ", %t; shl.b32 %r1, %r1, 2; mov.u32 %r2, cell; add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, [%r1]; "
                      "st.global.u32 [%d2+" +
                      std::to_string(4 * threads) + "], %r3;",
                  kShared),
      data, {.block_x = threads});
  return {result.begin() + threads, result.end()};
}

TEST_F(Mbarrier, CopiesAreThereWhenTheirGroupIsWaitedFor) {
  const auto expected = each_thread(64, [](unsigned i) { return 64 - i; });
  EXPECT_EQ(reversed_copy(
                "cp.async.ca.shared.global [%r30], [%d2], 4; cp.async.commit_group; cp.async.wait_group 0; bar.sync "
                "0;\n",
                64),
            expected);
  EXPECT_EQ(
      reversed_copy("and.b32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 0; @%p0 cp.async.cg.shared.global.L2::128B [%r30], "
                    "[%d2], 16; cp.async.wait_all; bar.sync 0;\n",
                    64),
      expected);
  EXPECT_EQ(reversed_copy(
                "cp.async.ca.shared::cta.global [%r30], [%d2], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
                "WAIT: mbarrier.test_wait.parity.shared.b64 %p0, [bar], 0; @!%p0 bra WAIT;\n",
                64),
            expected);
}

TEST_F(Mbarrier, CopiesFillUpWithZeros) {
  // Four bytes are copied of which thread i takes i % 3, or none when it ignores the source.
  const auto some = reversed_copy(
      "rem.u32 %r0, %t, 3; cp.async.ca.shared.global [%r30], [%d2], 4, %r0; cp.async.wait_all; bar.sync 0;\n", 32);
  EXPECT_EQ(some, each_thread(32, [](unsigned i) { return (31 - i) % 3 == 0 ? 0 : 32 - i; }));
  const auto none = reversed_copy(
      "and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, 1; cp.async.ca.shared.global [%r30], [%d2], 4, %p0; "
      "cp.async.wait_all; "
      "bar.sync 0;\n",
      32);
  EXPECT_EQ(none, each_thread(32, [](unsigned i) { return (31 - i) % 2 == 1 ? 0 : 32 - i; }));
}

TEST_F(Mbarrier, BulkCopiesReportTheirBytes) {
  const auto result = reversed_copy(
      "@!%p15 bra WAIT; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [cell], [%data], 256, [bar];\n"
      "mbarrier.arrive.shared.b64 _, [bar], 63;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0; @!%p0 bra WAIT;\n",
      64);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return 64 - i; }));
}

}  // namespace
}  // namespace ptx_test
