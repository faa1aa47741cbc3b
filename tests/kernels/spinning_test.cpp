// Threads that wait for what others do: flags, locks, tickets, look-back. Each kernel makes progress wherever the
// threads of a warp are scheduled apart and all blocks of the grid are resident.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#define ALL 0xffffffffu

__device__ int acquired(int* f) { int v; asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(v) : "l"(f) : "memory"); return v; }
__device__ int relaxed(int* f) { int v; asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(v) : "l"(f) : "memory"); return v; }

// Thread 0 waits for a flag that another warp of its block sets.
#define WAIT_FOR_A_FLAG(name, read)                                 \
  KERNEL(name)(int* out, int* f) {                                  \
    int t = threadIdx.x;                                            \
    if (t == 0) {                                                   \
      while ((read) == 0) {}                                        \
      __threadfence();                                              \
      out[0] = *(volatile int*)(out + 1) + 1;                       \
    } else if (t == 40) {                                           \
      *(volatile int*)(out + 1) = 41;                               \
      __threadfence();                                              \
      atomicExch(f, 1);                                             \
    } else if (t > 1) {                                             \
      out[t] = t;                                                   \
    }                                                               \
  }
WAIT_FOR_A_FLAG(flag_by_atomic_max, atomicMax(f, 0))
WAIT_FOR_A_FLAG(flag_by_atomic_add, atomicAdd(f, 0))
WAIT_FOR_A_FLAG(flag_by_atomic_or, atomicOr(f, 0))
WAIT_FOR_A_FLAG(flag_by_atomic_cas, atomicCAS(f, 0, 0))
WAIT_FOR_A_FLAG(flag_by_volatile_load, *(volatile int*)f)
WAIT_FOR_A_FLAG(flag_by_ldcv, __ldcv(f))
WAIT_FOR_A_FLAG(flag_by_ldcg, (__threadfence(), __ldcg(f)))
WAIT_FOR_A_FLAG(flag_by_plain_load, (__threadfence(), *f))
WAIT_FOR_A_FLAG(flag_by_acquiring_load, acquired(f))
WAIT_FOR_A_FLAG(flag_by_relaxed_load, relaxed(f))
WAIT_FOR_A_FLAG(flag_with_sleep, (__nanosleep(100), *(volatile int*)f))

WAIT_FOR_A_FLAG(flag_by_float_add, atomicAdd((float*)f, 0.0f))
WAIT_FOR_A_FLAG(flag_beside_stores, (__threadfence(), out[40] = t, *f))

// A reader comes in while no writer (a large negative number) is there, and takes back what it has added otherwise.
__device__ int as_reader(int* lock) {
  while (true) {
    int readers = atomicAdd(lock, 1);
    if (readers >= 0) return readers + 1;
    atomicSub(lock, 1);
  }
}
__device__ int one_of(int* semaphore) {
  int expected = 1;
  while (true) {
    int found = atomicCAS(semaphore, expected, expected - 1);
    if (found == expected) return found;
    expected = found > 0 ? found : 1;
  }
}
__device__ int one_if_positive(int* semaphore) {
  int found = 0, expected;
  do {
    expected = found;
    found = atomicCAS(semaphore, expected, expected > 0 ? expected - 1 : expected);
  } while (found != expected || expected <= 0);
  return found;
}
__device__ int two_flags(volatile int* flags, int first) {
  int seen[8] = {};
  for (int i = 0; !(seen[first & 7] && seen[(first + 1) & 7]); ++i) seen[i & 7] = flags[i & 7];
  return seen[first & 7];
}
__device__ int counted_flag(volatile int* flag, int first) {
  int seen[8] = {};
  for (int i = 0; !seen[first & 7]; ++i)
    if (*flag) seen[i & 7] = 1;
  return 1;
}
__device__ int a_free_place(int* places) {
  int i = 0;
  while (atomicExch(places + i, 0) == 0) i = (i + 1) & 7;
  return 1;
}
__device__ int a_free_bit(int* words) {
  unsigned bit = 0;
  while ((atomicAnd(words, ~(1 << bit)) & (1 << bit)) == 0) bit = (bit + 1) % 32;
  return 1;
}

