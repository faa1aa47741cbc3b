#include "core/context.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;
using support::text;

// Drivers before CUDA 12 don't number contexts; those aren't supported, but a missing number only costs the check.
unsigned long long id_of(CUcontext handle) {
  unsigned long long id = 0;
  if (driver::api().cuCtxGetId.function) driver::call<&Api::cuCtxGetId>(handle, &id);
  return id;
}

int device_of_current() {
  CUdevice device = 0;
  driver::call<&Api::cuCtxGetDevice>(&device);
  return device;
}

class Registry {
 public:
  const Context& intern(CUcontext handle, unsigned long long id, int device) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Context>& known = contexts_[{handle, id}];
    if (!known) known = std::make_unique<Context>(Context{handle, id, device});
    return *known;
  }

  const Context& primary(int device) {
    {
      std::lock_guard lock(mutex_);
      if (auto known = primary_.find(device); known != primary_.end()) return *known->second;
    }
    CUcontext handle = nullptr;
    driver::call<&Api::cuDevicePrimaryCtxRetain>(
        Doing{[&] { return text("initialising the primary context of device ", device); }}, &handle, device);
    const Context& context = intern(handle, id_of(handle), device);
    std::lock_guard lock(mutex_);
    primary_.emplace(device, &context);
    return context;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CUcontext, unsigned long long>, std::unique_ptr<Context>> contexts_;
  std::map<int, const Context*> primary_;
};

Registry& registry() {
  static Registry& registry = *new Registry;
  return registry;
}

}  // namespace

const Context& primary_context(int device) { return registry().primary(device); }

const Context* current_context() {
  if (!driver::usable_api()) return nullptr;
  CUcontext handle = nullptr;
  driver::call<&Api::cuCtxGetCurrent>(&handle);
  if (!handle) return nullptr;
  return &registry().intern(handle, id_of(handle), device_of_current());
}

const Context& context_for(int device) {
  const Context* current = current_context();
  return current && current->device == device ? *current : primary_context(device);
}

const Context& context_of(CUcontext handle) {
  driver::call<&Api::cuCtxPushCurrent>(handle);
  int device = -1;
  try {
    device = device_of_current();
  } catch (...) {
    driver::release<&Api::cuCtxPopCurrent>(&handle);
    throw;
  }
  driver::call<&Api::cuCtxPopCurrent>(&handle);
  return registry().intern(handle, id_of(handle), device);
}

ContextGuard::ContextGuard(const Context& context) {
  CUcontext current = nullptr;
  driver::call<&Api::cuCtxGetCurrent>(&current);
  if (current == context.handle) return;
  driver::call<&Api::cuCtxPushCurrent>(Doing{[&] { return text("entering a context of device ", context.device); }},
                                       context.handle);
  pushed_ = true;
}

ContextGuard::ContextGuard(const Context& context, std::nothrow_t) noexcept {
  CUcontext current = nullptr;
  entered_ = driver::release<&Api::cuCtxGetCurrent>(&current);
  if (!entered_ || current == context.handle) return;
  entered_ = pushed_ = driver::release<&Api::cuCtxPushCurrent>(context.handle);
}

ContextGuard::~ContextGuard() {
  CUcontext popped = nullptr;
  if (pushed_) driver::release<&Api::cuCtxPopCurrent>(&popped);
}

}  // namespace cuprum::core
