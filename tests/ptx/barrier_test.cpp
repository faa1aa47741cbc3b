// bar and barrier: sync, arrive, red.
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using Barrier = PtxTest;

const std::string kCells = ".shared .align 4 .b32 cells[1024];\n";
// %r30: the address of the thread's cell; %r29: that of the next thread's, over 128 threads.
const std::string kAddresses =
    "mov.u32 %r28, cells; shl.b32 %r30, %t, 2; add.u32 %r30, %r30, %r28; add.u32 %r29, %t, 1; and.b32 %r29, %r29, 127; "
    "shl.b32 %r29, %r29, 2; add.u32 %r29, %r29, %r28;\n";

std::vector<U> run(const std::string& statements, unsigned threads = 128) {
  return run_kernel(kernel_text(own_element() + kAddresses + statements, kCells), std::vector<U>(threads),
                    {.block_x = threads});
}

TEST_F(Barrier, LetsThreadsSeeWhatOthersWrote) {
  for (const std::string barrier : {"bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 3;", "bar.cta.sync 15;",
                                    "bar.sync 1, 128;", "mov.u32 %r27, 2; bar.sync %r27;"}) {
    const auto result = run("mul.lo.u32 %r0, %t, 7; st.shared.u32 [%r30], %r0; " + barrier +
                            " ld.shared.u32 %r1, [%r29];" + store("%r1"));
    EXPECT_EQ(result, each_thread(128, [](unsigned i) { return (i + 1) % 128 * 7; })) << barrier;
  }
}

TEST_F(Barrier, WorksInLoops) {
  const auto result =
      run("st.shared.u32 [%r30], %t; mov.u32 %r0, 0;\n"
          "LOOP: bar.sync 0; ld.shared.u32 %r1, [%r29]; bar.sync 0; add.u32 %r1, %r1, 1; st.shared.u32 [%r30], %r1; "
          "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 10; @%p0 bra LOOP;\n" +
          store("%r1"));
  EXPECT_EQ(result, each_thread(128, [](unsigned i) { return (i + 10) % 128 + 10; }));
}

TEST_F(Barrier, OfSomeWarpsLeavesTheOthersAlone) {
  // The first two warps wait for each other at barrier 1, the others at barrier 2.
  const auto result =
      run("st.shared.u32 [%r30], %t; setp.lt.u32 %p0, %t, 64; @%p0 bra FIRST; bar.sync 2, 64; bra READ; FIRST: "
          "bar.sync 1, 64;\n"
          "READ: xor.b32 %r0, %t, 32; shl.b32 %r0, %r0, 2; add.u32 %r0, %r0, %r28; ld.shared.u32 %r1, [%r0];" +
          store("%r1"));
  EXPECT_EQ(result, each_thread(128, [](unsigned i) { return i ^ 32; }));
}

TEST_F(Barrier, CanBeSignalledWithoutWaiting) {
  // Producers arrive and go on, consumers wait for them.
  const auto result =
      run("setp.lt.u32 %p0, %t, 64; @%p0 bra PRODUCE; bar.sync 1, 128; sub.u32 %r0, %t, 64; shl.b32 %r0, %r0, 2; "
          "add.u32 %r0, %r0, %r28; ld.shared.u32 %r1, [%r0]; bra DONE;\n"
          "PRODUCE: mad.lo.u32 %r1, %t, 3, 1; st.shared.u32 [%r30], %r1; membar.cta; bar.arrive 1, 128;\nDONE:" +
          store("%r1"));
  EXPECT_EQ(result, each_thread(128, [](unsigned i) { return i % 64 * 3 + 1; }));
}

TEST_F(Barrier, Reduces) {
  const std::string predicate = "setp.lt.u32 %p0, %t, 50; ";
  EXPECT_EQ(run(predicate + "bar.red.popc.u32 %r0, 0, %p0;" + store("%r0")), std::vector<U>(128, 50));
  EXPECT_EQ(run(predicate + "bar.red.popc.u32 %r0, 0, !%p0;" + store("%r0")), std::vector<U>(128, 78));
  EXPECT_EQ(run(predicate + "barrier.red.popc.aligned.u32 %r0, 1, 128, %p0;" + store("%r0")), std::vector<U>(128, 50));
  EXPECT_EQ(run(predicate +
                "bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0; selp.u32 %r0, 1, 0, %p1; @%p2 add.u32 %r0, "
                "%r0, 2;" +
                store("%r0")),
            std::vector<U>(128, 2));
  EXPECT_EQ(run("setp.lt.u32 %p0, %t, 500; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, !%p0; selp.u32 %r0, "
                "1, 0, %p1; @%p2 add.u32 %r0, %r0, 2;" +
                store("%r0")),
            std::vector<U>(128, 1));
}

