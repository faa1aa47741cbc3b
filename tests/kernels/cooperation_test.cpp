// Threads that work together across calls, branches of whole warps, blocks of odd shapes and clusters.
#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define ALL 0xffffffffu

// Recursion that all threads go through together, with a barrier on the way down and up.
__device__ __noinline__ int fold_up(int* cells, int width) {
  int t = threadIdx.x;
  if (width == 0) { int total = cells[0]; __syncthreads(); return total; }
  if (t < width) cells[t] += cells[t + width];
  __syncthreads();
  int total = fold_up(cells, width / 2);
  if (t < width) cells[t] += total % 7;
  __syncthreads();
  return total + width;
}
KERNEL(barriers_in_recursion)(int* out, const int* in) {
  __shared__ int cells[64];
  int t = threadIdx.x;
  cells[t] = in[t];
  __syncthreads();
  int total = fold_up(cells, 32);
  out[t] = total * 1000 + cells[t] % 1000;
}
__device__ __noinline__ int warp_sum(int v, int d) { return d == 0 ? v : warp_sum(v + __shfl_xor_sync(ALL, v, d), d / 2) + 1; }
KERNEL(shuffles_in_recursion)(int* out, const int* in) { out[threadIdx.x] = warp_sum(in[threadIdx.x], 16); }

__device__ __noinline__ int up_one(int* cells, int v) { cells[threadIdx.x] = v; __syncthreads(); v = cells[(threadIdx.x + 1) % blockDim.x]; __syncthreads(); return v; }
__device__ __noinline__ int mirrored(int* cells, int v) { cells[threadIdx.x] = v; __syncthreads(); v = cells[blockDim.x - 1 - threadIdx.x]; __syncthreads(); return v; }
typedef int (*Step)(int*, int);
__device__ Step steps[2] = {up_one, mirrored};
KERNEL(barriers_behind_pointers)(int* out, const int* in, const int* order) {
  __shared__ int cells[64];
  int v = in[threadIdx.x];
  for (int i = 0; i < 5; ++i) v = steps[order[i]](cells, v) + i;
  out[threadIdx.x] = v;
}
__device__ __noinline__ void leave_if(bool condition, int* place) { if (condition) { *place = -1; asm volatile("exit;"); } }
KERNEL(exit_from_a_function)(int* out, const int* in) {
  __shared__ int count;
  int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  leave_if(in[t] % 3 == 1, out + t);
  atomicAdd(&count, 1);
  __syncthreads();
  out[t] = count;
}

// Warps meet at the block's barrier from different places.
KERNEL(each_warp_at_its_own_barrier)(int* out, int rounds) {
  __shared__ int cells[128];
  int t = threadIdx.x, v = t;
  for (int r = 0; r < rounds; ++r) {
    if (t < 64) { cells[t] = v + r; __syncthreads(); v = cells[t + 64]; __syncthreads(); }
    else { cells[t] = v * 2 % 1009; __syncthreads(); v = cells[t - 64] + 1; __syncthreads(); }
  }
  out[t] = v;
}
// One warp runs a loop of its own while the others wait for it.
KERNEL(one_warp_works_longer)(int* out) {
  __shared__ int result;
  int t = threadIdx.x;
  if (t / 32 == 1) {
    int v = t & 31;
    for (int i = 0; i < 20; ++i) { v = (v * 3 + __shfl_sync(ALL, v, (t + i) & 31)) % 1009; if (v % 11 == t % 11) v += 5; }
    v = __reduce_add_sync(ALL, v);
    if ((t & 31) == 0) result = v;
  }
  __syncthreads();
  out[t] = result;
}

