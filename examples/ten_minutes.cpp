// Ten minutes to Cuprum: talk to a device, compile a kernel, run it, time it, and use several streams.
//
// The program runs on an NVIDIA GPU if there is one and on softgpu, a CUDA device in software, if there is none.
// Read it from top to bottom; each step prints what it did and checks that it is right.
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>
#include <span>

using namespace cuprum;

namespace {

int failures = 0;

void check(bool is_right, const char* what) {
  std::cout << (is_right ? "  ok: " : "  WRONG: ") << what << '\n';
  if (!is_right) ++failures;
}

// 0, 1, 2, 3…: known input for every step.
void fill_with_numbers(std::span<float> values) { std::iota(values.begin(), values.end(), 0.0f); }

bool are_numbers_times(std::span<const float> values, float factor) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<float>(i) * factor) return false;
  }
  return true;
}

void tour() {
  // 1. Selecting a device
  //
  // Device is the entry point. Making one costs nothing and initialises nothing; set_current() sets up CUDA on this
  // thread. Device(1) would be the second device.
  Device device;
  device.set_current();
  const ComputeCapability capability = device.compute_capability();
  std::cout << "Running on " << device << ", compute capability " << capability.major << '.' << capability.minor << ", "
            << device.properties().multiprocessor_count() << " multiprocessors\n";

  // 2. Compiling a kernel
  //
  // CUDA C++ is compiled while the program runs. The options say which C++; the architecture is the current device's
  // unless given. A template is instantiated by naming what we want of it. A kernel declared extern "C" would be found
  // by its plain name.
  std::cout << "Compiling a kernel\n";
  Program program(R"(
      template <typename T>
      __global__ void scale(T* data, T factor, size_t n) {
        size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
        if (i < n) data[i] *= factor;
      })",
                  {.std = "c++17"});
  ObjectCode code = program.compile(Target::cubin, {.name_expressions = {"scale<float>"}});
  Kernel scale = code.get_kernel("scale<float>");
  check(scale.num_arguments() == 3, "the kernel takes three arguments");

  // What goes wrong is told by exceptions. That of a compilation has the compiler's log.
  try {
    Program("__global__ void k() { not_a_real_symbol; }").compile(Target::cubin);
    check(false, "a program with an error is refused");
  } catch (const CompileError& error) {
    check(error.log().find("not_a_real_symbol") != std::string::npos, "the compiler's log says what is wrong");
  }

  // 3. Streams
  //
  // A stream is an ordered queue of work. What is put on one stream runs in order; different streams may overlap.
  Stream stream = device.create_stream();

  // 4. Allocating memory
  //
  // Memory comes from memory resources. The device has one of its own; a PinnedMemoryResource gives page-locked host
  // memory, which the host can read and write directly. Both allocate in the order of a stream, too.
  std::cout << "Allocating and copying\n";
  constexpr std::size_t n = 1024;
  PinnedMemoryResource pinned;
  Buffer host = pinned.allocate(n * sizeof(float), stream);
  Buffer data = device.allocate(n * sizeof(float), stream);
  check(host.is_host_accessible() && host.size() == 4096, "the host can access the 4096 bytes of pinned memory");
  check(data.is_device_accessible(), "the device can access its own");

  std::span<float> values = host.as_span<float>();
  fill_with_numbers(values);

  // 5. Copying and launching
  //
  // All of this is only queued; sync() waits until it is done. The arguments of a kernel must have exactly the types of
  // its parameters: 3.0f for a float, n (a size_t) for a size_t, a buffer for a pointer. Their number and sizes are
  // checked before the launch.
  std::cout << "Launching\n";
  const LaunchConfig config{.grid = ceil_div(n, 256), .block = 256};
  data.copy_from(host, stream);
  launch(stream, config, scale, data, 3.0f, n);
  data.copy_to(host, stream);
  stream.sync();
  check(are_numbers_times(values, 3.0f), "every number was multiplied by 3");

  try {
    launch(stream, config, scale, data, 3.0f);
    check(false, "a launch with an argument missing is refused");
  } catch (const InvalidArgument& error) {
    check(true, "a launch with an argument missing is refused");
  }

  // 6. Timing with events
  //
  // An event marks a point in a stream. The difference of two is the time between them, in milliseconds.
  std::cout << "Timing\n";
  Event start = device.create_event({.timing_enabled = true});
  Event end = device.create_event({.timing_enabled = true});
  stream.record(start);
  for (int i = 0; i < 100; ++i) launch(stream, config, scale, data, 1.0f, n);
  stream.record(end);
  end.sync();
  const float milliseconds = end - start;
  std::cout << "  100 launches took " << milliseconds << " ms\n";
  check(milliseconds > 0, "time has passed");

  // 7. Working with multiple streams
  //
  // The two launches below touch different buffers, so they may run at the same time. Then stream_b needs what stream_a
  // computes: wait() makes it wait, without stopping the host.
  std::cout << "Two streams\n";
  Stream stream_a = device.create_stream();
  Stream stream_b = device.create_stream();
  Buffer buffer_a = device.allocate(n * sizeof(float), stream_a);
  Buffer buffer_b = device.allocate(n * sizeof(float), stream_b);

  fill_with_numbers(values);
  buffer_a.copy_from(host, stream_a);
  buffer_b.copy_from(host, stream_b);
  launch(stream_a, config, scale, buffer_a, 2.0f, n);
  launch(stream_b, config, scale, buffer_b, 5.0f, n);

  stream_b.wait(stream_a);
  buffer_b.copy_from(buffer_a, stream_b);
  buffer_b.copy_to(host, stream_b);
  stream_b.sync();
  check(are_numbers_times(values, 2.0f), "stream b has seen what stream a computed");

  // 8. Capturing work in a graph
  //
  // A sequence that is launched again and again costs less as one launch. A builder is taken wherever a stream is; what
  // is queued on it does not run but becomes part of a graph.
  std::cout << "A graph\n";
  graph::GraphBuilder builder = stream.create_graph_builder();
  builder.begin_building();
  for (int i = 0; i < 3; ++i) launch(builder, config, scale, data, 2.0f, n);
  data.copy_to(host, builder);
  graph::Graph graph = builder.end_building().complete();
  fill_with_numbers(values);
  data.copy_from(host, stream);
  graph.upload(stream);
  graph.launch(stream);
  stream.sync();
  check(are_numbers_times(values, 8.0f), "three launches and a copy, replayed in one shot");

  // 9. Cleaning up
  //
  // Streams, events, buffers, kernels and graphs release what they hold when the last copy of them goes. close() does
  // it earlier.
  data.close(stream);
  stream.close();
}

}  // namespace

int main() {
  try {
    tour();
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  if (failures != 0) {
    std::cout << failures << " checks failed\n";
    return 1;
  }
  std::cout << "All checks passed.\n";
}
