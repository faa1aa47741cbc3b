// Warp-wide operations where the threads of a warp are at different places, and warp-synchronous code.
#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#define ALL 0xffffffffu
__device__ unsigned lane_id() { return threadIdx.x & 31; }

// Since sm_70 a __syncwarp() may be met at different places.
KERNEL(exchange_between_branches)(int* out, const int* in) {
  __shared__ int cell[64];
  int t = threadIdx.x, v;
  if (t % 2 == 0) {
    cell[t] = in[t] * 3;
    __syncwarp();
    v = cell[t + 1];
  } else {
    cell[t] = in[t] + 1000;
    __syncwarp();
    v = cell[t - 1];
  }
  out[t] = v;
}

KERNEL(ping_pong_between_branches)(int* out, int rounds) {
  __shared__ volatile int cell[2][2];
  int t = threadIdx.x, warp = t / 32, lane = t & 31;
  if (lane == 0) cell[warp][0] = warp;
  __syncwarp();
  if (lane < 16) {
    for (int i = 0; i < rounds; ++i) {
      if (lane == 0) cell[warp][1] = cell[warp][0] * 3 + 1;
      __syncwarp();
      __syncwarp();
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      __syncwarp();
      if (lane == 16) cell[warp][0] = cell[warp][1] - i;
      __syncwarp();
    }
  }
  out[t] = cell[warp][0];
}

// Votes and shuffles name the whole warp in both branches: all its threads take part, each from where it is.
KERNEL(vote_in_both_branches)(unsigned* out, const int* in) {
  int t = threadIdx.x;
  unsigned v;
  if (t & 1) v = __ballot_sync(ALL, in[t] > 50); else v = ~__ballot_sync(ALL, in[t] < 20);
  out[t] = v;
}
KERNEL(any_and_all_in_both_branches)(int* out, const int* in) {
  int t = threadIdx.x, v;
  if ((t & 31) < 20) v = __any_sync(ALL, in[t] == 7) * 2 + 1; else v = __any_sync(ALL, in[t] == 7) * 2;
  if (t % 3) v += 4 * __all_sync(ALL, in[t] < 90); else v += 4 * __all_sync(ALL, in[t] < 95);
  out[t] = v;
}
KERNEL(shuffle_in_both_branches)(int* out, const int* in) {
  int t = threadIdx.x, v;
  if (t & 1) v = __shfl_sync(ALL, in[t] + 5, (t + 3) & 31); else v = -__shfl_sync(ALL, in[t] * 2, (t + 6) & 31);
  out[t] = v;
}

KERNEL(halves_with_masks_of_their_own)(int* out, const int* in) {
  int t = threadIdx.x, v = in[t];
  if ((t & 31) < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(0x0000ffffu, v, d, 16);
  } else {
    for (int d = 1; d < 16; d *= 2) v = max(v, __shfl_xor_sync(0xffff0000u, v, d, 16));
  }
  out[t] = v;
}

// Each round, those that are still there agree on a mask.
KERNEL(loops_of_different_lengths)(int* out, const int* in) {
  int t = threadIdx.x, left = in[t] % 10, sum = 0;
  unsigned mask = __ballot_sync(ALL, left > 0);
  while (left > 0) {
    sum += __reduce_add_sync(mask, in[t]) % 1000 + __popc(mask);
    --left;
    mask = __ballot_sync(mask, left > 0);
  }
  out[t] = sum;
}

KERNEL(partial_mask_from_a_ballot)(int* out, const int* in, int n) {
  int t = threadIdx.x + blockIdx.x * blockDim.x, v = 0;
  unsigned mask = __ballot_sync(ALL, t < n && in[t] % 3 != 0);
  if (mask >> (t & 31) & 1) {
    v = in[t];
    int leader = __ffs(mask) - 1, count = __popc(mask);
    int first = __shfl_sync(mask, v, leader);
    int rank = __popc(mask & ((1u << (t & 31)) - 1));
    for (int d = 1; d < count; d *= 2) {
      int from = rank >= d ? __fns(mask, 0, rank - d + 1) : leader;
      int other = __shfl_sync(mask, v, from);
      if (rank >= d) v += other;
    }
    v = v * 100 + first % 100;
  }
  if (t < n) out[t] = v;
}

KERNEL(matching_values)(unsigned* out, const int* in) {
  int t = threadIdx.x, all;
  unsigned mine = __match_any_sync(ALL, in[t] % 5);
  unsigned same = __match_all_sync(mine, in[t] % 5, &all);
  out[t] = mine ^ (same == mine && all ? 0 : 1);
}

