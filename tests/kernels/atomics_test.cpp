// Atomic operations, and what is done with the values they return.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
// The old value of a compare-and-swap loop is used behind it: a maximum of floats, which has no instruction.
__device__ float atomic_max(float* address, float value) {
  int* bits = (int*)address;
  int old = *bits, assumed;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(bits, assumed, __float_as_int(value));
  } while (old != assumed);
  return __int_as_float(old);
}
// out[0] is the maximum; the others count what each thread saw before: never more than the maximum.
KERNEL(maximum_of_floats)(float* out, const float* in) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  float before = atomic_max(out, in[t]);
  out[1 + t] = before <= out[0] ? 1.0f : -1.0f;
}

// Each thread gets its own ticket, and the product over all is kept.
KERNEL(old_value_behind_the_loop)(uint32_t* out, uint32_t* cell) {
  uint32_t t = threadIdx.x, old = *cell, assumed;
  do {
    assumed = old;
    old = atomicCAS(cell, assumed, assumed + 3);
  } while (assumed != old);
  out[old / 3] = old + t * 0;
}

// A bounded counter: the loop has two ends, and what was found is used behind both.
KERNEL(bounded_counter)(int* out, int* counter, int most) {
  int assumed = 0, found;
  while (true) {
    found = atomicCAS(counter, assumed, assumed + 1);
    if (found == assumed || found >= most) break;
    assumed = found;
  }
  if (found < most) out[found] = found * 2; else atomicAdd(out + most, found);
}

KERNEL(sum_of_doubles)(double* out, const double* in) {
  uint64_t* bits = (uint64_t*)out;
  uint64_t old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, (uint64_t)__double_as_longlong(__longlong_as_double(assumed) + in[threadIdx.x]));
  } while (assumed != old);
}

// Saturating counters in halves of words.
KERNEL(counters_of_16_bits)(uint16_t* counters, const int* which, int most) {
  uint16_t* counter = counters + which[threadIdx.x + blockIdx.x * blockDim.x];
  uint16_t seen = *(volatile uint16_t*)counter;
  while (seen < most) {
    uint16_t found = atomicCAS(counter, seen, (uint16_t)(seen + 1));
    if (found == seen) break;
    seen = found;
  }
}

struct Pair { int first; unsigned second; };
__device__ __noinline__ Pair exchange(int* cell, int expected, int value) {
  int old = atomicCAS(cell, expected, value);
  Pair result = {old, (unsigned)(old == expected)};
  return result;
}
// What people do with the result of a compare-and-swap. Each thread has a cell, which holds its number plus 7.
KERNEL(uses_of_a_result)(int64_t* out, int* cells, const int* guesses, const int* table) {
  int t = threadIdx.x, guess = guesses[t];
  int64_t v = 0;
  switch (t % 16) {
    case 0: v = atomicCAS(cells + t, guess, -1); break;
    case 1: v = atomicCAS(cells + t, guess, -1) == guess; break;
    case 2: v = 1000 / atomicCAS(cells + t, guess, -1); break;
    case 3: v = 100000000000ll / (int64_t)atomicCAS(cells + t, guess, -1); break;
    case 4: v = 1000u % (unsigned)atomicCAS(cells + t, guess, -1); break;
    case 5: v = table[atomicCAS(cells + t, guess, -1) & 15]; break;
    case 6: v = 1ll << (atomicCAS(cells + t, guess, -1) & 63); break;
    case 7: v = atomicCAS(cells + t, guess, -1) > guess ? t : -t; break;
    case 8: { Pair p = exchange(cells + t, guess, -5); v = p.first * 10 + p.second; break; }
    case 9: { int old = atomicCAS(cells + t, guess, -1); if (old != guess) old = atomicCAS(cells + t, old, -2); v = old; break; }
    case 10: { int old = atomicCAS(cells + t, guess, 1); for (int i = 0; i < old % 5; ++i) v += i * old; break; }
    case 11: v = (int64_t)(double)atomicCAS(cells + t, guess, -1) * 3; break;
    case 12: v = __popc(atomicCAS(cells + t, guess, -1)) + min(atomicCAS(cells + t, -1, guess), 50); break;
    case 13: { int old = atomicCAS(cells + t, guess, -1); out[64 + old - 7] = old; break; }
    case 14: v = atomicCAS(cells + t, atomicCAS(cells + t, guess, guess), 3); break;
    case 15: v = (char)atomicCAS(cells + t, guess, -1) + (int64_t)(short)(atomicCAS(cells + t, -1, 300) * 300); break;
  }
  out[t] = v * 1000 + cells[t];
}

