// Functions that stay functions: recursion, pointers to functions, virtual functions, and barriers within them.
#include <algorithm>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
__device__ __noinline__ int pass(int* cell, int v) {
  cell[threadIdx.x] = v;
  __syncthreads();
  int other = cell[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  return other;
}
__device__ __noinline__ int pass_twice(int* cell, int v) { return pass(cell, v) * 1000 + pass(cell, v + 1); }
KERNEL(barriers_in_functions)(int* out) {
  __shared__ int cell[128];
  int t = threadIdx.x, v = pass_twice(cell, t);
  for (int i = 0; i < 3; ++i) v += pass(cell, i + t);
  out[blockIdx.x * blockDim.x + t] = v;
}

struct State { int round, sum; uint64_t wide; int history[5]; };
__device__ __noinline__ void note(State& state, int v) {
  state.history[state.round % 5] = v + state.sum;
  state.sum += v;
  state.wide = state.wide * 3 + state.round;
}
KERNEL(struct_changed_after_a_barrier)(uint64_t* out) {
  __shared__ int cell[128];
  int t = threadIdx.x;
  State state = {0, t, 1, {}};
  for (int i = 0; i < 7; ++i) {
    cell[t] = state.sum;
    __syncthreads();
    state.round = i + t;
    state.sum += cell[(t + 1) % blockDim.x] & 255;
    note(state, i);
    state.wide ^= cell[(t + 5) % blockDim.x];
    __syncthreads();
    state.round += 1;
  }
  uint64_t v = state.wide;
  for (int i = 0; i < 5; ++i) v = v * 31 + state.history[i];
  out[blockIdx.x * blockDim.x + t] = v * 31 + state.sum;
}

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL(recursion)(int* out) { int t = threadIdx.x; out[t] = ackermann(t % 3, t / 3 % 4); }

__device__ bool odd(int n);
__device__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
KERNEL(mutual_recursion)(int* out) { out[threadIdx.x] = even(threadIdx.x) * 2 + odd(threadIdx.x); }

// Places the queens from `row` on and counts the ways; one thread for each place in the first row.
__device__ int queens(int n, int row, uint32_t columns, uint32_t up, uint32_t down) {
  if (row == n) return 1;
  int ways = 0;
  for (int c = 0; c < n; ++c) {
    if ((columns >> c & 1) || (up >> (row + c) & 1) || (down >> (row - c + n) & 1)) continue;
    ways += queens(n, row + 1, columns | 1u << c, up | 1u << (row + c), down | 1u << (row - c + n));
  }
  return ways;
}
KERNEL(n_queens)(int* out, int n) {
  int t = threadIdx.x;
  if (t < n) atomicAdd(out, queens(n, 1, 1u << t, 1u << t, 1u << (n - t)));
}
// The same without recursion.
KERNEL(n_queens_by_a_stack)(int* out, int n) {
  int t = threadIdx.x, row = 1, ways = 0;
  if (t >= n) return;
  int place[12];
  uint32_t columns = 1u << t, up = 1u << t, down = 1u << (n - t);
  place[1] = 0;
  while (row > 0) {
    int c = place[row];
    while (c < n && ((columns >> c & 1) || (up >> (row + c) & 1) || (down >> (row - c + n) & 1))) ++c;
    if (c < n && row == n - 1) { ++ways; c = n; }
    if (c < n) {
      columns |= 1u << c; up |= 1u << (row + c); down |= 1u << (row - c + n);
      place[row] = c;
      place[++row] = 0;
      continue;
    }
    if (--row == 0) break;
    c = place[row]++;
    columns &= ~(1u << c); up &= ~(1u << (row + c)); down &= ~(1u << (row - c + n));
  }
  atomicAdd(out, ways);
}

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int combine(int a, int b) { int v = 0; for (int i = 0; i < (b & 7); ++i) v = v * 3 + a; return v; }
typedef int (*Operation)(int, int);
__device__ Operation operations[3] = {add, subtract, combine};
KERNEL(functions_from_a_table)(int* out, const int* which) {
  int t = threadIdx.x;
  Operation own = operations[which[t]], shared = operations[which[0]];
  out[t] = own(t, 5) * 100 + shared(t, 3);
}
__device__ __noinline__ int fold(Operation f, const int* values, int n) {
  int v = 1;
  for (int i = 0; i < n; ++i) v = f(v, values[i]);
  return v;
}
KERNEL(functions_as_arguments)(int* out, const int* in) {
  int t = threadIdx.x;
  out[t] = fold(t & 1 ? add : subtract, in, t % 8);
}

struct Form { int a, b; __device__ Form(int x, int y) : a(x), b(y) {} __device__ virtual int area() const = 0; };
struct Box : Form { __device__ Box(int x, int y) : Form(x, y) {} __device__ int area() const override { return a * b; } };
struct Triangle : Form {
  int c;
  __device__ Triangle(int x, int y) : Form(x, y), c(x) {}
  __device__ int area() const override { return a * b / 2 + c; }
};
KERNEL(virtual_functions)(int* out) {
  int t = threadIdx.x;
  Box box(t, 3);
  Triangle triangle(t, 4);
  const Form& form = t % 3 == 0 ? static_cast<const Form&>(box) : triangle;
  out[t] = form.area();
}

template <typename F> __device__ __noinline__ int twice(F f, int v) { return f(f(v)); }
KERNEL(lambdas)(int* out, int scale) {
  int t = threadIdx.x, captured = t * scale;
  out[t] = twice([=](int v) { return v > 50 ? v - captured : v + captured * 2; }, t);
}

// A stack in local memory that each thread indexes its own way: parentheses.
KERNEL(local_stack)(int* out, const char* texts, int length) {
  const char* text = texts + threadIdx.x * length;
  char stack[16];
  int depth = 0, deepest = 0, i = 0;
  for (; i < length; ++i) {
    char c = text[i];
    if (c == '(' || c == '[') { stack[depth++] = c; deepest = depth > deepest ? depth : deepest; continue; }
    if (c == ' ') continue;
    if (depth == 0 || stack[--depth] != (c == ')' ? '(' : '[')) { out[threadIdx.x] = -i - 1; return; }
  }
  out[threadIdx.x] = depth * 100 + deepest;
}

__device__ __noinline__ void quick_sort(int* values, int low, int high) {
  if (low >= high) return;
  int pivot = values[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (values[i] < pivot) ++i;
    while (values[j] > pivot) --j;
    if (i <= j) { int swap = values[i]; values[i++] = values[j]; values[j--] = swap; }
  }
  quick_sort(values, low, j);
  quick_sort(values, i, high);
}
KERNEL(sort_by_recursion)(int* data, int n) { quick_sort(data + threadIdx.x * n, 0, n - 1); }
)";

