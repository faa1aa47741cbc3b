// The library's own memory resources.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/memory_resource.hpp>
#include <memory>

#include "support/counted.hpp"

namespace cuprum::core {

/// A pool that we created.
class OwnedPool : public support::Counted<OwnedPool> {
 public:
  explicit OwnedPool(const CUmemPoolProps& properties);
  OwnedPool(const OwnedPool&) = delete;
  OwnedPool& operator=(const OwnedPool&) = delete;
  ~OwnedPool();
  CUmemoryPool handle() const { return handle_; }

 private:
  CUmemoryPool handle_ = nullptr;
};

/// What Device::memory_resource() gives.
MemoryResource memory_resource_of(int device);
void set_memory_resource_of(int device, const MemoryResource& resource);

}  // namespace cuprum::core
