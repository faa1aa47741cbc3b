// Launching kernels and host functions.
#pragma once

#include <cuda.h>

#include <functional>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::runtime {

class Function;
class Stream;

struct LaunchRequest {
  abi::Dim3 grid, block;
  unsigned dynamic_shared_bytes = 0;
  int priority = 0;
  bool cooperative = false;
  // The kernel's arguments: one of the two, as cuLaunchKernel takes them.
  void** parameters = nullptr;
  void** extra = nullptr;
};

// Copies the arguments, then returns; the kernel runs when it is its turn. Throws Failure for what the device or the
// kernel does not allow.
void launch(Function& function, Stream& stream, const LaunchRequest& request);

// Runs `function` on the thread for host functions when it is its turn. `even_after_error`: also when the context has
// failed by then; it gets the context's state.
void launch_host_function(Stream& stream, std::function<void(CUresult)> function, bool even_after_error);

}  // namespace softgpu::runtime
