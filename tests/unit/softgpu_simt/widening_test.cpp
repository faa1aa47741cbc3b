// What becomes of loads, stores, calls and atomics when a thread's code is widened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "unit/softgpu_simt/kernel_text.hpp"

namespace softgpu::simt::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kScale = kernel(3, R"(
  %n = trunc i64 %p2 to i32
  %in = icmp ult i32 %i, %n
  br i1 %in, label %then, label %end
then:
  %x = getelementptr float, ptr %a0, i64 %i64
  %y = getelementptr float, ptr %a1, i64 %i64
  %v = load float, ptr %x
  %w = fmul float %v, 3.0
  store float %w, ptr %y
  br label %end
end:
  ret void
)");

TEST(Widening, AdjacentLanesLoadAndStoreVectors) {
  std::vector<float> in(100), out(100, -1.0F);
  std::iota(in.begin(), in.end(), 0.0F);
  const Ran ran =
      run(kScale, {.width = 16, .block = {32, 1, 1}, .grid = {3, 1, 1}, .params = {address(in), address(out), 90}});
  EXPECT_THAT(ran.code, Not(HasSubstr("gather")));
  EXPECT_THAT(ran.code, Not(HasSubstr("scatter")));
  EXPECT_THAT(ran.code, HasSubstr("store <16 x float>"));
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(out[i], i < 90 ? 3.0F * static_cast<float>(i) : -1.0F) << i;
}

TEST(Widening, EveryBlockShapeReachesEveryThread) {
  for (const unsigned width : {8U, 16U, 32U})
    for (const unsigned threads : {1U, 7U, 8U, 31U, 32U, 33U, 64U, 100U}) {
      std::vector<float> in(200, 1.0F), out(200, -1.0F);
      run(kScale, {.width = width, .block = {threads, 1, 1}, .params = {address(in), address(out), 150}});
      for (unsigned i = 0; i < 200; ++i)
        ASSERT_EQ(out[i], i < threads ? 3.0F : -1.0F) << width << " lanes, " << threads << " threads, " << i;
    }
}

// a[(int)(i + offset)] with an index that wraps in 32 bits inside a gang: lanes lie at both ends of the range.
TEST(Widening, AnIndexThatWrapsInsideAGangIsFollowed) {
  const std::string text = kernel(3, R"(
  %offset = trunc i64 %p2 to i32
  %index = add i32 %i, %offset
  %wide = sext i32 %index to i64
  %scaled = shl i64 %wide, 2
  %low = and i64 %scaled, 1023
  %from = add i64 %p0, %scaled
  %pf = inttoptr i64 %from to ptr
  %far = icmp sgt i64 %wide, 1000
  br i1 %far, label %skip, label %near
near:
  %tooLow = icmp slt i64 %wide, -100
  br i1 %tooLow, label %skip, label %load
load:
  %v = load i32, ptr %pf
  br label %join
skip:
  br label %join
join:
  %r = phi i32 [ %v, %load ], [ -7, %skip ]
  %to = getelementptr i32, ptr %a1, i64 %i64
  store i32 %r, ptr %to
  ret void
)");
  std::vector<std::int32_t> in(300), out(64);
  std::iota(in.begin(), in.end(), -100);
  for (const std::int32_t offset : {5, -30, -3, 2147483640, -2147483640}) {
    run(text, {.width = 16,
               .block = {64, 1, 1},
               .params = {address(in) + 400, address(out), static_cast<std::uint32_t>(offset)}});
    for (int i = 0; i < 64; ++i) {
      const auto index = static_cast<std::int32_t>(static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(offset));
      ASSERT_EQ(out[static_cast<unsigned>(i)], index > 1000 || index < -100 ? -7 : index)
          << "offset " << offset << ", thread " << i;
    }
  }
}

TEST(Widening, SmallStridesAreReadAsVectors) {
  const std::string text = kernel(2, R"(
  %pair = shl i64 %i64, 3
  %x = getelementptr i8, ptr %a0, i64 %pair
  %y = getelementptr i8, ptr %x, i64 4
  %u = load i32, ptr %x
  %v = load i32, ptr %y
  %s = sub i32 %u, %v
  %to = getelementptr i32, ptr %a1, i64 %i64
  store i32 %s, ptr %to
  ret void
)");
  std::vector<std::int32_t> in(128), out(64);
  for (int i = 0; i < 128; ++i) in[static_cast<unsigned>(i)] = i * i;
  const Ran ran = run(text, {.width = 16, .block = {64, 1, 1}, .params = {address(in), address(out)}});
  EXPECT_THAT(ran.code, Not(HasSubstr("gather")));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<unsigned>(i)], 4 * i * i - (2 * i + 1) * (2 * i + 1));
}

