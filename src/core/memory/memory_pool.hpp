// The inside of the memory resources that draw on a CUDA memory pool.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/memory_pool.hpp>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/closable.hpp"
#include "core/memory/pool_sharing.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

/// A pool that we created or imported.
class OwnedPool : public support::Counted<OwnedPool> {
 public:
  explicit OwnedPool(const CUmemPoolProps& properties);
  /// Takes over an imported one.
  explicit OwnedPool(CUmemoryPool handle) noexcept : handle_(handle) {}
  OwnedPool(const OwnedPool&) = delete;
  OwnedPool& operator=(const OwnedPool&) = delete;
  ~OwnedPool();
  CUmemoryPool handle() const { return handle_; }
  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle_); }

 private:
  CUmemoryPool handle_ = nullptr;
  bool is_managed_ = false;
};

/// Keeps a pool for as long as something is allocated from it. NVIDIA's driver promises to do that itself, and does not
/// where the pool is shared with other processes: pools that come later crash.
class PoolHold {
 public:
  void allocated(const detail::Kept<OwnedPool>& pool) noexcept {
    std::lock_guard lock(mutex_);
    if (count_++ == 0) pool_ = pool;
  }
  void freed() noexcept {
    detail::Kept<OwnedPool> last;  // which is let go without the lock
    std::lock_guard lock(mutex_);
    if (count_ > 0 && --count_ == 0) std::swap(last, pool_);
  }

 private:
  std::mutex mutex_;
  std::size_t count_ = 0;
  detail::Kept<OwnedPool> pool_;
};

/// What memory a pool has.
struct PoolPlace {
  CUmemLocation location;
  CUmemAllocationType type = CU_MEM_ALLOCATION_TYPE_PINNED;

  static PoolPlace of_device(int device) { return {{CU_MEM_LOCATION_TYPE_DEVICE, device}}; }
  static PoolPlace of_host() { return {{CU_MEM_LOCATION_TYPE_HOST, 0}}; }
  static PoolPlace of_numa_node(int node) { return {{CU_MEM_LOCATION_TYPE_HOST_NUMA, node}}; }

  bool is_managed() const { return type == CU_MEM_ALLOCATION_TYPE_MANAGED; }
  /// The device that the memory is on, or prefers to be on.
  std::optional<int> device() const;
};

/// Prints "memory of device 0", "page-locked host memory" and the like.
std::ostream& operator<<(std::ostream& out, const PoolPlace& place);

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

/// Memory from a CUDA pool.
class PoolMemory final : public MemoryResource::Interface {
 public:
  /// A pool that was created or imported for this.
  using Owned = Shared<core::OwnedPool>;

  /// A pool as long as an operation needs it.
  struct InUse {
    CUmemoryPool handle;
    Kept<core::OwnedPool> kept;
  };

  /// Draws on a pool of the driver's.
  PoolMemory(CUmemoryPool pool, const core::PoolPlace& place) : pool_(pool), place_(place) {}
  /// Draws on one of its own; max_size 0 is no limit.
  PoolMemory(Owned pool, const core::PoolPlace& place, std::size_t max_size,
             std::unique_ptr<core::PoolSharing> sharing);

  DevicePointer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override;
  /// On a stream that a builder captures, device memory becomes the graph's own.
  Buffer allocate_buffer(const MemoryResource& self, std::size_t size, const Stream& stream) override;
  /// A buffer of the pool's own memory, also on such a stream. `self` owns this object.
  Buffer allocate_own(const std::shared_ptr<MemoryResource::Interface>& self, std::size_t size, const Stream& stream);
  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override;
  bool is_managed() const override { return place_.is_managed(); }
  std::optional<int> device_id() const override { return place_.device(); }

  /// Throws InvalidArgument when the pool is closed.
  InUse use() const;
  /// Null when the pool is closed.
  CUmemoryPool handle() const noexcept { return is_open() ? pool_ : nullptr; }
  const core::PoolPlace& place() const { return place_; }
  bool is_owned() const { return is_open() && owned_; }
  bool is_open() const noexcept { return !owned_ || !owned_.get()->is_closed(); }
  /// Null for a pool that is not shared with other processes.
  core::PoolSharing* sharing() const { return sharing_.get(); }
  /// Lets the pool go. One of this process lives on in the driver until its buffers are freed, one that is shared or
  /// imported here.
  void close() noexcept;

 private:
  void take_back(DevicePointer pointer, std::size_t size, const Kept<StreamResource>& stream) override;
  DevicePointer allocate_on(const StreamResource& queue, std::size_t size, const Stream& stream);
  [[noreturn]] void refuse() const;
  bool is_of_another_process() const { return sharing_ && sharing_->is_mapped(); }
  [[noreturn]] void fail(CUresult code, std::size_t size, const Stream& stream) const;
  std::string state() const;

  const Owned owned_;
  const CUmemoryPool pool_;
  core::PoolPlace place_;
  std::size_t max_size_ = 0;
  std::unique_ptr<core::PoolSharing> sharing_;
  core::PoolHold hold_;  ///< of a shared pool
};

/// What attributes of a pool keep.
struct PoolInUse {
  explicit PoolInUse(std::shared_ptr<PoolMemory> the_memory) : memory(std::move(the_memory)), pool(memory->use()) {}
  const std::shared_ptr<PoolMemory> memory;
  const PoolMemory::InUse pool;
};

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::core {

/// A resource for a pool of the driver's; memory in it is kept from now on unless somebody decided otherwise.
std::shared_ptr<detail::PoolMemory> use_pool(CUmemoryPool pool, const PoolPlace& place);

/// A resource for a new pool.
std::shared_ptr<detail::PoolMemory> create_pool(const PoolPlace& place, std::size_t max_size, bool ipc_enabled);

/// A resource for an imported pool, which becomes its own.
std::shared_ptr<detail::PoolMemory> take_over_pool(CUmemoryPool pool, const PoolPlace& place,
                                                   std::unique_ptr<PoolSharing> sharing);

/// The driver's current pool for the host or for managed memory; needs CUDA 13.
CUmemoryPool current_pool(const PoolPlace& place);

}  // namespace cuprum::core