class Calls : public KernelsTest {
 protected:
  Calls() : KernelsTest(source) {}
};

int barriers_in_functions(int t, int n) {
  const int other = n - 1 - t;
  return other * 1000 + other + 1 + 3 * other + 3;
}

class BarriersInFunctions : public Calls, public ::testing::WithParamInterface<int> {};

TEST_P(BarriersInFunctions, HoldInBlocksOfAnySize) {
  const int n = GetParam();
  EXPECT_SAME(run("barriers_in_functions", {.grid = 2, .block = n}, zeros<int>(static_cast<std::size_t>(2 * n))),
              each<int>(2 * n, [n](int i) { return barriers_in_functions(i % n, n); }));
}

INSTANTIATE_TEST_SUITE_P(OfThreads, BarriersInFunctions, ::testing::Values(1, 64, 100),
                         ::testing::PrintToStringParamName());

struct State {
  int round, sum;
  std::uint64_t wide;
  int history[5];

  void note(int v) {
    history[round % 5] = v + sum;
    sum += v;
    wide = wide * 3 + static_cast<std::uint64_t>(round);
  }
};

std::vector<std::uint64_t> struct_changed_after_a_barrier(int n) {
  auto states = each<State>(n, [](int t) { return State{0, t, 1, {}}; });
  for (int i = 0; i < 7; ++i) {
    const auto cell = each<int>(n, [&](int t) { return at(states, t).sum; });
    for (int t = 0; t < n; ++t) {
      State& state = at(states, t);
      state.round = i + t;
      state.sum += at(cell, (t + 1) % n) & 255;
      state.note(i);
      state.wide ^= static_cast<std::uint64_t>(at(cell, (t + 5) % n));
      ++state.round;
    }
  }
  return each<std::uint64_t>(n, [&](int t) {
    std::uint64_t v = at(states, t).wide;
    for (int past : at(states, t).history) v = v * 31 + static_cast<std::uint64_t>(past);
    return v * 31 + static_cast<std::uint64_t>(at(states, t).sum);
  });
}