// Lane and warp in a block of three dimensions, the last warp of which is not full.
KERNEL(odd_shapes)(int* out, const int* in) {
  auto block = cg::this_thread_block();
  int rank = block.thread_rank(), n = block.num_threads();
  unsigned there = rank / 32 == (n - 1) / 32 && n % 32 ? (1u << n % 32) - 1 : ALL;
  int v = in[rank], lane = rank & 31;
  int sum = __reduce_add_sync(there, v), next = __shfl_sync(there, v, (lane + 1) % __popc(there));
  unsigned odd = __ballot_sync(there, v & 1);
  __shared__ int cells[256];
  cells[rank] = threadIdx.x + threadIdx.y * 10 + threadIdx.z * 100;
  __syncthreads();
  out[blockIdx.x * n + rank] = sum + next * 10000 + __popc(odd) * 7 + cells[n - 1 - rank] * 3;
}

KERNEL(histogram_in_a_cluster)(int* out, const int* in, int n) {
  __shared__ int bins[8];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank(), blocks = cluster.num_blocks();
  if (t < 8) bins[t] = 0;
  cluster.sync();
  for (int i = rank * blockDim.x + t; i < n; i += blocks * blockDim.x) {
    int bin = in[i] % (8 * blocks);
    atomicAdd(cluster.map_shared_rank(bins, bin / 8) + bin % 8, 1);
  }
  cluster.sync();
  if (t < 8) out[rank * 8 + t] = bins[t];
}

KERNEL(shuffles_of_every_type)(double* out, const int* in) {
  int t = threadIdx.x, lane = t & 31, v = in[t];
  double d = __shfl_down_sync(ALL, v * 0.25, 3);
  long long l = __shfl_up_sync(ALL, (long long)v << 33, 2);
  float f = __shfl_xor_sync(ALL, v * 0.5f, 9);
  int narrow = __shfl_sync(ALL, v, lane + 5, 8), up = __shfl_up_sync(ALL, v, 3, 16), down = __shfl_down_sync(ALL, v, 6, 16);
  out[t] = d + (double)(l >> 30) * 16 + f + narrow * 100000.0 + up * 3.0 + down * 1000.0;
}

struct Particle { float x, v; int cell; unsigned seed; };
// Much that lives across barriers, some of it in arrays.
KERNEL(particles)(float* out, int rounds) {
  __shared__ int cells[16];
  Particle mine[3];
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) mine[k] = Particle{(float)((t * 3 + k) % 16), (float)(t % 5 - 2), 0, t * 77u + k};
  for (int r = 0; r < rounds; ++r) {
    if (t < 16) cells[t] = 0;
    __syncthreads();
    for (int k = 0; k < 3; ++k) { mine[k].cell = ((int)mine[k].x % 16 + 16) % 16; atomicAdd(cells + mine[k].cell, 1); }
    __syncthreads();
    for (int k = 0; k < 3; ++k) {
      Particle& p = mine[(k + r) % 3];
      int crowd = cells[p.cell];
      if (crowd > 9) { p.v = -p.v; p.x += 1; }
      p.x += p.v;
      p.seed = p.seed * 1664525u + 1013904223u;
      if (p.seed >> 30 == 0) p.v = (float)((int)(p.seed >> 20 & 7) - 3);
    }
    __syncthreads();
  }
  for (int k = 0; k < 3; ++k) out[t * 3 + k] = mine[k].x * 16 + mine[k].v;
}

// A warp serves its lanes' keys one after the other in a table of buckets of 32.
KERNEL(warp_wide_table)(int* table, int* failed, const int* keys, int n, int buckets) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, lane = threadIdx.x & 31;
  int key = i < n ? keys[i] : 0;
  unsigned open = __ballot_sync(ALL, i < n);
  while (open) {
    int from = __ffs(open) - 1, wanted = __shfl_sync(ALL, key, from), bucket = wanted % buckets, tries = 0;
    bool done = false;
    while (!done && tries < buckets) {
      int* slot = table + bucket * 32 + lane;
      int found = *(volatile int*)slot;
      if (__any_sync(ALL, found == wanted)) { done = true; break; }
      unsigned empty = __ballot_sync(ALL, found == 0);
      if (!empty) { bucket = (bucket + 1) % buckets; ++tries; continue; }
      int place = __ffs(empty) - 1, old = 0;
      if (lane == place) old = atomicCAS(slot, 0, wanted);
      old = __shfl_sync(ALL, old, place);
      done = old == 0 || old == wanted;
    }
    if (!done && lane == 0) atomicAdd(failed, 1);
    open &= open - 1;
  }
}
)";

