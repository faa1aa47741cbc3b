// Branches, loops, jump tables, calls.
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using ControlFlow = PtxTest;

unsigned collatz(unsigned n) {
  unsigned steps = 0;
  for (; n > 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

TEST_F(ControlFlow, DivergesAndComesTogether) {
  const auto result = run_threads(
      "and.b32 %r0, %t, 3; setp.eq.u32 %p0, %r0, 0; @%p0 bra A; setp.eq.u32 %p0, %r0, 1; @%p0 bra B; mov.u32 %r1, 30; "
      "bra END;\n"
      "A: mov.u32 %r1, 10; bra END;\nB: mov.u32 %r1, 20;\nEND: add.u32 %r1, %r1, %t;" +
          store("%r1"),
      96);
  EXPECT_EQ(result, each_thread(96, [](unsigned i) { return i + (i % 4 == 0 ? 10 : i % 4 == 1 ? 20 : 30); }));
}

TEST_F(ControlFlow, LoopsAsOftenAsEachThreadNeeds) {
  const auto result = run_threads(
      "add.u32 %r0, %t, 1; mov.u32 %r1, 0;\n"
      "LOOP: setp.le.u32 %p0, %r0, 1; @%p0 bra END; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
      "mad.lo.u32 %r0, %r0, 3, 1; bra NEXT;\nEVEN: shr.u32 %r0, %r0, 1;\nNEXT: add.u32 %r1, %r1, 1; bra LOOP;\nEND:" +
          store("%r1"),
      256);
  EXPECT_EQ(result, each_thread(256, [](unsigned i) { return collatz(i + 1); }));
}

TEST_F(ControlFlow, LeavesNestedLoops) {
  const auto result = run_threads(
      "mov.u32 %r0, 0; mov.u32 %r9, 0;\nOUTER: mov.u32 %r1, 0;\n"
      "INNER: mul.lo.u32 %r2, %r0, %r1; add.u32 %r9, %r9, 1; setp.gt.u32 %p0, %r2, %t; @%p0 bra DONE; add.u32 %r1, "
      "%r1, 1; setp.lt.u32 %p1, %r1, 12; @%p1 bra INNER;\n"
      "add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 9; @%p2 bra OUTER;\nDONE:" +
          store("%r9"),
      128);
  EXPECT_EQ(result, each_thread(128, [](unsigned t) {
              unsigned count = 0;
              for (unsigned i = 0; i < 9; ++i)
                for (unsigned j = 0; j < 12; ++j) {
                  ++count;
                  if (i * j > t) return count;
                }
              return count;
            }));
}

// Two entries into one loop: no loop header dominates it.
TEST_F(ControlFlow, EntersALoopInTheMiddle) {
  const auto result = run_threads(
      "mov.u32 %r0, %t; mov.u32 %r1, 0; and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 1; @%p0 bra SECOND;\n"
      "FIRST: add.u32 %r1, %r1, 3;\nSECOND: add.u32 %r1, %r1, 5; setp.eq.u32 %p1, %r0, 0; @%p1 bra END; sub.u32 %r0, "
      "%r0, 1; and.b32 %r2, %r0, 2; setp.eq.u32 %p2, %r2, 0; @%p2 bra SECOND; bra FIRST;\nEND:" +
          store("%r1"),
      64);
  EXPECT_EQ(result, each_thread(64, [](unsigned t) {
              unsigned n = t, sum = 0;
              bool second = t % 2 == 1;
              for (;;) {
                if (!second) sum += 3;
                sum += 5;
                if (n == 0) return sum;
                --n;
                second = (n & 2) == 0;
              }
            }));
}

TEST_F(ControlFlow, JumpsByATable) {
  const auto result = run_threads(
      "and.b32 %r0, %t, 3; mov.u32 %r1, 1;\ntable: .branchtargets A, B, C, B;\nbrx.idx %r0, table;\n"
      "A: add.u32 %r1, %r1, 10;\nB: add.u32 %r1, %r1, 100;\nC: add.u32 %r1, %r1, 1000;" +
          store("%r1"),
      64);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i % 4 == 0 ? 1111 : i % 4 == 2 ? 1001 : 1101; }));
}

