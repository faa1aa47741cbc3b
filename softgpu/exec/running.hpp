// What the current thread is running: set while it is inside generated code, read by the fault handler and
// by the functions that generated code calls.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <optional>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/exec/grid.hpp"
#include "softgpu/exec/memory_access.hpp"

namespace softgpu::exec {

class BlockRun;
class LocalMemory;

// A signal that generated code, or what it called, has raised.
struct FaultSite {
  std::uintptr_t instruction = 0;
  std::uintptr_t address = 0;
  bool address_known = false;
};

struct Running {
  const GridLaunch* launch = nullptr;
  const abi::Block* block = nullptr;
  BlockRun* block_run = nullptr;             // kernels with suspend points: frames and barriers are here
  LocalMemory* local = nullptr;              // of the calls that are under way on this thread
  FaultSite fault;                           // set by the signal handler
  std::optional<PermittedMemory> permitted;  // by `launch->access`; none before the first question
  char problem[512] = "";                    // why the code has ended the kernel: see end_kernel()
  sigjmp_buf leave;                          // set by run_guarded
};

// Null outside generated code.
Running* running() noexcept;

}  // namespace softgpu::exec
