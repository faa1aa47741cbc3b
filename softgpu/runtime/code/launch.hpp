// Launching kernels and host functions.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

class Function;
class Module;
class Stream;
struct KernelWork;

struct LaunchRequest {
  CUfunction handle = nullptr;  // as the program gave it: a CUkernel, possibly
  abi::Dim3 grid, block;
  std::optional<abi::Dim3> cluster;  // asked for
  unsigned dynamic_shared_bytes = 0;
  int priority = 0;
  bool cooperative = false;
  // The kernel's arguments: one of the two, as cuLaunchKernel takes them.
  void** parameters = nullptr;
  void** extra = nullptr;
  std::span<const CUlaunchAttribute> attributes;  // that the above comes from, for nodes of graphs
};

// Copies the arguments, then returns; the kernel runs when it is its turn. Throws Failure for what the device or the
// kernel does not allow.
void launch(const std::shared_ptr<Function>& function, Stream& stream, const LaunchRequest& request);
// The same for a node of a graph: checks and copies, and makes the Op that runs it once.
KernelWork make_kernel_work(const std::shared_ptr<Function>& function, const LaunchRequest& request);
OpRef make_op(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
              std::vector<std::byte> arguments, const void* queue);

// Runs `function` on the thread for host functions when it is its turn.
void launch_host_function(Stream& stream, CUhostFn function, void* data);
// What host functions do when the context has failed by the time it is their turn.
enum class AfterError { skipped, called };
// The function gets the context's state.
OpRef make_host_function_op(std::shared_ptr<Context> context, std::function<void(CUresult)> function,
                            AfterError after_error = AfterError::skipped);

}  // namespace softgpu::runtime