// Open addressing: keys are claimed by a compare-and-swap, and counted.
KERNEL(count_in_a_hash_table)(int* table, const int* keys, int n, int slots) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
    int key = keys[i], slot = (key * 7) % slots;
    while (true) {
      int found = atomicCAS(table + 2 * slot, 0, key);
      if (found == 0 || found == key) { atomicAdd(table + 2 * slot + 1, 1); break; }
      if (++slot == slots) slot = 0;
    }
  }
}

__device__ int root_of(int* parent, int x) {
  while (true) {
    int p = ((volatile int*)parent)[x];
    if (p == x) return x;
    int above = ((volatile int*)parent)[p];
    if (above != p) atomicCAS(parent + x, p, above);
    x = p;
  }
}
KERNEL(join_sets)(int* parent, const int* from, const int* to) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  int a = from[t], b = to[t];
  while (true) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a == b) break;
    if (a < b) { int swap = a; a = b; b = swap; }
    if (atomicCAS(parent + a, a, b) == a) break;
  }
}
KERNEL(find_sets)(int* out, int* parent) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  out[t] = root_of(parent, t);
}

// A list built by exchanging its head; out[i + 1] is the element behind i, out[0] the head.
KERNEL(push_on_a_list)(int* out) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  out[t + 1] = atomicExch(out, t);
}

KERNEL(histogram)(int* out, const int* in, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + in[i] % 16, 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, bins[threadIdx.x]);
}

KERNEL(every_operation)(uint32_t* out) {
  uint32_t t = threadIdx.x + blockIdx.x * blockDim.x;
  atomicAdd(out, t); atomicSub(out + 1, t); atomicMin((int*)out + 2, (int)t - 50); atomicMax(out + 3, t);
  atomicInc(out + 4, 9); atomicDec(out + 5, 12); atomicAnd(out + 6, ~(1u << (t & 15))); atomicOr(out + 7, 1u << (t & 31));
  atomicXor(out + 8, t * t); atomicMax((int*)out + 9, -(int)t); atomicMin(out + 10, 1000 - t);
  atomicAdd((unsigned long long*)(out + 12), (unsigned long long)t << 30);
  atomicAdd((float*)(out + 14), (float)t);
  atomicAdd((double*)(out + 16), t * 0.5);
}

// Threads take items from a queue until it is empty, and some items put others in.
KERNEL(work_queue)(int* done, int* queue, int* ends, int* open) {
  // ends[0]: the next to take, ends[1]: the next free place; open: how many are not done.
  while (atomicAdd(open, 0) > 0) {
    int place = atomicAdd(ends, 0);
    if (place >= atomicAdd(ends + 1, 0)) continue;
    if (atomicCAS(ends, place, place + 1) != place) continue;
    int item;
    do item = atomicAdd(queue + place, 0); while (item < 0);
    atomicAdd(done + item, 1);
    for (int child = 2 * item + 1; child <= 2 * item + 2 && child < 200; ++child) {
      atomicAdd(open, 1);
      int free = atomicAdd(ends + 1, 1);
      atomicExch(queue + free, child);
    }
    atomicSub(open, 1);
  }
}

KERNEL(first_that_comes)(int* out, int* winner) {
  __shared__ int chosen;
  if (threadIdx.x == 0) chosen = -1;
  __syncthreads();
  bool first = atomicCAS(&chosen, -1, (int)threadIdx.x) == -1;
  int count = __syncthreads_count(first);
  if (first) winner[blockIdx.x] = threadIdx.x;
  out[blockIdx.x * blockDim.x + threadIdx.x] = count * 2 + (first == (chosen == threadIdx.x));
}
)";

class Atomics : public KernelsTest {
 protected:
  Atomics() : KernelsTest(source) {}
};

TEST_F(Atomics, AMaximumOfFloatsByCompareAndSwap) {
  const auto in =
      each<float>(256, [](int i) { return static_cast<float>(scrambled(static_cast<std::uint32_t>(i)) % 1000); });
  std::vector<float> expected(257, 1.0f);
  expected[0] = *std::ranges::max_element(in);
  EXPECT_SAME(run("maximum_of_floats", {.grid = 2, .block = 128}, zeros<float>(257), in), expected);
}