TEST_F(ControlFlow, EndsThreadsEarly) {
  EXPECT_EQ(run_threads("setp.gt.u32 %p0, %t, 20; @%p0 exit;" + store("7")),
            each_thread(32, [](unsigned i) { return i > 20 ? 0 : 7; }));
  EXPECT_EQ(run_threads("setp.gt.u32 %p0, %t, 20; @%p0 ret;" + store("7")),
            each_thread(32, [](unsigned i) { return i > 20 ? 0 : 7; }));
}

const std::string kSquare =
    ".func (.param .b32 result) square(.param .b32 number) { .reg .b32 %r<2>; ld.param.b32 %r0, [number]; mul.lo.u32 "
    "%r1, %r0, %r0; st.param.b32 [result], %r1; ret; }\n"
    ".func (.reg .b32 %out) successor(.reg .b32 %in) { add.u32 %out, %in, 1; ret; }\n";

TEST_F(ControlFlow, CallsFunctions) {
  const auto result = run_threads(
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call.uni (b), square, (a); ld.param.b32 %r0, [b]; } call "
      "(%r0), successor, (%r0);" +
          store("%r0"),
      64, kSquare);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i * i + 1; }));
}

TEST_F(ControlFlow, CallsInBranches) {
  const auto result = run_threads(
      "mov.u32 %r0, %t; setp.gt.u32 %p0, %t, 13; @%p0 call (%r0), successor, (%r0); and.b32 %r1, %t, 1; setp.eq.u32 "
      "%p1, %r1, 0; @!%p1 bra END; call (%r0), square, (%r0);\nEND:" +
          store("%r0"),
      64, kSquare);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) {
              const unsigned n = i > 13 ? i + 1 : i;
              return i % 2 == 0 ? n * n : n;
            }));
}

TEST_F(ControlFlow, PassesStructures) {
  const std::string function =
      ".func (.param .align 8 .b8 result[16]) swap(.param .align 8 .b8 pair[16]) { .reg .b64 %d<2>; ld.param.b64 %d0, "
      "[pair]; ld.param.b64 %d1, [pair+8]; st.param.b64 [result], %d1; st.param.b64 [result+8], %d0; ret; }\n";
  const auto result = run_threads(
      "{ .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16]; cvt.u64.u32 %d0, %t; mul.lo.u64 %d1, %d0, 100; "
      "st.param.b64 [a], %d0; st.param.b64 [a+8], %d1; call (b), swap, (a);\n"
      "ld.param.b64 %d2, [b]; ld.param.b64 %d3, [b+8]; } mad.lo.u64 %d2, %d2, 7, %d3; cvt.u32.u64 %r0, %d2;" +
          store("%r0"),
      64, function);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i * 700 + i; }));
}

TEST_F(ControlFlow, CallsByAddress) {
  const std::string functions =
      ".func (.param .b32 r) one(.param .b32 n) { .reg .b32 %r<2>; ld.param.b32 %r0, [n]; add.u32 %r1, %r0, 1; "
      "st.param.b32 [r], %r1; ret; }\n"
      ".func (.param .b32 r) two(.param .b32 n) { .reg .b32 %r<2>; ld.param.b32 %r0, [n]; mul.lo.u32 %r1, %r0, 2; "
      "st.param.b32 [r], %r1; ret; }\n"
      ".global .u64 functions[2] = {one, two};\n";
  const auto result = run_threads(
      "and.b32 %r0, %t, 1; mul.wide.u32 %d0, %r0, 8; mov.u64 %d1, functions; add.u64 %d1, %d1, %d0; ld.global.u64 %d2, "
      "[%d1];\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; prototype: .callprototype (.param .b32 _) _ (.param .b32 "
      "_); call (b), %d2, (a), prototype; ld.param.b32 %r1, [b]; }" +
          store("%r1"),
      64, functions);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i % 2 == 0 ? i + 1 : i * 2; }));
  const auto uniform = run_threads(
      "mov.u64 %d2, two; { .param .b32 a; .param .b32 b; st.param.b32 [a], %t; targets: .calltargets one, two; call "
      "(b), %d2, (a), targets; ld.param.b32 %r1, [b]; }" +
          store("%r1"),
      64, functions);
  EXPECT_EQ(uniform, each_thread(64, [](unsigned i) { return i * 2; }));
}

