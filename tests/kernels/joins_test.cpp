// Where threads of a warp go different ways and meet again: branches, loops left in the middle, gotos.
#include <algorithm>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
KERNEL(continue_before_the_only_break)(int* out) {
  int t = threadIdx.x, x = t, i = 0;
  while (true) {
    ++i;
    if ((t + i) & 1) { x = x * 3 + 1; continue; }
    if (i > 10) break;
    x += i;
  }
  out[t] = x;
}

// The last two elements count the threads that found their limit and those that did not.
KERNEL(two_exits_of_a_loop)(int* out, const int* limits) {
  int t = threadIdx.x, limit = limits[t], i = 0, s;
  do {
    if (i == limit) { atomicOr(out + 64, 1 << (t & 7)); s = 2; goto done; }
    ++i;
  } while (i < t);
  atomicAdd(out + 65, 1);
  s = 1;
done:
  out[t] = s;
}

// The same where all threads share the limit.
KERNEL(two_exits_and_a_status)(int* out, int limit) {
  int t = threadIdx.x, i = 0, s;
  do {
    if (i == limit) { atomicOr(out + 64, 1); s = 2; goto done; }
    ++i;
  } while (i < t);
  atomicAdd(out + 65, 1);
  s = 1;
done:
  out[t] = s;
}

KERNEL(search)(int* out, const int* wanted) {
  int t = threadIdx.x, x = wanted[t], v = t, i = 60;
  while (--i > 0) if (x == i) { v += 5; break; }
  out[t] = v * 100 + i;
}

KERNEL(binary_search)(int* out, const int* sorted, int n, const int* wanted) {
  int t = threadIdx.x + blockIdx.x * blockDim.x, low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] == wanted[t]) { out[t] = middle; return; }
    if (sorted[middle] < wanted[t]) low = middle + 1; else high = middle;
  }
  out[t] = -low - 1;
}

KERNEL(break_of_several_levels)(int* out) {
  int t = threadIdx.x, steps = 0;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j <= i; ++j) {
      for (int k = 0; k < 6; ++k) {
        ++steps;
        if (i * 37 + j * 11 + k * 5 == t * 3) { steps += 1000; goto found; }
        if ((i ^ j ^ k) == (t & 7) + 4) break;
        if (k + t % 3 == 5) goto next_row;
      }
      if ((steps ^ t) % 13 == 12) continue;
      steps += 2;
    }
  next_row:
    steps += 7;
  }
  steps += 5000;
found:
  out[t] = steps;
}

KERNEL(switch_with_fallthrough)(int* out, const int* selectors) {
  int t = threadIdx.x, v = 1;
  switch (selectors[t]) {
    case 0: v += 3;
    case 1: v *= 5;
    case 2: v -= t; break;
    case 3: v = t * t;
    default: v ^= 255;
    case 7: v += 11; break;
    case 5: out[t] = -t; return;
    case 12: v = 9;
  }
  out[t] = v;
}

// Duff's device.
KERNEL(copy_by_duff)(int* out, const int* in, const int* counts) {
  int t = threadIdx.x, count = counts[t];
  const int* from = in + t;
  int* to = out + t * 40;
  if (count == 0) return;
  int rounds = (count + 7) / 8;
  switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 7:      *to++ = *from++;
    case 6:      *to++ = *from++;
    case 5:      *to++ = *from++;
    case 4:      *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--rounds > 0);
  }
}

// A loop with two entries, which threads enter by either.
KERNEL(loop_with_two_entries)(int* out, const int* in) {
  int t = threadIdx.x, n = in[t] & 15;
  unsigned x = t;
  if (in[t] & 16) goto second;
first:
  x = x * 7 + n;
  if (x & 4) { n -= 2; if (n <= 0) goto end; }
second:
  x ^= n << 3;
  if (--n > 0) goto first;
end:
  out[t] = x;
}