// Thread 0 waits for what a thread of another warp gives.
#define WAIT_FOR_A_GIFT(name, wait, give)            \
  KERNEL(name)(int* out, int* f) {                   \
    int t = threadIdx.x;                             \
    if (t == 0) out[0] = wait;                       \
    if (t == 40) give, out[1] = 8;                   \
  }
WAIT_FOR_A_GIFT(wait_as_a_reader, as_reader(f), atomicAdd(f, 1000000))
WAIT_FOR_A_GIFT(wait_at_a_semaphore, one_of(f), atomicAdd(f, 1000001))
WAIT_FOR_A_GIFT(wait_until_positive, one_if_positive(f), atomicAdd(f, 1000001))
WAIT_FOR_A_GIFT(wait_for_two_flags, two_flags(f, f[9]) / 1000001, atomicAdd(f + 1, 1000001) + atomicAdd(f + 2, 1000001))
WAIT_FOR_A_GIFT(wait_for_a_counted_flag, counted_flag(f + 1, f[9]), atomicExch(f + 1, 1))
WAIT_FOR_A_GIFT(wait_for_a_place, a_free_place(f + 1), atomicExch(f + 3, 1))
__device__ int above(int* f, int limit) {
  int found, mine = 5;
  while ((found = atomicMax(f, mine)) <= limit) mine = (found + 1) & 63;
  return found > limit;
}
__device__ int by_taking_back(int* f) {
  while (atomicSub(f, 1) <= 0) atomicAdd(f, 1);
  return 1;
}
WAIT_FOR_A_GIFT(wait_for_a_maximum, above(f + 1, 100), atomicMax(f + 1, 1000))
WAIT_FOR_A_GIFT(wait_by_taking_back, by_taking_back(f + 1), atomicAdd(f + 1, 5))
__device__ int odd(int* f) {
  while ((atomicAdd(f, 2) & 1) == 0) {}
  return 1;
}
__device__ int entered_in_the_middle(volatile int* f, int skip) {
  int seen = 0;
  if (skip) goto middle;
again:
  seen = f[1];
middle:
  if (seen + f[2] == 0) goto again;
  return 1;
}
WAIT_FOR_A_GIFT(wait_until_odd, odd(f + 1), atomicAdd(f + 1, 1))
WAIT_FOR_A_GIFT(wait_from_the_middle, entered_in_the_middle(f, f[9]), atomicAdd(f + 1, 1))
WAIT_FOR_A_GIFT(wait_for_a_bit, a_free_bit(f + 1), atomicOr(f + 1, 1 << 11))

// Thread `waiter` waits in ways that look like progress, for what thread `setter` does. `zero` is 0.
#define WAIT_BUSILY(name, wait, set)                                                         \
  KERNEL(busy_##name)(int* out, unsigned* f, unsigned zero, int waiter, int setter) {        \
    int t = threadIdx.x;                                                                     \
    unsigned i = 0;                                                                          \
    if (t == waiter) {                                                                       \
      wait;                                                                                  \
      out[t] = 5;                                                                            \
    } else {                                                                                 \
      if (t == setter) { set; }                                                              \
      out[t] = 5;                                                                            \
    }                                                                                        \
  }
WAIT_BUSILY(increments, while (atomicInc(f, 3) < 5) {}, atomicExch(f, 10))
WAIT_BUSILY(flags_merged_in_memory, while (out[t] == 0) atomicOr(out + t, *(volatile int*)f), atomicExch(f, 1))
WAIT_BUSILY(flags_passed_to_memory, while (out[t] == 0) atomicExch(out + t, *(volatile int*)f), atomicExch(f, 1))
WAIT_BUSILY(flags_written_through_pointers,
            unsigned kept[4] = {}; unsigned* places[2]; places[0] = f + 16; places[1] = kept;
            while (*kept == 0) *places[i++ + zero & 1] = *(volatile unsigned*)f, atomicExch(f, 1))
WAIT_BUSILY(decrements_taken_back,
            ((unsigned**)f)[8] = f; while ((int)atomicSub(((unsigned**)f)[8], 1) <= 0) atomicAdd(((unsigned**)f)[8], 1),
            atomicAdd(f, 5))
