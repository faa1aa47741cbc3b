#include "softgpu/runtime/work/primary_context.hpp"

#include <memory>
#include <utility>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {

CUcontext PrimaryContext::retain() {
  const std::scoped_lock lock(mutex_);
  if (!active_) {
    auto context = Context::create(services_, device_, flags_, true);
    if (handle_ == nullptr)
      handle_ = services_.contexts.add(context);
    else
      services_.contexts.replace(handle_, context);
    context->set_handle(handle_);
    active_ = true;
  }
  ++uses_;
  return handle_;
}

void PrimaryContext::release() {
  std::unique_lock lock(mutex_);
  require(uses_ > 0, CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
  if (--uses_ == 0) deactivate(lock, false);
}

void PrimaryContext::reset() {
  std::unique_lock lock(mutex_);
  flags_ = CU_CTX_SCHED_AUTO;
  deactivate(lock, true);  // those who retain it still have to release it
}

// Waiting for the context's work must not hold the lock: others may ask for its state meanwhile.
void PrimaryContext::deactivate(std::unique_lock<std::mutex>& lock, bool cancel) {
  if (!std::exchange(active_, false)) return;
  const std::shared_ptr<Context> context = services_.contexts.replace(handle_, nullptr);
  lock.unlock();
  if (context != nullptr) context->destroy(cancel);
}

bool PrimaryContext::active() const {
  const std::scoped_lock lock(mutex_);
  return active_;
}

unsigned PrimaryContext::flags() const {
  const std::scoped_lock lock(mutex_);
  return flags_;
}

void PrimaryContext::set_flags(unsigned flags) {
  const std::scoped_lock lock(mutex_);
  flags_ = flags;
  if (!active_) return;
  if (const auto context = services_.contexts.find(handle_)) context->set_flags(flags);
}

}  // namespace softgpu::runtime