// Bytecode: threads run different programs in one loop.
KERNEL(interpreter)(int* out, const int* programs) {
  int t = threadIdx.x, pc = 0, a = t, b = 1, steps = 0;
  const int* program = programs + (t % 3) * 8;
  for (; steps < 1000; ++steps) {
    switch (program[pc++]) {
      case 0: a += b; break;
      case 1: b = (b * 2 + 1) & 255; break;
      case 2: a -= 3; if (a > 0) pc = 0; break;
      case 3: if (a & 1) pc = 1; else a >>= 1; break;
      case 4: if (a < 200) { a ^= b; pc = program[7] & 3; } break;
      case 5: out[t] = a * 1000 + steps; return;
      default: b -= t;
    }
    pc &= 7;
  }
  out[t] = ~a;
}

KERNEL(collatz)(int* out, int blocks_start) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned n = t + blocks_start;
  int steps = 0;
  while (n != 1) {
    ++steps;
    if (n & 1) { n = 3 * n + 1; continue; }
    do n >>= 1, ++steps; while (!(n & 1));
    --steps;
    n <<= 1, n >>= 1;
  }
  out[t] = steps;
}

KERNEL(mandelbrot)(int* out, int width, int most) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  // In steps of 2^-12, so that every machine computes the same.
  int64_t cx = -8192 + x * 12288 / width, cy = -6144 + y * 12288 / width, zx = 0, zy = 0;
  int i = 0;
  for (; i < most; ++i) {
    int64_t xx = zx * zx >> 12, yy = zy * zy >> 12;
    if (xx + yy > 4 << 12) break;
    zy = (zx * zy >> 11) + cy;
    zx = xx - yy + cx;
  }
  out[y * width + x] = i;
}

KERNEL(loop_left_for_good)(int* out, const int* in) {
  int t = threadIdx.x, s = 0;
  for (int i = 0;; ++i) {
    if (i == in[t]) { out[t] = s; return; }
    for (int j = i; j < 20; j += 3) {
      if (j == t) { out[t] = -s; return; }
      s += j;
    }
    if (s > 500 + t) break;
  }
  out[t] = s + 1000000;
}

KERNEL(value_of_the_last_round)(int* out) {
  int t = threadIdx.x, last = -1, before = -1, i = 0;
  do { before = last; last = i * i + t; } while (++i < t % 9);
  out[t] = last * 1000 + before;
}

// What a uniform counter was when each thread left.
KERNEL(counter_when_a_thread_left)(int* out, const int* in, int rounds) {
  int t = threadIdx.x, left = -1, seen = 0;
  for (int i = 0; i < rounds; ++i) {
    seen = i;
    if (in[i] > in[t]) break;
    left = i;
  }
  out[t] = seen * 100 + left;
}
)";

class Joins : public KernelsTest {
 protected:
  Joins() : KernelsTest(source) {}
};

TEST_F(Joins, ADivergentContinueBeforeTheOnlyBreak) {
  EXPECT_SAME(run("continue_before_the_only_break", {.block = 64}, zeros<int>(64)), each<int>(64, [](int t) {
                int x = t;
                for (int i = 1;; ++i) {
                  if (((t + i) & 1) != 0) {
                    x = x * 3 + 1;
                  } else if (i > 10) {
                    return x;
                  } else {
                    x += i;
                  }
                }
              }));
}

TEST_F(Joins, LoopsLeftByDifferentExits) {
  const std::vector<int> limits = each<int>(64, [](int t) { return t % 3 == 0 ? 1000 : t / 2; });
  std::vector<int> expected = zeros<int>(66);
  for (int t = 0; t < 64; ++t) {
    const bool found = at(limits, t) < std::max(t, 1);
    at(expected, t) = found ? 2 : 1;
    if (found) expected[64] |= 1 << (t & 7);
    if (!found) ++expected[65];
  }
  EXPECT_SAME(run("two_exits_of_a_loop", {.block = 64}, zeros<int>(66), limits), expected);
}

TEST_F(Joins, StatusOfLoopsLeftByDifferentExits) {
  auto expected = each<int>(66, [](int t) { return t > 20 ? 2 : 1; });
  expected[64] = 1;
  expected[65] = 21;
  EXPECT_SAME(run("two_exits_and_a_status", {.block = 64}, zeros<int>(66), 20), expected);
}