WAIT_BUSILY(counts_kept_in_memory, do f[5 + (i & zero)] = i = atomicAdd(f, 2); while (!(f[5] & 1)), atomicExch(f, 1))
WAIT_BUSILY(places_that_counts_say, do f[5 + (atomicAdd(f, 2) & 1)] = 1; while (!f[6]), atomicExch(f, 1))
WAIT_BUSILY(decrements, while (atomicDec(f, 3) < 5) {}, atomicExch(f, 10))
WAIT_BUSILY(additions_of_nothing, while (atomicAdd(f, zero) < 2) {}, atomicExch(f, 2))
WAIT_BUSILY(additions_of_little, while (atomicAdd((float*)f, 1e-30f) < 2) {}, atomicExch((float*)f, 2.0f))
WAIT_BUSILY(exchanges, while (atomicExch(f + (i & 31), i & 7) != 99) ++i, atomicExch(f + 5, 99))
WAIT_BUSILY(maxima, while (atomicMax(f + (i & 31), i & 7) != 99) ++i, atomicExch(f + 5, 99))
WAIT_BUSILY(loads, while (f[i & 31] == 0) { ++i; __threadfence(); }, f[5] = 1; __threadfence())
WAIT_BUSILY(loads_beside_stores, while (f[i & 31] == 0) { out[waiter] = ++i; __threadfence(); }, f[5] = 1; __threadfence())

// A flag in shared memory that a thread of the same warp sets.
KERNEL(flag_in_the_warp)(int* out) {
  __shared__ volatile int flag[64], value[64];
  int t = threadIdx.x;
  flag[t] = 0;
  __syncthreads();
  if (t % 2 == 0) {
    while (flag[t] == 0) {}
    __threadfence_block();
    out[t] = value[t];
  } else {
    value[t - 1] = t * 10;
    __threadfence_block();
    flag[t - 1] = 1;
    out[t] = t;
  }
}

// A chain: each thread waits for the one before it, through the whole grid.
KERNEL(chain)(int* out, volatile int* turn) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  while (*turn != i) {}
  __threadfence();
  out[i] = i == 0 ? 1 : (((volatile int*)out)[i - 1] * 3 + i) % 1009;
  __threadfence();
  *turn = i + 1;
}

__device__ void lock(int* mutex) { while (atomicCAS(mutex, 0, 1) != 0) {} __threadfence(); }
__device__ void unlock(int* mutex) { __threadfence(); atomicExch(mutex, 0); }

KERNEL(lock_in_a_warp)(int* out, int* mutex) {
  lock(mutex);
  *(volatile int*)out = *(volatile int*)out + threadIdx.x + 1;
  unlock(mutex);
}
KERNEL(lock_taken_in_a_loop)(int* out, int* mutex) {
  bool done = false;
  while (!done) {
    if (atomicCAS(mutex, 0, 1) == 0) {
      __threadfence();
      *(volatile int*)out = *(volatile int*)out * 1 + 3;
      __threadfence();
      atomicExch(mutex, 0);
      done = true;
    }
  }
}
KERNEL(lock_for_each_of_a_table)(int* out, int* mutexes, const int* which) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  for (int round = 0; round < 3; ++round) {
    int slot = which[(t + round * 5) % 128];
    lock(mutexes + slot);
    volatile int* entry = out + 2 * slot;
    int before = entry[0];
    entry[0] = before + t;
    entry[1] = entry[1] + (entry[0] - before == t);
    unlock(mutexes + slot);
  }
}
// Two locks, taken in the order of their numbers.
KERNEL(transfers_between_accounts)(int* balance, int* mutexes, const int* from, const int* to) {
  int t = threadIdx.x + blockIdx.x * blockDim.x, a = from[t], b = to[t];
  if (a == b) return;
  int low = min(a, b), high = max(a, b);
  lock(mutexes + low);
  lock(mutexes + high);
  ((volatile int*)balance)[a] = ((volatile int*)balance)[a] - t;
  ((volatile int*)balance)[b] = ((volatile int*)balance)[b] + t;
  unlock(mutexes + high);
  unlock(mutexes + low);
}
KERNEL(lock_beside_a_shuffle)(int* out, int* mutex) {
  int t = threadIdx.x, v = t;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(ALL, v, d);
  lock(mutex);
  *(volatile int*)out = *(volatile int*)out + v;
  unlock(mutex);
  __syncwarp();
  out[1 + t] = __shfl_sync(ALL, v + t, (t + 1) & 31);
}
KERNEL(ticket_lock)(int* out, volatile int* serving, int* next) {
  int mine = atomicAdd(next, 1);
  while (*serving != mine) {}
  __threadfence();
  ((volatile int*)out)[0] = ((volatile int*)out)[0] * 5 % 9973 + 1;
  ((volatile int*)out)[1 + mine] = ((volatile int*)out)[0];
  __threadfence();
  *serving = mine + 1;
}
// A try-lock that does something else meanwhile.
KERNEL(try_lock)(int* out, int* mutex, int* elsewhere) {
  while (true) {
    if (atomicExch(mutex, 1) == 0) {
      __threadfence();
      ((volatile int*)out)[0] += 2;
      __threadfence();
      atomicExch(mutex, 0);
      return;
    }
    atomicAdd(elsewhere, 1);
    __nanosleep(20);
  }
}
// Readers and writers: negative is a writer.
KERNEL(readers_and_writers)(int* out, int* state, int* cell) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  if (t % 4 == 0) {
    while (atomicCAS(state, 0, -1) != 0) {}
    __threadfence();
    ((volatile int*)cell)[0]++;
    ((volatile int*)cell)[1]++;
    __threadfence();
    atomicExch(state, 0);
    out[t] = 1;
  } else {
    int seen = atomicAdd(state, 0);
    while (seen < 0 || atomicCAS(state, seen, seen + 1) != seen) seen = atomicAdd(state, 0);
    __threadfence();
    out[t] = ((volatile int*)cell)[0] == ((volatile int*)cell)[1];
    __threadfence();
    atomicSub(state, 1);
  }
}

