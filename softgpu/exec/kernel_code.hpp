// A kernel that is ready to run, as the scheduler sees it.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

// Which line of the PTX an instruction of the code is from.
class CodeLines {
 public:
  virtual ~CodeLines() = default;
  virtual std::optional<std::uint32_t> line_of(std::uintptr_t instruction) const = 0;
};

struct KernelCode {
  abi::RunBlock run_block = nullptr;  // exactly one of the two is set
  abi::StartGang start_gang = nullptr;
  unsigned width = 1;                // lanes of a gang
  const CodeLines* lines = nullptr;  // null: not known
  bool finds_addresses = false;      // in memory, and uses them: see GridLaunch::access
  std::uint64_t stack_bytes = 0;     // more than a caller's thread is sure to have: run on a worker only
};

}  // namespace softgpu::exec
