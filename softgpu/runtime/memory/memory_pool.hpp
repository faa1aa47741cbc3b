// A CUmemoryPool: stream-ordered memory on a device or on the host, with the attributes that programs set and read.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/memory/ordered_pool.hpp"
#include "softgpu/memory/shared_heap.hpp"

namespace softgpu::runtime {

class Devices;
struct MemoryServices;
class Stream;

class MemoryPool final : public memory::OrderedPool, public std::enable_shared_from_this<MemoryPool> {
 public:
  MemoryPool(const Devices& devices, std::shared_ptr<memory::Heap> heap, const CUmemPoolProps& properties);

  CUmemLocation location() const { return location_; }
  CUmemAllocationType type() const { return type_; }
  // Whose memory other processes can import; null: they can't.
  const std::shared_ptr<memory::SharedHeap>& shared_heap() const { return shared_heap_; }
  unsigned handle_types() const { return shared_heap_ != nullptr ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0; }
  // Whose memory is another process's, and from which nothing can be allocated; null: it is this process's.
  const std::shared_ptr<memory::ImportedHeap>& imported_heap() const { return imported_heap_; }
  memory::Kind kind() const;
  bool is_default() const { return is_default_; }
  void mark_default() { is_default_ = true; }

  CUmemoryPool handle() const { return handle_; }
  void set_handle(CUmemoryPool handle) { handle_ = handle; }

  // Values as cuMemPoolGetAttribute and cuMemPoolSetAttribute pass them: int for the reuse flags, else cuuint64_t.
  void get_attribute(CUmemPool_attribute attribute, void* value) const;
  void set_attribute(CUmemPool_attribute attribute, const void* value);

  // Who may use its memory: see peer_access.hpp for kernels.
  // All of them are set or, when one is wrong, none.
  void set_access(std::span<const CUmemAccessDesc> accesses);
  CUmemAccess_flags access(const CUmemLocation& location) const;

 private:
  void check_access(const CUmemLocation& location, CUmemAccess_flags flags) const;

  const Devices& devices_;  // that may be given access
  const CUmemLocation location_;
  const CUmemAllocationType type_;
  const std::shared_ptr<memory::SharedHeap> shared_heap_;
  const std::shared_ptr<memory::ImportedHeap> imported_heap_;
  CUmemoryPool handle_ = nullptr;
  bool is_default_ = false;
  mutable std::mutex access_mutex_;
  std::map<int, CUmemAccess_flags> device_access_;  // of devices other than its own
};

// Both are for streams that are not captured, and for memory that is not a graph's (graphs/submit.hpp).
// Stream-ordered allocation: usable in `stream` from here on. No bytes at all get an address, too.
CUdeviceptr allocate_async(MemoryServices& services, MemoryPool& pool, std::size_t bytes, Stream& stream);
// Frees stream-ordered memory and also that of cuMemAlloc when `stream` gets there.
void free_async(MemoryServices& services, CUdeviceptr pointer, Stream& stream);
// After a host thread has synchronised: what was freed before is free for all, and goes back above the thresholds.
void trim_pools(const MemoryServices& services);
// Gives back what no pool and no graph needs, for somebody who needs it more.
void reclaim_memory(const MemoryServices& services);

// Calls allocate(); when there is no memory, once more after taking back what pools hold but don't use.
template <typename Allocate>
auto with_reclaiming(const MemoryServices& services, Allocate&& allocate) {
  try {
    return allocate();
  } catch (const memory::OutOfMemory&) {
    reclaim_memory(services);
    return allocate();
  }
}

}  // namespace softgpu::runtime
