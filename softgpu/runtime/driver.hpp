// The driver itself: what cuInit sets up and everything else hangs on.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "softgpu/exec/pool.hpp"
#include "softgpu/jit/object_cache.hpp"
#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/base/handles.hpp"
#include "softgpu/runtime/graphs/graph_memory.hpp"
#include "softgpu/runtime/memory/current_pools.hpp"
#include "softgpu/runtime/memory/managed_memory.hpp"
#include "softgpu/runtime/memory/virtual_memory.hpp"
#include "softgpu/runtime/work/host_functions.hpp"
#include "softgpu/runtime/work/value_waits.hpp"

namespace softgpu::runtime {

class Array;
class Context;
class Device;
class Event;
class Function;
class Graph;
class GraphExec;
class GraphNode;
class Kernel;
class Library;
class Link;
class MemoryPool;
class MipmappedArray;
class Module;
class Stream;
class UserObject;

struct Handles {
  HandleTable<CUcontext, Context> contexts;
  HandleTable<CUstream, Stream> streams;
  HandleTable<CUevent, Event> events;
  HandleTable<CUmemoryPool, MemoryPool> pools;
  HandleTable<PhysicalHandle, PhysicalMemory> physical_memory;
  HandleTable<CUarray, Array> arrays;
  HandleTable<CUmipmappedArray, MipmappedArray> mipmapped_arrays;
  HandleTable<CUmodule, Module> modules;
  HandleTable<CUfunction, Function> functions;
  HandleTable<CUlibrary, Library> libraries;
  HandleTable<CUkernel, Kernel> kernels;
  HandleTable<CUlinkState, Link> links;
  HandleTable<CUgraph, Graph> graphs;
  HandleTable<CUgraphNode, GraphNode> graph_nodes;
  HandleTable<CUgraphExec, GraphExec> graph_execs;
  HandleTable<CUuserObject, UserObject> user_objects;
};

class Driver {
 public:
  // cuInit. Reads the settings once; later calls return what the first one did. Never throws.
  static CUresult initialize();
  // Why the driver can't be used now: not initialised, or this process was forked from the one that did. Else success.
  static CUresult state();
  // Only where state() is success. The one instance is never destroyed, so that exit() waits for nothing.
  static Driver& get();
  // Also before cuInit.
  static const Trace& trace();

  const Config& config() const { return config_; }
  exec::Pool& pool() { return pool_; }
  HostFunctions& host_functions() { return host_functions_; }
  ValueWaits& value_waits() { return value_waits_; }
  memory::AddressSpace& address_space() { return space_; }
  memory::AllocationTable& allocations() { return allocations_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  ManagedPages& managed_pages() { return managed_pages_; }
  Handles& handles() { return handles_; }

  int device_count() const { return static_cast<int>(devices_.size()); }
  Device& device(int ordinal) const;  // throws CUDA_ERROR_INVALID_DEVICE

  const std::shared_ptr<jit::ObjectCache>& object_cache() const { return object_cache_; }

  const std::shared_ptr<memory::Heap>& host_heap() const { return host_heap_; }
  CurrentPools& pools() { return pools_; }
  GraphMemory& graph_memory() { return graph_memory_; }

 private:
  explicit Driver(Config config);

  const Config config_;
  memory::AddressSpace space_;
  memory::AllocationTable allocations_;
  VirtualMemory virtual_memory_;
  ManagedPages managed_pages_;
  exec::Pool pool_;
  HostFunctions host_functions_;
  ValueWaits value_waits_;
  Handles handles_;
  const std::shared_ptr<jit::ObjectCache> object_cache_;
  std::shared_ptr<memory::Heap> host_heap_;
  CurrentPools pools_;
  GraphMemory graph_memory_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace softgpu::runtime
