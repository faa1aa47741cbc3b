// A graph put together node by node: two branches that run at the same time, on memory that the graph allocates and
// frees, and a picture of it.
//
// The mean and the largest of some numbers, computed by two kernels that both need a copy of them on the device.
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
extern "C" __global__ void mean(const float* data, float* out, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum += data[i];
  *out = sum / n;
}
extern "C" __global__ void largest(const float* data, float* out, size_t n) {
  float most = data[0];
  for (size_t i = 1; i < n; ++i) most = fmaxf(most, data[i]);
  *out = most;
}
)";

void example() {
  constexpr std::size_t n = 1000;
  constexpr LaunchConfig one{.grid = 1, .block = 1};
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  ObjectCode code = Program(source).compile(Target::cubin);
  Buffer input = PinnedMemoryResource().allocate<float>(n, stream);
  Buffer output = PinnedMemoryResource().allocate<float>(2, stream);
  std::span<float> values = input.as_span<float>();
  std::iota(values.begin(), values.end(), 1.0f);

  graph::GraphDefinition graph;
  const graph::AllocNode scratch = graph.allocate(n * sizeof(float));
  const graph::MemcpyNode uploaded = scratch.memcpy(scratch.dptr(), input, n * sizeof(float));
  const DevicePointer results = output.handle();
  const graph::KernelNode mean = uploaded.launch(one, code.get_kernel("mean"), scratch.dptr(), results, n);
  const graph::KernelNode largest =
      uploaded.launch(one, code.get_kernel("largest"), scratch.dptr(), results + sizeof(float), n);
  bool called = false;
  graph.join(mean, largest).deallocate(scratch).callback([&] { called = true; });
  std::cout << graph.to_dot({.title = "mean and largest"});

  graph::Graph executable = graph.instantiate();
  executable.launch(stream);
  stream.sync();
  const std::span<float> result = output.as_span<float>();
  std::cout << "  mean " << result[0] << ", largest " << result[1] << '\n';
  check(result[0] == 500.5f && result[1] == 1000.0f, "both branches have run");
  check(called, "and the function of the host after them");

  std::iota(values.begin(), values.end(), 2.0f);
  executable.launch(stream);
  stream.sync();
  check(result[0] == 501.5f && result[1] == 1001.0f, "launched again, it reads what is there then");
}

}  // namespace

int main() { return run(example); }
