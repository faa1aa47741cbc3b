// Barriers beyond __syncthreads() in plain code: early exits, named barriers, cuda::barrier, pipelines, clusters.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

KERNEL(exit_before_a_barrier)(int* out, const int* in, int n) {
  extern __shared__ int cells[];
  int t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  cells[t] = 0;
  __syncthreads();
  if (i >= n) return;
  if (in[i] < 0) { out[i] = -1; return; }
  cells[t] = in[i];
  __syncthreads();
  int left = t > 0 ? cells[t - 1] : 0;
  __syncthreads();
  cells[t] = left * 2;
  __syncthreads();
  out[i] = cells[t] + (t + 1 < blockDim.x ? cells[t + 1] : 0);
}

KERNEL(whole_warps_leave)(int* out) {
  __shared__ int cells[256];
  int t = threadIdx.x, warp = t / 32, sum = 0;
  for (int round = 0; round < 8; ++round) {
    if (warp == round) { out[t] = sum; return; }
    cells[t] = t + round;
    __syncthreads();
    sum += cells[blockDim.x - 1 - t % 32];
    __syncthreads();
  }
}

__device__ void named_sync(int id, int count) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); }
__device__ void named_arrive(int id, int count) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory"); }

// Two warps produce, two consume, by two buffers and four barriers.
KERNEL(producer_and_consumer_warps)(int* out, const int* in, int rounds) {
  __shared__ int buffer[2][64];
  int t = threadIdx.x % 64, sum = 0;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; ++r) {
      int b = r & 1;
      if (r >= 2) named_sync(3 + b, 128);                    // emptied
      buffer[b][t] = in[(r * 64 + t) % 256] + r;
      named_arrive(1 + b, 128);                              // filled
    }
  } else {
    for (int r = 0; r < rounds; ++r) {
      int b = r & 1;
      named_sync(1 + b, 128);
      sum = sum * 3 % 10007 + buffer[b][63 - t];
      if (r + 2 < rounds) named_arrive(3 + b, 128);
    }
    out[t] = sum;
  }
}

KERNEL(barrier_for_each_warp)(int* out, const int* in) {
  __shared__ int cells[128];
  int t = threadIdx.x, warp = t / 32;
  cells[t] = in[t];
  for (int i = 0; i <= warp; ++i) {
    named_sync(1 + warp, 32);
    int v = cells[warp * 32 + (t + 1) % 32];
    named_sync(1 + warp, 32);
    cells[t] = v + i;
  }
  __syncthreads();
  out[t] = cells[(t + 32) % 128];
}

KERNEL(barrier_in_branches_that_warps_agree_on)(int* out, const int* in) {
  __shared__ int cells[128];
  int t = threadIdx.x;
  cells[t] = in[t];
  if (t / 32 % 2 == 0) {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[t] = cells[t + 32];
  } else {
    cells[t] += 1;
    asm volatile("barrier.sync 0;" ::: "memory");
    out[t] = cells[t - 32] * 2;
  }
}