TEST_F(ControlFlow, Recurses) {
  const std::string function =
      ".func (.param .b32 r) fibonacci(.param .b32 n)\n{ .reg .b32 %r<6>; .reg .pred %p; ld.param.b32 %r0, [n]; "
      "setp.lt.u32 %p, %r0, 2; @%p bra END;\n"
      "sub.u32 %r1, %r0, 1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fibonacci, (a); "
      "ld.param.b32 %r2, [b]; }\n"
      "sub.u32 %r1, %r0, 2; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fibonacci, (a); "
      "ld.param.b32 %r3, [b]; }\n"
      "add.u32 %r0, %r2, %r3;\nEND: st.param.b32 [r], %r0; ret; }\n";
  const auto result = run_threads(
      "and.b32 %r0, %t, 15; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), fibonacci, (a); "
      "ld.param.b32 %r1, [b]; }" +
          store("%r1"),
      64, function);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) {
              unsigned a = 0, b = 1;
              for (unsigned n = i % 16; n > 0; --n) b = std::exchange(a, b) + b;
              return a;
            }));
}

// Two arrays in a row, whose addresses go to the next level and which are read again behind it.
TEST_F(ControlFlow, PassesLocalArraysOnWhileItRecurses) {
  const auto call = [](const std::string& array, const std::string& result) {
    return "{ .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], %r2; cvta.local.u64 %d1, " + array +
           "; st.param.b64 [y], %d1; call (z), tree, (x, y); ld.param.b32 " + result + ", [z]; }\n";
  };
  const std::string function =
      ".func (.param .b32 r) tree(.param .b32 n, .param .b64 p)\n{ .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p;\n"
      ".local .align 8 .b32 a[4]; .local .align 8 .b32 b[4];\n"
      "ld.param.b32 %r0, [n]; ld.param.b64 %d0, [p]; ld.b32 %r1, [%d0]; mov.u32 %r8, %r1;\n"
      "setp.eq.u32 %p, %r0, 0; @%p bra END; sub.u32 %r2, %r0, 1;\n"
      "mov.u64 %d2, a; mov.u64 %d3, b; add.u32 %r3, %r1, %r0; st.local.b32 [%d2], %r3; mad.lo.u32 %r4, %r1, 2, 1; "
      "st.local.b32 [%d3], %r4;\n" +
      call("%d2", "%r5") + call("%d3", "%r6") +
      "ld.local.b32 %r7, [%d2]; mad.lo.u32 %r8, %r5, 3, %r6; add.u32 %r8, %r8, %r7; ld.local.b32 %r7, [%d3]; add.u32 "
      "%r8, %r8, %r7;\nst.b32 [%d0], %r8;\nEND: st.param.b32 [r], %r8; ret; }\n";
  const auto result = run_threads(
      ".local .b32 first; st.local.b32 [first], %t; mov.u64 %d2, first; and.b32 %r2, %t, 3;\n" + call("%d2", "%r0") +
          "ld.local.b32 %r1, [%d2]; xor.b32 %r0, %r0, %r1; add.u32 %r0, %r0, %t;\n" + store("%r0"),
      64, function);
  const auto tree = [](auto&& self, unsigned n, unsigned& p) -> unsigned {
    if (n == 0) return p;
    unsigned a = p + n, b = 2 * p + 1;
    const unsigned left = self(self, n - 1, a), right = self(self, n - 1, b);
    return p = 3 * left + right + a + b;
  };
  EXPECT_EQ(result, each_thread(64, [&](unsigned i) {
              unsigned first = i;
              const unsigned returned = tree(tree, i % 4, first);
              return (returned ^ first) + i;
            }));
}

// Adds up over the warp, and meets the block, on each of its levels.
TEST_F(ControlFlow, RecursesWhileThreadsWaitForEachOther) {
  const std::string function =
      ".func (.param .b32 r) add(.param .b32 n, .param .b32 v)\n{ .reg .b32 %r<6>; .reg .pred %p; ld.param.b32 %r0, "
      "[n]; "
      "ld.param.b32 %r1, [v]; setp.eq.u32 %p, %r0, 0; @%p bra END;\n"
      "redux.sync.add.u32 %r1, %r1, 0xffffffff; bar.sync 0; and.b32 %r1, %r1, 0xffff; sub.u32 %r0, %r0, 1;\n"
      "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; st.param.b32 [c], %r1; call (b), add, (a, "
      "c); "
      "ld.param.b32 %r1, [b]; }\nadd.u32 %r1, %r1, %r0;\nEND: st.param.b32 [r], %r1; ret; }\n";
  const auto result = run_threads(
      "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], 5; st.param.b32 [c], %t; call (b), add, (a, "
      "c); "
      "ld.param.b32 %r1, [b]; }" +
          store("%r1"),
      64, function);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) {
              unsigned sum = (i / 32 * 32) * 32 + 31 * 16;
              for (unsigned level = 1; level < 5; ++level) sum = sum * 32 & 0xffff;
              return sum + 4 + 3 + 2 + 1;
            }));
}

