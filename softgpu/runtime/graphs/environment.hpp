// What a launch of a graph consists of when its kernels launch graphs themselves.
//
// Every launch has an environment. It is complete when the graph and all that its kernels launched to be forgotten are;
// then the graphs that were launched for its tail run, one after the other, each with what its own kernels put at its
// tail before the next. Only then is the launch done. A sibling belongs to the environment around that of the kernel.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "softgpu/exec/device_graphs.hpp"
#include "softgpu/runtime/graphs/graph_steps.hpp"

namespace softgpu::runtime {

class GraphExec;

// Thread-safe.
class GraphEnvironment final : public exec::DeviceGraphs, public std::enable_shared_from_this<GraphEnvironment> {
 public:
  // The one around the environment of a host's launch. `when_done` is called once, without locks, on any thread.
  static std::shared_ptr<GraphEnvironment> outermost(const OpSettings& settings, std::function<void()> when_done);
  // That of the host's launch itself.
  static std::shared_ptr<GraphEnvironment> inside(const std::shared_ptr<GraphEnvironment>& outermost,
                                                  const GraphExec& exec);

  // The graph itself has come to its end.
  void graph_done() { one_done(); }

  std::uint32_t launch(std::uint64_t graph, std::uint64_t stream) noexcept override;
  std::uint64_t current() const noexcept override { return current_; }

  // How Ops of graphs inside of it are made.
  OpSettings settings();

 private:
  GraphEnvironment(OpSettings settings, std::shared_ptr<GraphEnvironment> around, const GraphExec* exec,
                   std::function<void()> when_done);
  std::uint32_t forget(const std::shared_ptr<GraphExec>& exec);
  std::uint32_t put_at_tail(const std::shared_ptr<GraphExec>& exec);
  // Starts the graph in an environment inside of `around`; `when_done` follows. False: it can't be, because it runs.
  static bool start(const std::shared_ptr<GraphEnvironment>& around, const std::shared_ptr<GraphExec>& exec,
                    std::function<void()> when_done);
  void one_done();
  void next_at_tail();

  // As many as CUDA allows.
  static constexpr unsigned kMaxForgotten = 120, kMaxAtTail = 255;

  const OpSettings settings_;  // of the host's launch
  const std::shared_ptr<GraphEnvironment> around_;
  const std::uint64_t current_;
  std::function<void()> when_done_;
  std::mutex mutex_;
  unsigned pending_ = 1;  // the graph, and those that were launched to be forgotten
  unsigned forgotten_ = 0;
  std::deque<std::shared_ptr<GraphExec>> tail_;
};

}  // namespace softgpu::runtime
