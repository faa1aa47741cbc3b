// What a chain of small kernels costs as a graph, against launching them one by one: the calls alone, and with waiting
// for the last kernel; and what Graph::launch adds to the driver's cuGraphLaunch.
//
//   build/release/bin/bench_graph
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <exception>
#include <stdexcept>
#include <vector>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;

const char* const source = R"(extern "C" __global__ void increment(int* value) { *value += 1; })";

void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("a driver call failed");
}

struct Times {
  double call = 0, with_waiting = 0;
};

/// Microseconds of `work()`, which puts work into the stream.
template <typename Work>
Times measure(const Stream& stream, Work&& work) {
  std::vector<double> calls, totals;
  for (int round = 0; round < 201; ++round) {
    double call = 0;
    totals.push_back(1e6 * bench::seconds([&] {
                       call = 1e6 * bench::seconds(work);
                       stream.sync();
                     }));
    calls.push_back(call);
  }
  return {bench::median(calls), bench::median(totals)};
}

void compare(const Stream& stream, const Kernel& kernel, const Buffer& value, int count) {
  const auto& api = driver::api();
  const auto launches = [&] {
    for (int i = 0; i < count; ++i) launch(stream, {.grid = 1, .block = 1}, kernel, value);
  };
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  check(api.cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED));
  launches();
  check(api.cuStreamEndCapture(stream.handle(), &graph));
  const double instantiated = 1e6 * bench::seconds([&] { check(api.cuGraphInstantiate(&exec, graph, 0)); });
  const Times one_by_one = measure(stream, launches);
  const Times as_graph = measure(stream, [&] { check(api.cuGraphLaunch(exec, stream.handle())); });
  std::printf(
      "%5d kernels: calls %.2f, with waiting %.2f of launching them (%.1f and %.1f us); instantiated in %.0f us\n",
      count, as_graph.call / one_by_one.call, as_graph.with_waiting / one_by_one.with_waiting, one_by_one.call,
      one_by_one.with_waiting, instantiated);
  check(api.cuGraphExecDestroy(exec));
  check(api.cuGraphDestroy(graph));
}

CUresult CUDAAPI launch_nothing(CUgraphExec, CUstream) { return CUDA_SUCCESS; }

/// Nanoseconds of one of many calls.
template <typename Call>
double each(Call&& call) {
  constexpr int calls = 100'000;
  std::vector<double> rounds;
  for (int round = 0; round < 21; ++round) {
    rounds.push_back(1e9 / calls * bench::seconds([&] {
                       for (int i = 0; i < calls; ++i) call();
                     }));
  }
  return bench::median(rounds);
}

// Launches differ by far more than the library adds. So the driver's function is one that does nothing, for both.
void measure_library(const Stream& stream, const Kernel& kernel, const Buffer& value) {
  graph::GraphDefinition definition;
  graph::NodePlace place = definition;
  for (int i = 0; i < 20; ++i) place = place.launch({.grid = 1, .block = 1}, kernel, value);
  const graph::Graph graph = definition.instantiate();
  const CUgraphExec exec = graph.handle();
  const CUstream queue = stream.handle();
  driver::Api table = driver::api();
  table.cuGraphLaunch.function = launch_nothing;
  const driver::Api& real = driver::replace_api(table);
  const double bare = each([&] { check(driver::api().cuGraphLaunch(exec, queue)); });
  const double through_graph = each([&] { graph.launch(stream); });
  driver::replace_api(real);
  std::printf("Graph::launch adds %.0f ns to cuGraphLaunch\n", through_graph - bare);
}

}  // namespace

int main() try {
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  Kernel kernel = Program(source, {.std = "c++17"}).compile(Target::ptx).get_kernel("increment");
  Buffer value = device.allocate(sizeof(int), stream);
  value.fill<int>(0, stream);
  stream.sync();
  for (int count : {1, 10, 20, 100, 1000}) compare(stream, kernel, value, count);
  measure_library(stream, kernel, value);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
