// What the generator makes, without running it.
#pragma once

#include "fuzz/ptx/runner/options.hpp"

namespace ptx_fuzz {

/// Prints how many programs of the seeds have no single result and why, and in how many each instruction occurs.
void print_statistics(const Options& options);

}  // namespace ptx_fuzz
