// Changing a graph that is ready to run, in a loop: one node with other arguments, a node that is left out, and the
// whole graph by another of the same form.
#include <cuprum/cuprum.hpp>
#include <iostream>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
extern "C" __global__ void add(int* value, int amount) { *value += amount; }
extern "C" __global__ void multiply(int* value, int factor) { *value *= factor; }
)";

void example() {
  constexpr LaunchConfig one{.grid = 1, .block = 1};
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  ObjectCode code = Program(source).compile(Target::cubin);
  const Kernel add = code.get_kernel("add");
  const Kernel multiply = code.get_kernel("multiply");
  Buffer value = PinnedMemoryResource().allocate<int>(1, stream);
  int& result = value.as_span<int>()[0];
  result = 0;

  graph::GraphDefinition definition;
  const graph::KernelNode first = definition.launch(one, add, value, 1);
  const graph::KernelNode second = first.launch(one, multiply, value, 2);
  graph::Graph graph = definition.instantiate();

  // What is launched is not touched by what is changed later: no need to wait in between.
  for (int i = 1; i <= 4; ++i) {
    graph[first].update(one, add, value, i);
    graph.launch(stream);
  }
  stream.sync();
  check(result == ((((0 + 1) * 2 + 2) * 2 + 3) * 2 + 4) * 2, "each launch had its own argument");

  graph[second].disable();
  graph.launch(stream);
  graph[second].enable();
  stream.sync();
  check(result == 56, "a node that is disabled does nothing");

  graph::GraphDefinition other;
  other.launch(one, add, value, -6).launch(one, multiply, value, 10);
  graph.update(other);
  graph.launch(stream);
  stream.sync();
  check(result == 500, "the whole graph does something else");

  graph::GraphDefinition larger;
  larger.launch(one, add, value, 1).launch(one, add, value, 1).launch(one, add, value, 1);
  try {
    graph.update(larger);
    check(false, "a graph of another form is refused");
  } catch (const InvalidArgument& error) {
    std::cout << "  " << error.what() << '\n';
    check(true, "a graph of another form is refused, with the reason");
  }
}

}  // namespace

int main() { return run(example); }
