// Shuffles, votes, matches and reductions within a warp.
#include <bit>

#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using Warp = PtxTest;

// The lane that a shuffle reads, by the formulas of the PTX ISA, and whether it is in bounds.
struct Source {
  unsigned lane;
  bool valid;
};
Source shuffle_source(const std::string& mode, int lane, int b, int c) {
  const int segment = c >> 8 & 31, clamp = c & 31;
  const int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
  b &= 31;
  int from = 0;
  bool valid = false;
  if (mode == "up") valid = (from = lane - b) >= highest;
  if (mode == "down") valid = (from = lane + b) <= highest;
  if (mode == "bfly") valid = (from = lane ^ b) <= highest;
  if (mode == "idx") valid = (from = lowest | (b & ~segment)) <= highest;
  return {static_cast<unsigned>(valid ? from : lane), valid};
}

TEST_F(Warp, Shuffles) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const int width : {32, 16, 8})
      for (const int b : {0, 1, 2, 5, 15, 16, 31}) {
        const int c = (32 - width) << 8 | (mode == "up" ? 0 : 31);
        const auto result =
            run_threads("mul.lo.u32 %r0, %t, 11; shfl.sync." + mode + ".b32 %r1|%p0, %r0, " + std::to_string(b) + ", " +
                            std::to_string(c) + ", -1; @!%p0 add.u32 %r1, %r1, 1000000;" + store("%r1"),
                        64);
        EXPECT_EQ(result, each_thread(64,
                                      [&](unsigned i) {
                                        const Source source = shuffle_source(mode, static_cast<int>(i % 32), b, c);
                                        return (i / 32 * 32 + source.lane) * 11 + (source.valid ? 0 : 1000000);
                                      }))
            << mode << " " << width << " " << b;
      }
}

TEST_F(Warp, ShufflesByWhatEachLaneAsksFor) {
  const auto result = run_threads(
      "mul.lo.u32 %r0, %t, 11; mad.lo.u32 %r2, %t, 7, 3; shfl.sync.idx.b32 %r1, %r0, %r2, 31, -1;" + store("%r1"), 96);
  EXPECT_EQ(result, each_thread(96, [](unsigned i) { return (i / 32 * 32 + (i * 7 + 3) % 32) * 11; }));
}

TEST_F(Warp, ShufflesFloats) {
  const auto result = run_threads(
      "cvt.rn.f32.u32 %f0, %t; shfl.sync.bfly.b32 %f1, %f0, 1, 31, -1; cvt.rzi.u32.f32 %r0, %f1;" + store("%r0"));
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return i ^ 1; }));
}

TEST_F(Warp, Votes) {
  const std::string predicate = "and.b32 %r0, %t, 5; setp.eq.u32 %p0, %r0, 4; setp.lt.u32 %p1, %t, 32;\n";
  const auto holds = [](unsigned i) { return (i & 5) == 4; };
  U mask = 0;
  for (unsigned i = 0; i < 32; ++i) mask |= U{holds(i)} << i;
  EXPECT_EQ(run_threads(predicate + "vote.sync.ballot.b32 %r1, %p0, -1;" + store("%r1"), 64), std::vector<U>(64, mask));
  EXPECT_EQ(run_threads(predicate + "vote.sync.ballot.b32 %r1, !%p0, -1;" + store("%r1"), 64),
            std::vector<U>(64, ~mask));
  const std::string collect = "selp.u32 %r1, 1, 0, %p2; @%p3 add.u32 %r1, %r1, 2; @%p4 add.u32 %r1, %r1, 4;";
  EXPECT_EQ(
      run_threads(
          predicate +
              "vote.sync.all.pred %p2, %p0, -1; vote.sync.any.pred %p3, %p0, -1; vote.sync.uni.pred %p4, %p0, -1;" +
              collect + store("%r1"),
          64),
      std::vector<U>(64, 2));
  // True in the whole first warp and nowhere in the second.
  EXPECT_EQ(
      run_threads(
          predicate +
              "vote.sync.all.pred %p2, %p1, -1; vote.sync.any.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p1, -1;" +
              collect + store("%r1"),
          64),
      each_thread(64, [](unsigned i) { return i < 32 ? 7 : 4; }));
}

