// The allocations of another process's pool that are mapped here.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/ipc.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/stream/resources.hpp"

namespace cuprum::core {

class OwnedPool;

/// Maps each allocation once, however often it is imported, and unmaps it when the last buffer is done with it: a
/// second mapping of pool memory would go with the first that is freed (a defect of NVIDIA's driver), and one of host
/// memory is refused. What is mapped keeps its pool, which the driver does not let go before. Threads may share it.
class PoolImports {
 public:
  /// The address of what the descriptor describes, which must be freed by let_go(). Throws InvalidArgument when the
  /// descriptor says more bytes than there are, DriverError when the driver does not know it.
  DevicePointer import(const detail::Kept<OwnedPool>& pool, const IPCBufferDescriptor& descriptor,
                       const detail::StreamResource& stream);

  /// One buffer is done with it, after what is queued on its stream.
  void let_go(DevicePointer pointer, const detail::StreamResource& stream) noexcept;

  /// What a buffer was imported by, to pass it on.
  IPCBufferDescriptor descriptor_of(DevicePointer pointer, std::size_t size) const;

 private:
  struct Mapping {
    detail::Kept<OwnedPool> pool;
    IPCBufferDescriptor descriptor;
    std::size_t extent;           ///< bytes that are mapped
    std::size_t users;            ///< buffers
    std::vector<CUevent> before;  ///< freeing: the work of the buffers that are gone
  };

  mutable std::mutex mutex_;
  std::map<DevicePointer, Mapping> mappings_;
  std::map<detail::IpcPayload, DevicePointer> addresses_;
};

}  // namespace cuprum::core