TEST_F(Atomics, TheOldValueBehindACompareAndSwapLoop) {
  EXPECT_SAME(run("old_value_behind_the_loop", {.block = 64}, zeros<std::uint32_t>(64), zeros<std::uint32_t>(1)),
              each<std::uint32_t>(64, [](int t) { return 3 * t; }));
}

TEST_F(Atomics, ABoundedCounter) {
  auto expected = each<int>(51, [](int i) { return 2 * i; });
  expected[50] = 50 * 46;
  EXPECT_SAME(run("bounded_counter", {.grid = 2, .block = 48}, zeros<int>(51), zeros<int>(1), 50), expected);
}

TEST_F(Atomics, ASumOfDoublesByCompareAndSwap) {
  const auto in = each<double>(96, [](int i) { return i * 0.25; });
  EXPECT_SAME(run("sum_of_doubles", {.block = 96}, zeros<double>(1), in),
              std::vector<double>{std::accumulate(in.begin(), in.end(), 0.0)});
}

TEST_F(Atomics, SaturatingCountersOf16Bits) {
  const std::vector<int> which = scrambled_numbers(256, 10);
  std::vector<std::uint16_t> expected(10);
  for (int counter : which) at(expected, counter) = std::min<std::uint16_t>(20, at(expected, counter) + 1);
  EXPECT_SAME(run("counters_of_16_bits", {.grid = 2, .block = 128}, zeros<std::uint16_t>(10), which, 20), expected);
}

/// The same with the cell in `cell`, when nobody else changes it.
std::int64_t use_of_a_result(int t, int& cell, int guess, const std::vector<int>& table,
                             std::vector<std::int64_t>& out) {
  const auto cas = [&cell](int expected, int value) {
    const int old = cell;
    if (old == expected) cell = value;
    return old;
  };
  std::int64_t sum = 0;
  switch (t % 16) {
    case 0: return cas(guess, -1);
    case 1: return cas(guess, -1) == guess ? 1 : 0;
    case 2: return 1000 / cas(guess, -1);
    case 3: return 100000000000 / cas(guess, -1);
    case 4: return 1000u % static_cast<unsigned>(cas(guess, -1));
    case 5: return at(table, cas(guess, -1) & 15);
    case 6: return std::int64_t{1} << (cas(guess, -1) & 63);
    case 7: return cas(guess, -1) > guess ? t : -t;
    case 8: {
      const int old = cas(guess, -5);
      return old * 10 + (old == guess ? 1 : 0);
    }
    case 9: {
      const int old = cas(guess, -1);
      return old != guess ? cas(old, -2) : old;
    }
    case 10: {
      const int old = cas(guess, 1);
      for (int i = 0; i < old % 5; ++i) sum += i * old;
      return sum;
    }
    case 11: return static_cast<std::int64_t>(cas(guess, -1)) * 3;
    case 12: {
      const int bits = std::popcount(static_cast<unsigned>(cas(guess, -1)));
      return bits + std::min(cas(-1, guess), 50);
    }
    case 13: {
      const int old = cas(guess, -1);
      at(out, 64 + old - 7) = old;
      return 0;
    }
    case 14: return cas(cas(guess, guess), 3);
    default: {
      const int low = static_cast<std::int8_t>(cas(guess, -1));
      return low + static_cast<std::int16_t>(cas(-1, 300) * 300);
    }
  }
}

TEST_F(Atomics, ResultsOfCompareAndSwapUsedInManyWays) {
  std::vector<int> cells = each<int>(64, [](int t) { return t + 7; });
  const std::vector<int> guesses = each<int>(64, [](int t) { return t / 16 % 2 == 0 ? t + 7 : 1000; });
  const std::vector<int> table = scrambled_numbers(16, 100);
  const auto result = run("uses_of_a_result", {.block = 64}, zeros<std::int64_t>(128), cells, guesses, table);
  std::vector<std::int64_t> expected(128);
  for (int t = 0; t < 64; ++t) {
    const std::int64_t value = use_of_a_result(t, at(cells, t), at(guesses, t), table, expected);
    at(expected, t) = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * 1000) + at(cells, t);
  }
  EXPECT_EQ(result, expected);
}

