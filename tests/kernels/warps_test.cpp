// Warp-wide operations where the threads of a warp are at different places, and warp-synchronous code.
#include <algorithm>
#include <bit>
#include <cstdlib>
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

// A reduction whose last warp goes on alone: by __syncwarp(), or as it was written before Volta, when a warp's threads
// went in step and volatile made them see each other's writes.
#define REDUCTION(name, Element, step)                                                               \
  KERNEL(name)(int* out, const int* in) {                                                            \
    extern __shared__ int sums[];                                                                    \
    int t = threadIdx.x;                                                                             \
    sums[t] = in[blockIdx.x * blockDim.x + t];                                                       \
    __syncthreads();                                                                                 \
    for (int s = blockDim.x / 2; s > 32; s /= 2) {                                                   \
      if (t < s) sums[t] += sums[t + s];                                                             \
      __syncthreads();                                                                               \
    }                                                                                                \
    if (t < 32) {                                                                                    \
      Element* v = sums;                                                                             \
      if (blockDim.x >= 64) { step(32) }                                                             \
      step(16) step(8) step(4) step(2) step(1)                                                       \
    }                                                                                                \
    if (t == 0) out[blockIdx.x] = sums[0];                                                           \
  }
#define IN_STEP(d) v[t] += v[t + d];
#define WITH_BARRIERS(d) { int other = v[t + d]; __syncwarp(); v[t] += other; __syncwarp(); }
REDUCTION(reduction_in_volatile_memory, volatile int, IN_STEP)
REDUCTION(reduction_with_syncwarp, int, WITH_BARRIERS)

// Threads that have exited are not waited for.
KERNEL(votes_after_early_exits)(unsigned* out, const int* in) {
  int t = threadIdx.x;
  if (in[t] % 5 == 0) return;
  unsigned there = __ballot_sync(ALL, 1);
  if (in[t] % 5 == 1) { out[t] = there; return; }
  out[t] = __ballot_sync(ALL, in[t] % 2) ^ there;
}

// Keys are served one after the other, each by those that have it.
KERNEL(peers_by_key)(int* out, const int* in) {
  int t = threadIdx.x, key = in[t] % 4, result = 0;
  unsigned open = ALL;
  while (open >> (t & 31) & 1) {
    int first = __shfl_sync(open, key, __ffs(open) - 1);
    unsigned peers = __ballot_sync(open, key == first);
    if (key == first) {
      result = __reduce_add_sync(peers, in[t]) * 10 + __popc(peers & ((1u << (t & 31)) - 1));
      break;
    }
    open &= ~peers;
  }
  out[t] = result;
}

__device__ __noinline__ int sum_of_warp(int v) {
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(ALL, v, d);
  return v;
}
KERNEL(shuffles_in_functions)(int* out, const int* in) {
  int t = threadIdx.x, v = sum_of_warp(in[t]);
  for (int i = 0; i < 3; ++i) v = sum_of_warp(v % 100 + t % (i + 2));
  out[t] = v;
}

// A warp's threads hand a value along by partial masks of two.
KERNEL(pairs_in_divergent_loops)(int* out, const int* in) {
  int t = threadIdx.x, lane = t & 31, v = in[t];
  unsigned pair = 3u << (lane & ~1);
  for (int i = 0; i < in[t & ~1] % 8; ++i) {
    int other = __shfl_xor_sync(pair, v, 1);
    v = lane & 1 ? v + other : v * 2 - other;
    __syncwarp(pair);
  }
  out[t] = v;
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

TEST_F(Warps, BranchesPlayPingPong) {
  EXPECT_SAME(run("ping_pong_between_branches", {.block = 64}, zeros<int>(64), 9), each<int>(64, [](int t) {
                int v = t / 32;
                for (int i = 0; i < 9; ++i) v = v * 3 + 1 - i;
                return v;
              }));
}

TEST_F(Warps, VotesInBothBranches) {
  EXPECT_SAME(run("vote_in_both_branches", {.block = 64}, zeros<unsigned>(64), in), each<unsigned>(64, [&](int t) {
                const unsigned bits = ballot(t, [&](int i) { return i % 2 == 1 ? at(in, i) > 50 : at(in, i) < 20; });
                return t % 2 == 1 ? bits : ~bits;
              }));
}

TEST_F(Warps, AnyAndAllInBothBranches) {
  EXPECT_SAME(run("any_and_all_in_both_branches", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const bool any = ballot(t, [&](int i) { return at(in, i) == 7; }) != 0;
                const bool all = ballot(t, [&](int i) { return at(in, i) < (i % 3 != 0 ? 90 : 95); }) == ~0u;
                return (any ? 2 : 0) + (t % 32 < 20 ? 1 : 0) + (all ? 4 : 0);
              }));
}

