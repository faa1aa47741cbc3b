// Contexts: primary, created, and the stack of current ones.
#include "softgpu/runtime/work/context.hpp"

#include "softgpu/api/work/contexts.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {

std::shared_ptr<Context> find_context(CUcontext handle) {
  require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT, "no context");
  auto context = Driver::get().work().contexts.find(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT, "not a context, or one that was destroyed");
  return context;
}

namespace {

namespace stack = runtime::context_stack;

unsigned checked_flags(unsigned flags) {
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0 && (schedule & (schedule - 1)) == 0,
          CUDA_ERROR_INVALID_VALUE, "unknown flags for a context");
  return flags;
}

CUcontext create_context(unsigned flags, CUdevice device) {
  auto& contexts = Driver::get().work().contexts;
  auto context = Context::create(Driver::get().work(), Driver::get().device(device), checked_flags(flags), false);
  const CUcontext handle = contexts.add(context);
  context->set_handle(handle);
  stack::push(handle);
  return handle;
}

// Null means the current one.
std::shared_ptr<Context> find_or_current(CUcontext handle) {
  return handle == nullptr ? current_context() : find_context(handle);
}

runtime::PrimaryContext& primary_context_of(const Context& context) {
  return Driver::get().primary_context(context.device().ordinal());
}

void require_created(const Context& context) {
  require(!context.primary(), CUDA_ERROR_INVALID_CONTEXT, "the primary context is released, not destroyed");
}

// `handle` is the context itself, or what a green one was converted to: then only that is waited for.
void synchronize(Context& context, CUcontext handle) {
  const auto green = Driver::get().work().green_contexts.find(handle);
  runtime::require_no_capture(context, green != nullptr ? green->id() : 0);
  runtime::require_unsafe_calls_allowed();
  if (green != nullptr)
    green->wait_idle();
  else
    context.wait_idle();
  runtime::trim_pools(Driver::get().memory());
  require_healthy(context);
}

void destroy_context(CUcontext handle) {
  require_created(*find_context(handle));
  const auto context = Driver::get().work().contexts.remove(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT, "the context is destroyed twice");
  if (stack::current() == handle) stack::pop();
  context->destroy(context->error() != CUDA_SUCCESS);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(context);
    *context = Driver::get().primary_context(device).retain();
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call(__func__, [&] { Driver::get().primary_context(device).release(); });
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return call(__func__, [&] { Driver::get().primary_context(device).reset(); });
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return call(__func__, [&] { Driver::get().primary_context(device).set_flags(checked_flags(flags)); });
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return call(__func__, [&] {
    require_pointer(flags);
    require_pointer(active);
    const runtime::PrimaryContext& primary = Driver::get().primary_context(device);
    *flags = primary.flags();
    *active = primary.active() ? 1 : 0;
  });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(context);
    *context = create_context(flags, device);
  });
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int affinities, unsigned flags, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(context);
    require(affinities == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "softgpu has no execution affinity");
    *context = create_context(flags, device);
  });
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(context);
    if (parameters != nullptr) {
      require(parameters->numExecAffinityParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
              "softgpu has no execution affinity");
      require(parameters->cigParams == nullptr, CUDA_ERROR_NOT_SUPPORTED, "softgpu has no CIG contexts");
    }
    *context = create_context(flags, device);
  });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return call(__func__, [&] { destroy_context(context); });
}
CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

// Of CUDA 1, still used by old programs: a context counts its users and goes with the last. The primary context counts
// those who retain it.
CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  return call_in_context(__func__, [&](Context& current) {
    require_pointer(context);
    require_no_flags(flags);
    if (current.primary())
      primary_context_of(current).retain();
    else
      current.attach();
    *context = current.handle();
  });
}

CUresult cuCtxDetach(CUcontext handle) {
  return call(__func__, [&] {
    const auto context = find_context(handle);
    require(stack::current() == handle, CUDA_ERROR_INVALID_CONTEXT,
            "the context is not the calling thread's current one");
    if (context->primary())
      primary_context_of(*context).release();
    else if (context->detach() == 0)
      destroy_context(handle);
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return call(__func__, [&] {
    find_context(context);
    stack::push(context);
  });
}
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return call(__func__, [&] {
    const CUcontext top = stack::pop();
    if (context != nullptr) *context = top;
  });
}
CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return call(__func__, [&] {
    if (context != nullptr) find_context(context);
    stack::set_current(context);
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return call(__func__, [&] {
    require_pointer(context);
    *context = stack::current();
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return call(__func__, [&] {
    require_pointer(device);
    *device = current_context()->device().ordinal();
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return call(__func__, [&] {
    require_pointer(device);
    *device = find_or_current(context)->device().ordinal();
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return call(__func__, [&] {
    require_pointer(flags);
    *flags = current_context()->flags();
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return call_in_context(__func__, [&](Context& context) { context.set_flags(checked_flags(flags)); });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return call(__func__, [&] {
    require_pointer(id);
    // Programs that keep track of contexts ask this all the time: the context is only looked at.
    const CUcontext asked = context == nullptr ? stack::current() : context;
    const bool found = Driver::get().work().contexts.peek(asked, [&](const Context& known) { *id = known.id(); });
    if (!found) find_or_current(context);  // says why not
    if (const auto green = Driver::get().work().green_contexts.find(asked)) *id = green->id();
  });
}

CUresult cuCtxSynchronize() {
  return call_in_context(__func__, [](Context& context) { synchronize(context, stack::current()); });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return call(__func__, [&] {
    const auto found = find_or_current(context);
    require_healthy(*found);
    synchronize(*found, context == nullptr ? stack::current() : context);
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return call_in_context(__func__, [&](Context& context) {
    runtime::require_unsafe_calls_allowed();
    context.set_limit(limit, value);
  });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return call_in_context(__func__, [&](const Context& context) {
    require_pointer(value);
    *value = context.limit(limit);
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call_in_context(__func__, [&](const Context& context) {
    require_pointer(config);
    *config = context.cache_config();
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return call_in_context(__func__, [&](Context& context) {
    require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE,
            "no such cache configuration");
    context.set_cache_config(config);
  });
}

// Shared memory has no banks here; the setting has had no effect on GPUs since 5.0 either.
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return call_in_context(__func__, [&](const Context&) {
    require_pointer(config);
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  });
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return call_in_context(__func__, [&](const Context&) {
    require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
            CUDA_ERROR_INVALID_VALUE, "no such shared memory configuration");
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return call(__func__, [&] {
    require_pointer(version);
    find_or_current(context);
    *version = 3020;  // of the context's interface, as the driver counts it
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call_in_context(__func__, [&](const Context&) {
    if (least != nullptr) *least = runtime::kLeastPriority;
    if (greatest != nullptr) *greatest = runtime::kGreatestPriority;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return call_in_context(__func__, [](const Context&) {});
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    const auto other = find_context(peer);
    require(&other->device() != &context.device(), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "a device is not its own peer");
    require(context.enable_peer(other->id()), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "access is enabled already");
    Driver::get().memory().allocations.note_change_of_access();
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return call_in_context(__func__, [&](Context& context) {
    require(context.disable_peer(find_context(peer)->id()), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
            "access is not enabled");
    Driver::get().memory().allocations.note_change_of_access();
  });
}

}  // extern "C"
