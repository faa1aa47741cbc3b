// Which contexts there are: records of them, made once and found again by the driver's handle.
#include <map>
#include <mutex>
#include <optional>

#include "core/base/context.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using driver::Doing;
using support::text;

bool is_gone(CUresult result) {
  return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
         result == CUDA_ERROR_DEINITIALIZED;
}

// The driver's number of a context; none when the context was destroyed.
std::optional<unsigned long long> id_if_there(CUcontext handle) {
  unsigned long long id = 0;
  const CUresult result = driver::try_call<&Api::cuCtxGetId>(handle, &id);
  if (result == CUDA_SUCCESS) return id;
  if (is_gone(result)) return std::nullopt;
  driver::detail::raise(result, driver::detail::index_of_cuCtxGetId, "asking which context is current");
}

unsigned long long id_of(CUcontext handle) {
  unsigned long long id = 0;
  driver::call<&Api::cuCtxGetId>(handle, &id);
  return id;
}

int device_of_current() {
  CUdevice device = 0;
  driver::call<&Api::cuCtxGetDevice>(&device);
  return device;
}

CUcontext retain_primary(int device) {
  CUcontext handle = nullptr;
  driver::call<&Api::cuDevicePrimaryCtxRetain>(
      Doing{[&] { return text("initialising the primary context of device ", device); }}, &handle, device);
  return handle;
}

// Counts the ends of contexts that we held. What a thread remembers of a handle is good while this stays the same.
std::atomic<unsigned> ended_contexts{0};

class Registry {
 public:
  const ContextRecord& intern(CUcontext handle, unsigned long long id, int device) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<ContextRecord>& known = contexts_[{handle, id}];
    if (!known) known = std::make_unique<ContextRecord>(handle, id, device);
    return *known;
  }

  const ContextRecord& primary(int device) {
    {
      std::lock_guard lock(mutex_);
      if (auto known = primary_.find(device); known != primary_.end()) return *known->second;
    }
    const CUcontext handle = retain_primary(device);
    const ContextRecord& context = intern(handle, id_of(handle), device);
    context.held = true;
    std::lock_guard lock(mutex_);
    return *primary_.emplace(device, &context).first->second;
  }

  void forget_primary(const ContextRecord& context) {
    std::lock_guard lock(mutex_);
    auto known = primary_.find(context.device);
    if (known == primary_.end() || known->second != &context) return;  // another thread was faster
    primary_.erase(known);
    context.held = false;
    ended_contexts.fetch_add(1, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<CUcontext, unsigned long long>, std::unique_ptr<ContextRecord>> contexts_;
  std::map<int, const ContextRecord*> primary_;
};

Registry& registry() {
  static Registry& registry = *new Registry;
  return registry;
}

// What a thread found out about the context that was current when it last looked.
struct LastSeen {
  CUcontext handle = nullptr;
  const ContextRecord* context = nullptr;
  unsigned ended_contexts = 0;
};
constinit thread_local LastSeen last_current;
constinit thread_local LastSeen last_of_a_stream;

// What `last` remembers of a handle, if that still holds; else it is found out anew, with `device_of()`. Null when the
// context was destroyed.
//
// A context that we hold keeps its handle to itself. Somebody else's may have been replaced by another at the same
// address, so it is asked for its number.
template <typename DeviceOf>
const ContextRecord* recall(LastSeen& last, CUcontext handle, DeviceOf&& device_of) {
  const unsigned ended = ended_contexts.load(std::memory_order_acquire);
  const bool as_before = last.handle == handle && last.ended_contexts == ended;
  if (as_before && last.context->held.load(std::memory_order_relaxed)) return last.context;
  const std::optional<unsigned long long> id = id_if_there(handle);
  if (!id) return nullptr;
  if (!as_before || *id != last.context->id) {
    last = {handle, &registry().intern(handle, *id, device_of()), ended};
  }
  return last.context;
}

int device_of_context(CUcontext handle) {
  driver::call<&Api::cuCtxPushCurrent>(handle);
  struct Pop {
    ~Pop() {
      CUcontext popped = nullptr;
      driver::release<&Api::cuCtxPopCurrent>(&popped);
    }
  } pop;
  return device_of_current();
}

}  // namespace