// Each thread waits for the next one, at the bottom of a recursion, in a loop that half of them enter in the middle.
TEST_F(ControlFlow, WaitsInALoopWithTwoEntriesWhileItRecurses) {
  const std::string function =
      ".func (.param .b32 r) wait(.param .b32 n, .param .b32 place)\n{ .reg .b32 %r<6>; .reg .pred %p;\n"
      "ld.param.b32 %r0, [n]; ld.param.b32 %r1, [place]; setp.eq.u32 %p, %r0, 0; @%p bra BOTTOM;\n"
      "sub.u32 %r0, %r0, 1; { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; st.param.b32 [b], "
      "%r1; "
      "call (c), wait, (a, b); ld.param.b32 %r4, [c]; }\nbra END;\n"
      "BOTTOM: mov.u32 %r3, 0; and.b32 %r2, %r1, 4; setp.ne.u32 %p, %r2, 0; @%p bra MIDDLE;\n"
      "AGAIN: add.u32 %r3, %r3, 1;\n"
      "MIDDLE: ld.volatile.shared.u32 %r4, [%r1]; setp.eq.u32 %p, %r4, 0; @%p bra AGAIN;\n"
      "shr.u32 %r3, %r3, 31; add.u32 %r4, %r4, %r3;\nEND: st.param.b32 [r], %r4; ret; }\n";
  const auto result = run_threads(
      ".shared .align 8 .b32 flags[64];\n"
      "mov.u32 %r0, flags; shl.b32 %r1, %t, 2; add.u32 %r0, %r0, %r1; st.volatile.shared.u32 [%r0], 0; bar.sync 0;\n"
      "mov.u32 %r2, 0; setp.eq.u32 %p0, %t, 63; @%p0 bra LAST; add.u32 %r3, %r0, 4;\n"
      "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], 2; st.param.b32 [b], %r3; call (c), wait, (a, "
      "b); ld.param.b32 %r2, [c]; }\n"
      "LAST: add.u32 %r2, %r2, 1; st.volatile.shared.u32 [%r0], %r2;" +
          store("%r2"),
      64, function);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return 64 - i; }));
}

TEST_F(ControlFlow, EndsThreadsInsideRecursion) {
  const std::string function =
      ".func down(.param .b32 n)\n{ .reg .b32 %r<2>; .reg .pred %p; ld.param.b32 %r0, [n]; setp.eq.u32 %p, %r0, 3; "
      "@%p exit; setp.eq.u32 %p, %r0, 0; @%p ret; sub.u32 %r0, %r0, 1;\n"
      "{ .param .b32 a; st.param.b32 [a], %r0; call down, (a); } ret; }\n";
  const auto result = run_threads(
      "and.b32 %r0, %t, 7;" + store("7") + "{ .param .b32 a; st.param.b32 [a], %r0; call down, (a); }" + store("%r0"),
      64, function);
  EXPECT_EQ(result, each_thread(64, [](unsigned i) { return i % 8 < 3 ? i % 8 : 7u; }));
}

// A loop with three entries, out of which a flag is found that tells whether it was entered here.
TEST_F(ControlFlow, EntersALoopAtThreePlaces) {
  const std::string text = kernel_text(own_element() + R"(
  ld.global.u32 %r0, [%d31]; cvt.u16.u32 %h0, %r0;
  mov.u32 %r1, 11; add.u32 %r2, %r0, %t; and.b32 %r2, %r2, 1; setp.ne.u32 %p0, %r2, 0;
  @%p0 bra SECOND;
  setp.lt.u32 %p1, %r0, 39;
  @%p1 bra THIRD;
FIRST:
  setp.ge.s16 %p2, %h0, %h0; sub.u32 %r1, %r1, 1; setp.gt.s32 %p3, %r1, 0; and.pred %p2, %p2, %p3;
  @%p2 bra FIRST;
SECOND:
  setp.gt.s32 %p3, %r1, 0;
  @%p3 bra FIRST;
THIRD:
  add.u32 %r3, %lane, %t; and.b32 %r3, %r3, 1; setp.ne.u32 %p4, %r3, 0; setp.gt.s32 %p5, %r1, 0; and.pred %p4, %p4, %p5;
  @%p4 bra FIRST;
)" + store("%r1"));
  const std::vector<U> in = each_thread(64, [](unsigned i) { return i * 6; });
  EXPECT_EQ(run_kernel(text, in, {.block_x = 64}),
            each_thread(64, [](unsigned i) { return (i * 7) % 2 == 0 && i * 6 < 39 ? 11u : 0u; }));
}

