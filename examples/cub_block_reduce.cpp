// CUB in a kernel that is compiled at run time: its headers are found with the compiler, no include path is needed.
// Each block sums and scans its tile; a second launch adds up the blocks' sums.
#include <cuprum/cuprum.hpp>
#include <numeric>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

template <int threads>
__global__ void sum_and_scan(const int* values, int n, int* scanned, int* sums) {
  using Reduce = cub::BlockReduce<int, threads>;
  using Scan = cub::BlockScan<int, threads>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } memory;

  const int i = blockIdx.x * threads + threadIdx.x;
  const int value = i < n ? values[i] : 0;
  const int sum = Reduce(memory.reduce).Sum(value);  // valid in thread 0
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();  // before the memory serves the scan

  int before = 0;
  Scan(memory.scan).ExclusiveSum(value, before);
  if (i < n) scanned[i] = before;
}
)";

void example() {
  constexpr int n = 10'000, threads = 128;
  constexpr int blocks = (n + threads - 1) / threads;
  static_assert(blocks <= threads, "one block adds up the sums");
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  const Kernel kernel = Program(source, {.name = "sum_and_scan.cu", .std = "c++17"})
                            .compile(Target::cubin, {.name_expressions = {"sum_and_scan<128>"}})
                            .get_kernel("sum_and_scan<128>");

  std::vector<int> values(n), scanned(n);
  std::iota(values.begin(), values.end(), 1);
  Buffer input = device.allocate(n * sizeof(int), stream);
  Buffer output = device.allocate(n * sizeof(int), stream);
  Buffer sums = device.allocate(blocks * sizeof(int), stream);
  Buffer total = device.allocate(sizeof(int), stream);
  Buffer unused = device.allocate(blocks * sizeof(int), stream);
  input.copy_from(std::span(values), stream);
  launch(stream, {.grid = blocks, .block = threads}, kernel, input, n, output, sums);
  launch(stream, {.grid = 1, .block = threads}, kernel, sums, blocks, unused, total);

  int sum = 0;
  total.copy_to(std::span(&sum, 1), stream);
  output.copy_to(std::span(scanned), stream);
  stream.sync();

  std::cout << "the sum of 1 to " << n << " is " << sum << '\n';
  check(sum == n * (n + 1) / 2, "the blocks' sums add up");
  bool right = true;
  for (std::size_t i = 0; i < n; ++i) {
    const int before = i % threads == 0 ? 0 : scanned[i - 1] + values[i - 1];
    right = right && scanned[i] == before;
  }
  check(right, "each block scanned its tile");
}

}  // namespace

int main() { return run(example); }