TEST_F(Warps, ShufflesInBothBranches) {
  EXPECT_SAME(run("shuffle_in_both_branches", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                const auto given = [&](int i) { return i % 2 == 1 ? at(in, i) + 5 : at(in, i) * 2; };
                const int warp = t / 32 * 32;
                return t % 2 == 1 ? given(warp + (t + 3) % 32) : -given(warp + (t + 6) % 32);
              }));
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

class Reductions : public Warps {
 protected:
  void expect_sums(const char* kernel) {
    for (const int n : {32, 64, 256}) {
      const LaunchConfig config{.grid = 256 / n, .block = n, .shmem_size = (n + 32) * sizeof(int)};
      EXPECT_SAME(
          run(kernel, config, zeros<int>(256 / n), in),
          each<int>(256 / n, [&](int b) { return std::accumulate(in.begin() + b * n, in.begin() + (b + 1) * n, 0); }))
          << n;
    }
  }
};

TEST_F(Reductions, InSharedMemoryWithSyncwarp) { expect_sums("reduction_with_syncwarp"); }

TEST_F(Reductions, InVolatileSharedMemory) {
  const char* width = std::getenv("SOFTGPU_WIDTH");
  if (width != nullptr && width != std::string_view("auto") && width != std::string_view("32"))
    GTEST_SKIP() << "the kernel was written for warps in step; SOFTGPU_WIDTH=" << width << " asks for less";
  expect_sums("reduction_in_volatile_memory");
}

TEST_F(Warps, VotesAfterEarlyExits) {
  EXPECT_SAME(run("votes_after_early_exits", {.block = 64}, zeros<unsigned>(64), in), each<unsigned>(64, [&](int t) {
                const unsigned there = ballot(t, [&](int i) { return at(in, i) % 5 != 0; });
                if (at(in, t) % 5 == 0) return 0u;
                if (at(in, t) % 5 == 1) return there;
                return there ^ ballot(t, [&](int i) { return at(in, i) % 5 > 1 && at(in, i) % 2 == 1; });
              }));
}

TEST_F(Warps, PeersByKey) {
  EXPECT_SAME(run("peers_by_key", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                int sum = 0, rank = 0;
                for (int i = t / 32 * 32; i < t / 32 * 32 + 32; ++i) {
                  if (at(in, i) % 4 != at(in, t) % 4) continue;
                  sum += at(in, i);
                  rank += i < t ? 1 : 0;
                }
                return sum * 10 + rank;
              }));
}

TEST_F(Warps, ShufflesInFunctions) {
  const auto sums = [](const std::vector<int>& values) {
    return each<int>(
        64, [&](int t) { return std::accumulate(values.begin() + t / 32 * 32, values.begin() + t / 32 * 32 + 32, 0); });
  };
  std::vector<int> v = sums(in);
  for (int i = 0; i < 3; ++i) v = sums(each<int>(64, [&](int t) { return at(v, t) % 100 + t % (i + 2); }));
  EXPECT_SAME(run("shuffles_in_functions", {.block = 64}, zeros<int>(64), in), v);
}

TEST_F(Warps, PairsInDivergentLoops) {
  EXPECT_SAME(run("pairs_in_divergent_loops", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                int even = at(in, t & ~1), odd = at(in, t | 1);
                for (int i = 0; i < at(in, t & ~1) % 8; ++i) {
                  const int before = even;
                  even = even * 2 - odd;
                  odd = odd + before;
                }
                return t % 2 == 0 ? even : odd;
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
