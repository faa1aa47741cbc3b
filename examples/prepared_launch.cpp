// Launching one kernel many times: typed, so that the compiler checks the arguments, and prepared, so that each launch
// costs no more than the driver's own call.
//
// A chain of small kernels computes the logistic map x -> r * x * (1 - x) for 1000 values of r; each step is a launch,
// and what changes from one step to the next is the number of the step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <exception>
#include <utility>
#include <vector>

using namespace cuprum;

namespace {

constexpr std::size_t n = 1000;
constexpr int steps = 2000;

const char* const source = R"(
extern "C" __global__ void step(const double* from, double* to, int number, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i >= n) return;
  double r = 2.5 + 1.5 * double(i) / double(n);
  double x = number == 0 ? 0.5 : from[i];
  to[i] = r * x * (1.0 - x);
}
)";

using Step = TypedKernel<void(const double*, double*, int, std::size_t)>;

double microseconds_per_step(auto&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / steps;
}

std::vector<double> expected() {
  std::vector<double> values(n, 0.5);
  for (std::size_t i = 0; i < n; ++i) {
    const double r = 2.5 + 1.5 * static_cast<double>(i) / static_cast<double>(n);
    for (int s = 0; s < steps; ++s) values[i] = r * values[i] * (1.0 - values[i]);
  }
  return values;
}

// Where the map is chaotic, rounding decides; up to r = 3.5 it settles on cycles of up to four values.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < n * 2 / 3; ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

int run() {
  Device device;
  device.set_current();
  Stream stream = device.create_stream();
  Step step(Program(source).compile(Target::cubin).get_kernel("step"));
  const LaunchConfig config{.grid = ceil_div(n, 256), .block = 256};
  Buffer from = device.allocate(n * sizeof(double), stream);
  Buffer to = device.allocate(n * sizeof(double), stream);

  // Every launch looks its kernel up and checks its shape anew, which is quick.
  launch(stream, config, step, from, to, 0, n);
  stream.sync();
  const double plain = microseconds_per_step([&] {
    for (int s = 0; s < steps; ++s) {
      launch(stream, config, step, from, to, s, n);
      std::swap(from, to);
    }
  });
  stream.sync();

  // Prepared launches have done all that. There are two, for the two directions; only the step's number is written.
  PreparedLaunch there = prepare(stream, config, step, from, to, 0, n);
  PreparedLaunch back = prepare(stream, config, step, to, from, 0, n);
  const double prepared = microseconds_per_step([&] {
    for (int s = 0; s < steps; s += 2) {
      there.set<2>(s);
      there();
      back.set<2>(s + 1);
      back();
    }
  });
  std::vector<double> result(n);
  from.copy_to(std::span(result), stream);
  stream.sync();

  std::printf("%s: %d steps queued at %.2f us each, prepared at %.2f us\n", device.name().c_str(), steps, plain,
              prepared);
  std::printf("x settles at %.6f for r = 2.5; the host computes %.6f\n", result.front(), expected().front());
  const double difference = largest_difference(result, expected());
  std::printf("largest difference where the map is not chaotic: %g\n", difference);
  return difference < 1e-6 ? 0 : 1;
}

}  // namespace

int main() try { return run(); } catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