TEST_F(Atomics, AHashTableWithLinearProbing) {
  const std::vector<int> keys = each<int>(300, [](int i) { return 1 + scrambled(static_cast<std::uint32_t>(i)) % 50; });
  const std::vector<int> table = run("count_in_a_hash_table", {.grid = 2, .block = 64}, zeros<int>(128), keys, 300, 64);
  std::map<int, int> counts, expected;
  for (std::size_t slot = 0; slot < 64; ++slot)
    if (table[2 * slot] != 0) counts[table[2 * slot]] += table[2 * slot + 1];
  for (int key : keys) ++expected[key];
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(std::ranges::count_if(std::vector<int>(table), [](int entry) { return entry != 0; }),
            2 * static_cast<std::ptrdiff_t>(expected.size()))
      << "a key has two slots";
}

TEST_F(Atomics, UnionFind) {
  constexpr int n = 256;
  const std::vector<int> from = scrambled_numbers(n, n);
  const std::vector<int> to = each<int>(n, [&](int i) { return (at(from, i) / 8 * 8) + (at(from, i) * 3 + i) % 8; });
  std::vector<int> sets(n);
  std::iota(sets.begin(), sets.end(), 0);
  const std::vector<int> parent = run("join_sets", {.grid = 4, .block = 64}, sets, from, to);
  const std::vector<int> roots = run("find_sets", {.grid = 4, .block = 64}, zeros<int>(n), parent);
  // The smallest member of each set is its root, since roots are hung below smaller ones.
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < n; ++i) {
      int &a = at(sets, at(from, i)), &b = at(sets, at(to, i));
      changed = changed || a != b;
      a = b = std::min(a, b);
    }
  }
  EXPECT_EQ(roots, sets);
}

TEST_F(Atomics, AListBuiltByExchangingItsHead) {
  std::vector<int> start(161, -1);
  const std::vector<int> list = run("push_on_a_list", {.grid = 2, .block = 80}, start);
  std::set<int> found;
  for (int i = list[0]; i >= 0 && found.insert(i).second;) i = at(list, i + 1);
  EXPECT_EQ(found.size(), 160u);
}

TEST_F(Atomics, AHistogramInSharedMemory) {
  const std::vector<int> in = scrambled_numbers(1000, 100);
  std::vector<int> expected(16);
  for (int value : in) ++at(expected, value % 16);
  EXPECT_SAME(run("histogram", {.grid = 3, .block = 96}, zeros<int>(16), in, 1000), expected);
}

TEST_F(Atomics, EveryOperation) {
  constexpr int n = 150;
  std::vector<std::uint32_t> start(18);
  start[6] = start[10] = ~0u;
  start[9] = static_cast<std::uint32_t>(-1000);
  std::vector<std::uint32_t> expected = start;
  for (std::uint32_t t = 0; t < n; ++t) {
    expected[0] += t;
    expected[1] -= t;
    expected[4] = expected[4] >= 9 ? 0 : expected[4] + 1;
    expected[5] = expected[5] == 0 || expected[5] > 12 ? 12 : expected[5] - 1;
    expected[8] ^= t * t;
  }
  expected[2] = static_cast<std::uint32_t>(-50);
  expected[3] = n - 1;
  expected[6] = 0xffff0000u;
  expected[7] = ~0u;
  expected[9] = 0;
  expected[10] = 1000 - (n - 1);
  constexpr std::uint64_t sum = n * (n - 1) / 2;
  const std::uint64_t shifted = sum << 30;
  const auto of_floats = static_cast<float>(sum);
  const double of_doubles = static_cast<double>(sum) * 0.5;
  std::memcpy(&expected[12], &shifted, sizeof shifted);
  std::memcpy(&expected[14], &of_floats, sizeof of_floats);
  std::memcpy(&expected[16], &of_doubles, sizeof of_doubles);
  EXPECT_SAME(run("every_operation", {.grid = 3, .block = 50}, start), expected);
}

TEST_F(Atomics, AWorkQueueThatWorkersFill) {
  std::vector<int> queue(200, -1);
  queue[0] = 0;
  EXPECT_SAME(run("work_queue", {.grid = 2, .block = 48}, zeros<int>(200), queue, std::vector{0, 1}, std::vector{1}),
              std::vector<int>(200, 1));
}

TEST_F(Atomics, OneThreadIsTheFirst) {
  EXPECT_SAME(run("first_that_comes", {.grid = 3, .block = 70}, zeros<int>(210), zeros<int>(3)),
              std::vector<int>(210, 3));
}

}  // namespace
}  // namespace cuprum::tests
