// __syncthreads() in every shape of control flow that CUDA allows. In each kernel threads pass values to the thread
// at the other end of the block, so that a barrier that does not hold, or lets threads through early, shows.
#include <algorithm>
#include <ostream>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

// `t` is the thread, `T` how many there are; pass(v) gives the opposite thread's v. in[] holds 5 everywhere, which the
// compiler can't know.
constexpr const char* kernels_source = R"(
#define T (blockDim.x * blockDim.y * blockDim.z)
__device__ unsigned linear() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__shared__ int cell[1024];
__device__ __forceinline__ int pass(int v) {
  unsigned t = linear();
  cell[t] = v;
  __syncthreads();
  int r = cell[T - 1 - t];
  __syncthreads();
  return r;
}
__device__ __noinline__ int pass_in_a_function(int v) { return pass(v) + pass(1); }

#define KERNEL(name) extern "C" __global__ void name(int* out, const int* in)
#define DONE(v) out[blockIdx.x * T + t] = (v)

KERNEL(straight_line) { int t = linear(); DONE(pass(t)); }
KERNEL(back_to_back) { int t = linear(); __syncthreads(); __syncthreads(); DONE(pass(pass(t) + 1)); }
KERNEL(counted_loop) { int t = linear(), s = 0; for (int k = 0; k < 6; ++k) s += pass(t * k); DONE(s); }
KERNEL(nested_loops) {
  int t = linear(), s = 0;
  for (int i = 0; i < 3; ++i) { for (int k = 0; k <= i; ++k) s += pass(t + k); s += pass(i); }
  DONE(s);
}
KERNEL(loop_counted_by_data) { int t = linear(), s = 0, n = in[t]; for (int k = 0; k < n; ++k) s += pass(t + k); DONE(s); }
KERNEL(do_while) { int t = linear(), s = 0, n = in[t]; do { s += pass(t); } while (--n > 0); DONE(s); }
KERNEL(branch_all_take) { int t = linear(), s = -1; if (in[t] == 5) s = pass(t); DONE(s); }
KERNEL(other_branch_all_take) { int t = linear(), s; if (in[t] != 5) s = -1; else s = pass(t); DONE(s); }
KERNEL(switch_all_agree_on) {
  int t = linear(), s = 0;
  switch (in[t]) { case 1: s = 1; break; case 5: s = pass(t); break; case 7: s = pass(2 * t); break; default: s = 9; }
  DONE(s);
}
KERNEL(between_divergent_branches) {
  int t = linear(), v = 0;
  if (t % 3 == 0) v = t; else v = -t;
  v = pass(v);
  if (v > 7) v *= 2;
  DONE(pass(v));
}
KERNEL(loop_with_divergent_branch) {
  int t = linear(), s = 0;
  for (int k = 0; k < 5; ++k) { if ((t + k) & 1) s += k; else s -= t; s = pass(s); }
  DONE(s);
}
KERNEL(loop_with_divergent_loop) {
  int t = linear(), s = 0;
  for (int k = 0; k < 4; ++k) { for (int j = 0; j < (t & 7); ++j) s += j + in[t]; s = pass(s); }
  DONE(s);
}
KERNEL(loop_all_break_out_of) {
  int t = linear(), s = 0;
  for (int k = 0;; ++k) { s += pass(t); if (k == in[t]) break; s += pass(k); }
  DONE(s);
}
KERNEL(loop_with_divergent_continue) {
  int t = linear(), s = 0;
  for (int k = 0; k < 4; ++k) { s = pass(s + t); if ((t ^ k) & 1) continue; s += 100; }
  DONE(s);
}
KERNEL(called_function) { int t = linear(); DONE(pass_in_a_function(t) + pass_in_a_function(2)); }
KERNEL(behind_an_early_return) {
  int t = linear();
  if (t >= 32) { DONE(-1); return; }
  cell[t] = t;
  __syncthreads();
  DONE(cell[(T < 32 ? T : 32) - 1 - t]);
}
KERNEL(in_a_loop_entered_twice) {
  int t = linear(), s = 0, k = in[t] - 5;
  if (in[0] == 4) goto middle;
again:
  s += pass(t + k);
middle:
  s += 1;
  if (++k < 3) goto again;
  DONE(s);
}
KERNEL(reductions) {
  int t = linear();
  int count = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t >= 0), some = __syncthreads_or(t == 1);
  DONE(count * 4 + (all ? 2 : 0) + (some ? 1 : 0));
}
)";

struct BarrierShape {
  const char* name;
  int (*expected)(int t, int threads);
};
void PrintTo(const BarrierShape& shape, std::ostream* out) { *out << shape.name; }

int divergent_branches(int t) {
  const int v = t % 3 == 0 ? t : -t;
  return v;
}

