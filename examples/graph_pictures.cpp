// Draws the pictures of docs/guide/graphs.md, with Graphviz: graphs that were captured and put together, with
// conditions, and with the longest way marked.
//
//   graph_pictures [FOLDER]      (the current folder unless given)
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <string>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
extern "C" __global__ void scale(float* data, float factor) { data[threadIdx.x + blockIdx.x * blockDim.x] *= factor; }
extern "C" __global__ void shift(float* data, float amount) { data[threadIdx.x + blockIdx.x * blockDim.x] += amount; }
extern "C" __global__ void improve(float* data) { data[threadIdx.x + blockIdx.x * blockDim.x] *= 0.5f; }
extern "C" __global__ void decide(cudaGraphConditionalHandle again, const float* data) {
  cudaGraphSetConditional(again, *data > 1e-3f);
}
)";

struct Tools {
  static constexpr std::size_t half = 4096, bytes = 2 * half * sizeof(float);
  static constexpr LaunchConfig config{.grid = half / 256, .block = 256}, one{.grid = 1, .block = 1};

  Device device;
  Stream stream = device.create_stream();
  ObjectCode code = Program(source).compile(Target::cubin);
  Kernel scale = code.get_kernel("scale"), shift = code.get_kernel("shift"), improve = code.get_kernel("improve"),
         decide = code.get_kernel("decide");
  Buffer data = device.allocate(bytes, stream), host = PinnedMemoryResource().allocate(bytes, stream);
  Buffer left = data.slice(0, bytes / 2), right = data.slice(bytes / 2, bytes / 2);
};

void draw_captured(const Tools& tools, const std::string& path) {
  const graph::GraphBuilder builder = tools.stream.create_graph_builder().begin_building();
  tools.data.copy_from(tools.host, builder);
  const std::vector<graph::GraphBuilder> parts = builder.split(2);
  launch(parts[0], Tools::config, tools.scale, tools.left, 2.0f);
  launch(parts[1], Tools::config, tools.shift, tools.right, 1.0f);
  graph::GraphBuilder::join(parts);
  tools.data.copy_to(tools.host, builder);
  builder.end_building().graph_definition().save_svg(path, {.title = "captured"});
}

void draw_longest_way(const Tools& tools, const std::string& path) {
  graph::GraphDefinition graph;
  const graph::MemcpyNode uploaded = graph.memcpy(tools.data, tools.host, Tools::bytes);
  const graph::KernelNode left = uploaded.launch(Tools::config, tools.scale, tools.left, 2.0f);
  const graph::KernelNode right = uploaded.launch(Tools::config, tools.shift, tools.right, 1.0f);
  const graph::MemcpyNode back = graph.join(left, right).memcpy(tools.host, tools.data, Tools::bytes);
  graph.save_svg(path,
                 {.title = "one step", .milliseconds = {{uploaded, 1.2}, {left, 0.8}, {right, 2.1}, {back, 1.2}}});
}

void draw_loop(const Tools& tools, const std::string& path) {
  graph::GraphDefinition graph;
  const graph::GraphCondition again = graph.create_condition(1);
  const graph::WhileNode loop = graph.memcpy(tools.data, tools.host, Tools::bytes).while_loop(again);
  loop.body().launch(Tools::config, tools.improve, tools.left).launch(Tools::one, tools.decide, again, tools.left);
  loop.memcpy(tools.host, tools.data, Tools::bytes).callback([] {});
  graph.save_svg(path, {.title = "until it has converged"});
}

void example(const std::string& folder) {
  Device().set_current();
  const Tools tools;
  try {
    draw_captured(tools, folder + "/captured.svg");
    draw_longest_way(tools, folder + "/longest_way.svg");
    draw_loop(tools, folder + "/loop.svg");
    std::cout << "  captured.svg, longest_way.svg and loop.svg are in " << folder << '\n';
  } catch (const NotSupported& missing) {
    std::cout << "  no pictures: " << missing.what() << '\n';
  }
}

}  // namespace

int main(int count, char** arguments) {
  return run([&] { example(count > 1 ? arguments[1] : "."); });
}
