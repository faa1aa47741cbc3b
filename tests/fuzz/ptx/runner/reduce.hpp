// Making a failing program small.
#pragma once

#include "fuzz/ptx/runner/worker.hpp"

namespace ptx_fuzz {

/// Takes statements out for as long as the program fails in the same way, and returns what is to be left out.
Choice reduce(Worker& worker, Choice choice, unsigned statements, Verdict::Kind kind, std::chrono::milliseconds limit);

}  // namespace ptx_fuzz