TEST_F(Joins, SearchLoops) {
  const std::vector<int> wanted = each<int>(64, [](int t) { return (t * 7) % 80; });
  EXPECT_SAME(run("search", {.block = 64}, zeros<int>(64), wanted), each<int>(64, [&](int t) {
                const int x = at(wanted, t);
                return x > 0 && x < 60 ? (t + 5) * 100 + x : t * 100;
              }));
}

TEST_F(Joins, BinarySearches) {
  const std::vector<int> sorted = each<int>(50, [](int i) { return i * 3; });
  const std::vector<int> wanted = each<int>(200, [](int i) { return i - 20; });
  EXPECT_SAME(run("binary_search", {.grid = 2, .block = 100}, zeros<int>(200), sorted, 50, wanted),
              each<int>(200, [&](int i) {
                const auto place = std::ranges::lower_bound(sorted, at(wanted, i));
                const int index = static_cast<int>(place - sorted.begin());
                return place != sorted.end() && *place == at(wanted, i) ? index : -index - 1;
              }));
}

int break_of_several_levels(int t) {
  int steps = 0;
  for (int i = 0; i < 8; ++i) {
    bool row_ended = false;
    for (int j = 0; j <= i && !row_ended; ++j) {
      for (int k = 0; k < 6; ++k) {
        ++steps;
        if (i * 37 + j * 11 + k * 5 == t * 3) return steps + 1000;
        if ((i ^ j ^ k) == (t & 7) + 4) break;
        row_ended = k + t % 3 == 5;
        if (row_ended) break;
      }
      if (row_ended || (steps ^ t) % 13 == 12) continue;
      steps += 2;
    }
    steps += 7;
  }
  return steps + 5000;
}

TEST_F(Joins, BreaksOfSeveralLevels) {
  EXPECT_SAME(run("break_of_several_levels", {.block = 96}, zeros<int>(96)), each<int>(96, break_of_several_levels));
}

int switch_with_fallthrough(int selector, int t) {
  int v = 1;
  switch (selector) {
    case 0: return (v + 3) * 5 - t;
    case 1: return v * 5 - t;
    case 2: return v - t;
    case 3: return ((t * t) ^ 255) + 11;
    case 5: return -t;
    case 7: return v + 11;
    case 12: return 9;
    default: return (v ^ 255) + 11;
  }
}

TEST_F(Joins, SwitchesWithFallthrough) {
  const std::vector<int> selectors = scrambled_numbers(64, 14);
  EXPECT_SAME(run("switch_with_fallthrough", {.block = 64}, zeros<int>(64), selectors),
              each<int>(64, [&](int t) { return switch_with_fallthrough(at(selectors, t), t); }));
}

TEST_F(Joins, DuffsDevice) {
  const std::vector<int> in = scrambled_numbers(100, 1000), counts = scrambled_numbers(48, 41);
  std::vector<int> expected = zeros<int>(48 * 40);
  for (std::size_t t = 0; t < 48; ++t)
    std::copy_n(in.begin() + static_cast<int>(t), counts[t], expected.begin() + static_cast<int>(t) * 40);
  EXPECT_SAME(run("copy_by_duff", {.block = 48}, zeros<int>(48 * 40), in, counts), expected);
}

unsigned loop_with_two_entries(int in, int t) {
  int n = in & 15;
  unsigned x = static_cast<unsigned>(t);
  bool skip = (in & 16) != 0;
  while (true) {
    if (!skip) {
      x = x * 7 + static_cast<unsigned>(n);
      if ((x & 4) != 0 && (n -= 2) <= 0) return x;
    }
    skip = false;
    x ^= static_cast<unsigned>(n) << 3;
    if (--n <= 0) return x;
  }
}

TEST_F(Joins, LoopsThatGotosEnterInTheMiddle) {
  const std::vector<int> in = scrambled_numbers(64, 32);
  EXPECT_SAME(run("loop_with_two_entries", {.block = 64}, zeros<int>(64), in),
              each<int>(64, [&](int t) { return loop_with_two_entries(at(in, t), t); }));
}

