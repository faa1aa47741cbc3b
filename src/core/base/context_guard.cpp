// Choosing a context, and making it current for a scope.
#include <algorithm>

#include "core/base/context.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

const ContextRecord* current_context() {
  if (!driver::usable_api()) return nullptr;
  CUcontext handle = nullptr;
  driver::call<&Api::cuCtxGetCurrent>(&handle);
  return handle ? known_context(handle) : nullptr;
}

const ContextRecord& context_for(int device) { return ContextChoice::current_of(device).resolve(); }

const ContextRecord& ContextChoice::resolve(CUcontext current) const {
  if (fixed_) return *fixed_;
  const ContextRecord* context = current ? known_context(current) : nullptr;
  if (context && (device_ == any_device || device_ == context->device)) return *context;
  return primary_context(std::max(device_, 0));
}

const ContextRecord& ContextChoice::resolve() const {
  CUcontext current = nullptr;
  if (!fixed_) driver::call<&Api::cuCtxGetCurrent>(&current);
  return resolve(current);
}

namespace {

// One question for both: the driver's numbers are never used again.
bool is_current_and_alive(const ContextRecord& context) noexcept {
  const driver::Api* table = driver::usable_api();
  unsigned long long id = 0;
  return table && table->cuCtxGetId(nullptr, &id) == CUDA_SUCCESS && id == context.id;
}

}  // namespace

ContextGuard::ContextGuard(const ContextChoice& choice) {
  CUcontext current = nullptr;
  driver::call<&Api::cuCtxGetCurrent>(&current);
  context_ = &choice.resolve(current);
  if (current != context_->handle) {
    driver::call<&Api::cuCtxPushCurrent>(Doing{[&] { return text("entering a context of device ", context_->device); }},
                                         context_->handle);
    pushed_ = true;
  }
  entered_ = true;
}

ContextGuard::ContextGuard(const ContextChoice& choice, std::nothrow_t) noexcept {
  if (choice.fixed_ && is_current_and_alive(*choice.fixed_)) {
    context_ = choice.fixed_;
    entered_ = true;
    return;
  }
  CUcontext current = nullptr;
  if (!driver::release<&Api::cuCtxGetCurrent>(&current)) return;
  try {
    context_ = &choice.resolve(current);
  } catch (...) {
    return;  // a default stream when not even a primary context can be had: there is nothing to release in it
  }
  if (!is_alive(*context_)) return;
  if (current != context_->handle) pushed_ = driver::release<&Api::cuCtxPushCurrent>(context_->handle);
  entered_ = pushed_ || current == context_->handle;
}

void ContextGuard::leave() noexcept {
  CUcontext popped = nullptr;
  driver::release<&Api::cuCtxPopCurrent>(&popped);
}

}  // namespace cuprum::core