KERNEL(barrier_with_votes)(int* out, const int* in) {
  int t = threadIdx.x, v = in[t], rounds = 0;
  while (__syncthreads_or(v > 3)) { v = v > 3 ? v / 2 + 1 : v; ++rounds; }
  out[t] = v * 10000 + rounds * 1000 + __syncthreads_count(v == 3) + __syncthreads_and(v <= 3) * 500;
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;
KERNEL(split_barrier)(int* out, const int* in) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ int cells[96];
  int t = threadIdx.x, sum = 0;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    cells[t] = in[t] + r;
    auto token = barrier.arrive();
    int own = 0;
    for (int k = 0; k < t % 7; ++k) own += k * r;
    barrier.wait(static_cast<Barrier::arrival_token&&>(token));
    sum += cells[blockDim.x - 1 - t] + own;
    barrier.arrive_and_wait();
  }
  out[t] = sum;
}
KERNEL(threads_drop_out)(int* out) {
  __shared__ Barrier barrier;
  __shared__ int count;
  int t = threadIdx.x;
  if (t == 0) { init(&barrier, blockDim.x); count = 0; }
  __syncthreads();
  for (int r = 0; r < 5; ++r) {
    if (t % 5 == r) { out[t] = -r; barrier.arrive_and_drop(); return; }
    atomicAdd(&count, 1);
    barrier.arrive_and_wait();
    if (r == 3) out[t] = count;
    barrier.arrive_and_wait();
  }
}
KERNEL(pipeline_of_one_thread)(int* out, const int* in, int rounds) {
  __shared__ int cells[2][64];
  auto pipe = cuda::make_pipeline();
  int t = threadIdx.x, sum = 0;
  for (int r = 0; r < rounds + 1; ++r) {
    if (r < rounds) {
      pipe.producer_acquire();
      cuda::memcpy_async(&cells[r % 2][t], in + (r * 64 + t) % 256, sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (r == 0) continue;
    if (r < rounds) cuda::pipeline_consumer_wait_prior<1>(pipe); else cuda::pipeline_consumer_wait_prior<0>(pipe);
    sum = sum * 3 % 10007 + cells[(r - 1) % 2][t];
    pipe.consumer_release();
  }
  out[t] = sum;
}

KERNEL(neighbours_in_a_cluster)(int* out, const int* in) {
  __shared__ int cells[64];
  auto cluster = cg::this_cluster();
  int t = threadIdx.x, rank = cluster.block_rank(), n = cluster.num_blocks();
  cells[t] = in[(blockIdx.x * 64 + t) % 256];
  cluster.sync();
  int v = cluster.map_shared_rank(cells, (rank + 1) % n)[63 - t];
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(cells, 0) + t, v);
  cluster.sync();
  out[blockIdx.x * 64 + t] = rank == 0 ? cells[t] : v;
}

// 16 rows of 16, in dynamic shared memory, with a barrier for each step.
KERNEL(gauss_elimination)(double* matrix) {
  extern __shared__ double rows[];
  int x = threadIdx.x, y = threadIdx.y, n = blockDim.x;
  rows[y * n + x] = matrix[y * n + x];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    double factor = rows[y * n + k] / rows[k * n + k], pivot = rows[k * n + x];
    __syncthreads();
    if (y > k) rows[y * n + x] -= factor * pivot;
    __syncthreads();
  }
  matrix[y * n + x] = rows[y * n + x];
}
)";

class Barriers : public KernelsTest {
 protected:
  Barriers() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(256, 100);
};

TEST_F(Barriers, ThreadsThatLeaveBeforeABarrier) {
  auto values = in;
  for (int i = 5; i < 256; i += 11) at(values, i) = -5;
  constexpr int n = 180, block = 64;
  EXPECT_SAME(run("exit_before_a_barrier", {.grid = 3, .block = block, .shmem_size = block * sizeof(int)},
                  zeros<int>(n), values, n),
              each<int>(n, [&](int i) {
                const auto first = [&](int k) { return std::max(at(values, k), 0); };
                const auto second = [&](int k) {
                  return k >= n || at(values, k) < 0 || k % block == 0 ? 0 : 2 * first(k - 1);
                };
                if (at(values, i) < 0) return -1;
                return second(i) + (i % block + 1 < block ? second(i + 1) : 0);
              }));
}

TEST_F(Barriers, WarpsThatLeaveOneAfterTheOther) {
  EXPECT_SAME(run("whole_warps_leave", {.block = 256}, zeros<int>(256)), each<int>(256, [](int t) {
                int sum = 0;
                for (int round = 0; round < t / 32; ++round) sum += 255 - t % 32 + round;
                return sum;
              }));
}

TEST_F(Barriers, ProducerAndConsumerWarps) {
  EXPECT_SAME(run("producer_and_consumer_warps", {.block = 128}, zeros<int>(64), in, 9), each<int>(64, [&](int t) {
                int sum = 0;
                for (int r = 0; r < 9; ++r) sum = sum * 3 % 10007 + at(in, (r * 64 + 63 - t) % 256) + r;
                return sum;
              }));
}