// One addition for all threads of a warp that have the same bin.
KERNEL(histogram_by_matching)(int* bins, const int* in, int n) {
  int step = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; __any_sync(ALL, i < n); i += step) {
    unsigned there = __ballot_sync(ALL, i < n);
    if (i < n) {
      unsigned same = __match_any_sync(there, in[i]);
      if (lane_id() == __ffs(same) - 1) atomicAdd(bins + in[i], __popc(same));
    }
  }
}

// One addition for a warp, whichever of its threads are there.
__device__ int aggregated_increment(int* counter) {
  unsigned mask = __activemask();
  int leader = __ffs(mask) - 1, base;
  if (lane_id() == leader) base = atomicAdd(counter, __popc(mask));
  base = __shfl_sync(mask, base, leader);
  return base + __popc(mask & ((1u << lane_id()) - 1));
}
KERNEL(compaction_with_aggregated_atomics)(int* out, int* count, const int* in, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n && in[i] % 3 == 0) out[aggregated_increment(count)] = in[i];
}

KERNEL(reduction_by_shuffles)(int* out, const int* in, int n) {
  int sum = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d);
  __shared__ int sums[32];
  if (lane_id() == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

KERNEL(scan_by_shuffles)(int* out, const int* in) {
  int t = threadIdx.x, v = in[t];
  for (int d = 1; d < 32; d *= 2) { int other = __shfl_up_sync(ALL, v, d); if (lane_id() >= d) v += other; }
  __shared__ int totals[32];
  if (lane_id() == 31) totals[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) v += totals[w];
  out[t] = v;
}

KERNEL(sort_in_a_warp)(int* out, const int* in) {
  int t = threadIdx.x, lane = lane_id(), v = in[t];
  for (int k = 2; k <= 32; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = __shfl_xor_sync(ALL, v, j);
      bool up = (lane & k) == 0, lower = (lane & j) == 0;
      v = up == lower ? min(v, other) : max(v, other);
    }
  out[t] = v;
}

KERNEL(producers_and_consumers_in_a_warp)(int* out, const int* in, int rounds) {
  __shared__ int slots[64];
  int t = threadIdx.x, sum = 0;
  bool producer = (t & 31) < 16;
  for (int i = 0; i < rounds; ++i) {
    if (producer) {
      int v = in[(t * 7 + i * 13) % 256];
      while (v % 4 == 1) v = v * 5 / 3 + 1;
      slots[t] = v;
    }
    __syncwarp();
    if (!producer) {
      int v = slots[t - 16];
      for (int k = 0; k < v % 6; ++k) sum += v + k;
    }
    __syncwarp();
  }
  out[t] = sum;
}

// Old code: a warp's threads go in step, and volatile makes them see each other's writes. Legal since Volta only with
// __syncwarp(); without it on the H200 the pattern below still has one result, because each access is ordered.
KERNEL(reduction_in_volatile_memory)(int* out, const int* in) {
  extern __shared__ int sums[];
  int t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t < 32) {
    volatile int* v = sums;
    if (blockDim.x >= 64) v[t] += v[t + 32];
    v[t] += v[t + 16]; v[t] += v[t + 8]; v[t] += v[t + 4]; v[t] += v[t + 2]; v[t] += v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

KERNEL(leader_does_the_work)(int* out, const int* in) {
  int t = threadIdx.x, result = 0;
  // Threads with work are served one after the other by the whole warp.
  unsigned waiting = __ballot_sync(ALL, in[t] % 4 == 0);
  while (waiting) {
    int who = __ffs(waiting) - 1, n = __shfl_sync(ALL, in[t], who), sum = 0;
    for (int i = lane_id(); i < n; i += 32) sum += i * i;
    sum = __reduce_add_sync(ALL, sum);
    if (lane_id() == who) result = sum;
    waiting &= waiting - 1;
  }
  out[t] = result;
}
)";

class Warps : public KernelsTest {
 protected:
  Warps() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(256, 100);

  /// f(value) summed as bits over the warp of thread t.
  template <typename Function>
  unsigned ballot(int t, Function f) const {
    unsigned bits = 0;
    for (int lane = 0; lane < 32; ++lane)
      if (f(t / 32 * 32 + lane)) bits |= 1u << lane;
    return bits;
  }
};

TEST_F(Warps, BranchesExchangeThroughSharedMemory) {
  EXPECT_SAME(run("exchange_between_branches", {.block = 64}, zeros<int>(64), in),
              each<int>(64, [&](int t) { return t % 2 == 0 ? at(in, t + 1) + 1000 : at(in, t - 1) * 3; }));
}

TEST_F(Warps, HalvesWithMasksOfTheirOwn) {
  EXPECT_SAME(run("halves_with_masks_of_their_own", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const auto half = in.begin() + t / 16 * 16;
                return t % 32 < 16 ? std::accumulate(half, half + 16, 0) : *std::max_element(half, half + 16);
              }));
}