// A scan of the whole grid in one pass: blocks publish their sum, then what lies before them.
KERNEL(look_back_scan)(int* out, const int* in, volatile int* states, volatile int* sums, volatile int* prefixes, int* next) {
  __shared__ int part, before, cells[64];
  int t = threadIdx.x;
  if (t == 0) part = atomicAdd(next, 1);
  __syncthreads();
  int i = part * blockDim.x + t;
  cells[t] = in[i];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int v = t >= d ? cells[t - d] : 0;
    __syncthreads();
    cells[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    int total = cells[blockDim.x - 1], prefix = 0;
    sums[part] = total;
    __threadfence();
    if (part > 0) states[part] = 1;
    for (int p = part - 1; p >= 0; --p) {
      int state;
      while ((state = states[p]) == 0) {}
      __threadfence();
      if (state == 2) { prefix += prefixes[p]; break; }
      prefix += sums[p];
    }
    prefixes[part] = prefix + total;
    __threadfence();
    states[part] = 2;
    before = prefix;
  }
  __syncthreads();
  out[i] = before + cells[t];
}

// The look-back by a whole warp.
KERNEL(look_back_by_a_warp)(int* out, const int* in, uint64_t* packed, int* next) {
  __shared__ int part;
  int lane = threadIdx.x;
  if (lane == 0) part = atomicAdd(next, 1);
  __syncwarp();
  int mine = part, v = in[mine * 32 + lane];
  for (int d = 1; d < 32; d *= 2) { int other = __shfl_up_sync(ALL, v, d); if (lane >= d) v += other; }
  int total = __shfl_sync(ALL, v, 31), before = 0;
  if (lane == 0) atomicExch((unsigned long long*)packed + mine, (mine == 0 ? 2ull : 1ull) << 32 | (unsigned)total);
  for (int end = mine; end > 0;) {
    int p = end - 1 - lane;
    uint64_t found = 2ull << 32;                      // in front of the first part there is nothing
    if (p >= 0) do found = atomicAdd((unsigned long long*)packed + p, 0ull); while (found >> 32 == 0);
    unsigned known = __ballot_sync(ALL, found >> 32 == 2);
    int last = known ? __ffs(known) - 1 : 31;
    before += __reduce_add_sync(ALL, lane <= last ? (int)(unsigned)found : 0);
    if (known) break;
    end -= 32;
  }
  if (lane == 0) atomicExch((unsigned long long*)packed + mine, 2ull << 32 | (unsigned)(before + total));
  out[mine * 32 + lane] = before + v;
}

