// Loops that wait in less usual ways: for two things, with a limit, within functions, while doing something else, as a
// warp or a block.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#define ALL 0xffffffffu

// Thread 0 waits as `wait` says for what threads 40 and 70 do; f[0] and f[1] are set to 1 behind out[1] and out[2].
#define WAITING(name, wait)                                                  \
  KERNEL(name)(int* out, int* f) {                                           \
    int t = threadIdx.x;                                                     \
    volatile int* data = out;                                                \
    if (t == 0) {                                                            \
      wait                                                                   \
      __threadfence();                                                       \
      out[0] = data[1] * 100 + data[2];                                      \
    } else if (t == 40) {                                                    \
      data[1] = 41; __threadfence(); atomicExch(f, 1);                       \
    } else if (t == 70) {                                                    \
      data[2] = 42; __threadfence(); atomicExch(f + 1, 1);                   \
    }                                                                        \
  }
#define LOAD(i) (((volatile int*)f)[i])
__device__ __noinline__ bool both_set(volatile int* f) { return f[0] && f[1]; }
__device__ bool set(volatile int* f) { return *f != 0; }
typedef bool (*Question)(volatile int*);
__device__ Question question = both_set;
WAITING(for_two_flags, while (LOAD(0) == 0 || LOAD(1) == 0) {})
WAITING(for_one_then_the_other, while (!LOAD(0)) {} while (!LOAD(1)) {})
WAITING(with_a_limit, for (int64_t n = 0; (!LOAD(0) || !LOAD(1)) && n < 1ll << 60; ++n) {})
WAITING(by_a_function, while (!both_set(f)) {})
WAITING(by_a_pointer_to_a_function, Question q = question; while (!q(f)) {})
WAITING(as_64_bits, while (*(volatile uint64_t*)f != 0x100000001ull) {})
WAITING(as_bytes, while (((volatile char*)f)[0] == 0 || ((volatile char*)f)[4] == 0) {})
WAITING(by_and, while ((atomicAnd(f, ~0) & atomicAnd(f + 1, ~0)) == 0) {})
WAITING(by_sub, while (atomicSub(f, 0) + atomicSub(f + 1, 0) < 2) {})
WAITING(by_min, while (atomicMin(f, 7) == 0 || atomicMin(f + 1, 7) == 0) {})
WAITING(by_xor, while (atomicXor(f, 0) == 0 || atomicXor(f + 1, 0) == 0) {})
WAITING(by_exchange, int a = 0; int b = 0; while (!(a && b)) { a |= atomicExch(f, 0); b |= atomicExch(f + 1, 0); })
WAITING(while_counting, int n = 0; bool done = false; while (!done) { if (LOAD(0) && LOAD(1)) done = true; else ++n; } if (n < 0) out[5] = n;)
WAITING(in_rounds, for (int k = 0; k < 2;) { if (LOAD(k)) { ++k; continue; } __nanosleep(50); })
WAITING(without_end, while (true) { if (!LOAD(0)) continue; if (LOAD(1)) break; })
WAITING(nested, do { while (!LOAD(0)) {} } while (!LOAD(1));)
WAITING(by_gotos, again: if (!LOAD(0)) goto again; if (!LOAD(1)) goto again;)

