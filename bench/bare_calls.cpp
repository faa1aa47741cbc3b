// What the bare calls of the driver take that bench_python.py measures from Python, in the same way: so many calls in a
// row, then waiting, which does not count; the best of the rounds in the time given.
//
//   build/release/bin/bench_bare_calls SECONDS
//
// Prints an object of JSON: nanoseconds by operation.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <exception>
#include <limits>

namespace {

using namespace cuprum;
using driver::Api;
using Clock = std::chrono::steady_clock;

const char* const source = R"(
extern "C" __global__ void none() {}
extern "C" __global__ void five(float* a, float* b, int c, double d, unsigned long long e) {}
extern "C" __global__ void sixteen(int a, int b, int c, int d, int e, int f, int g, int h,
                                   int i, int j, int k, int l, int m, int n, int o, int p) {}
)";

void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("a bare call failed with " + std::to_string(result));
}

class BareCalls {
 public:
  explicit BareCalls(double seconds) : seconds_(seconds) {}

  void run() {
    launches();
    CUgraphExec graph = graph_of_one();
    measure("launch of a graph", 500, [&] { check(api_.cuGraphLaunch(graph, queue_)); });
    const CUevent event = event_.handle();
    measure("record an event", 500, [&] { check(api_.cuEventRecord(event, queue_)); });
    CUmemoryPool pool = nullptr;
    check(api_.cuDeviceGetDefaultMemPool(&pool, device_.device_id()));
    measure("allocate and close", 500, [&] {
      CUdeviceptr pointer = 0;
      check(api_.cuMemAllocFromPoolAsync(&pointer, 1024, pool, queue_));
      check(api_.cuMemFreeAsync(pointer, queue_));
    });
    measure("create and close a stream", 100, [&] {
      CUstream stream = nullptr;
      check(api_.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
      check(api_.cuStreamDestroy(stream));
    });
    measure("create an event", 500, [&] {
      CUevent made = nullptr;
      check(api_.cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
      check(api_.cuEventDestroy(made));
    });
    std::printf("%s}\n", is_first_ ? "{" : "");
    check(api_.cuGraphExecDestroy(graph));
  }

 private:
  void launches() {
    CUdeviceptr address = data_.handle();
    int number = 3;
    double factor = 4;
    unsigned long long large = 5;
    void* five[] = {&address, &address, &number, &factor, &large};
    void* sixteen[16];
    for (void*& argument : sixteen) argument = &number;
    measure_launch("launch, no argument", "none", nullptr);
    measure_launch("launch, 5 arguments", "five", five);
    measure_launch("launch, 16 arguments", "sixteen", sixteen);
  }

  void measure_launch(const char* what, const char* kernel, void** arguments) {
    CUfunction function = nullptr;
    driver::call<&Api::cuKernelGetFunction>(&function, code_.get_kernel(kernel).handle());
    measure(what, 500, [&] {
      CUlaunchConfig config{};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = config.blockDimY = config.blockDimZ = 1;
      config.hStream = queue_;
      check(api_.cuLaunchKernelEx(&config, function, arguments, nullptr));
    });
  }

  CUgraphExec graph_of_one() {
    graph::GraphBuilder builder = stream_.create_graph_builder();
    builder.begin_building();
    launch(builder, LaunchConfig{.grid = 1, .block = 1}, code_.get_kernel("none"));
    builder.end_building();
    CUgraphExec graph = nullptr;
    check(api_.cuGraphInstantiateWithFlags(&graph, builder.graph_definition().handle(), 0));
    return graph;
  }

  template <typename Call>
  void measure(const char* what, int count, Call call) {
    double best = std::numeric_limits<double>::max();
    const auto until = Clock::now() + std::chrono::duration<double>(seconds_);
    while (Clock::now() < until) {
      const auto start = Clock::now();
      for (int i = 0; i < count; ++i) call();
      best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() / count);
      stream_.sync();
    }
    std::printf("%s\"%s\": %.0f", is_first_ ? "{" : ", ", what, best);
    is_first_ = false;
  }

  double seconds_;
  bool is_first_ = true;
  Device device_ = current_device();
  Stream stream_ = device_.create_stream();
  CUstream queue_ = stream_.handle();
  ObjectCode code_ = Program(source).compile(Target::cubin);
  Buffer data_ = device_.allocate(1024, stream_);
  Event event_ = device_.create_event();
  const Api& api_ = driver::api();

  static Device current_device() {
    Device device;
    device.set_current();
    return device;
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    BareCalls(argc > 1 ? std::atof(argv[1]) : 0.3).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_bare_calls: %s\n", error.what());
    return 1;
  }
}