TEST_F(Warp, VotesAmongTheLanesOfABranch) {
  const auto result = run_threads(
      "setp.lt.u32 %p0, %t, 10; @%p0 bra LOW; setp.eq.u32 %p1, %t, 20; vote.sync.ballot.b32 %r0, %p1, 0xfffffc00; bra "
      "JOIN;\n"
      "LOW: setp.gt.u32 %p1, %t, 6; vote.sync.ballot.b32 %r0, %p1, 0x3ff;\nJOIN:" +
      store("%r0"));
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return i < 10 ? 0x380 : 1 << 20; }));
}

TEST_F(Warp, KnowsWhichLanesAreActive) {
  EXPECT_EQ(run_threads("activemask.b32 %r0;" + store("%r0"), 64), std::vector<U>(64, ~0u));
  const auto partial = run_threads("activemask.b32 %r0;" + store("%r0"), 40);
  EXPECT_EQ(partial, each_thread(40, [](unsigned i) { return i < 32 ? ~0u : 0xffu; }));
}

TEST_F(Warp, MatchesEqualValues) {
  const auto any = run_threads("rem.u32 %r0, %t, 5; match.any.sync.b32 %r1, %r0, -1;" + store("%r1"), 64);
  EXPECT_EQ(any, each_thread(64, [](unsigned i) {
              U mask = 0;
              for (unsigned lane = 0; lane < 32; ++lane) mask |= U{(i / 32 * 32 + lane) % 5 == i % 5} << lane;
              return mask;
            }));
  const auto wide = run_threads(
      "rem.u32 %r0, %t, 5; cvt.u64.u32 %d0, %r0; shl.b64 %d0, %d0, 40; match.any.sync.b64 %r1, %d0, -1;" + store("%r1"),
      64);
  EXPECT_EQ(wide, any);
  const auto all = run_threads(
      "shr.u32 %r0, %t, 5; match.all.sync.b32 %r1|%p0, %r0, -1; match.all.sync.b32 %r2|%p1, %t, -1; selp.u32 %r3, 1, "
      "0, %p0; @%p1 add.u32 %r3, %r3, 2; add.u32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r3;" +
          store("%r1"),
      64);
  EXPECT_EQ(all, std::vector<U>(64, ~0u ^ 1));
  const auto partial = run_threads("shr.u32 %r0, %t, 5; match.all.sync.b32 %r1, %r0, -1;" + store("%r1"), 40);
  EXPECT_EQ(partial, each_thread(40, [](unsigned i) { return i < 32 ? ~0u : 0xffu; }));
}

TEST_F(Warp, Reduces) {
  const auto check = [](const std::string& operation, auto apply) {
    const auto value = [](unsigned i) { return i * 0x9E3779B9u; };
    const auto result =
        run_threads("mul.lo.u32 %r0, %t, 0x9E3779B9; redux.sync." + operation + " %r1, %r0, -1;" + store("%r1"), 64);
    EXPECT_EQ(result, each_thread(64,
                                  [&](unsigned i) {
                                    U sum = value(i / 32 * 32);
                                    for (unsigned lane = 1; lane < 32; ++lane)
                                      sum = static_cast<U>(apply(sum, value(i / 32 * 32 + lane)));
                                    return sum;
                                  }))
        << operation;
  };
  using S = std::int32_t;
  check("add.u32", [](U a, U b) { return a + b; });
  check("add.s32", [](U a, U b) { return a + b; });
  check("min.u32", [](U a, U b) { return std::min(a, b); });
  check("max.u32", [](U a, U b) { return std::max(a, b); });
  check("min.s32", [](U a, U b) { return std::min(static_cast<S>(a), static_cast<S>(b)); });
  check("max.s32", [](U a, U b) { return std::max(static_cast<S>(a), static_cast<S>(b)); });
  check("and.b32", [](U a, U b) { return a & b; });
  check("or.b32", [](U a, U b) { return a | b; });
  check("xor.b32", [](U a, U b) { return a ^ b; });
}