// Warps hand a value round in a ring, several times.
KERNEL(ring_of_warps)(int* out, int laps) {
  __shared__ volatile int turn, value;
  int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) turn = 0, value = 1;
  __syncthreads();
  for (int lap = 0; lap < laps; ++lap) {
    if (lane == 0) {
      while (turn != lap * warps + warp) {}
      __threadfence_block();
      value = (value * 2 + warp) % 10007;
      __threadfence_block();
      turn = turn + 1;
    }
    __syncwarp();
  }
  __syncthreads();
  out[threadIdx.x] = value;
}

// A ring buffer between the warps of a block.
KERNEL(ring_buffer)(int* out, int n) {
  __shared__ volatile int buffer[4], filled, emptied;
  if (threadIdx.x == 0) filled = emptied = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (i - emptied >= 4) {}
      buffer[i % 4] = i * i;
      __threadfence_block();
      filled = i + 1;
    }
  } else if (threadIdx.x == 32) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      while (filled <= i) {}
      __threadfence_block();
      sum = sum * 3 % 100003 + buffer[i % 4];
      __threadfence_block();
      emptied = i + 1;
    }
    out[0] = sum;
  }
}

// A barrier of the whole grid made of atomics, on which one thread of each block spins.
__device__ void grid_barrier(int* arrived, int blocks, int round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < blocks * round) {}
    __threadfence();
  }
  __syncthreads();
}
KERNEL(barrier_of_the_grid)(int* cells, int* arrived, int rounds) {
  int n = gridDim.x * blockDim.x, i = threadIdx.x + blockIdx.x * blockDim.x;
  for (int r = 0; r < rounds; ++r) {
    int v = ((volatile int*)cells)[(i + 1 + r) % n];
    grid_barrier(arrived, gridDim.x, 2 * r + 1);
    ((volatile int*)cells)[i] = v * 2 % 1000003 + r;
    grid_barrier(arrived, gridDim.x, 2 * r + 2);
  }
}
// Threads that have not found the semaphore free take back what they have taken. The grid's last thread frees it first.
KERNEL(semaphore_taken_and_given_back)(int* sum, int* n) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  if (t < gridDim.x * blockDim.x - 1) {
    while (atomicSub(n, 1) <= 0) atomicAdd(n, 1);
    __threadfence();
    *(volatile int*)sum += t;
    __threadfence();
  }
  atomicAdd(n, 1);
}
// The last block to finish adds up what all have left.
KERNEL(last_block_adds_up)(int* out, volatile int* parts, unsigned* finished, const int* in) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x + blockIdx.x * blockDim.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += parts[b];
    *out = total;
  }
}
)";

class Spinning : public KernelsTest {
 protected:
  Spinning() : KernelsTest(source) {}
};

class Flags : public Spinning, public ::testing::WithParamInterface<const char*> {};

TEST_P(Flags, ThatAnotherWarpSets) {
  std::vector<int> expected(64);
  std::iota(expected.begin(), expected.end(), 0);
  expected[0] = 42;
  expected[1] = 41;
  expected[40] = 0;
  EXPECT_SAME(run((std::string("flag_") + GetParam()).c_str(), {.block = 64}, zeros<int>(64), zeros<int>(1)), expected);
}

INSTANTIATE_TEST_SUITE_P(ReadInEveryWay, Flags,
                         ::testing::Values("by_atomic_max", "by_atomic_add", "by_atomic_or", "by_atomic_cas",
                                           "by_volatile_load", "by_ldcv", "by_ldcg", "by_plain_load", "by_float_add",
                                           "beside_stores", "by_acquiring_load", "by_relaxed_load", "with_sleep"),
                         [](const auto& instance) { return std::string(instance.param); });

class Gifts : public Spinning, public ::testing::WithParamInterface<const char*> {};

TEST_P(Gifts, ThatAnotherWarpGives) {
  std::vector<int> memory(16);
  memory[0] = -1000000;
  memory[9] = 1;
  EXPECT_SAME(run((std::string("wait_") + GetParam()).c_str(), {.block = 64}, zeros<int>(2), memory),
              (std::vector<int>{1, 8}));
}