TEST_F(Barriers, ABarrierForEachWarp) {
  EXPECT_SAME(run("barrier_for_each_warp", {.block = 128}, zeros<int>(128), in), each<int>(128, [&](int t) {
                const int of = (t + 32) % 128, warp = of / 32;
                return at(in, warp * 32 + (of + warp + 1) % 32) + warp * (warp + 1) / 2;
              }));
}

TEST_F(Barriers, BranchesThatWarpsAgreeOn) {
  EXPECT_SAME(run("barrier_in_branches_that_warps_agree_on", {.block = 128}, zeros<int>(128), in),
              each<int>(128, [&](int t) { return t / 32 % 2 == 0 ? at(in, t + 32) + 1 : at(in, t - 32) * 2; }));
}

TEST_F(Barriers, WithVotes) {
  const int most = *std::max_element(in.begin(), in.begin() + 100);
  int rounds = 0;
  for (int v = most; v > 3; v = v / 2 + 1) ++rounds;
  const auto last = each<int>(100, [&](int t) {
    int v = at(in, t);
    while (v > 3) v = v / 2 + 1;
    return v;
  });
  const auto threes = static_cast<int>(std::ranges::count(last, 3));
  EXPECT_SAME(run("barrier_with_votes", {.block = 100}, zeros<int>(100), in),
              each<int>(100, [&](int t) { return at(last, t) * 10000 + rounds * 1000 + threes + 500; }));
}

TEST_F(Barriers, ArrivingAndWaitingApart) {
  EXPECT_SAME(run("split_barrier", {.block = 96}, zeros<int>(96), in), each<int>(96, [&](int t) {
                const int k = t % 7;
                return 4 * at(in, 95 - t) + 6 + 6 * k * (k - 1) / 2;
              }));
}

TEST_F(Barriers, ThreadsThatDropOut) {
  constexpr int n = 100;  // a fifth leaves in each round
  EXPECT_SAME(run("threads_drop_out", {.block = n}, zeros<int>(n)), each<int>(n, [](int t) { return -(t % 5); }));
}

TEST_F(Barriers, APipelineOfOneThread) {
  EXPECT_SAME(run("pipeline_of_one_thread", {.block = 64}, zeros<int>(64), in, 6), each<int>(64, [&](int t) {
                int sum = 0;
                for (int r = 0; r < 6; ++r) sum = sum * 3 % 10007 + at(in, (r * 64 + t) % 256);
                return sum;
              }));
}

TEST_F(Barriers, NeighboursInACluster) {
  constexpr int blocks = 6, n = 3;
  const auto cell = [&](int block, int t) { return at(in, (block * 64 + t) % 256); };
  const auto neighbour = [&](int block, int t) { return cell(block / n * n + (block + 1) % n, 63 - t); };
  EXPECT_SAME(
      run("neighbours_in_a_cluster", {.grid = blocks / n, .block = 64, .cluster = n}, zeros<int>(blocks * 64), in),
      each<int>(blocks * 64, [&](int i) {
        const int block = i / 64, t = i % 64;
        if (block % n != 0) return neighbour(block, t);
        int sum = cell(block, t);
        for (int b = block; b < block + n; ++b) sum += neighbour(b, t);
        return sum;
      }));
}

TEST_F(Barriers, GaussElimination) {
  constexpr int n = 16;
  // Lower times upper triangle of small integers, so that every step is exact.
  const auto upper = [](int y, int x) {
    return x < y ? 0.0 : x == y ? 1.0 : static_cast<double>((x * 5 + y * 3) % 7 - 3);
  };
  const auto lower = [](int y, int x) { return x > y ? 0.0 : x == y ? 1.0 : static_cast<double>((x * 3 + y) % 5 - 2); };
  const auto matrix = each<double>(n * n, [&](int i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += lower(i / n, k) * upper(k, i % n);
    return sum;
  });
  EXPECT_SAME(run("gauss_elimination", {.block = {n, n}, .shmem_size = n * n * sizeof(double)}, matrix),
              each<double>(n * n, [&](int i) { return upper(i / n, i % n); }));
}

}  // namespace
}  // namespace cuprum::tests
