// How fast softgpu's code is: five kernels against the same computation in C++ with OpenMP, and in OpenCL on PoCL.
//
//   build/release/bin/bench_kernels [ROUNDS]
//
// Prints each contender's median time and, below, how many times longer than OpenMP it took.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <random>

#include "bench/kernels/contender.hpp"
#include "bench/support/timing.hpp"

namespace bench {
namespace {

const char* title(Computation computation) {
  switch (computation) {
    case Computation::saxpy: return "saxpy, 16 M floats";
    case Computation::reduction: return "reduction, 16 M floats";
    case Computation::matrix_product: return "matrix product, 1024 x 1024";
    case Computation::stencil: return "5-point stencil, 4096 x 4096";
    case Computation::smoothing: return "8 x smoothing, grid barriers";
  }
  return "";
}

Inputs make_inputs() {
  std::mt19937 random(1);
  auto values = [&](std::size_t count, unsigned limit) {
    std::vector<float> made(count);
    for (float& value : made) value = static_cast<float>(random() % limit);
    return made;
  };
  return {.x = values(vector_size, 2),
          .y = values(vector_size, 8),
          .a = values(matrix_side * matrix_side, 4),
          .b = values(matrix_side * matrix_side, 4),
          .grid = values(grid_side * grid_side, 8)};
}

using Contenders = std::vector<std::unique_ptr<Contender>>;

Contenders make_contenders() {
  Contenders contenders;
  contenders.push_back(make_openmp_contender());
  contenders.push_back(make_cuprum_contender());
#ifdef CUPRUM_BENCH_OPENCL
  try {
    contenders.push_back(make_opencl_contender());
  } catch (const std::exception& error) {
    std::printf("without OpenCL: %s\n", error.what());
  }
#endif
  return contenders;
}

/// Everyone computes once from the same inputs; says who disagrees with the first.
bool results_agree(const Contenders& contenders, Computation computation) {
  bool agree = true;
  for (const auto& contender : contenders) contender->run(computation);
  const std::vector<float> expected = contenders.front()->result(computation);
  for (const auto& contender : contenders)
    if (contender->result(computation) != expected) {
      std::printf("%s: %s has another result than %s\n", title(computation), contender->name().c_str(),
                  contenders.front()->name().c_str());
      agree = false;
    }
  return agree;
}

/// Median seconds of each contender. They take turns, so that a disturbance hits all of them.
std::vector<double> measure(const Contenders& contenders, Computation computation, int rounds) {
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i)
      times[i].push_back(seconds([&] { contenders[i]->run(computation); }));
  std::vector<double> medians;
  for (const auto& values : times) medians.push_back(median(values));
  return medians;
}

int run(int rounds) {
  Contenders contenders = make_contenders();
  const Inputs inputs = make_inputs();
  for (auto& contender : contenders) contender->load(inputs);

  std::printf("%-30s", "median of each, x OpenMP");
  for (const auto& contender : contenders) std::printf("%24.23s", contender->name().c_str());
  std::printf("\n");
  bool agree = true;
  for (Computation computation : all_computations) {
    agree &= results_agree(contenders, computation);
    const std::vector<double> medians = measure(contenders, computation, rounds);
    std::printf("%-30s", title(computation));
    for (double time : medians) std::printf("%13.3f ms %6.2f x", time * 1e3, time / medians.front());
    std::printf("\n");
  }
  return agree ? 0 : 1;
}

/// OpenMP's threads by default spin for a while when they have nothing to do, at the expense of whoever is measured
/// next.
void make_openmp_threads_sleep(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", arguments);
}

}  // namespace
}  // namespace bench

int main(int count, char** arguments) try {
  bench::make_openmp_threads_sleep(arguments);
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 15;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: %s [ROUNDS], where ROUNDS is at least 1\n", arguments[0]);
    return 2;
  }
  return bench::run(rounds);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
