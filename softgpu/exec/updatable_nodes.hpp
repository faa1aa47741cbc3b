// Kernel nodes of graphs that other kernels change: cudaGraphKernelNodeSetParam() and its like.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "softgpu/abi/kernel.hpp"

namespace softgpu::exec {

// Thread-safe. What such a node is to do when its turn comes. Kernels know it by its handle, which is valid as long as
// the object and never given twice.
class UpdatableNode {
 public:
  struct State {
    std::vector<std::byte> arguments;
    abi::Dim3 grid;
    bool enabled = true;
  };

  UpdatableNode();
  ~UpdatableNode();
  UpdatableNode(const UpdatableNode&) = delete;
  UpdatableNode& operator=(const UpdatableNode&) = delete;

  std::uint64_t handle() const { return handle_; }
  State state() const;
  void set(std::vector<std::byte> arguments, abi::Dim3 grid);
  void set_enabled(bool enabled);

  // There is one state, and so there can be one executable graph with the node. False: there is one.
  bool take() { return !taken_.exchange(true); }
  void give_back() { taken_ = false; }

  // By kernels. False: there is no such node, or it can't be changed so.
  static bool has_arguments(std::uint64_t handle, std::uint64_t offset, std::uint64_t size);
  static bool write_arguments(std::uint64_t handle, std::uint64_t offset, const void* value, std::uint64_t size);
  static bool set_grid(std::uint64_t handle, abi::Dim3 grid);
  static bool set_enabled(std::uint64_t handle, bool enabled);

 private:
  const std::uint64_t handle_;
  State state_;  // guarded by the lock of all nodes: changes are short and rare
  std::atomic<bool> taken_{false};
};

}  // namespace softgpu::exec