// Lanes that come round a second time keep what they put together the first time.
TEST_F(ControlFlow, PutsHalvesTogetherInALoopWithTwoEntries) {
  const auto result = run_threads(R"(
  mad.lo.u32 %r0, %t, 2654435761, 4294967295; mul.lo.u32 %r1, %t, 40503; cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1;
  setp.lt.s32 %p0, %r0, 0; mov.u32 %r2, 4;
  @%p0 bra MIDDLE;
AGAIN:
  @%p0 bra BEHIND;
MIDDLE:
  mov.b32 %r3, {%h0, %h1};
  @%p0 bra DONE;
BEHIND:
  sub.u32 %r2, %r2, 1; setp.gt.s32 %p1, %r2, 0;
  @%p1 bra AGAIN;
DONE:
)" + store("%r3"),
                                  128);
  EXPECT_EQ(result, each_thread(128, [](unsigned i) {
              return ((i * 2654435761u + 4294967295u) & 0xffff) | (i * 40503u & 0xffff) << 16;
            }));
}

TEST_F(ControlFlow, DividesByZeroWithoutHarm) {
  const auto result = run_threads(
      "mov.u32 %r0, 0; div.u32 %r1, %t, %r0; rem.s32 %r2, %t, %r0; cvt.u64.u32 %d0, %t; mov.u64 %d1, 0; div.s64 %d2, "
      "%d0, %d1; rem.u64 %d3, %d0, %d1; mov.u32 %r3, 0x80000000; mov.u32 %r4, -1; div.s32 %r5, %r3, %r4;" +
      store("%t"));
  EXPECT_EQ(result, each_thread(32, [](unsigned i) { return i; }));
}

TEST_F(ControlFlow, Sleeps) {
  EXPECT_EQ(run_threads("nanosleep.u32 100; nanosleep.u32 %t;" + store("%t")),
            each_thread(32, [](unsigned i) { return i; }));
}

// The time that `sleep` takes each thread.
std::string timed(const std::string& sleep) {
  return "mov.u64 %d0, %globaltimer; " + sleep +
         " mov.u64 %d1, %globaltimer; sub.u64 %d1, %d1, %d0; cvt.u32.u64 %r1, %d1;\n" + store("%r1");
}

// PTX promises no more than twice the time, and a millisecond at most; softgpu keeps to what is asked.
TEST_F(ControlFlow, SleepsForAsLongAsAsked) {
  const auto alike = run_threads(timed("nanosleep.u32 400000;"), 128);
  const auto beyond = run_threads(timed("nanosleep.u32 4000000000;"), 128);
  for (unsigned i = 0; i < 128; ++i) {
    EXPECT_GE(alike[i], conformance::is_softgpu() ? 400'000u : 0u) << i;
    EXPECT_LT(beyond[i], 3'000'000'000u) << i;
  }
}

// In gangs all sleep together: nobody much longer than asked. Lanes that don't take part don't count.
TEST_F(ControlFlow, SleepsInPart) {
  if (!conformance::is_softgpu()) GTEST_SKIP() << "a GPU may sleep less";
  const auto result =
      run_threads(timed("mad.lo.u32 %r2, %t, 1000, 200000; setp.lt.u32 %p0, %t, 3; selp.u32 %r2, 0, %r2, %p0;\n"
                        "@%p0 bra SKIP;\nnanosleep.u32 %r2;\nSKIP:"),
                  32);
  for (unsigned i = 3; i < 32; ++i) EXPECT_GE(result[i], 203'000u) << i;
}

}  // namespace
}  // namespace ptx_test
