// Memory that is allocated one by one, without pools and in no stream's order.
#pragma once

#include <cuprum/memory_resource.hpp>
#include <optional>

#include "core/base/context.hpp"
#include "core/memory/taken_back.hpp"

namespace cuprum::core {

/// Device memory where there are no pools, and page-locked host memory without. The driver doesn't order freeing such
/// memory after work on streams, so that waits.
class SynchronousMemory final : public MemoryResource::Interface, public WaitsBeforeTakingBack {
 public:
  /// On a device, or page-locked on the host; whether because a pool that was asked for can't be had.
  explicit SynchronousMemory(std::optional<int> device, bool is_in_place_of_pool = false)
      : device_(device), is_in_place_of_pool_(is_in_place_of_pool) {}

  DevicePointer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return !device_; }
  std::optional<int> device_id() const override { return device_; }

  bool is_in_place_of_pool() const { return is_in_place_of_pool_; }

  /// Without waiting. Throws when the driver refuses.
  void free(DevicePointer pointer) const;

 private:
  ContextChoice context_for(const ContextChoice& stream) const;
  void take_back(DevicePointer pointer, std::size_t size, const detail::Kept<detail::StreamResource>& stream) override;
  std::optional<int> device_;
  bool is_in_place_of_pool_;
};

}  // namespace cuprum::core
