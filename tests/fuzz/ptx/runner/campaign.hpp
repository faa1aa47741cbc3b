// Many programs.
#pragma once

#include "fuzz/ptx/runner/options.hpp"

namespace ptx_fuzz {

/// Runs them all and reports; returns the exit status.
int run_campaign(const Options& options);

}  // namespace ptx_fuzz