TEST_F(Warps, LoopsOfDifferentLengthsWithWarpOperations) {
  EXPECT_SAME(run("loops_of_different_lengths", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                int sum = 0;
                for (int round = 0; round < at(in, t) % 10; ++round) {
                  int total = 0, count = 0;
                  for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i)
                    if (at(in, i) % 10 > round) total += at(in, i), ++count;
                  sum += total % 1000 + count;
                }
                return sum;
              }));
}

TEST_F(Warps, PartialMasksFromABallot) {
  constexpr int n = 150;
  EXPECT_SAME(run("partial_mask_from_a_ballot", {.grid = 3, .block = 64}, zeros<int>(n), in, n),
              each<int>(n, [&](int t) {
                if (at(in, t) % 3 == 0) return 0;
                int sum = 0, first = -1;
                for (int i = t / 32 * 32; i <= t; ++i) {
                  if (at(in, i) % 3 == 0) continue;
                  if (first < 0) first = at(in, i);
                  sum += at(in, i);
                }
                return sum * 100 + first % 100;
              }));
}

TEST_F(Warps, MatchingValues) {
  EXPECT_SAME(run("matching_values", {.block = 64}, zeros<unsigned>(64), in), each<unsigned>(64, [&](int t) {
                return ballot(t, [&](int i) { return at(in, i) % 5 == at(in, t) % 5; });
              }));
}

TEST_F(Warps, AHistogramByMatching) {
  std::vector<int> expected(100);
  for (int i = 0; i < 250; ++i) ++at(expected, at(in, i));
  EXPECT_SAME(run("histogram_by_matching", {.grid = 2, .block = 64}, zeros<int>(100), in, 250), expected);
}

TEST_F(Warps, CompactionWithAggregatedAtomics) {
  std::vector<int> expected;
  std::ranges::copy_if(in, std::back_inserter(expected), [](int v) { return v % 3 == 0; });
  std::vector<int> found = run("compaction_with_aggregated_atomics", {.grid = 3, .block = 96},
                               zeros<int>(expected.size()), zeros<int>(1), in, 256);
  std::ranges::sort(found);
  std::ranges::sort(expected);
  EXPECT_SAME(found, expected);
}

TEST_F(Warps, AReductionByShuffles) {
  EXPECT_SAME(run("reduction_by_shuffles", {.grid = 2, .block = 96}, zeros<int>(1), in, 256),
              std::vector{std::accumulate(in.begin(), in.end(), 0)});
}

TEST_F(Warps, AScanByShuffles) {
  std::vector<int> expected(256);
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_SAME(run("scan_by_shuffles", {.block = 256}, zeros<int>(256), in), expected);
}

TEST_F(Warps, ASortInAWarp) {
  std::vector<int> expected = in;
  for (auto warp = expected.begin(); warp != expected.end(); warp += 32) std::sort(warp, warp + 32);
  EXPECT_SAME(run("sort_in_a_warp", {.block = 256}, zeros<int>(256), in), expected);
}

TEST_F(Warps, ProducersAndConsumersInAWarp) {
  constexpr int rounds = 6;
  EXPECT_SAME(run("producers_and_consumers_in_a_warp", {.block = 64}, zeros<int>(64), in, rounds),
              each<int>(64, [&](int t) {
                int sum = 0;
                for (int i = 0; i < rounds && t % 32 >= 16; ++i) {
                  int v = at(in, ((t - 16) * 7 + i * 13) % 256);
                  while (v % 4 == 1) v = v * 5 / 3 + 1;
                  for (int k = 0; k < v % 6; ++k) sum += v + k;
                }
                return sum;
              }));
}

TEST_F(Warps, LeadersAskTheWholeWarp) {
  EXPECT_SAME(run("leader_does_the_work", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                int sum = 0;
                for (int i = 0; i < at(in, t) && at(in, t) % 4 == 0; ++i) sum += i * i;
                return sum;
              }));
}

}  // namespace
}  // namespace cuprum::tests