TEST_F(Calls, AStructPassedOnAndChangedAfterABarrier) {
  for (const int n : {64, 37}) {
    const auto of_a_block = struct_changed_after_a_barrier(n);
    EXPECT_SAME(run("struct_changed_after_a_barrier", {.grid = 8, .block = n},
                    zeros<std::uint64_t>(static_cast<std::size_t>(8 * n))),
                each<std::uint64_t>(8 * n, [&](int i) { return at(of_a_block, i % n); }))
        << n;
  }
}

int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST_F(Calls, Recursion) {
  EXPECT_SAME(run("recursion", {.block = 40}, zeros<int>(40)),
              each<int>(40, [](int t) { return ackermann(t % 3, t / 3 % 4); }));
}

TEST_F(Calls, MutualRecursion) {
  EXPECT_SAME(run("mutual_recursion", {.block = 40}, zeros<int>(40)),
              each<int>(40, [](int t) { return t % 2 == 0 ? 2 : 1; }));
}

TEST_F(Calls, QueensByRecursionAndByAStack) {
  for (const char* kernel : {"n_queens", "n_queens_by_a_stack"}) {
    EXPECT_SAME(run(kernel, {.block = 32}, zeros<int>(1), 6), std::vector{4}) << kernel;
    EXPECT_SAME(run(kernel, {.block = 32}, zeros<int>(1), 8), std::vector{92}) << kernel;
  }
}

int combine(int which, int a, int b) {
  int v = 0;
  for (int i = 0; i < (b & 7); ++i) v = v * 3 + a;
  return which == 0 ? a + b : which == 1 ? a - b : v;
}

TEST_F(Calls, FunctionsFromATable) {
  const std::vector<int> which = scrambled_numbers(64, 3);
  EXPECT_SAME(run("functions_from_a_table", {.block = 64}, zeros<int>(64), which),
              each<int>(64, [&](int t) { return combine(at(which, t), t, 5) * 100 + combine(which[0], t, 3); }));
}

TEST_F(Calls, FunctionsAsArguments) {
  const std::vector<int> in = scrambled_numbers(8, 100);
  EXPECT_SAME(run("functions_as_arguments", {.block = 64}, zeros<int>(64), in), each<int>(64, [&](int t) {
                int v = 1;
                for (int i = 0; i < t % 8; ++i) v += t % 2 == 1 ? at(in, i) : -at(in, i);
                return v;
              }));
}

TEST_F(Calls, VirtualFunctions) {
  EXPECT_SAME(run("virtual_functions", {.block = 64}, zeros<int>(64)),
              each<int>(64, [](int t) { return t % 3 == 0 ? t * 3 : t * 2 + t; }));
}

TEST_F(Calls, Lambdas) {
  EXPECT_SAME(run("lambdas", {.block = 64}, zeros<int>(64), 3), each<int>(64, [](int t) {
                const auto f = [t](int v) { return v > 50 ? v - t * 3 : v + t * 6; };
                return f(f(t));
              }));
}

int nesting(const std::string& text) {
  std::string stack;
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '(' || text[i] == '[') {
      stack.push_back(text[i]);
      deepest = std::max(deepest, stack.size());
      continue;
    }
    if (stack.empty() || stack.back() != (text[i] == ')' ? '(' : '[')) return -static_cast<int>(i) - 1;
    stack.pop_back();
  }
  return static_cast<int>(stack.size() * 100 + deepest);
}

TEST_F(Calls, StacksInLocalMemory) {
  constexpr int length = 14, n = 64;
  std::vector<char> texts;
  for (std::uint32_t i = 0; i < length * n; ++i)
    texts.push_back(i / length % 3 == 0 ? "([])()[()]()  "[i % length] : "()[] (["[scrambled(i) % 7]);
  EXPECT_SAME(run("local_stack", {.block = n}, zeros<int>(n), texts, length),
              each<int>(n, [&](int t) { return nesting(std::string(texts.data() + t * length, length)); }));
}

TEST_F(Calls, SortsByRecursion) {
  const std::vector<int> data = scrambled_numbers(40 * 20, 100);
  std::vector<int> expected = data;
  for (auto i = expected.begin(); i != expected.end(); i += 20) std::sort(i, i + 20);
  EXPECT_SAME(run("sort_by_recursion", {.block = 40}, data, 20), expected);
}

}  // namespace
}  // namespace cuprum::tests