TEST_F(Warp, CanSpinUntilAnotherWarpHasWritten) {
  const auto result = run_threads(
      "shfl.sync.idx.b32 %r0, %t, 0, 31, -1; st.shared.u32 [flag], 0; bar.sync 0; setp.ge.u32 %p0, %t, 32; @%p0 bra "
      "SET;\n"
      "SPIN: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN; bra DONE;\n"
      "SET: mov.u32 %r1, 5; st.volatile.shared.u32 [flag], %r1;\nDONE:" +
          store("%r1"),
      64, ".shared .align 4 .b32 flag;\n");
  EXPECT_EQ(result, std::vector<U>(64, 5));
}

// A lock that the lanes take one after the other, so that they don't run in step; then each reads what another wrote.
constexpr const char* kTakeTheLock =
    "SPIN: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"
    "ld.volatile.shared.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.shared.u32 [count], %r2;\n"
    "membar.cta; atom.shared.exch.b32 %r1, [lock], 0;\n";
constexpr const char* kLock =
    ".shared .align 4 .b32 lock;\n.shared .align 4 .b32 count;\n.shared .align 4 .b32 cells[64];\n";

TEST_F(Warp, LanesThatTookALockWaitForEachOther) {
  const auto result = run_threads(
      "st.volatile.shared.u32 [lock], 0; st.volatile.shared.u32 [count], 0; bar.sync 0;\n" + std::string(kTakeTheLock) +
          "shl.b32 %r3, %t, 2; mov.u32 %r4, cells; add.u32 %r4, %r4, %r3; add.u32 %r5, %t, 7; st.shared.u32 [%r4], "
          "%r5;\n"
          "bar.warp.sync -1;\n"
          "xor.b32 %r3, %r3, 124; mov.u32 %r4, cells; add.u32 %r4, %r4, %r3; ld.shared.u32 %r6, [%r4];\n"
          "bar.warp.sync -1; ld.volatile.shared.u32 %r7, [count];\n" +
          store("%r6"),
      64, kLock);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(result[i], (i ^ 31) + 7) << i;
}

TEST_F(Warp, GroupsOfLanesWaitEachForItself) {
  const auto result = run_threads(
      "st.volatile.shared.u32 [lock], 0; st.volatile.shared.u32 [count], 0; bar.sync 0;\n" + std::string(kTakeTheLock) +
          "shl.b32 %r3, %t, 2; mov.u32 %r4, cells; add.u32 %r4, %r4, %r3; and.b32 %r0, %t, 1; setp.eq.u32 %p0, %r0, "
          "0;\n"
          "@%p0 bra EVEN;\n"
          "st.shared.u32 [%r4], %t; bar.warp.sync 0xaaaaaaaa; bra DONE;\n"
          "EVEN: add.u32 %r5, %t, 100; st.shared.u32 [%r4], %r5; bar.warp.sync 0x55555555;\n"
          "DONE: xor.b32 %r3, %r3, 120; mov.u32 %r4, cells; add.u32 %r4, %r4, %r3; ld.shared.u32 %r6, [%r4];\n" +
          store("%r6"),
      32, kLock);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(result[i], (i ^ 30) + (i % 2 == 0 ? 100 : 0)) << i;
}

TEST_F(Warp, ElectsOneLane) {
  const auto result =
      run_threads("elect.sync %r0|%p0, -1; selp.u32 %r1, 100, 0, %p0; add.u32 %r0, %r0, %r1;" + store("%r0"), 64);
  unsigned elected = 0;
  for (unsigned i = 0; i < 64; ++i) elected += result[i] >= 100 ? 1 : 0;
  EXPECT_EQ(elected, 2u);
}

}  // namespace
}  // namespace ptx_test
