// CUDA memory pools: what DeviceMemoryResource, PinnedMemoryResource and ManagedMemoryResource have in common.
//
//   DeviceMemoryResource pool(device, {.max_size = 1 << 30});
//   pool.attributes().set_release_threshold(0);          // give memory back at every synchronisation
//   std::cout << pool.attributes().used_mem_high();
//   pool.trim();                                          // give it back now
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/uuid.hpp>
#include <iosfwd>
#include <memory>
#include <optional>

namespace cuprum::inline CUPRUM_ABI {

namespace detail {
struct PoolInUse;
}

/// The attributes of a pool, read from and written to the driver at each call. Keeps the pool alive, also when it is
/// closed; threads may share it. All functions throw DriverError when the driver refuses.
class CUPRUM_API MemoryPoolAttributes {
 public:
  /// Whether memory that was freed on one stream may be reused on another that waited for an event after the free.
  bool reuse_follow_event_dependencies() const;
  /// New pools have it on.
  void set_reuse_follow_event_dependencies(bool allowed) const;

  /// Whether memory whose free is already done may be reused on any stream.
  bool reuse_allow_opportunistic() const;
  /// New pools have it on.
  void set_reuse_allow_opportunistic(bool allowed) const;

  /// Whether the driver may make one stream wait for another to reuse what is freed there.
  bool reuse_allow_internal_dependencies() const;
  /// New pools have it on.
  void set_reuse_allow_internal_dependencies(bool allowed) const;

  /// Bytes that the pool keeps when the stream, event or context is synchronised, instead of giving them back to the
  /// system. The library sets this to the maximum for pools where it finds 0.
  std::uint64_t release_threshold() const;
  /// 0 gives back all that is not in use.
  void set_release_threshold(std::uint64_t bytes) const;

  /// Bytes that the pool holds.
  std::uint64_t reserved_mem_current() const;
  /// The most it has held since the mark was reset.
  std::uint64_t reserved_mem_high() const;
  /// Sets that mark to what the pool holds now.
  void reset_reserved_mem_high() const;

  /// Bytes that are allocated from the pool.
  std::uint64_t used_mem_current() const;
  /// The most there have been since the mark was reset.
  std::uint64_t used_mem_high() const;
  /// Sets that mark to what is allocated now.
  void reset_used_mem_high() const;

 private:
  friend class MemoryPool;
  explicit MemoryPoolAttributes(std::shared_ptr<const detail::PoolInUse> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<const detail::PoolInUse> pool_;
};

/// Prints each attribute as "name=value".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const MemoryPoolAttributes& attributes);

/// A memory resource that allocates in stream order from a CUDA memory pool, either one of the driver's or its own.
/// Where the driver has no pools, resources for the driver's pool allocate one by one, and everything declared here
/// throws NotSupported.
class CUPRUM_API MemoryPool : public MemoryResource {
 public:
  /// What the pool keeps, reuses and has given out.
  MemoryPoolAttributes attributes() const;

  /// Gives memory that is not in use back to the system, except for the last `min_bytes_to_keep` of it.
  void trim(std::size_t min_bytes_to_keep = 0) const;

  /// Null when the pool is closed or the handle empty.
  CUmemPoolHandle_st* handle() const;

  /// Whether the pool was made for this resource; else it is one of the driver's.
  bool is_handle_owned() const;

  /// Whether the pool and its buffers can be shared with other processes.
  bool is_ipc_enabled() const;

  /// Whether this is another process's pool: buffers can be imported from it, not allocated.
  bool is_mapped() const;

  /// Tells the pools that processes share apart; none when is_ipc_enabled() is false.
  std::optional<Uuid> uuid() const;

  /// For other processes, which can map the pool's memory by it: the resource's own file descriptor, to be sent once to
  /// each. Throws InvalidArgument unless is_ipc_enabled(). For an imported pool it is that of the exporting process.
  IPCAllocationHandle allocation_handle() const;

  /// Destroys a pool of its own for all copies; later allocations throw InvalidArgument. Buffers and attributes() that
  /// are there stay valid, the memory goes when the last buffer is freed. A pool of the driver's stays as it is.
  /// Closing twice does nothing.
  void close();

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 protected:
  friend class Buffer;
  friend class MemoryResource;
  /// For the kinds of pools, which have made one.
  explicit MemoryPool(std::shared_ptr<MemoryResource::Interface> implementation)
      : MemoryResource(std::move(implementation)) {}
  /// The pool behind it. Throws NotSupported where memory is allocated one by one.
  std::shared_ptr<detail::PoolMemory> pool() const;
};

}  // namespace cuprum::inline CUPRUM_ABI
