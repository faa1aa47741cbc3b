// A kernel that is ready to run, as the scheduler sees it.
#pragma once

#include <cstdint>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

struct KernelCode {
  abi::RunBlock run_block = nullptr;  // exactly one of the two is set
  abi::StartGang start_gang = nullptr;
  unsigned width = 1;             // lanes of a gang
  std::uint64_t stack_bytes = 0;  // more than a caller's thread is sure to have: run on a worker only
};

}  // namespace softgpu::exec