const ContextRecord* known_context(CUcontext current) { return recall(last_current, current, &device_of_current); }

bool is_alive(const ContextRecord& context) noexcept {
  const driver::Api* table = driver::usable_api();
  if (!table) return false;
  if (!table->cuCtxGetId.function) return true;  // before CUDA 12
  unsigned long long id = 0;
  const CUresult result = table->cuCtxGetId(context.handle, &id);
  if (result == CUDA_SUCCESS) return id == context.id;
  return !is_gone(result);  // one in which a kernel failed exists
}

const ContextRecord& primary_context(int device) { return registry().primary(device); }

const ContextRecord& revived_primary_context(int device) {
  const ContextRecord& context = registry().primary(device);
  if (is_alive(context)) return context;
  registry().forget_primary(context);
  return registry().primary(device);
}

const ContextRecord& context_of(CUcontext handle) {
  const ContextRecord* context = recall(last_of_a_stream, handle, [&] { return device_of_context(handle); });
  if (context) return *context;
  driver::detail::raise(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver::detail::index_of_cuCtxGetId,
                        "looking at the context of a stream");
}

const ContextRecord& create_context(int device, unsigned flags) {
  CUcontext handle = nullptr;
  driver::call<&Api::cuCtxCreate>(Doing{[&] { return text("creating a context on device ", device); }}, &handle, flags,
                                  device);
  CUcontext popped = nullptr;
  driver::release<&Api::cuCtxPopCurrent>(&popped);  // creating it made it current
  try {
    const ContextRecord& context = registry().intern(handle, id_of(handle), device);
    context.held = true;
    return context;
  } catch (...) {
    driver::release<&Api::cuCtxDestroy>(handle);
    throw;
  }
}

const ContextRecord& create_green_context(int device, std::vector<CUdevResource> resources) {
  const Doing doing{[&] { return text("creating a green context on device ", device); }};
  CUdevResourceDesc descriptor = nullptr;
  driver::call<&Api::cuDevResourceGenerateDesc>(doing, &descriptor, resources.data(),
                                                static_cast<unsigned>(resources.size()));
  CUgreenCtx green = nullptr;
  driver::call<&Api::cuGreenCtxCreate>(doing, &green, descriptor, device,
                                       static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
  try {
    CUcontext handle = nullptr;
    driver::call<&Api::cuCtxFromGreenCtx>(doing, &handle, green);
    const ContextRecord& context = registry().intern(handle, id_of(handle), device);
    context.green = green;
    context.held = true;
    return context;
  } catch (...) {
    driver::release<&Api::cuGreenCtxDestroy>(green);
    throw;
  }
}

CUgreenCtx green_context_of(const ContextRecord& context) {
  if (context.held.load(std::memory_order_acquire)) return context.green.load(std::memory_order_relaxed);
  if (!driver::api().cuStreamGetGreenCtx.function) return nullptr;  // before CUDA 12.4
  ContextGuard guard(context);
  CUgreenCtx green = nullptr;
  driver::call<&Api::cuStreamGetGreenCtx>(Doing{[] { return "asking whether a context is a green one"; }},
                                          CU_STREAM_LEGACY, &green);
  return green;
}

void destroy_context(const ContextRecord& context) noexcept {
  const bool alive = is_alive(context);
  context.held = false;
  context.destroyed.store(true, std::memory_order_release);
  ended_contexts.fetch_add(1, std::memory_order_release);
  if (!alive) return;
  if (const CUgreenCtx green = context.green.exchange(nullptr))
    driver::release<&Api::cuGreenCtxDestroy>(green);
  else
    driver::release<&Api::cuCtxDestroy>(context.handle);
}

}  // namespace cuprum::core