INSTANTIATE_TEST_SUITE_P(WaitedForInEveryWay, Gifts,
                         ::testing::Values("as_a_reader", "at_a_semaphore", "until_positive", "for_two_flags",
                                           "for_a_counted_flag", "for_a_place", "for_a_bit", "for_a_maximum",
                                           "by_taking_back", "until_odd", "from_the_middle"));

class BusyWaits : public Spinning, public ::testing::WithParamInterface<const char*> {
 protected:
  void expect_end(int waiter, int setter) {
    EXPECT_SAME(run((std::string("busy_") + GetParam()).c_str(), {.block = 64}, zeros<int>(64), zeros<unsigned>(32), 0U,
                    waiter, setter),
                std::vector<int>(64, 5))
        << waiter << " waits for " << setter;
  }
};

TEST_P(BusyWaits, EndWhereverTheOtherThreadIs) {
  for (const auto& [waiter, setter] : {std::pair{5, 0}, {0, 5}, {31, 0}, {0, 40}}) expect_end(waiter, setter);
}

INSTANTIATE_TEST_SUITE_P(WithWhatLooksLikeProgress, BusyWaits,
                         ::testing::Values("increments", "decrements", "decrements_taken_back", "additions_of_nothing",
                                           "additions_of_little", "exchanges", "maxima"),
                         [](const auto& instance) { return std::string(instance.param); });

// Their end is asked of plain loads. NVIDIA's compiler does not see that such a loop waits, and an H200 stays with it
// for ever while the other thread is in the same warp.
class QuietWaits : public BusyWaits {};

TEST_P(QuietWaits, EndWhereverTheOtherThreadIs) {
  expect_end(31, 40);
  expect_end(0, 40);
  if (driver::info().kind != driver::Choice::softgpu) return;
  for (const auto& [waiter, setter] : {std::pair{5, 0}, {0, 5}, {31, 0}}) expect_end(waiter, setter);
}

