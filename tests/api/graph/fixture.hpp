// What the tests of graphs share: kernels on a few integers.
#pragma once

#include <cuprum/driver.hpp>
#include <string>
#include <vector>

#include "api/fixture.hpp"

namespace cuprum::tests {

using namespace cuprum::graph;

/// Compiled once; loaded by each test, because nothing may be left alive between them.
inline const std::string& graph_test_code() {
  static const std::string code = [] {
    const char* source = R"(
      extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
      extern "C" __global__ void nothing() {}
      extern "C" __global__ void add(int* target, int amount) { *target += amount; }
      extern "C" __global__ void affine(int* target, int factor, int amount) { *target = *target * factor + amount; }
      extern "C" __global__ void sum(int* target, const int* first, const int* second) { *target = *first + *second; }
      extern "C" __global__ void shape(int* out) {
        if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z) return;
        out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
        out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
      }
      extern "C" __global__ void set_condition(cudaGraphConditionalHandle handle, unsigned value) {
        cudaGraphSetConditional(handle, value);
      }
      extern "C" __global__ void set_condition_from(cudaGraphConditionalHandle handle, const int* value) {
        cudaGraphSetConditional(handle, *value);
      }
      extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int* counter) {
        cudaGraphSetConditional(handle, --*counter > 0);
      }
      extern "C" __global__ void wait_for_host(volatile int* is_open) { while (!*is_open) __nanosleep(1000); }
    )";
    return std::string(Program(source).compile(Target::ptx).code());
  }();
  return code;
}

class GraphTest : public ApiTest {
 protected:
  GraphTest() : code_(ObjectCode::from_ptx(graph_test_code())), stream(device.create_stream()) {
    data = PinnedMemoryResource().allocate(count * sizeof(int), stream);
    cells = data.as_span<int>();
    std::fill(cells.begin(), cells.end(), 0);
  }

  Kernel kernel(const char* name) const { return code_.get_kernel(name); }
  DevicePointer cell(std::size_t index) const { return data.handle() + index * sizeof(int); }

  /// cells[index] += amount
  KernelNode add(const NodePlace& place, int amount, std::size_t index = 0) const {
    return place.launch(one, kernel("add"), cell(index), amount);
  }
  KernelNode affine(const NodePlace& place, int factor, int amount, std::size_t index = 0) const {
    return place.launch(one, kernel("affine"), cell(index), factor, amount);
  }

  void run(const Graph& graph) const {
    graph.launch(stream);
    stream.sync();
  }
  void run(const GraphDefinition& graph) const { run(graph.instantiate()); }

  Buffer ints(std::initializer_list<int> values) {
    const std::vector<int> copy(values);
    Buffer buffer = upload(copy, stream);
    stream.sync();
    return buffer;
  }

  static constexpr std::size_t count = 64;
  static constexpr LaunchConfig one{.grid = 1, .block = 1};

 private:
  ObjectCode code_;

 protected:
  Stream stream;
  Buffer data;
  std::span<int> cells;
};

template <typename Set>
std::vector<GraphNode> as_vector(const Set& set) {
  std::vector<GraphNode> nodes;
  for (const GraphNode& node : set) nodes.push_back(node);
  return nodes;
}

}  // namespace cuprum::tests
