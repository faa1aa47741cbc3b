// Random PTX programs on softgpu or a GPU, compared with an interpreter. docs/design/fuzzing.md explains it.
#include <cstdio>
#include <exception>
#include <iostream>

#include "fuzz/ptx/model/writer.hpp"
#include "fuzz/ptx/runner/campaign.hpp"
#include "fuzz/ptx/runner/options.hpp"
#include "fuzz/ptx/runner/statistics.hpp"
#include "fuzz/ptx/runner/worker.hpp"

int main(int count, char** arguments) {
  using namespace ptx_fuzz;
  try {
    const Options options = parse_options(count, arguments);
    if (options.help) {
      std::cout << kUsage;
      return 0;
    }
    if (options.worker) return work(options.optimisation);
    if (options.print) {
      std::cout << write_ptx(without(defined_trial(options.first_seed, options.features).program, options.without));
      return 0;
    }
    if (options.statistics) {
      print_statistics(options);
      return 0;
    }
    return run_campaign(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ptx_fuzz: %s\n", error.what());
    return 2;
  }
}
