// Making a failing program small.
#pragma once

#include <chrono>
#include <set>

#include "fuzz/ptx/runner/worker.hpp"

namespace ptx_fuzz {

/// Takes statements out of the program, beside those that are out already, for as long as it fails in the same way.
/// Returns the numbers of all that are out.
std::set<unsigned> reduce(Worker& worker, const Program& whole, std::set<unsigned> out, Verdict::Kind kind,
                          std::chrono::milliseconds limit);

}  // namespace ptx_fuzz
