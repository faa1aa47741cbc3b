// Capturing work once and replaying it: twenty small kernels as one launch, and how much time that saves.
#include <chrono>
#include <cuprum/cuprum.hpp>
#include <iostream>

#include "check.hpp"

using namespace cuprum;

namespace {

constexpr int kernels = 20;
constexpr int rounds = 200;

const char* const source = R"(
extern "C" __global__ void step(float* data, float factor, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] = data[i] * factor + 1.0f;
}
)";

double microseconds(const Stream& stream, auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) work();
  stream.sync();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / rounds;
}

void example() {
  constexpr std::size_t n = 256;
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  Kernel step = Program(source).compile(Target::cubin).get_kernel("step");
  Buffer data = device.allocate<float>(n, stream);
  data.fill<float>(0.0f, stream);
  const LaunchConfig config{.grid = 1, .block = 256};
  const auto launches = [&](const auto& queue) {
    for (int i = 0; i < kernels; ++i) launch(queue, config, step, data, 0.5f, n);
  };

  // What is queued on the builder does not run: it becomes nodes of a graph.
  graph::GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  launches(builder);
  graph::Graph graph = builder.end_building().complete();
  check(builder.graph_definition().nodes().size() == kernels, "twenty nodes were captured");

  graph.upload(stream);
  graph.launch(stream);
  launches(stream);
  stream.sync();
  const double one_by_one = microseconds(stream, [&] { launches(stream); });
  const double as_graph = microseconds(stream, [&] { graph.launch(stream); });
  std::cout << "  " << kernels << " launches take " << one_by_one << " us, the graph " << as_graph
            << " us: " << one_by_one / as_graph << " times as fast\n";

  std::vector<float> values(n);
  data.copy_to(values, stream);
  stream.sync();
  check(values[0] > 1.99f && values[n - 1] <= 2.0f, "x -> x / 2 + 1 has settled at 2");
}

}  // namespace

int main() { return run(example); }
