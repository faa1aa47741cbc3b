// Launching kernels.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/runtime/work/op.hpp"

namespace softgpu::exec {
class DeviceGraphs;
}

namespace softgpu::runtime {

class Function;
class Module;
class Stream;

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
// kernel does not allow. For streams that are not captured.
void launch(const std::shared_ptr<Function>& function, Stream& stream, const LaunchRequest& request);
// What a node of a graph needs to launch the kernel again and again: checked, copied and compiled.
struct PreparedLaunch {
  std::shared_ptr<Module> module;  // the kernel's
  std::vector<std::byte> arguments;
};
// `context`: the only one that the kernel may be of; null: any.
PreparedLaunch prepare(Function& function, const LaunchRequest& request, const Context* context);
// The Op that runs the kernel once. `graphs`: what it is a part of, if it launches graphs.
OpRef make_op(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
              std::vector<std::byte> arguments, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs);

}  // namespace softgpu::runtime