class Cooperation : public KernelsTest {
 protected:
  Cooperation() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(512, 100);
};

TEST_F(Cooperation, BarriersInRecursion) {
  std::vector<int> cells(in.begin(), in.begin() + 64);
  for (int width = 32; width > 0; width /= 2)
    for (int t = 0; t < width; ++t) at(cells, t) += at(cells, t + width);
  int total = cells[0];
  for (int width = 1; width <= 32; total += width, width *= 2)
    for (int t = 0; t < width; ++t) at(cells, t) += total % 7;
  EXPECT_SAME(run("barriers_in_recursion", {.block = 64}, zeros<int>(64), in),
              each<int>(64, [&](int t) { return total * 1000 + at(cells, t) % 1000; }));
}

TEST_F(Cooperation, ShufflesInRecursion) {
  EXPECT_SAME(run("shuffles_in_recursion", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                return std::accumulate(in.begin() + t / 32 * 32, in.begin() + t / 32 * 32 + 32, 5);
              }));
}

TEST_F(Cooperation, BarriersInFunctionsCalledByPointer) {
  const std::vector<int> order = {0, 1, 1, 0, 1};
  std::vector<int> v(in.begin(), in.begin() + 64);
  for (int i = 0; i < 5; ++i)
    v = each<int>(64, [&](int t) { return at(v, at(order, i) == 0 ? (t + 1) % 64 : 63 - t) + i; });
  EXPECT_SAME(run("barriers_behind_pointers", {.block = 64}, zeros<int>(64), in, order), v);
}

TEST_F(Cooperation, ThreadsThatExitWithinAFunction) {
  const auto left = static_cast<int>(std::count_if(in.begin(), in.begin() + 64, [](int v) { return v % 3 != 1; }));
  EXPECT_SAME(run("exit_from_a_function", {.block = 64}, zeros<int>(64), in),
              each<int>(64, [&](int t) { return at(in, t) % 3 == 1 ? -1 : left; }));
}

TEST_F(Cooperation, WarpsAtBarriersOfTheirOwn) {
  auto v = each<int>(128, [](int t) { return t; });
  for (int r = 0; r < 5; ++r) {
    v = each<int>(128, [&](int t) { return t < 64 ? at(v, t + 64) * 2 % 1009 : at(v, t - 64) + r + 1; });
  }
  EXPECT_SAME(run("each_warp_at_its_own_barrier", {.block = 128}, zeros<int>(128), 5), v);
}

TEST_F(Cooperation, AWarpThatWorksLonger) {
  auto v = each<int>(32, [](int lane) { return lane; });
  for (int i = 0; i < 20; ++i) {
    v = each<int>(32, [&](int lane) {
      const int next = (at(v, lane) * 3 + at(v, (lane + i) % 32)) % 1009;
      return next % 11 == (lane + 32) % 11 ? next + 5 : next;
    });
  }
  EXPECT_SAME(run("one_warp_works_longer", {.block = 96}, zeros<int>(96)),
              std::vector<int>(96, std::accumulate(v.begin(), v.end(), 0)));
}

