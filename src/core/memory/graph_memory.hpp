#pragma once

#include <cuprum/memory_resource.hpp>
#include <memory>
#include <optional>

namespace cuprum::core {

/// Memory that becomes part of graphs.
class GraphMemory final : public MemoryResource::Interface {
 public:
  explicit GraphMemory(int device) : device_(device) {}

  DevicePointer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override;
  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return false; }
  std::optional<int> device_id() const override { return device_; }

 private:
  int device_;
};

/// The one of a device; never destroyed.
const std::shared_ptr<GraphMemory>& graph_memory(int device);

}  // namespace cuprum::core
