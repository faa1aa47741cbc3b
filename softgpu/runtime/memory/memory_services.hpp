// What memory operations need of the process: one of it for all of them.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <vector>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/base/devices.hpp"
#include "softgpu/runtime/base/handles.hpp"
#include "softgpu/runtime/memory/managed_pages.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {

class Array;
class ExternalMemory;
class MemoryPool;
class MipmappedArray;
class PhysicalMemory;

// What CUmemGenericAllocationHandle, a number, is to the table of handles.
using PhysicalHandle = struct PhysicalHandle_st*;

// Thread-safe, but for what is to be set up before anything is allocated.
struct MemoryServices {
  MemoryServices(WorkServices& work_services, const Devices& all_devices, memory::AddressSpace& address_space);

  // That of a device, or the host's.
  const std::shared_ptr<memory::Heap>& heap_of(const CUmemLocation& location) const;

  WorkServices& work;
  const Devices& devices;
  memory::AddressSpace& space;
  memory::AllocationTable allocations;
  const std::shared_ptr<memory::Heap> host_heap;
  ManagedPages managed_pages;
  HandleTable<CUmemoryPool, MemoryPool> pools;
  HandleTable<PhysicalHandle, PhysicalMemory> physical_memory;
  HandleTable<CUexternalMemory, ExternalMemory> external_memory;
  HandleTable<CUarray, Array> arrays;
  HandleTable<CUmipmappedArray, MipmappedArray> mipmapped_arrays;
  // How others give back memory that they hold and don't use, when there is no more. Set up at the start.
  std::vector<std::function<void()>> reclaimers;
};

}  // namespace softgpu::runtime
