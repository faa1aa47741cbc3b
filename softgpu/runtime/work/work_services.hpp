// What contexts, streams and events need of the process: one of it for all of them.
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

#include "softgpu/exec/pool.hpp"
#include "softgpu/runtime/base/handles.hpp"
#include "softgpu/runtime/work/device_resources.hpp"
#include "softgpu/runtime/work/green_context.hpp"
#include "softgpu/runtime/work/host_functions.hpp"
#include "softgpu/runtime/work/value_waits.hpp"
#include "softgpu/usage/fault_log.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::runtime {

class Context;
class Event;
class ExternalSemaphore;
class Stream;

// Thread-safe, but for what is to be set up before there is a context.
struct WorkServices {
  WorkServices(unsigned workers, usage::Page& page) : usage(page), pool({.workers = workers, .usage = &page}) {}

  // Blocks until everything in all streams of all contexts is done.
  void wait_for_all_contexts();

  // Tells those who watch the machine's devices.
  void note_fault(int device, std::uint32_t xid) const noexcept {
    faults.note({usage.pid_namespace, usage.unit[static_cast<std::size_t>(device)], xid});
  }

  usage::Page& usage;  // what others see of this process
  usage::FaultLog faults;
  exec::Pool pool;
  HostFunctions host_functions;
  ValueWaits value_waits;
  HandleTable<CUcontext, Context> contexts;
  GreenContexts green_contexts{contexts};
  ResourceBook resources;
  HandleTable<CUstream, Stream> streams;
  HandleTable<CUevent, Event> events;
  HandleTable<CUexternalSemaphore, ExternalSemaphore> external_semaphores;
  // How others give up what they hold of a context that ends and has no work left, in this order. Set up at the start.
  std::vector<std::function<void(Context&)>> at_context_end;
};

}  // namespace softgpu::runtime
