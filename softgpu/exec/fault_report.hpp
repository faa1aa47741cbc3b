// What is said of a kernel that has ended badly.
#pragma once

#include <string>

#include "softgpu/exec/running.hpp"

namespace softgpu::exec {

// Kernel, block, threads, what they did, line of the PTX. Empty if nothing is to be said.
std::string describe_fault(const Running&, Outcome);

// Kernel and block.
std::string describe_block(const GridLaunch&, const abi::Block&);

// On stderr, for those who look at codes alone. Traps and failed assertions are what the program wanted, and the latter
// have spoken for themselves.
void print_reason(Outcome, const std::string& reason);

}  // namespace softgpu::exec