INSTANTIATE_TEST_SUITE_P(WithWhatLooksLikeProgress, QuietWaits,
                         ::testing::Values("counts_kept_in_memory", "places_that_counts_say", "flags_merged_in_memory",
                                           "flags_passed_to_memory", "flags_written_through_pointers", "loads",
                                           "loads_beside_stores"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_F(Spinning, AFlagThatAThreadOfTheSameWarpSets) {
  EXPECT_SAME(run("flag_in_the_warp", {.block = 64}, zeros<int>(64)),
              each<int>(64, [](int t) { return t % 2 == 0 ? (t + 1) * 10 : t; }));
}

TEST_F(Spinning, AChainThroughTheGrid) {
  std::vector<int> expected{1};
  for (int i = 1; i < 120; ++i) expected.push_back((expected.back() * 3 + i) % 1009);
  EXPECT_SAME(run("chain", {.grid = 3, .block = 40}, zeros<int>(120), zeros<int>(1)), expected);
}

TEST_F(Spinning, ALockInAWarp) {
  EXPECT_SAME(run("lock_in_a_warp", {.grid = 2, .block = 64}, zeros<int>(1), zeros<int>(1)),
              std::vector{2 * 64 * 65 / 2});
}

TEST_F(Spinning, ALockTakenInALoop) {
  EXPECT_SAME(run("lock_taken_in_a_loop", {.grid = 2, .block = 50}, zeros<int>(1), zeros<int>(1)), std::vector{300});
}

TEST_F(Spinning, ALockForEachEntryOfATable) {
  const std::vector<int> which = scrambled_numbers(128, 5);
  std::vector<int> expected(10);
  for (int t = 0; t < 128; ++t)
    for (int round = 0; round < 3; ++round) {
      const int slot = at(which, (t + round * 5) % 128);
      at(expected, 2 * slot) += t;
      ++at(expected, 2 * slot + 1);
    }
  EXPECT_SAME(run("lock_for_each_of_a_table", {.grid = 2, .block = 64}, zeros<int>(10), zeros<int>(5), which),
              expected);
}

TEST_F(Spinning, TwoLocksAtATime) {
  const std::vector<int> from = scrambled_numbers(128, 6);
  const std::vector<int> to = each<int>(128, [](int t) { return scrambled(static_cast<std::uint32_t>(t) + 500) % 6; });
  std::vector<int> expected(6);
  for (int t = 0; t < 128; ++t) at(expected, at(from, t)) -= t, at(expected, at(to, t)) += t;
  EXPECT_SAME(run("transfers_between_accounts", {.grid = 2, .block = 64}, zeros<int>(6), zeros<int>(6), from, to),
              expected);
}

TEST_F(Spinning, ASemaphoreThatManyTakeAndGiveBack) {
  EXPECT_SAME(run("semaphore_taken_and_given_back", {.grid = 3, .block = 40}, zeros<int>(1), zeros<int>(1)),
              std::vector{118 * 119 / 2});
}

TEST_F(Spinning, ALockBesideAShuffle) {
  std::vector<int> expected = each<int>(33, [](int i) { return 496 + i % 32; });
  expected[0] = 496 * 32;
  EXPECT_SAME(run("lock_beside_a_shuffle", {.block = 32}, zeros<int>(33), zeros<int>(1)), expected);
}

TEST_F(Spinning, ATicketLock) {
  std::vector<int> expected(97);
  for (std::size_t i = 1; i < 97; ++i) expected[i] = expected[0] = expected[0] * 5 % 9973 + 1;
  EXPECT_SAME(run("ticket_lock", {.grid = 2, .block = 48}, zeros<int>(97), zeros<int>(1), zeros<int>(1)), expected);
}

TEST_F(Spinning, ALockThatIsTried) {
  EXPECT_SAME(run("try_lock", {.grid = 2, .block = 40}, zeros<int>(1), zeros<int>(1), zeros<int>(1)), std::vector{160});
}

TEST_F(Spinning, ReadersAndWriters) {
  EXPECT_SAME(run("readers_and_writers", {.grid = 2, .block = 64}, zeros<int>(128), zeros<int>(1), zeros<int>(2)),
              std::vector<int>(128, 1));
}

TEST_F(Spinning, AScanThatLooksBack) {
  const std::vector<int> in = scrambled_numbers(12 * 64, 100);
  std::vector<int> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_SAME(run("look_back_scan", {.grid = 12, .block = 64}, zeros<int>(in.size()), in, zeros<int>(12),
                  zeros<int>(12), zeros<int>(12), zeros<int>(1)),
              expected);
}

TEST_F(Spinning, AScanWhoseWarpsLookBack) {
  const std::vector<int> in = scrambled_numbers(40 * 32, 100);
  std::vector<int> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  EXPECT_SAME(run("look_back_by_a_warp", {.grid = 40, .block = 32}, zeros<int>(in.size()), in, zeros<std::uint64_t>(40),
                  zeros<int>(1)),
              expected);
}

TEST_F(Spinning, WarpsThatHandAValueRound) {
  int value = 1;
  for (int i = 0; i < 5 * 6; ++i) value = (value * 2 + i % 6) % 10007;
  EXPECT_SAME(run("ring_of_warps", {.block = 192}, zeros<int>(192), 5), std::vector<int>(192, value));
}

TEST_F(Spinning, ARingBufferBetweenWarps) {
  int sum = 0;
  for (int i = 0; i < 30; ++i) sum = sum * 3 % 100003 + i * i;
  EXPECT_SAME(run("ring_buffer", {.block = 64}, zeros<int>(1), 30), std::vector{sum});
}

TEST_F(Spinning, ABarrierOfTheWholeGrid) {
  std::vector<int> cells = scrambled_numbers(4 * 64, 1000);
  const std::vector<int> found =
      run("barrier_of_the_grid", {.grid = 4, .block = 64, .is_cooperative = true}, cells, zeros<int>(1), 5);
  for (int r = 0; r < 5; ++r)
    cells = each<int>(4 * 64, [&](int i) { return at(cells, (i + 1 + r) % (4 * 64)) * 2 % 1000003 + r; });
  EXPECT_SAME(found, cells);
}

TEST_F(Spinning, TheLastBlockAddsUp) {
  const std::vector<int> in = scrambled_numbers(6 * 40, 100);
  EXPECT_SAME(run("last_block_adds_up", {.grid = 6, .block = 40}, zeros<int>(1), zeros<int>(6), zeros<unsigned>(1), in),
              std::vector{std::accumulate(in.begin(), in.end(), 0)});
}

}  // namespace
}  // namespace cuprum::tests
