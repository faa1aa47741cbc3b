// A plain interpreter of programs: what a GPU must leave in memory.
//
// Threads run one by one, each with a program counter of its own. A thread runs until it waits for others (at a barrier
// or at an operation of its warp) or ends. Whoever arrives last lets the others go.
//
// Only programs with one result are worth comparing. The interpreter says that a program has none when it does what PTX
// leaves undefined (reads what nothing was written to, leaves its memory, shuffles from a lane that is not there,
// enters an aligned barrier in pieces, waits for ever...), and when threads in another order give another result, as
// they do when there is a race.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

struct Outcome {
  std::string undefined;  // why the program has no result; empty if it has one
  std::vector<std::uint8_t> memory;
};

Outcome interpret(const Program& program);

}  // namespace ptx_fuzz