TEST_F(Cooperation, BlocksOfOddShapes) {
  for (const Dim3 block : {Dim3(5, 7, 3), Dim3(16, 3), Dim3(33), Dim3(7), Dim3(8, 8, 2)}) {
    const int n = static_cast<int>(block.x * block.y * block.z);
    const auto place = [&](int rank) {
      return static_cast<int>(rank % block.x + rank / block.x % block.y * 10 + rank / block.x / block.y * 100);
    };
    EXPECT_SAME(run("odd_shapes", {.grid = 2, .block = block}, zeros<int>(static_cast<std::size_t>(2 * n)), in),
                each<int>(2 * n,
                          [&](int i) {
                            const int rank = i % n, start = rank / 32 * 32, end = std::min(start + 32, n);
                            const int sum = std::accumulate(in.begin() + start, in.begin() + end, 0);
                            const auto odd =
                                std::count_if(in.begin() + start, in.begin() + end, [](int v) { return v % 2 == 1; });
                            const int next = at(in, rank + 1 < end ? rank + 1 : start);
                            return sum + next * 10000 + static_cast<int>(odd) * 7 + place(n - 1 - rank) * 3;
                          }))
        << block;
  }
}

TEST_F(Cooperation, AHistogramInACluster) {
  std::vector<int> expected(32);
  for (int i = 0; i < 500; ++i) ++at(expected, at(in, i) % 32);
  EXPECT_SAME(run("histogram_in_a_cluster", {.grid = 1, .block = 64, .cluster = 4}, zeros<int>(32), in, 500), expected);
}

TEST_F(Cooperation, ShufflesOfEveryType) {
  EXPECT_SAME(
      run("shuffles_of_every_type", {.block = 64}, zeros<double>(64), in), each<double>(64, [&](int t) {
        const int warp = t / 32 * 32, lane = t % 32;
        const auto value = [&](int of) { return at(in, warp + of); };
        const double d = value(lane + 3 < 32 ? lane + 3 : lane) * 0.25;
        const double l =
            static_cast<double>((static_cast<std::int64_t>(value(lane >= 2 ? lane - 2 : lane)) << 33) >> 30) * 16;
        const int up = value(lane % 16 >= 3 ? lane - 3 : lane), down = value(lane % 16 + 6 < 16 ? lane + 6 : lane);
        return d + l + value(lane ^ 9) * 0.5 + value(lane / 8 * 8 + (lane + 5) % 8) * 100000.0 + up * 3.0 +
               down * 1000.0;
      }));
}

struct Particle {
  float x, v;
  int cell;
  std::uint32_t seed;
};

TEST_F(Cooperation, ParticlesThatLiveAcrossBarriers) {
  constexpr int n = 48, rounds = 9;
  auto particles = each<Particle>(3 * n, [](int i) {
    return Particle{static_cast<float>(i % 16), static_cast<float>(i / 3 % 5 - 2), 0,
                    static_cast<std::uint32_t>(i / 3 * 77 + i % 3)};
  });
  for (int r = 0; r < rounds; ++r) {
    std::vector<int> cells(16);
    for (Particle& p : particles) ++at(cells, p.cell = (static_cast<int>(p.x) % 16 + 16) % 16);
    for (Particle& p : particles) {
      if (at(cells, p.cell) > 9) p.v = -p.v, p.x += 1;
      p.x += p.v;
      p.seed = p.seed * 1664525u + 1013904223u;
      if (p.seed >> 30 == 0) p.v = static_cast<float>(static_cast<int>(p.seed >> 20 & 7) - 3);
    }
  }
  EXPECT_SAME(run("particles", {.block = n}, zeros<float>(3 * n), rounds),
              each<float>(3 * n, [&](int i) { return at(particles, i).x * 16 + at(particles, i).v; }));
}

TEST_F(Cooperation, ATableThatWholeWarpsSearch) {
  constexpr int n = 200, buckets = 4;
  const auto keys = each<int>(n, [](int i) { return 1 + scrambled(static_cast<std::uint32_t>(i)) % 90; });
  std::vector<int> found =
      run("warp_wide_table", {.grid = 4, .block = 64}, zeros<int>(buckets * 32), zeros<int>(1), keys, n, buckets);
  std::erase(found, 0);
  std::ranges::sort(found);
  std::vector<int> expected = keys;
  std::ranges::sort(expected);
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  EXPECT_SAME(found, expected);
}

}  // namespace
}  // namespace cuprum::tests