const BarrierShape shapes[] = {
    {"straight_line", [](int t, int n) { return n - 1 - t; }},
    {"back_to_back", [](int t, int) { return t + 1; }},
    {"counted_loop", [](int t, int n) { return 15 * (n - 1 - t); }},
    {"nested_loops", [](int t, int n) { return 6 * (n - 1 - t) + (0 + 0 + 1 + 0 + 1 + 2) + (0 + 1 + 2); }},
    {"loop_counted_by_data", [](int t, int n) { return 5 * (n - 1 - t) + 10; }},
    {"do_while", [](int t, int n) { return 5 * (n - 1 - t); }},
    {"branch_all_take", [](int t, int n) { return n - 1 - t; }},
    {"other_branch_all_take", [](int t, int n) { return n - 1 - t; }},
    {"switch_all_agree_on", [](int t, int n) { return n - 1 - t; }},
    {"between_divergent_branches",
     [](int t, int) {
       const int v = divergent_branches(t);
       return v > 7 ? 2 * v : v;
     }},
    {"loop_with_divergent_branch",
     [](int t, int n) {
       int mine = 0, other = 0;
       for (int k = 0; k < 5; ++k) {
         const auto step = [k](int thread, int s) { return (thread + k) & 1 ? s + k : s - thread; };
         const int next = step(n - 1 - t, other);
         other = step(t, mine);
         mine = next;
       }
       return mine;
     }},
    {"loop_with_divergent_loop",
     [](int t, int n) {
       int mine = 0, other = 0;
       for (int k = 0; k < 4; ++k) {
         const auto step = [](int thread, int s) {
           for (int j = 0; j < (thread & 7); ++j) s += j + 5;
           return s;
         };
         const int next = step(n - 1 - t, other);
         other = step(t, mine);
         mine = next;
       }
       return mine;
     }},
    {"loop_all_break_out_of", [](int t, int n) { return 6 * (n - 1 - t) + (0 + 1 + 2 + 3 + 4); }},
    {"loop_with_divergent_continue",
     [](int t, int n) {
       int mine = 0, other = 0;
       for (int k = 0; k < 4; ++k) {
         const int next = other + (n - 1 - t);
         other = mine + t;
         mine = next;
         if (((t ^ k) & 1) == 0) mine += 100;
         if ((((n - 1 - t) ^ k) & 1) == 0) other += 100;
       }
       return mine;
     }},
    {"called_function", [](int t, int n) { return n - 1 - t + 1 + 2 + 1; }},
    {"behind_an_early_return", [](int t, int n) { return t >= 32 ? -1 : std::min(n, 32) - 1 - t; }},
    {"in_a_loop_entered_twice", [](int t, int n) { return 3 * (n - 1 - t) + (0 + 1 + 2) + 3; }},
    {"reductions", [](int, int n) { return ((n + 2) / 3) * 4 + 2 + (n > 1 ? 1 : 0); }},
};

class BarrierShapes : public ApiTest, public ::testing::WithParamInterface<BarrierShape> {
 protected:
  Stream stream = device.create_stream();
};

TEST_P(BarrierShapes, HoldInBlocksOfEveryForm) {
  const Kernel kernel = compile(kernels_source, GetParam().name);
  constexpr int blocks = 3;
  for (const Dim3 block : {Dim3(64), Dim3(32, 4), Dim3(100), Dim3(16, 3), Dim3(5, 7, 3), Dim3(1), Dim3(1024)}) {
    const auto threads = static_cast<int>(block.x * block.y * block.z);
    const Buffer in = upload(std::vector<int>(static_cast<std::size_t>(threads), 5), stream);
    const Buffer out = device.allocate(static_cast<std::size_t>(blocks * threads) * sizeof(int), stream);
    launch(stream, {.grid = blocks, .block = block}, kernel, out, in);
    const std::vector<int> results = download<int>(out, stream);
    for (int i = 0; i < blocks * threads; ++i)
      ASSERT_EQ(results[static_cast<std::size_t>(i)], GetParam().expected(i % threads, threads))
          << GetParam().name << ", block " << block.x << "x" << block.y << "x" << block.z << ", thread " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllShapes, BarrierShapes, ::testing::ValuesIn(shapes),
                         [](const auto& instance) { return std::string(instance.param.name); });

// bar.sync with a number and a count: halves of a block meet apart, and one half signals the other.
TEST_F(ApiTest, NamedBarriersAreForTheThreadsThatNameThem) {
  const Kernel kernel = compile(R"(
    extern "C" __global__ void named(int* out) {
      __shared__ int cell[128];
      int t = threadIdx.x, half = t / 64;
      cell[t] = t;
      if (half == 0) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");
      int v = cell[half * 64 + 63 - t % 64];
      if (half == 0) asm volatile("bar.arrive 3, 128;" ::: "memory"); else asm volatile("bar.sync 3, 128;" ::: "memory");
      out[t] = v;
    })",
                                "named");
  Stream stream = device.create_stream();
  const Buffer out = device.allocate(128 * sizeof(int), stream);
  launch(stream, {.grid = 1, .block = 128}, kernel, out);
  const std::vector<int> results = download<int>(out, stream);
  for (int t = 0; t < 128; ++t) EXPECT_EQ(results[static_cast<std::size_t>(t)], t / 64 * 64 + 63 - t % 64);
}

}  // namespace
}  // namespace cuprum::tests
