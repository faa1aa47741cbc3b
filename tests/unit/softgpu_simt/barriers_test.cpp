// Suspend points: gangs wait for each other wherever CUDA allows a barrier.
#include <gtest/gtest.h>

#include "unit/softgpu_simt/kernel_text.hpp"

namespace softgpu::simt::test {
namespace {

const char* kBarrier = "  call void @softgpu.barrier_sync(i32 0, i32 0), !softgpu.line !{i32 12}\n";

// Each thread writes its number, waits, and reads its mirror image's.
TEST(Barriers, WritesBeforeAreSeenBehind) {
  const std::string text = kernel(1, std::string(R"(
  %s = call ptr @softgpu.shared()
  %at = getelementptr i32, ptr %s, i32 %tx
  store i32 %i, ptr %at
)") + kBarrier + R"(
  %top = sub i32 %nx, 1
  %mirror = sub i32 %top, %tx
  %from = getelementptr i32, ptr %s, i32 %mirror
  %v = load i32, ptr %from
  %to = getelementptr i32, ptr %a0, i64 %i64
  store i32 %v, ptr %to
  ret void
)");
  for (const unsigned width : {1U, 8U, 16U, 32U})
    for (const unsigned threads : {64U, 100U, 5U}) {
      std::vector<std::uint32_t> out(2 * threads);
      const Ran ran = run(text, {.width = width,
                                 .block = {threads, 1, 1},
                                 .grid = {2, 1, 1},
                                 .params = {address(out)},
                                 .shared_bytes = 4 * threads});
      EXPECT_TRUE(ran.suspends);
      EXPECT_FALSE(ran.deadlock);
      for (unsigned b = 0; b < 2; ++b)
        for (unsigned t = 0; t < threads; ++t)
          ASSERT_EQ(out[b * threads + t], b * threads + threads - 1 - t) << width << " lanes";
    }
}

// A tree reduction: a barrier in a loop, behind a branch that lanes disagree on.
TEST(Barriers, InALoopWithDivergentWork) {
  const std::string text = kernel(1, std::string(R"(
  %s = call ptr @softgpu.shared()
  %at = getelementptr i32, ptr %s, i32 %tx
  store i32 %tx, ptr %at
)") + kBarrier + R"(
  br label %loop
loop:
  %w = phi i32 [ 64, %entry ], [ %half, %next ]
  %on = icmp ult i32 %tx, %w
  br i1 %on, label %add, label %next
add:
  %o = add i32 %tx, %w
  %other = getelementptr i32, ptr %s, i32 %o
  %x = load i32, ptr %other
  %y = load i32, ptr %at
  %z = add i32 %x, %y
  store i32 %z, ptr %at
  br label %next
next:
)" + kBarrier + R"(
  %half = lshr i32 %w, 1
  %more = icmp ne i32 %half, 0
  br i1 %more, label %loop, label %end
end:
  %first = icmp eq i32 %tx, 0
  br i1 %first, label %write, label %done
write:
  %r = load i32, ptr %s
  store i32 %r, ptr %a0
  br label %done
done:
  ret void
)");
  for (const unsigned width : {1U, 8U, 16U, 32U}) {
    std::vector<std::uint32_t> out(1);
    run(text, {.width = width, .block = {128, 1, 1}, .params = {address(out)}, .shared_bytes = 512});
    EXPECT_EQ(out[0], 127U * 128 / 2) << width << " lanes";
  }
}

TEST(Barriers, ThreadsThatHaveLeftAreNotWaitedFor) {
  const std::string text = kernel(1, std::string(R"(
  %early = icmp uge i32 %tx, 21
  br i1 %early, label %leave, label %stay
leave:
  %mark = getelementptr i32, ptr %a0, i64 %i64
  store i32 7, ptr %mark
  ret void
stay:
)") + kBarrier + R"(
  %to = getelementptr i32, ptr %a0, i64 %i64
  store i32 9, ptr %to
  ret void
)");
  for (const unsigned width : {1U, 8U, 16U}) {
    std::vector<std::uint32_t> out(40);
    const Ran ran = run(text, {.width = width, .block = {40, 1, 1}, .params = {address(out)}});
    EXPECT_FALSE(ran.divergent_barrier) << width << " lanes";
    for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(out[i], i < 21 ? 9U : 7U);
  }
}

// The trip count is a value that the analysis takes for varying and that is the same in all threads.
TEST(Barriers, InALoopWhoseCountOnlyTheProgramKnowsToBeUniform) {
  const std::string text = kernel(2, std::string(R"(
  %from = getelementptr i32, ptr %a0, i64 %i64
  %n = load i32, ptr %from
  %s = call ptr @softgpu.shared()
  %at = getelementptr i32, ptr %s, i32 %tx
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %total, %loop ]
  store i32 %k, ptr %at
)") + kBarrier + R"(
  %o = xor i32 %tx, 17
  %other = getelementptr i32, ptr %s, i32 %o
  %v = load i32, ptr %other
  %total = add i32 %sum, %v
)" + kBarrier + R"(
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  %to = getelementptr i32, ptr %a1, i64 %i64
  store i32 %total, ptr %to
  ret void
)");
  for (const unsigned width : {1U, 8U, 16U}) {
    std::vector<std::uint32_t> in(64, 5), out(64);
    const Ran ran =
        run(text, {.width = width, .block = {64, 1, 1}, .params = {address(in), address(out)}, .shared_bytes = 256});
    EXPECT_FALSE(ran.divergent_barrier);
    for (const std::uint32_t v : out) EXPECT_EQ(v, 10U);
  }
}

// Lanes of one warp at two different barriers.
TEST(Barriers, PartOfAWarpAtABarrierIsReported) {
  const std::string text =
      kernel(1, std::string("  %some = icmp ult i32 %tx, 3\n  br i1 %some, label %few, label %many\nfew:\n") +
                    kBarrier + "  store i32 1, ptr %a0\n  br label %end\nmany:\n" + kBarrier +
                    "  store i32 2, ptr %a0\n  br label %end\nend:\n  ret void\n");
  std::vector<std::uint32_t> out(1);
  EXPECT_TRUE(run(text, {.width = 8, .block = {32, 1, 1}, .params = {address(out)}}).divergent_barrier);
}

TEST(Barriers, ReductionsCombineTheWholeBlock) {
  const std::string text = kernel(1, R"(
  %p = icmp ult i32 %tx, 10
  %count = call i32 @softgpu.barrier_red_popc(i32 0, i32 0, i1 %p)
  %all = call i1 @softgpu.barrier_red_and(i32 0, i32 0, i1 %p)
  %any = call i1 @softgpu.barrier_red_or(i32 0, i32 0, i1 %p)
  %a = zext i1 %all to i32
  %b = zext i1 %any to i32
  %a2 = shl i32 %a, 8
  %b2 = shl i32 %b, 9
  %x = or i32 %count, %a2
  %y = or i32 %x, %b2
  %to = getelementptr i32, ptr %a0, i64 %i64
  store i32 %y, ptr %to
  ret void
)");
  for (const unsigned width : {1U, 8U, 16U}) {
    std::vector<std::uint32_t> out(50);
    run(text, {.width = width, .block = {50, 1, 1}, .params = {address(out)}});
    for (const std::uint32_t v : out) EXPECT_EQ(v, 10U | 512U) << width << " lanes";
  }
}

// Threads take a lock in turn, two of them in one warp: only threads that run on their own get through.
TEST(Barriers, ALockInsideAWarpMakesProgress) {
  const std::string text = kernel(2, R"(
  br label %try
try:
  %pair = cmpxchg ptr %a0, i32 0, i32 1 acquire monotonic
  %got = extractvalue { i32, i1 } %pair, 1
  br i1 %got, label %in, label %try
in:
  %v = load volatile i32, ptr %a1
  %w = add i32 %v, 1
  store volatile i32 %w, ptr %a1
  store atomic i32 0, ptr %a0 release, align 4
  ret void
)");
  std::vector<std::uint32_t> lock(1), count(1);
  const Ran ran = run(text, {.width = 0, .block = {64, 1, 1}, .params = {address(lock), address(count)}});
  EXPECT_FALSE(ran.deadlock);
  EXPECT_EQ(count[0], 64U);
}

}  // namespace
}  // namespace softgpu::simt::test