// A warp holds a lock: its first lane takes it, all work.
KERNEL(lock_of_a_warp)(int* out, int* mutex) {
  int lane = threadIdx.x & 31;
  for (int round = 0; round < 2; ++round) {
    if (lane == 0) while (atomicCAS(mutex, 0, 1) != 0) {}
    __syncwarp();
    __threadfence();
    int v = ((volatile int*)out)[lane];
    v += __shfl_xor_sync(ALL, lane, 1);
    ((volatile int*)out)[lane] = v;
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicExch(mutex, 0);
  }
}
KERNEL(lock_of_a_block)(int* out, int* mutex) {
  if (threadIdx.x == 0) while (atomicExch(mutex, 1) != 0) __nanosleep(10);
  __syncthreads();
  __threadfence();
  ((volatile int*)out)[threadIdx.x] = ((volatile int*)out)[threadIdx.x] + threadIdx.x + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(mutex, 0);
}
// Until all of the warp have had the lock.
KERNEL(lock_until_all_had_it)(int* out, int* mutex) {
  bool done = false;
  while (__any_sync(ALL, !done)) {
    if (!done && atomicCAS(mutex, 0, 1) == 0) {
      __threadfence();
      *(volatile int*)out = *(volatile int*)out * 1 + threadIdx.x;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
    __syncwarp();
  }
}
// Warps take pieces of work until there is none, and meet at the end.
KERNEL(warps_take_work)(int* out, int* next, const int* in, int pieces) {
  __shared__ int sum;
  int lane = threadIdx.x & 31;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  while (true) {
    int piece;
    if (lane == 0) piece = atomicAdd(next, 1);
    piece = __shfl_sync(ALL, piece, 0);
    if (piece >= pieces) break;
    int v = in[piece * 32 + lane];
    for (int i = 0; i < piece % 5; ++i) v = v * 3 % 1009 + lane;
    v = __reduce_add_sync(ALL, v);
    if (lane == 0) atomicAdd(&sum, v);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
KERNEL(blocks_take_work)(int* out, int* next, const int* in, int pieces) {
  __shared__ int piece;
  int sum = 0;
  while (true) {
    if (threadIdx.x == 0) piece = atomicAdd(next, 1);
    __syncthreads();
    int mine = piece;
    __syncthreads();
    if (mine >= pieces) break;
    sum += in[mine * blockDim.x + threadIdx.x] * (mine + 1);
  }
  atomicAdd(out + threadIdx.x, sum);
}
// Warps of a block scan one after the other.
KERNEL(chained_warps)(int* out, const int* in) {
  __shared__ volatile int ready[8], sums[8];
  int t = threadIdx.x, warp = t / 32, lane = t & 31, v = in[t];
  if (lane == 0) ready[warp] = 0;
  __syncthreads();
  for (int d = 1; d < 32; d *= 2) { int other = __shfl_up_sync(ALL, v, d); if (lane >= d) v += other; }
  int before = 0;
  if (warp > 0) {
    if (lane == 0) { while (!ready[warp - 1]) {} __threadfence_block(); before = sums[warp - 1]; }
    before = __shfl_sync(ALL, before, 0);
  }
  if (lane == 31) { sums[warp] = before + v; __threadfence_block(); ready[warp] = 1; }
  out[t] = before + v;
}
// All lanes of a warp wait, for flags of their own.
KERNEL(all_lanes_wait)(int* out) {
  __shared__ volatile int flags[64];
  int t = threadIdx.x;
  if (t < 64) flags[t] = 0;
  __syncthreads();
  if (t < 64) {
    while (flags[t] == 0) {}
    out[t] = flags[t];
  } else {
    for (int i = 0; i < 64; i += 32) flags[63 - i - (t - 64)] = t + i;
  }
}
// The lanes of a warp take turns, and each turn ends with a shuffle of those that were there.
KERNEL(turns_and_a_shuffle)(int* out) {
  __shared__ volatile int turn, value;
  int t = threadIdx.x;
  if (t == 0) turn = 0, value = 3;
  __syncwarp();
  while (turn != 31 - t) {}
  __threadfence_block();
  int mine = value = (value * 5 + t) % 1009;
  __threadfence_block();
  turn = 32 - t;
  __syncwarp();
  out[t] = __shfl_sync(ALL, mine, 31 - t) * 1000 + value % 1000;
}
)";

class Waiting : public KernelsTest {
 protected:
  Waiting() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(1024, 100);
};

class WaitingThread : public Waiting, public ::testing::WithParamInterface<const char*> {};

TEST_P(WaitingThread, SeesWhatTwoOthersDo) {
  const std::vector<int> found = run(GetParam(), {.block = 96}, zeros<int>(6), zeros<int>(2));
  EXPECT_SAME(found, (std::vector{4142, 41, 42, 0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(InEveryForm, WaitingThread,
                         ::testing::Values("for_two_flags", "for_one_then_the_other", "with_a_limit", "by_a_function",
                                           "by_a_pointer_to_a_function", "as_64_bits", "as_bytes", "by_and", "by_sub",
                                           "by_min", "by_xor", "by_exchange", "while_counting", "in_rounds",
                                           "without_end", "nested", "by_gotos"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_F(Waiting, ALockThatAWarpHolds) {
  EXPECT_SAME(run("lock_of_a_warp", {.grid = 2, .block = 96}, zeros<int>(32), zeros<int>(1)),
              each<int>(32, [](int lane) { return 12 * (lane ^ 1); }));
}

TEST_F(Waiting, ALockThatABlockHolds) {
  EXPECT_SAME(run("lock_of_a_block", {.grid = 5, .block = 40}, zeros<int>(40), zeros<int>(1)),
              each<int>(40, [](int t) { return 5 * (t + 1); }));
}

TEST_F(Waiting, UntilAllOfTheWarpHadTheLock) {
  EXPECT_SAME(run("lock_until_all_had_it", {.grid = 2, .block = 64}, zeros<int>(1), zeros<int>(1)),
              std::vector{2 * 63 * 64 / 2});
}

TEST_F(Waiting, WarpsThatTakeWork) {
  int sum = 0;
  for (int i = 0; i < 20 * 32; ++i) {
    int v = at(in, i);
    for (int k = 0; k < i / 32 % 5; ++k) v = v * 3 % 1009 + i % 32;
    sum += v;
  }
  EXPECT_SAME(run("warps_take_work", {.grid = 2, .block = 96}, zeros<int>(1), zeros<int>(1), in, 20), std::vector{sum});
}

TEST_F(Waiting, BlocksThatTakeWork) {
  EXPECT_SAME(run("blocks_take_work", {.grid = 3, .block = 40}, zeros<int>(40), zeros<int>(1), in, 15),
              each<int>(40, [&](int t) {
                int sum = 0;
                for (int piece = 0; piece < 15; ++piece) sum += at(in, piece * 40 + t) * (piece + 1);
                return sum;
              }));
}

TEST_F(Waiting, WarpsThatScanOneAfterTheOther) {
  std::vector<int> expected(256);
  std::partial_sum(in.begin(), in.begin() + 256, expected.begin());
  EXPECT_SAME(run("chained_warps", {.block = 256}, zeros<int>(256), in), expected);
}

TEST_F(Waiting, AllLanesOfAWarp) {
  EXPECT_SAME(run("all_lanes_wait", {.block = 96}, zeros<int>(64)),
              each<int>(64, [](int t) { return t >= 32 ? 127 - t : 127 - t; }));
}

TEST_F(Waiting, LanesThatTakeTurnsAndThenShuffle) {
  std::vector<int> values(32);
  int value = 3;
  for (int t = 31; t >= 0; --t) at(values, t) = value = (value * 5 + t) % 1009;
  EXPECT_SAME(run("turns_and_a_shuffle", {.block = 32}, zeros<int>(32)),
              each<int>(32, [&](int t) { return at(values, 31 - t) * 1000 + value % 1000; }));
}

}  // namespace
}  // namespace cuprum::tests
