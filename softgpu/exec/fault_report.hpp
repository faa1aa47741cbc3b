// What is said of a kernel that a signal has ended.
#pragma once

#include "softgpu/exec/running.hpp"

namespace softgpu::exec {

// On stderr, once for a grid: kernel, block, threads, address, line of the PTX. Nothing if no signal was raised.
void report_fault(const Running&, Outcome);

}  // namespace softgpu::exec
