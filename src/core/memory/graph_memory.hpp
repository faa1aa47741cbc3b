#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/memory_resource.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/stream/resources.hpp"

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

/// The buffers' addresses that nodes of the graph allocate: those that nobody has given back yet.
std::vector<DevicePointer> buffers_allocated_by(CUgraph graph);
/// Notes that an executable graph which allocates them was launched, behind which they are to be freed.
void note_launch(const std::vector<DevicePointer>& buffers, const detail::Kept<detail::StreamResource>& stream);

/// The one of a device; never destroyed.
const std::shared_ptr<GraphMemory>& graph_memory(int device);

}  // namespace cuprum::core