int interpret(const int* program, int t) {
  int pc = 0, a = t, b = 1;
  for (int steps = 0; steps < 1000; ++steps) {
    switch (program[pc++]) {
      case 0: a += b; break;
      case 1: b = (b * 2 + 1) & 255; break;
      case 2: a -= 3, pc = a > 0 ? 0 : pc; break;
      case 3: (a & 1) != 0 ? pc = 1 : a >>= 1; break;
      case 4:
        if (a < 200) a ^= b, pc = program[7] & 3;
        break;
      case 5: return a * 1000 + steps;
      default: b -= t;
    }
    pc &= 7;
  }
  return ~a;
}

TEST_F(Joins, AnInterpreterWhoseThreadsRunDifferentPrograms) {
  const std::vector<int> programs = {0, 1, 3, 2, 4, 5, 5, 1, 2, 0, 6, 4, 5, 1, 5, 2, 3, 2, 0, 4, 5, 5, 0, 3};
  EXPECT_SAME(run("interpreter", {.block = 64}, zeros<int>(64), programs),
              each<int>(64, [&](int t) { return interpret(programs.data() + t % 3 * 8, t); }));
}

TEST_F(Joins, CollatzSequences) {
  EXPECT_SAME(run("collatz", {.grid = 2, .block = 80}, zeros<int>(160), 1), each<int>(160, [](int t) {
                int steps = 0;
                for (int n = t + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
                return steps;
              }));
}

int mandelbrot(int x, int y, int width, int most) {
  const std::int64_t cx = -8192 + x * 12288 / width, cy = -6144 + y * 12288 / width;
  std::int64_t zx = 0, zy = 0;
  for (int i = 0; i < most; ++i) {
    const std::int64_t xx = zx * zx >> 12, yy = zy * zy >> 12;
    if (xx + yy > 4 << 12) return i;
    zy = (zx * zy >> 11) + cy;
    zx = xx - yy + cx;
  }
  return most;
}

TEST_F(Joins, MandelbrotWithAnEarlyBreak) {
  EXPECT_SAME(run("mandelbrot", {.grid = {2, 4}, .block = {16, 8}}, zeros<int>(32 * 32), 32, 60),
              each<int>(32 * 32, [](int i) { return mandelbrot(i % 32, i / 32, 32, 60); }));
}

int loop_left_for_good(int in, int t) {
  int s = 0;
  for (int i = 0;; ++i) {
    if (i == in) return s;
    for (int j = i; j < 20; j += 3) {
      if (j == t) return -s;
      s += j;
    }
    if (s > 500 + t) return s + 1000000;
  }
}

TEST_F(Joins, ReturnsOutOfNestedLoops) {
  const std::vector<int> in = each<int>(64, [](int t) { return t % 5 == 0 ? -1 : t % 19; });
  EXPECT_SAME(run("loop_left_for_good", {.block = 64}, zeros<int>(64), in),
              each<int>(64, [&](int t) { return loop_left_for_good(at(in, t), t); }));
}

TEST_F(Joins, ValuesOfTheLastRound) {
  EXPECT_SAME(run("value_of_the_last_round", {.block = 40}, zeros<int>(40)), each<int>(40, [](int t) {
                const int rounds = std::max(t % 9, 1), last = (rounds - 1) * (rounds - 1) + t;
                return last * 1000 + (rounds > 1 ? (rounds - 2) * (rounds - 2) + t : -1);
              }));
}

TEST_F(Joins, WhatACounterWasWhenAThreadLeft) {
  const std::vector<int> in = scrambled_numbers(64, 50);
  EXPECT_SAME(run("counter_when_a_thread_left", {.block = 64}, zeros<int>(64), in, 64), each<int>(64, [&](int t) {
                for (int i = 0; i < 64; ++i)
                  if (at(in, i) > at(in, t)) return i * 100 + i - 1;
                return 63 * 100 + 63;
              }));
}

}  // namespace
}  // namespace cuprum::tests
