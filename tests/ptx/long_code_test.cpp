// Kernels of thousands of instructions, which are compiled with other passes than short ones.
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using LongCode = PtxTest;

// `text` `count` times, with each # replaced by the number of the time.
std::string repeat(unsigned count, const std::string& text) {
  std::string all;
  for (unsigned i = 0; i < count; ++i)
    for (char c : text) all += c == '#' ? std::to_string(i) : std::string(1, c);
  return all;
}

TEST_F(LongCode, IsOneBlock) {
  constexpr unsigned n = 2000;
  const auto result = run_threads(
      "mov.u32 %r0, %t;\n" + repeat(n, "xor.b32 %r1, %r0, #; mad.lo.u32 %r0, %r1, 69069, %r0;\n") + store("%r0"), 64);
  EXPECT_EQ(result, each_thread(64, [](U x) {
              for (U i = 0; i < n; ++i) x += (x ^ i) * 69069u;
              return x;
            }));
}

// Long enough to be compiled with the fewest passes; a loop over the same statements is not.
TEST_F(LongCode, IsHuge) {
  constexpr unsigned n = 600;
  const std::string begin = "cvt.rn.f32.u32 %f0, %t; mov.f32 %f3, %f0; mov.u32 %r0, 0;\n";
  const std::string step =
      "sin.approx.f32 %f1, %f0; ex2.approx.f32 %f2, %f1; div.rn.f32 %f0, %f3, %f2; cos.approx.f32 %f4, %f2;\n"
      "add.f32 %f0, %f0, %f4; setp.gt.f32 %p0, %f1, 0f3f000000; @%p0 add.u32 %r0, %r0, 1;\n";
  const std::string end = "mov.b32 %r2, %f0; xor.b32 %r0, %r0, %r2;" + store("%r0");
  const auto unrolled = run_threads(begin + repeat(n, step) + end, 64);
  const auto looped =
      run_threads(begin + "mov.u32 %r1, 0;\nAGAIN:" + step + "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, " +
                      std::to_string(n) + "; @%p1 bra AGAIN;\n" + end,
                  64);
  EXPECT_EQ(unrolled, looped);
  EXPECT_NE(unrolled.front(), unrolled.back());
}

// Lanes part and meet again some hundred times, and carry values of both sides on.
TEST_F(LongCode, Diverges) {
  constexpr unsigned n = 300;
  const auto result = run_threads("mul.lo.u32 %r0, %t, 747796405; mov.u32 %r2, 0;\n" +
                                      repeat(n,
                                             "and.b32 %r1, %r0, 64; setp.ne.u32 %p0, %r1, 0; @%p0 bra ODD#;\n"
                                             "mad.lo.u32 %r0, %r0, 69069, #; st.global.u32 [%d31], %r0; bra NEXT#;\n"
                                             "ODD#: shr.u32 %r1, %r0, 3; add.u32 %r2, %r2, %r1;\n"
                                             "NEXT#: add.u32 %r0, %r0, 9; @%p0 xor.b32 %r2, %r2, %r0;\n") +
                                      "add.u32 %r0, %r0, %r2;" + store("%r0"),
                                  90);
  EXPECT_EQ(result, each_thread(90, [](U t) {
              U x = t * 747796405u, sum = 0;
              for (U i = 0; i < n; ++i) {
                const bool odd = (x & 64) != 0;
                if (odd)
                  sum += x >> 3;
                else
                  x = x * 69069u + i;
                x += 9;
                if (odd) sum ^= x;
              }
              return x + sum;
            }));
}

// Two ways out of each of many loops, in a loop around all of them.
TEST_F(LongCode, HasManyLoops) {
  constexpr unsigned n = 150;
  const auto result = run_threads("mov.u32 %r0, %t; mov.u32 %r5, 0;\nAGAIN:\n" +
                                      repeat(n,
                                             "and.b32 %r1, %r0, 7;\n"
                                             "L#: mad.lo.u32 %r0, %r0, 5, #; and.b32 %r2, %r0, 15;\n"
                                             "setp.eq.u32 %p0, %r2, 3; @%p0 bra OUT#;\n"
                                             "setp.eq.u32 %p1, %r1, 0; @%p1 bra END#; sub.u32 %r1, %r1, 1; bra L#;\n"
                                             "OUT#: xor.b32 %r0, %r0, 255;\nEND#: add.u32 %r0, %r0, %r1;\n") +
                                      "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra AGAIN;" + store("%r0"),
                                  64);
  EXPECT_EQ(result, each_thread(64, [](U x) {
              for (int again = 0; again < 3; ++again)
                for (U i = 0; i < n; ++i) {
                  U left = x & 7;
                  for (;; --left) {
                    x = x * 5 + i;
                    if ((x & 15) == 3) {
                      x ^= 255;
                      break;
                    }
                    if (left == 0) break;
                  }
                  x += left;
                }
              return x;
            }));
}

TEST_F(LongCode, HasManyAtomics) {
  constexpr unsigned n = 150;
  const auto result = run_threads("mov.u32 %r0, %t;\n" +
                                      repeat(n,
                                             "atom.global.add.u32 %r1, [%d31], %r0; mad.lo.u32 %r0, %r1, 5, %r0;\n"
                                             "and.b32 %r2, %r0, 1; add.u32 %r3, %r1, %r2;\n"
                                             "atom.global.cas.b32 %r1, [%d31], %r3, #; add.u32 %r0, %r0, %r1;\n"
                                             "setp.eq.u32 %p0, %r1, %r3; @%p0 xor.b32 %r0, %r0, 1023;\n") +
                                      store("%r0"),
                                  64);
  EXPECT_EQ(result, each_thread(64, [](U x) {
              U place = 0;
              for (U i = 0; i < n; ++i) {
                const U old = place;
                place += x;
                x += old * 5;
                const U expected = old + (x & 1), found = place;
                if (found == expected) place = i;
                x += found;
                if (found == expected) x ^= 1023;
              }
              return x;
            }));
}

TEST_F(LongCode, HasManyBarriers) {
  constexpr unsigned n = 200, threads = 64;
  const auto result = run_threads(
      "mov.u32 %r0, %t; shl.b32 %r1, %t, 2; mov.u32 %r2, space; add.u32 %r2, %r2, %r1;\n"
      "xor.b32 %r3, %r1, 132; mov.u32 %r4, space; add.u32 %r3, %r3, %r4;\n" +
          repeat(n,
                 "st.shared.u32 [%r2], %r0; bar.sync 0; ld.shared.u32 %r5, [%r3];\n"
                 "mad.lo.u32 %r0, %r0, 3, %r5; add.u32 %r0, %r0, #; bar.sync 0;\n") +
          store("%r0"),
      threads, ".shared .align 4 .b8 space[256];");
  std::vector<U> values = each_thread(threads, [](U t) { return t; });
  for (U i = 0; i < n; ++i) {
    const std::vector<U> before = values;
    for (U t = 0; t < threads; ++t) values[t] = before[t] * 3 + before[t ^ 33] + i;
  }
  EXPECT_EQ(result, values);
}

}  // namespace
}  // namespace ptx_test
