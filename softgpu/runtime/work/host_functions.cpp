#include "softgpu/runtime/work/host_functions.hpp"

#include "softgpu/exec/host_signals.hpp"

namespace softgpu::runtime {
namespace {

thread_local bool is_host_function_thread = false;

}  // namespace

bool HostFunctions::on_thread() { return is_host_function_thread; }

void HostFunctions::post(std::function<void()> function) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(function));
    if (!started_) exec::start_thread([this] { loop(); });
    started_ = true;
  }
  posted_.notify_one();
}

void HostFunctions::loop() {
  is_host_function_thread = true;
  for (;;) {
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [this] { return !queue_.empty(); });
    const std::function<void()> function = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    function();
  }
}

}  // namespace softgpu::runtime