TEST(Widening, LocalArraysAreEachThreadsOwn) {
  const std::string text = kernel(1, R"(
  %mine = alloca [16 x i32]
  br label %fill
fill:
  %k = phi i32 [ 0, %entry ], [ %next, %fill ]
  %at = getelementptr [16 x i32], ptr %mine, i32 0, i32 %k
  %v = mul i32 %k, %tx
  store i32 %v, ptr %at
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, 16
  br i1 %more, label %fill, label %pick
pick:
  %which = and i32 %tx, 15
  %from = getelementptr [16 x i32], ptr %mine, i32 0, i32 %which
  %r = load i32, ptr %from
  %to = getelementptr i32, ptr %a0, i64 %i64
  store i32 %r, ptr %to
  ret void
)");
  std::vector<std::uint32_t> out(64);
  run(text, {.width = 16, .block = {64, 1, 1}, .params = {address(out)}});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], (i & 15) * i);
}

TEST(Widening, ADivisionByZeroInALaneThatIsOffStopsNobody) {
  const std::string text = kernel(2, R"(
  %from = getelementptr i32, ptr %a0, i64 %i64
  %d = load i32, ptr %from
  %ok = icmp ne i32 %d, 0
  br i1 %ok, label %divide, label %end
divide:
  %q = udiv i32 1000, %d
  %to = getelementptr i32, ptr %a1, i64 %i64
  store i32 %q, ptr %to
  br label %end
end:
  ret void
)");
  std::vector<std::uint32_t> in(32), out(32, 99);
  for (unsigned i = 0; i < 32; ++i) in[i] = i % 3;
  run(text, {.width = 8, .block = {32, 1, 1}, .params = {address(in), address(out)}});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 3 ? 1000 / (i % 3) : 99);
}

TEST(Widening, AtomicsCountEveryLaneOnce) {
  const std::string text = kernel(2, R"(
  %odd = and i32 %tx, 1
  %is = icmp eq i32 %odd, 1
  br i1 %is, label %count, label %end
count:
  %old = atomicrmw add ptr %a0, i32 2 monotonic
  %at = zext i32 %old to i64
  %to = getelementptr i8, ptr %a1, i64 %at
  store i8 1, ptr %to
  %sum = getelementptr i8, ptr %a0, i64 4
  %unused = atomicrmw add ptr %sum, i32 %tx monotonic
  %top = getelementptr i8, ptr %a0, i64 8
  %unused2 = atomicrmw max ptr %top, i32 %tx monotonic
  br label %end
end:
  ret void
)");
  std::vector<std::uint32_t> counters(3);
  std::vector<std::uint8_t> seen(100);
  run(text, {.width = 16, .block = {50, 1, 1}, .params = {address(counters), address(seen)}});
  EXPECT_EQ(counters[0], 50U);
  EXPECT_EQ(counters[1], 625U);
  EXPECT_EQ(counters[2], 49U);
  for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(seen[i], i % 2 == 0 ? 1 : 0);
}

TEST(Widening, RecursiveFunctionsRunLaneByLaneAndKnowTheirThread) {
  const std::string text = kernel(1, R"(
  %n = and i32 %tx, 7
  %v = call i32 @sum(i32 %n)
  %to = getelementptr i32, ptr %a0, i64 %i64
  store i32 %v, ptr %to
  ret void
)",
                                  R"(
define internal i32 @sum(i32 %n) noinline {
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %last, label %again
last:
  %t = call i32 @softgpu.tid_x()
  ret i32 %t
again:
  %m = sub i32 %n, 1
  %rest = call i32 @sum(i32 %m)
  %r = add i32 %rest, %n
  ret i32 %r
}
)");
  std::vector<std::uint32_t> out(40);
  run(text, {.width = 16, .block = {40, 1, 1}, .params = {address(out)}});
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(out[i], i + (i & 7) * ((i & 7) + 1) / 2);
}

TEST(Widening, ThreadsThatExitDoNoMore) {
  const std::string text = kernel(1, R"(
  %to = getelementptr i32, ptr %a0, i64 %i64
  %early = icmp ugt i32 %tx, 20
  br i1 %early, label %leave, label %stay
leave:
  store i32 1, ptr %to
  call void @softgpu.exit()
  unreachable
stay:
  store i32 2, ptr %to
  ret void
)");
  std::vector<std::uint32_t> out(32);
  run(text, {.width = 8, .block = {32, 1, 1}, .params = {address(out)}});
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], i > 20 ? 1U : 2U);
}

