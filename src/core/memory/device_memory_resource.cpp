#include <cuprum/device.hpp>
#include <cuprum/device_memory_resource.hpp>
#include <cuprum/error.hpp>

#include "core/base/device_facts.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/memory_pool.hpp"
#include "core/memory/peer_access.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using support::text;

std::shared_ptr<detail::PoolMemory> own_pool(int device, const DeviceMemoryResourceOptions& options) {
  const core::DeviceFacts& facts = core::device_facts(device);
  if (!facts.memory_pools) {
    throw NotSupported(text("a memory pool of its own: device ", device, " (", facts.name,
                            ") has no memory pools; use DeviceMemoryResource without options"));
  }
  return core::create_pool(core::PoolPlace::of_device(device), options.max_size, options.ipc_enabled);
}

}  // namespace

DeviceMemoryResource::DeviceMemoryResource(const Device& device)
    : MemoryPool(core::default_device_memory(device.device_id())) {}

DeviceMemoryResource::DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options)
    : MemoryPool(own_pool(device.device_id(), options)) {}

PeerAccessibleBySet DeviceMemoryResource::peer_accessible_by() const { return PeerAccessibleBySet(pool()); }

void DeviceMemoryResource::set_peer_accessible_by(const std::vector<Device>& devices) const {
  core::PeerAccess(*pool()).assign(devices);
}

}  // namespace cuprum::inline CUPRUM_ABI
