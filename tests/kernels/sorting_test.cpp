// Sorting, scanning and compacting, as building blocks of many programs do it.
#include <algorithm>
#include <numeric>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#define ALL 0xffffffffu

KERNEL(bitonic_sort)(int* data) {
  __shared__ int cells[256];
  int t = threadIdx.x;
  cells[t] = data[t + blockIdx.x * 256];
  __syncthreads();
  for (int k = 2; k <= 256; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t && (cells[t] > cells[other]) == ((t & k) == 0)) {
        int swap = cells[t];
        cells[t] = cells[other];
        cells[other] = swap;
      }
      __syncthreads();
    }
  data[t + blockIdx.x * 256] = cells[t];
}

KERNEL(odd_even_sort)(int* data, int n) {
  extern __shared__ int cells[];
  int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x) cells[i] = data[i];
  __shared__ int changed;
  do {
    __syncthreads();
    if (t == 0) changed = 0;
    __syncthreads();
    for (int start = 0; start < 2; ++start) {
      for (int i = 2 * t + start; i + 1 < n; i += 2 * blockDim.x)
        if (cells[i] > cells[i + 1]) { int swap = cells[i]; cells[i] = cells[i + 1]; cells[i + 1] = swap; changed = 1; }
      __syncthreads();
    }
  } while (changed);
  for (int i = t; i < n; i += blockDim.x) data[i] = cells[i];
}

// Blelloch's scan: up and down a tree.
KERNEL(tree_scan)(int* data) {
  __shared__ int cells[128];
  int t = threadIdx.x;
  cells[2 * t] = data[2 * t];
  cells[2 * t + 1] = data[2 * t + 1];
  int step = 1;
  for (int d = 64; d > 0; d >>= 1, step *= 2) {
    __syncthreads();
    if (t < d) cells[step * (2 * t + 2) - 1] += cells[step * (2 * t + 1) - 1];
  }
  if (t == 0) cells[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    step >>= 1;
    __syncthreads();
    if (t < d) {
      int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1, swap = cells[a];
      cells[a] = cells[b];
      cells[b] += swap;
    }
  }
  __syncthreads();
  data[2 * t] = cells[2 * t];
  data[2 * t + 1] = cells[2 * t + 1];
}

// One digit of a radix sort that keeps the order of equal ones, with a count for each digit and warp.
KERNEL(radix_pass)(uint32_t* out, const uint32_t* in, int shift) {
  __shared__ int counts[16 * 8];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, warps = blockDim.x / 32;
  for (int i = t; i < 16 * warps; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  uint32_t value = in[t], digit = value >> shift & 15;
  unsigned same = __match_any_sync(ALL, digit);
  int rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) counts[digit * warps + warp] = __popc(same);
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int i = 0; i < 16 * warps; ++i) { int count = counts[i]; counts[i] = sum; sum += count; }
  }
  __syncthreads();
  out[counts[digit * warps + warp] + rank] = value;
}

KERNEL(compaction)(int* out, const int* in, int n) {
  __shared__ int warp_counts[32], base;
  int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t == 0) base = 0;
  for (int start = 0; start < n; start += blockDim.x) {
    int i = start + t;
    bool keep = i < n && in[i] % 4 != 1;
    unsigned bits = __ballot_sync(ALL, keep);
    if (lane == 0) warp_counts[warp] = __popc(bits);
    __syncthreads();
    int place = base + __popc(bits & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) place += warp_counts[w];
    if (keep) out[place] = in[i];
    __syncthreads();
    if (t == blockDim.x - 1) base = place + keep;
    __syncthreads();
  }
}

// Sums of runs of equal keys: heads are where a key differs from the one before.
KERNEL(segmented_scan)(int* out, const int* keys, const int* in) {
  __shared__ int sums[128], heads[128];
  int t = threadIdx.x;
  sums[t] = in[t];
  heads[t] = t == 0 || keys[t] != keys[t - 1];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int sum = 0, head = 0;
    if (t >= d) { sum = heads[t] ? 0 : sums[t - d]; head = heads[t - d]; }
    __syncthreads();
    sums[t] += sum;
    heads[t] |= head;
    __syncthreads();
  }
  out[t] = sums[t];
}

// A warp for each row, rows of any length.
KERNEL(sums_of_rows)(int* out, const int* starts, const int* in, int rows) {
  int row = (threadIdx.x + blockIdx.x * blockDim.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += in[i];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(ALL, sum, d);
  if (lane == 0) out[row] = sum;
}

// Each thread finds where its part of the merged sequence begins, and merges there.
KERNEL(merge)(int* out, const int* a, int na, const int* b, int nb, int part) {
  int start = (threadIdx.x + blockIdx.x * blockDim.x) * part;
  if (start >= na + nb) return;
  int low = max(0, start - nb), high = min(start, na);
  while (low < high) {
    int i = (low + high) / 2;
    if (a[i] <= b[start - 1 - i]) low = i + 1; else high = i;
  }
  int i = low, j = start - low;
  for (int k = start; k < min(start + part, na + nb); ++k)
    out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

KERNEL(top_three)(int* out, const int* in, int n) {
  int best[3] = {-1, -1, -1};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int v = in[i];
    for (int k = 0; k < 3; ++k)
      if (v > best[k]) { int swap = best[k]; best[k] = v; v = swap; }
  }
  for (int d = 16; d; d /= 2) {
    int other[3];
    for (int k = 0; k < 3; ++k) other[k] = __shfl_xor_sync(ALL, best[k], d);
    for (int j = 0; j < 3; ++j) {
      int v = other[j];
      for (int k = 0; k < 3; ++k)
        if (v > best[k]) { int swap = best[k]; best[k] = v; v = swap; }
    }
  }
  if (threadIdx.x < 3) out[threadIdx.x] = best[threadIdx.x];
}

KERNEL(run_lengths)(int* out, int* count, const int* in, int n) {
  int t = threadIdx.x;
  bool head = t < n && (t == 0 || in[t] != in[t - 1]);
  __shared__ int heads[129], places[128];
  places[t] = head;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? places[t - d] : 0;
    __syncthreads();
    places[t] += v;
    __syncthreads();
  }
  if (head) heads[places[t] - 1] = t;
  if (t == n - 1) heads[places[t]] = n;
  __syncthreads();
  if (t < places[n - 1]) { out[2 * t] = in[heads[t]]; out[2 * t + 1] = heads[t + 1] - heads[t]; }
}
)";

