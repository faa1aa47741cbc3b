// What NVIDIA's own headers bring for threads to meet and to work together: semaphores, latches, atomics, CUB.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>

// Four threads at a time, counted where they are.
KERNEL(semaphore)(int* out, int rounds) {
  __shared__ __align__(16) char memory[64];
  auto& places = *reinterpret_cast<cuda::counting_semaphore<cuda::thread_scope_block, 8>*>(memory);
  __shared__ int inside, most;
  if (threadIdx.x == 0) { new (&places) cuda::counting_semaphore<cuda::thread_scope_block, 8>(4); inside = most = 0; }
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    places.acquire();
    atomicMax(&most, atomicAdd(&inside, 1) + 1);
    atomicAdd(out, 1);
    atomicSub(&inside, 1);
    places.release();
  }
  __syncthreads();
  if (threadIdx.x == 0) out[1] = most <= 4 && most > 0;
}

KERNEL(latch)(int* out, const int* in) {
  __shared__ __align__(16) char memory[64];
  auto& ready = *reinterpret_cast<cuda::latch<cuda::thread_scope_block>*>(memory);
  __shared__ int cells[64];
  int t = threadIdx.x;
  if (t == 0) new (&ready) cuda::latch<cuda::thread_scope_block>(64);
  __syncthreads();
  if (t < 64) {
    cells[t] = in[t] * 2;
    ready.count_down();
    if (t % 4) { out[t] = -1; return; }
  }
  ready.wait();
  out[t] = cells[(t * 5) % 64];
}

// A stack without locks: a word holds the head and a tag that changes with every exchange.
KERNEL(stack)(int* out, unsigned long long* head, int* next) {
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> top(*head);
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  auto push = [&](int item) {
    auto old = top.load(cuda::memory_order_relaxed);
    do ((volatile int*)next)[item] = (int)(unsigned)old;
    while (!top.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | (unsigned)item, cuda::memory_order_release, cuda::memory_order_relaxed));
  };
  auto pop = [&]() -> int {
    auto old = top.load(cuda::memory_order_acquire);
    while ((int)(unsigned)old >= 0)
      if (top.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | (unsigned)((volatile int*)next)[(int)(unsigned)old], cuda::memory_order_acquire))
        return (int)(unsigned)old;
    return -1;
  };
  push(t);
  int item;
  while ((item = pop()) < 0) {}
  atomicAdd(out + item, 1);
}

KERNEL(waiting_on_an_atomic)(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
  if (threadIdx.x == 0) turn.store(0);
  __syncthreads();
  int t = threadIdx.x, v;
  while ((v = turn.load(cuda::memory_order_acquire)) != t) turn.wait(v);
  out[t] = t == 0 ? 1 : out[t - 1] * 2 % 1009;
  turn.store(t + 1, cuda::memory_order_release);
  turn.notify_all();
}

KERNEL(block_sort)(int* data) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  for (int i = 0; i < 4; ++i) keys[i] = data[threadIdx.x * 4 + i];
  Sort(storage).Sort(keys);
  for (int i = 0; i < 4; ++i) data[threadIdx.x * 4 + i] = keys[i];
}

KERNEL(block_scan_and_reduce)(int* out, const int* in) {
  using Scan = cub::BlockScan<int, 96>;
  using Reduce = cub::BlockReduce<int, 96>;
  using WarpReduce = cub::WarpReduce<int, 8>;
  __shared__ union { typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; typename WarpReduce::TempStorage warps[12]; } storage;
  __shared__ int total;
  int t = threadIdx.x, before, most, sum;
  Scan(storage.scan).ExclusiveSum(in[t], before);
  __syncthreads();
  sum = Reduce(storage.reduce).Sum(in[t], 90);
  if (t == 0) total = sum;
  __syncthreads();
  most = WarpReduce(storage.warps[t / 8]).Reduce(in[t], cuda::maximum<int>());
  out[t] = before + total * 7 + (t % 8 == 0 ? most * 100000 : 0);
}

KERNEL(arrays_by_value)(int* out, const int* in) {
  int t = threadIdx.x;
  cuda::std::array<int, 6> values;
  for (int i = 0; i < 6; ++i) values[i] = in[t + i];
  for (int i = 1; i < 6; ++i)
    for (int k = i; k > 0 && values[k - 1] > values[k]; --k) { int swap = values[k]; values[k] = values[k - 1]; values[k - 1] = swap; }
  out[t] = values[t % 6] * 1000 + values[2];
}
)";

class Library : public KernelsTest {
 protected:
  Library() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(256, 1000);
};

TEST_F(Library, Semaphores) {
  EXPECT_SAME(run("semaphore", {.block = 48}, zeros<int>(2), 3), (std::vector{48 * 3, 1}));
}

TEST_F(Library, Latches) {
  EXPECT_SAME(run("latch", {.block = 96}, zeros<int>(96), in),
              each<int>(96, [&](int t) { return t < 64 && t % 4 != 0 ? -1 : at(in, t * 5 % 64) * 2; }));
}

TEST_F(Library, AStackWithoutLocks) {
  EXPECT_SAME(run("stack", {.grid = 2, .block = 64}, zeros<int>(128), std::vector<unsigned long long>{0xffffffffu},
                  zeros<int>(128)),
              std::vector<int>(128, 1));
}

TEST_F(Library, WaitingOnAnAtomic) {
  std::vector<int> expected{1};
  while (expected.size() < 40) expected.push_back(expected.back() * 2 % 1009);
  EXPECT_SAME(run("waiting_on_an_atomic", {.block = 40}, zeros<int>(40)), expected);
}

TEST_F(Library, SortingABlock) {
  std::vector<int> expected = in;
  std::ranges::sort(expected);
  EXPECT_SAME(run("block_sort", {.block = 64}, in), expected);
}

TEST_F(Library, ScanningAndReducingABlock) {
  EXPECT_SAME(run("block_scan_and_reduce", {.block = 96}, zeros<int>(96), in), each<int>(96, [&](int t) {
                const int before = std::accumulate(in.begin(), in.begin() + t, 0);
                const int total = std::accumulate(in.begin(), in.begin() + 90, 0);
                return before + total * 7 +
                       (t % 8 == 0 ? *std::max_element(in.begin() + t, in.begin() + t + 8) * 100000 : 0);
              }));
}

TEST_F(Library, ArraysByValue) {
  EXPECT_SAME(run("arrays_by_value", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                std::vector<int> values(in.begin() + t, in.begin() + t + 6);
                std::ranges::sort(values);
                return at(values, t % 6) * 1000 + values[2];
              }));
}

}  // namespace
}  // namespace cuprum::tests
