// A loop that the device ends by itself: Newton's method for square roots, repeated until nothing changes any more. The
// host launches once and waits once, however many rounds it takes.
#include <cmath>
#include <cuprum/cuprum.hpp>
#include <iostream>

#include "check.hpp"

using namespace cuprum;

namespace {

// cudaGraphSetConditional is the driver's: it has only to be declared.
const char* const source = R"(
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

extern "C" __global__ void improve(double* roots, int* rounds, int* changed, size_t n) {
  size_t i = threadIdx.x;
  if (i == 0) ++*rounds;
  if (i >= n) return;
  double x = roots[i];
  double better = 0.5 * (x + double(i + 1) / x);
  if (fabs(better - x) > 1e-12 * better) atomicExch(changed, 1);
  roots[i] = better;
}
extern "C" __global__ void decide(cudaGraphConditionalHandle again, const int* changed) {
  cudaGraphSetConditional(again, *changed);
}
)";

void example() {
  constexpr std::size_t n = 100;
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  ObjectCode code = Program(source).compile(Target::cubin);
  Buffer roots = PinnedMemoryResource().allocate<double>(n, stream);
  Buffer counters = PinnedMemoryResource().allocate<int>(2, stream);
  for (double& root : roots.as_span<double>()) root = 1.0;
  const std::span<int> counts = counters.as_span<int>();
  counts[0] = counts[1] = 0;
  const DevicePointer rounds = counters.handle();
  const DevicePointer changed = rounds + sizeof(int);

  graph::GraphDefinition graph;
  const graph::GraphCondition again = graph.create_condition(1);  // 1 at the beginning of each launch
  const graph::GraphDefinition body = graph.while_loop(again).body();
  body.memset<int>(changed, 0, 1)
      .launch({.grid = 1, .block = 128}, code.get_kernel("improve"), roots, rounds, changed, n)
      .launch({.grid = 1, .block = 1}, code.get_kernel("decide"), again, changed);

  graph.instantiate().launch(stream);
  stream.sync();
  std::cout << "  " << counts[0] << " rounds; the root of 2 is " << roots.as_span<double>()[1] << '\n';
  check(std::abs(roots.as_span<double>()[1] - std::sqrt(2.0)) < 1e-12, "the root of 2");
  check(std::abs(roots.as_span<double>()[n - 1] - 10.0) < 1e-12, "the root of 100");
  check(counts[0] > 3 && counts[0] < 20, "the device has decided when to stop");
}

}  // namespace

int main() { return run(example); }