class Sorting : public KernelsTest {
 protected:
  Sorting() : KernelsTest(source) {}
  const std::vector<int> in = scrambled_numbers(512, 1000);
};

TEST_F(Sorting, BitonicSort) {
  std::vector<int> expected = in;
  std::sort(expected.begin(), expected.begin() + 256);
  std::sort(expected.begin() + 256, expected.end());
  EXPECT_SAME(run("bitonic_sort", {.grid = 2, .block = 256}, in), expected);
}

TEST_F(Sorting, OddEvenSort) {
  const std::vector<int> data(in.begin(), in.begin() + 101);
  std::vector<int> expected = data;
  std::ranges::sort(expected);
  EXPECT_SAME(run("odd_even_sort", {.block = 40, .shmem_size = 101 * sizeof(int)}, data, 101), expected);
}

TEST_F(Sorting, AScanAsATree) {
  const std::vector<int> data(in.begin(), in.begin() + 128);
  std::vector<int> expected(128);
  std::exclusive_scan(data.begin(), data.end(), expected.begin(), 0);
  EXPECT_SAME(run("tree_scan", {.block = 64}, data), expected);
}

TEST_F(Sorting, ARadixSort) {
  auto data = each<std::uint32_t>(256, [](int i) { return scrambled(static_cast<std::uint32_t>(i)) % 4096; });
  auto found = data;
  for (int shift = 0; shift < 12; shift += 4)
    found = run("radix_pass", {.block = 256}, zeros<std::uint32_t>(256), found, shift);
  std::ranges::sort(data);
  EXPECT_SAME(found, data);
}

TEST_F(Sorting, CompactionThatKeepsTheOrder) {
  std::vector<int> expected;
  std::copy_if(in.begin(), in.begin() + 500, std::back_inserter(expected), [](int v) { return v % 4 != 1; });
  EXPECT_SAME(run("compaction", {.block = 128}, zeros<int>(expected.size()), in, 500), expected);
}

TEST_F(Sorting, ASegmentedScan) {
  const auto keys = each<int>(128, [](int i) { return i * i / 300; });
  EXPECT_SAME(run("segmented_scan", {.block = 128}, zeros<int>(128), keys, in), each<int>(128, [&](int t) {
                int sum = 0;
                for (int i = t; i >= 0 && at(keys, i) == at(keys, t); --i) sum += at(in, i);
                return sum;
              }));
}

TEST_F(Sorting, SumsOfRowsOfAnyLength) {
  std::vector<int> starts{0};
  for (std::uint32_t row = 0; starts.back() < 440; ++row)
    starts.push_back(starts.back() + static_cast<int>(scrambled(row) % 70));
  const int rows = static_cast<int>(starts.size()) - 1;
  EXPECT_SAME(run("sums_of_rows", {.grid = (rows + 2) / 3, .block = 96}, zeros<int>(static_cast<std::size_t>(rows)),
                  starts, in, rows),
              each<int>(rows, [&](int row) {
                return std::accumulate(in.begin() + at(starts, row), in.begin() + at(starts, row + 1), 0);
              }));
}

TEST_F(Sorting, AMergeInParts) {
  std::vector<int> a(in.begin(), in.begin() + 150), b(in.begin() + 150, in.begin() + 400), expected(400);
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::ranges::merge(a, b, expected.begin());
  EXPECT_SAME(run("merge", {.grid = 2, .block = 32}, zeros<int>(400), a, 150, b, 250, 7), expected);
}

TEST_F(Sorting, TheLargestThree) {
  std::vector<int> expected = in;
  std::ranges::sort(expected, std::greater());
  expected.resize(3);
  EXPECT_SAME(run("top_three", {.block = 32}, zeros<int>(3), in, 512), expected);
}

TEST_F(Sorting, RunLengths) {
  const auto values = each<int>(120, [](int i) { return i * i / 200 * 3; });
  std::vector<int> expected;
  for (int v : values) {
    if (expected.empty() || expected[expected.size() - 2] != v) expected.insert(expected.end(), {v, 0});
    ++expected.back();
  }
  EXPECT_SAME(run("run_lengths", {.block = 128}, zeros<int>(expected.size()), zeros<int>(1), values, 120), expected);
}

}  // namespace
}  // namespace cuprum::tests
