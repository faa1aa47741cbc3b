// Addresses that a program reserves, and what it maps to them (cuMemAddressReserve, cuMemMap, cuMemSetAccess).
//
// A mapping is an entry of the AllocationTable like any other memory, with the rights to it. Its pages allow what
// anybody may do; kernels of those who may do less have to ask (peer_access.hpp).
#pragma once

#include <cuda.h>

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/runtime/memory/physical_memory.hpp"

namespace softgpu::runtime {

class Devices;
struct WorkServices;

// Thread-safe. All throw CUDA_ERROR_INVALID_VALUE for ranges that are not what they have to be.
class VirtualMemory {
 public:
  VirtualMemory(WorkServices& work, const Devices& devices, memory::AddressSpace& space,
                memory::AllocationTable& allocations)
      : work_(work), devices_(devices), space_(space), allocations_(allocations) {}

  // Multiples of the granularity; an alignment of 0 is the usual one; `hint` of null: anywhere.
  std::byte* reserve(std::size_t bytes, std::size_t alignment, std::byte* hint);
  // The whole of what reserve() gave, with nothing mapped to it.
  void free(std::byte* base, std::size_t bytes);

  // The whole memory, or CUDA_ERROR_NOT_SUPPORTED. Nobody may use it until access is given.
  void map(std::byte* base, std::size_t bytes, std::size_t offset, const std::shared_ptr<PhysicalMemory>& memory);
  // All mappings of a reserved range, each whole; there may be none. Waits for what is under way.
  void unmap(std::byte* base, std::size_t bytes);

  // Of one or more mappings, each whole. Waits for what is under way when it takes rights away.
  void set_access(std::byte* base, std::size_t bytes, std::span<const CUmemAccessDesc> access);
  CUmemAccess_flags access(const std::byte* pointer, const CUmemLocation& location) const;

  // What is mapped there.
  std::shared_ptr<PhysicalMemory> mapped_at(const std::byte* pointer) const;

 private:
  void wait_without(std::unique_lock<std::mutex>& lock) const;
  void require_reserved(const std::byte* base, std::size_t bytes) const;
  std::vector<memory::Allocation> mappings_in(const std::byte* base, std::size_t bytes) const;
  std::vector<memory::Allocation> mappings_among(const std::byte* base, std::size_t bytes) const;

  WorkServices& work_;
  const Devices& devices_;
  memory::AddressSpace& space_;
  memory::AllocationTable& allocations_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::size_t> reserved_;
};

}  // namespace softgpu::runtime
