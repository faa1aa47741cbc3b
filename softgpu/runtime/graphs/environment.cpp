#include "softgpu/runtime/graphs/environment.hpp"

#include <utility>

#include "softgpu/runtime/graphs/graph_exec.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"

namespace softgpu::runtime {
namespace {

// What device code knows these by: cudaStreamGraphTailLaunch and so on, and cudaError_t.
constexpr std::uint64_t kTailStream = 0x0100000000000000, kForgettingStream = 0x0200000000000000,
                        kSiblingStream = 0x0300000000000000;
constexpr std::uint32_t kCudaSuccess = 0, kCudaInvalidValue = 1, kCudaMemoryAllocation = 2,
                        kCudaPendingCountExceeded = 69;

}  // namespace

GraphEnvironment::GraphEnvironment(OpSettings settings, std::shared_ptr<GraphEnvironment> around, const GraphExec* exec,
                                   std::function<void()> when_done)
    : settings_(std::move(settings)),
      around_(std::move(around)),
      current_(exec != nullptr && exec->launchable_from_device() ? reinterpret_cast<std::uint64_t>(exec->handle()) : 0),
      when_done_(std::move(when_done)) {}

std::shared_ptr<GraphEnvironment> GraphEnvironment::outermost(const OpSettings& settings,
                                                              std::function<void()> when_done) {
  return std::shared_ptr<GraphEnvironment>(new GraphEnvironment(settings, nullptr, nullptr, std::move(when_done)));
}

std::shared_ptr<GraphEnvironment> GraphEnvironment::inside(const std::shared_ptr<GraphEnvironment>& outermost,
                                                           const GraphExec& exec) {
  return std::shared_ptr<GraphEnvironment>(
      new GraphEnvironment(outermost->settings_, outermost, &exec, [outermost] { outermost->one_done(); }));
}

OpSettings GraphEnvironment::settings() {
  OpSettings inside = settings_;
  inside.graphs = shared_from_this();
  return inside;
}

std::uint32_t GraphEnvironment::launch(std::uint64_t graph, std::uint64_t stream) noexcept {
  try {
    const auto exec = settings_.services.execs.find(reinterpret_cast<CUgraphExec>(graph));
    if (exec == nullptr || !exec->launchable_from_device() || !exec->uploaded()) return kCudaInvalidValue;
    switch (stream) {
      case kTailStream: return put_at_tail(exec);
      case kForgettingStream: return forget(exec);
      case kSiblingStream: return around_->forget(exec);
      default: return kCudaInvalidValue;
    }
  } catch (...) {
    return kCudaMemoryAllocation;
  }
}

std::uint32_t GraphEnvironment::forget(const std::shared_ptr<GraphExec>& exec) {
  {
    const std::scoped_lock lock(mutex_);
    if (forgotten_ == kMaxForgotten) return kCudaPendingCountExceeded;
    ++forgotten_;
    ++pending_;
  }
  if (start(shared_from_this(), exec, [env = shared_from_this()] { env->one_done(); })) return kCudaSuccess;
  {
    const std::scoped_lock lock(mutex_);
    --forgotten_;
  }
  one_done();
  return kCudaInvalidValue;
}

std::uint32_t GraphEnvironment::put_at_tail(const std::shared_ptr<GraphExec>& exec) {
  const std::scoped_lock lock(mutex_);
  if (tail_.size() == kMaxAtTail) return kCudaPendingCountExceeded;
  tail_.push_back(exec);
  return kCudaSuccess;
}

bool GraphEnvironment::start(const std::shared_ptr<GraphEnvironment>& around, const std::shared_ptr<GraphExec>& exec,
                             std::function<void()> when_done) {
  const std::shared_ptr<GraphEnvironment> own(
      new GraphEnvironment(around->settings_, around, exec.get(), std::move(when_done)));
  return exec->launch_inside(own);
}

void GraphEnvironment::one_done() {
  {
    const std::scoped_lock lock(mutex_);
    if (--pending_ != 0) return;
  }
  next_at_tail();
}

void GraphEnvironment::next_at_tail() {
  while (true) {
    std::shared_ptr<GraphExec> next;
    {
      const std::scoped_lock lock(mutex_);
      if (tail_.empty()) break;
      next = std::move(tail_.front());
      tail_.pop_front();
    }
    if (start(around_, next, [env = shared_from_this()] { env->next_at_tail(); })) return;
  }
  const auto when_done = std::exchange(when_done_, nullptr);
  when_done();
}

}  // namespace softgpu::runtime
