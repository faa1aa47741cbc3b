// Launching kernels.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/exec/grid.hpp"
#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

class Function;
class GreenContext;
class Module;
class Stream;

struct LaunchRequest {
  CUfunction handle = nullptr;  // as the program gave it: a CUkernel, possibly
  abi::Dim3 grid, block;
  std::optional<abi::Dim3> cluster;  // asked for
  unsigned dynamic_shared_bytes = 0;
  int priority = 0;
  bool cooperative = false;
  std::shared_ptr<GreenContext> green = {};  // whose part of the device it runs on; null: all of it
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
// Kernels of graphs that run one after the other on one thread, without coming back in between: small ones, for which
// that would take longer than they do. Compiled once, launched often.
class KernelChain : public std::enable_shared_from_this<KernelChain> {
 public:
  // Adds a kernel behind those that are there. False: it can't be part of a chain.
  bool add(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
           const std::vector<std::byte>& arguments);
  // There must be some kernels. False while there is memory that their context may not use: then each launch decides
  // which kernels have to ask.
  bool may_run() const;
  // The Op that runs all of them once.
  OpRef make_op(const OpPlace& place) const;

 private:
  exec::GridLaunch first_;
  std::shared_ptr<std::vector<exec::GridLaunch>> rest_ = std::make_shared<std::vector<exec::GridLaunch>>();
  std::vector<std::shared_ptr<Module>> modules_;  // of the kernels
};

// The Op that runs the kernel once. `graphs`: what it is a part of, if it launches graphs.
OpRef make_op(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
              std::vector<std::byte> arguments, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs);

}  // namespace softgpu::runtime
