// Which pool memory comes from: for each location and type of allocation a default pool, and the current one.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace softgpu::runtime {

class MemoryPool;
struct MemoryServices;

// Thread-safe. Default pools are made when they are first asked for, and stay.
class CurrentPools {
 public:
  explicit CurrentPools(MemoryServices& services) : services_(services) {}

  // All throw CUDA_ERROR_INVALID_VALUE or CUDA_ERROR_INVALID_DEVICE where there can be no pool.
  std::shared_ptr<MemoryPool> default_of(const CUmemLocation& location, CUmemAllocationType type);
  std::shared_ptr<MemoryPool> current(const CUmemLocation& location, CUmemAllocationType type);
  // The pool has to be of that location and type.
  void set_current(const CUmemLocation& location, CUmemAllocationType type, std::shared_ptr<MemoryPool> pool);
  // Where the pool is current, the default one is again.
  void forget(const MemoryPool& pool);

  std::shared_ptr<MemoryPool> default_of_device(CUdevice device);
  std::shared_ptr<MemoryPool> current_of_device(CUdevice device);
  void set_current_of_device(CUdevice device, std::shared_ptr<MemoryPool> pool);

 private:
  struct Pools {
    std::shared_ptr<MemoryPool> by_default, current;
  };
  using Key = std::tuple<CUmemAllocationType, CUmemLocationType, int>;

  std::shared_ptr<MemoryPool> make_default(const CUmemLocation& location, CUmemAllocationType type);
  Pools& pools_of(const CUmemLocation& location, CUmemAllocationType type);

  MemoryServices& services_;
  std::mutex mutex_;
  std::map<Key, Pools> pools_;
};

}  // namespace softgpu::runtime