// ---- The warp ----------------------------------------------------------------------------------

TEST(Warp, ShufflesReadTheOtherLane) {
  struct Case {
    const char* mode;
    int b, c;
    unsigned (*source)(unsigned lane);
  };
  const Case cases[] = {
      {"down", 3, 31, [](unsigned l) { return l + 3 <= 31 ? l + 3 : l; }},
      {"up", 2, 0, [](unsigned l) { return l >= 2 ? l - 2 : l; }},
      {"bfly", 5, 31, [](unsigned l) { return l ^ 5; }},
      {"idx", 7, 31, [](unsigned) { return 7U; }},
      {"idx", 2, 0x181f, [](unsigned l) { return (l & 24) + 2; }},
      {"down", 3, 0x181f, [](unsigned l) { return (l & 7) + 3 <= 7 ? l + 3 : l; }},
  };
  for (const Case& c : cases) {
    const std::string call = std::string("@softgpu.shfl_") + c.mode;
    const std::string arguments = "(i32 %square, i32 %b, i32 " + std::to_string(c.c) + ", i32 -1)\n";
    for (const char* b : {"add i32 0, ", "add i32 %zero, "}) {
      const std::string text =
          kernel(1, "  %square = mul i32 %tx, %tx\n  %zero = lshr i32 %tx, 20\n  %b = " + std::string(b) +
                        std::to_string(c.b) + "\n  %v = call i32 " + call + arguments +
                        "  %to = getelementptr i32, ptr %a0, i64 %i64\n  store i32 %v, ptr %to\n  ret void\n");
      std::vector<std::uint32_t> out(64);
      run(text, {.width = 32, .block = {64, 1, 1}, .params = {address(out)}});
      for (unsigned i = 0; i < 64; ++i) {
        const unsigned source = (i & ~31U) + c.source(i & 31);
        ASSERT_EQ(out[i], source * source) << c.mode << " " << c.b << " " << c.c << ", lane " << i;
      }
    }
  }
}

TEST(Warp, VotesAndReductionsSeeTheLanesThatRun) {
  const std::string text = kernel(1, R"(
  %odd = and i32 %tx, 1
  %is = icmp eq i32 %odd, 1
  br i1 %is, label %vote, label %end
vote:
  %small = icmp ult i32 %tx, 8
  %b = call i32 @softgpu.vote_ballot(i1 %small, i32 -1)
  %all = call i1 @softgpu.vote_all(i1 %small, i32 -1)
  %any = call i1 @softgpu.vote_any(i1 %small, i32 -1)
  %on = call i32 @softgpu.activemask()
  %sum = call i32 @softgpu.redux_add(i32 %tx, i32 -1)
  %max = call i32 @softgpu.redux_max_s(i32 %tx, i32 -1)
  %third = urem i32 %tx, 3
  %same = call i32 @softgpu.match_any_32(i32 %third, i32 -1)
  %alli = zext i1 %all to i32
  %anyi = zext i1 %any to i32
  %x1 = getelementptr i32, ptr %a0, i64 1
  %x2 = getelementptr i32, ptr %a0, i64 2
  %x3 = getelementptr i32, ptr %a0, i64 3
  %x4 = getelementptr i32, ptr %a0, i64 4
  %x5 = getelementptr i32, ptr %a0, i64 5
  store i32 %b, ptr %a0
  store i32 %alli, ptr %x1
  store i32 %anyi, ptr %x2
  store i32 %on, ptr %x3
  store i32 %sum, ptr %x4
  store i32 %max, ptr %x5
  %row = getelementptr i32, ptr %a0, i64 8
  %to = getelementptr i32, ptr %row, i64 %i64
  store i32 %same, ptr %to
  br label %end
end:
  ret void
)");
  std::vector<std::uint32_t> out(8 + 32);
  run(text, {.width = 32, .block = {32, 1, 1}, .params = {address(out)}});
  EXPECT_EQ(out[0], 0xaaU);
  EXPECT_EQ(out[1], 0U);
  EXPECT_EQ(out[2], 1U);
  EXPECT_EQ(out[3], 0xaaaaaaaaU);
  EXPECT_EQ(out[4], 256U);
  EXPECT_EQ(out[5], 31U);
  for (unsigned i = 1; i < 32; i += 2) {
    std::uint32_t expected = 0;
    for (unsigned j = 1; j < 32; j += 2) expected |= (j % 3 == i % 3 ? 1U : 0U) << j;
    EXPECT_EQ(out[8 + i], expected);
  }
}

}  // namespace
}  // namespace softgpu::simt::test