TEST_F(Barrier, DoesNotWaitForThreadsThatEnded) {
  const auto result =
      run("setp.ge.u32 %p0, %t, 64; @%p0 exit; st.shared.u32 [%r30], %t; bar.sync 0; xor.b32 %r0, %t, 63; shl.b32 %r0, "
          "%r0, 2; add.u32 %r0, %r0, %r28; ld.shared.u32 %r1, [%r0];" +
          store("%r1"));
  EXPECT_EQ(result, each_thread(128, [](unsigned i) { return i < 64 ? i ^ 63 : 0; }));
}

TEST_F(Barrier, HoldsForTheLargestBlock) {
  const auto result = run_kernel(
      kernel_text(
          own_element() +
              "mov.u32 %r28, cells; shl.b32 %r30, %t, 2; add.u32 %r30, %r30, %r28; st.shared.u32 [%r30], %t; bar.sync "
              "0; sub.u32 %r0, 1023, %t; shl.b32 %r0, %r0, 2; add.u32 %r0, %r0, %r28; ld.shared.u32 %r1, [%r0];" +
              store("%r1"),
          kCells),
      std::vector<U>(1024), {.block_x = 1024});
  EXPECT_EQ(result, each_thread(1024, [](unsigned i) { return 1023 - i; }));
}

TEST_F(Barrier, KeepsLocalMemoryThatFunctionsAreGivenTheAddressOf) {
  // 64-bit members: gangs keep whole vectors of them, which are aligned to more than a cache line, while they wait. The
  // function calls itself, so it stays a function.
  const std::string function = R"(
.func (.param .b64 sum) total(.param .b64 address, .param .b32 again) {
  .reg .b64 %a, %x<4>; .reg .b32 %n; .reg .pred %p;
  ld.param.u64 %a, [address];
  ld.param.u32 %n, [again];
  setp.eq.u32 %p, %n, 0;
  @%p bra HERE;
  sub.u32 %n, %n, 1;
  { .param .b64 in; .param .b32 n; .param .b64 out; st.param.b64 [in], %a; st.param.b32 [n], %n;
    call (out), total, (in, n); ld.param.b64 %x0, [out]; }
  st.param.b64 [sum], %x0;
  ret;
HERE:
  ld.u64 %x0, [%a]; ld.u64 %x1, [%a+8]; ld.u64 %x2, [%a+16];
  mad.lo.u64 %x0, %x1, 1000, %x0; mad.lo.u64 %x0, %x2, 1000000, %x0;
  st.param.b64 [sum], %x0;
  ret;
}
)";
  const std::string call =
      "{ .param .b64 in; .param .b32 n; .param .b64 out; st.param.b64 [in], %d1; st.param.b32 [n], 1; "
      "call (out), total, (in, n); ld.param.b64 %d2, [out]; add.u64 %d20, %d20, %d2; }\n";
  const std::string statements =
      ".local .align 8 .b8 record[24]; mov.u64 %d0, record; cvta.local.u64 %d1, %d0; mov.u64 %d20, 0;\n"
      "cvt.u64.u32 %d3, %t; add.u64 %d4, %d3, 1; add.u64 %d5, %d3, 2;\n"
      "st.u64 [%d1], %d3; st.u64 [%d1+8], %d4; st.u64 [%d1+16], %d5;\n" +
      call + "bar.sync 0; ld.u64 %d6, [%d1+8]; add.u64 %d6, %d6, 1; st.u64 [%d1+8], %d6;\n" + call +
      "bar.sync 0; ld.u64 %d7, [%d1]; add.u64 %d7, %d7, %d6; st.u64 [%d1], %d7;\n" + call + "cvt.u32.u64 %r0, %d20;\n" +
      store("%r0");
  for (const unsigned threads : {128u, 100u, 1000u})
    for (int round = 0; round < 8; ++round) {
      const auto result =
          run_kernel(kernel_text(own_element() + statements, function), std::vector<U>(threads), {.block_x = threads});
      EXPECT_EQ(result, each_thread(threads, [](U i) {
                  return 3 * (i + 1000 * (i + 1) + 1000000 * (i + 2)) + 2 * 1000 + (i + 2);
                }));
    }
}

TEST_F(Barrier, OfAWarpOrdersItsLanes) {
  const auto result =
      run("st.shared.u32 [%r30], %t; bar.warp.sync 0xffffffff; xor.b32 %r0, %t, 29; shl.b32 %r0, %r0, 2; add.u32 %r0, "
          "%r0, %r28; ld.shared.u32 %r1, [%r0];" +
          store("%r1"));
  EXPECT_EQ(result, each_thread(128, [](unsigned i) { return i ^ 29; }));
}

}  // namespace
}  // namespace ptx_test
