#include "core/memory/default_memory.hpp"

#include <array>
#include <atomic>
#include <cuprum/device.hpp>
#include <map>
#include <mutex>

#include "core/base/context.hpp"
#include "core/base/device_facts.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/memory_pool.hpp"
#include "core/memory/synchronous_memory.hpp"
#include "core/stream/captures.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using detail::PoolMemory;
using driver::Api;
using driver::Doing;
using support::text;

using Memory = std::shared_ptr<MemoryResource::Interface>;

/// What Device::memory_resource() gives.
struct DeviceMemory {
  explicit DeviceMemory(const Memory& memory, bool the_is_permanent)
      : original(memory),
        is_permanent(the_is_permanent),
        permanent_pool(the_is_permanent ? dynamic_cast<PoolMemory*>(memory.get()) : nullptr),
        chosen(memory) {}

  Buffer allocate(std::size_t size, const Stream& stream) const {
    return permanent_pool ? permanent_pool->allocate_own(uncounted, size, stream)
                          : detail::allocate_buffer(uncounted, size, stream);
  }

  Memory original;  ///< what it gives when nobody sets another
  /// Not so for a pool that somebody made and put into the place of the driver's own: they may destroy it, so it is
  /// looked for each time.
  const bool is_permanent;
  PoolMemory* const permanent_pool;              ///< the original, where that is one
  const Memory uncounted{Memory(), &*original};  ///< for buffers: what is permanent they need not count
  MemoryResource chosen;
};

/// Made at first use, never destroyed, because buffers in static variables may still refer to it.
struct Defaults {
  std::mutex mutex;
  std::map<int, Memory> device;
  Memory pinned;
  std::map<int, DeviceMemory> in_force;  ///< entries are never removed, and permanent ones stay as they are

  /// Devices whose original resource is in force, by their number: found without the lock.
  std::array<std::atomic<const DeviceMemory*>, 64> original{};
};

Defaults& defaults() {
  static Defaults& defaults = *new Defaults;
  return defaults;
}

CUmemoryPool current_device_pool(int device) {
  primary_context(device);  // pools need an initialised device
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuDeviceGetMemPool>(
      Doing{[&] { return text("finding the current memory pool of device ", device); }}, &pool, device);
  return pool;
}

/// Whether what default_device_memory() gives can't go away: there are no pools, or it is the pool that the driver has
/// as long as it runs.
bool is_permanent(int device, const MemoryResource::Interface& memory) {
  const auto* pool = dynamic_cast<const PoolMemory*>(&memory);
  if (!pool) return true;
  CUmemoryPool own = nullptr;
  driver::call<&Api::cuDeviceGetDefaultMemPool>(
      Doing{[&] { return text("finding the driver's own memory pool of device ", device); }}, &own, device);
  return pool->handle() == own;
}

/// `known` if it draws on that pool, so that resources for one pool are equal.
Memory for_pool(Memory& known, CUmemoryPool pool, const PoolPlace& place) {
  std::lock_guard lock(defaults().mutex);
  const auto* memory = static_cast<const PoolMemory*>(known.get());
  if (!memory || memory->handle() != pool) known = use_pool(pool, place);
  return known;
}

Memory for_no_pool(Memory& known, std::optional<int> device) {
  std::lock_guard lock(defaults().mutex);
  if (!known) known = std::make_shared<SynchronousMemory>(device, true);
  return known;
}

Memory& slot_of(int device) {
  std::lock_guard lock(defaults().mutex);
  return defaults().device[device];
}

}  // namespace

Memory default_device_memory(int device) {
  if (!device_facts(device).memory_pools) return for_no_pool(slot_of(device), device);
  return for_pool(slot_of(device), current_device_pool(device), PoolPlace::of_device(device));
}

Memory default_pinned_memory() {
  if (device_count() == 0 || !device_facts(0).host_memory_pools) return for_no_pool(defaults().pinned, std::nullopt);
  return for_pool(defaults().pinned, current_pool(PoolPlace::of_host()), PoolPlace::of_host());
}

namespace {

/// The lock must be held.
void publish(std::size_t device, const DeviceMemory& memory) {
  if (device >= defaults().original.size()) return;
  const bool is_original = memory.is_permanent && memory.chosen.implementation() == memory.original;
  defaults().original[device].store(is_original ? &memory : nullptr, std::memory_order_release);
}

DeviceMemory& in_force(int device, std::unique_lock<std::mutex>& lock) {
  auto& known = defaults().in_force;
  const auto found = known.find(device);
  if (found != known.end() && found->second.is_permanent) return found->second;
  lock.unlock();
  Memory memory = default_device_memory(device);
  const bool permanent = is_permanent(device, *memory);
  lock.lock();
  DeviceMemory& entry = known.try_emplace(device, memory, permanent).first->second;
  if (!entry.is_permanent && entry.original != memory) {
    if (entry.chosen.implementation() == entry.original) entry.chosen = MemoryResource(memory);
    entry.original = memory;
  }
  publish(static_cast<std::size_t>(device), entry);
  return entry;
}

}  // namespace

MemoryResource memory_resource_of(int device) {
  std::unique_lock lock(defaults().mutex);
  return in_force(device, lock).chosen;
}

void set_memory_resource_of(int device, MemoryResource resource) {
  std::unique_lock lock(defaults().mutex);
  DeviceMemory& entry = in_force(device, lock);
  std::swap(entry.chosen, resource);  // what it was before goes when the lock is released
  publish(static_cast<std::size_t>(device), entry);
}

Buffer allocate_on(int device, std::size_t size, const Stream& stream) {
  auto& original = defaults().original;
  if (static_cast<std::size_t>(device) < original.size()) {
    const DeviceMemory* memory = original[static_cast<std::size_t>(device)].load(std::memory_order_acquire);
    if (memory && !is_something_captured()) return memory->allocate(size, stream);
  }
  return memory_resource_of(device).allocate(size, stream);
}

Stream default_stream_of(const MemoryResource& resource) {
  const std::optional<int> device = resource.device_id();
  return (device ? detail::Access::device(*device) : Device()).default_stream();
}

}  // namespace cuprum::core
