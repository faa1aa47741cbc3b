#include "core/memory_pools.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/context.hpp"
#include "core/device_facts.hpp"
#include "core/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using detail::Access;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

/// Where memory is: a device, or the host and all devices.
struct Place {
  std::optional<int> device;
  bool is_host() const { return !device.has_value(); }
};

std::ostream& operator<<(std::ostream& out, const Place& place) {
  if (place.is_host()) return out << "page-locked host memory";
  return out << "memory of device " << *place.device;
}

/// Memory from a CUDA pool.
class PoolMemory : public MemoryResource::Interface {
 public:
  PoolMemory(CUmemoryPool pool, Place place) : pool_(pool), place_(place) {}
  PoolMemory(std::unique_ptr<OwnedPool> pool, Place place)
      : owned_(std::move(pool)), pool_(owned_->handle()), place_(place) {}

  DevicePointer allocate(std::size_t size, const Stream& stream) override {
    const StreamResource& queue = *Access::resource(stream);
    ContextGuard guard(queue.context());
    CUdeviceptr pointer = 0;
    driver::call<&Api::cuMemAllocFromPoolAsync>(
        Doing{[&] { return text("allocating ", size, " bytes of ", place_, " on ", stream); }}, &pointer, size, pool_,
        queue.handle);
    return pointer;
  }

  void deallocate(DevicePointer pointer, std::size_t, const Stream& stream) override {
    const StreamResource& queue = *Access::resource(stream);
    if (ContextGuard guard(queue.context(), std::nothrow); guard.entered()) {
      driver::release<&Api::cuMemFreeAsync>(pointer, queue.handle);
    }
  }

  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return place_.is_host(); }
  std::optional<int> device_id() const override { return place_.device; }

 private:
  std::unique_ptr<OwnedPool> owned_;
  CUmemoryPool pool_;
  Place place_;
};

/// For drivers and devices without pools: allocations one by one. The driver doesn't order freeing such memory after
/// work on streams, so that waits.
class UnpooledMemory : public MemoryResource::Interface {
 public:
  explicit UnpooledMemory(Place place) : place_(place) {}

  DevicePointer allocate(std::size_t size, const Stream& stream) override {
    ContextGuard guard(Access::resource(stream)->context());
    Doing doing{[&] { return text("allocating ", size, " bytes of ", place_); }};
    if (place_.is_host()) {
      void* pointer = nullptr;
      driver::call<&Api::cuMemHostAlloc>(doing, &pointer, size,
                                         static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
      return reinterpret_cast<DevicePointer>(pointer);
    }
    CUdeviceptr pointer = 0;
    driver::call<&Api::cuMemAlloc>(doing, &pointer, size);
    return pointer;
  }

  void deallocate(DevicePointer pointer, std::size_t, const Stream& stream) override {
    const StreamResource& queue = *Access::resource(stream);
    ContextGuard guard(queue.context(), std::nothrow);
    if (!guard.entered()) return;
    driver::release<&Api::cuStreamSynchronize>(queue.handle);
    if (place_.is_host()) {
      driver::release<&Api::cuMemFreeHost>(reinterpret_cast<void*>(pointer));
    } else {
      driver::release<&Api::cuMemFree>(pointer);
    }
  }

  bool is_device_accessible() const override { return true; }
  bool is_host_accessible() const override { return place_.is_host(); }
  std::optional<int> device_id() const override { return place_.device; }

 private:
  Place place_;
};

CUmemPoolProps pool_properties(CUmemLocation location, std::size_t max_size) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location;
  properties.maxSize = max_size;
  return properties;
}

// By default a pool gives its memory back to the system at every synchronisation. Keeping it is what makes allocating
// cheap; somebody else's setting is left alone.
void keep_memory(CUmemoryPool pool) {
  cuuint64_t threshold = 0;
  driver::call<&Api::cuMemPoolGetAttribute>(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
  if (threshold != 0) return;
  threshold = std::numeric_limits<cuuint64_t>::max();
  driver::call<&Api::cuMemPoolSetAttribute>(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

// A pool of host memory may be accessible from the host only at first.
void open_to_all_devices(CUmemoryPool pool) {
  std::vector<CUmemAccessDesc> missing;
  for (int device = 0; device < device_count(); ++device) {
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    driver::call<&Api::cuMemPoolGetAccess>(
        Doing{[&] { return text("asking whether device ", device, " can access a host memory pool"); }}, &access, pool,
        &location);
    if (access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) missing.push_back({location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  if (missing.empty()) return;
  driver::call<&Api::cuMemPoolSetAccess>(Doing{[&] { return "opening a host memory pool to the devices"; }}, pool,
                                         missing.data(), missing.size());
}

std::shared_ptr<MemoryResource::Interface> default_device_memory(int device) {
  if (!device_facts(device).memory_pools) return std::make_shared<UnpooledMemory>(Place{device});
  primary_context(device);  // pools need an initialised device
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuDeviceGetDefaultMemPool>(
      Doing{[&] { return text("finding the default memory pool of device ", device); }}, &pool, device);
  keep_memory(pool);
  return std::make_shared<PoolMemory>(pool, Place{device});
}

std::shared_ptr<MemoryResource::Interface> own_device_memory(int device, std::size_t max_size) {
  if (!device_facts(device).memory_pools) {
    throw NotSupported(text("a memory pool of its own: device ", device, " (", device_facts(device).name,
                            ") has no memory pools; use DeviceMemoryResource without options"));
  }
  primary_context(device);
  auto pool = std::make_unique<OwnedPool>(pool_properties({CU_MEM_LOCATION_TYPE_DEVICE, device}, max_size));
  keep_memory(pool->handle());
  return std::make_shared<PoolMemory>(std::move(pool), Place{device});
}

bool host_pools_exist() { return device_count() > 0 && device_facts(0).host_memory_pools; }

std::shared_ptr<MemoryResource::Interface> default_pinned_memory() {
  if (!host_pools_exist()) return std::make_shared<UnpooledMemory>(Place{});
  primary_context(0);
  CUmemLocation location{CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool pool = nullptr;
  driver::call<&Api::cuMemGetDefaultMemPool>(Doing{[&] { return "finding the default memory pool of the host"; }},
                                             &pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
  open_to_all_devices(pool);
  keep_memory(pool);
  return std::make_shared<PoolMemory>(pool, Place{});
}

std::shared_ptr<MemoryResource::Interface> own_pinned_memory(std::size_t max_size) {
  if (!host_pools_exist()) {
    throw NotSupported(
        "a host memory pool of its own needs a driver of CUDA 13.0 or newer; use PinnedMemoryResource without options");
  }
  primary_context(0);
  auto pool = std::make_unique<OwnedPool>(pool_properties({CU_MEM_LOCATION_TYPE_HOST, 0}, max_size));
  open_to_all_devices(pool->handle());
  keep_memory(pool->handle());
  return std::make_shared<PoolMemory>(std::move(pool), Place{});
}

/// What is there once per process: made at first use, never destroyed, because buffers in static variables may still
/// refer to it.
struct Defaults {
  std::mutex mutex;
  std::map<int, std::shared_ptr<MemoryResource::Interface>> device;  ///< by default
  std::map<int, MemoryResource> chosen;                              ///< by Device::set_memory_resource
  std::shared_ptr<MemoryResource::Interface> pinned;
};

Defaults& defaults() {
  static Defaults& defaults = *new Defaults;
  return defaults;
}

std::shared_ptr<MemoryResource::Interface> shared_device_memory(int device) {
  std::lock_guard lock(defaults().mutex);
  auto& memory = defaults().device[device];
  if (!memory) memory = default_device_memory(device);
  return memory;
}

std::shared_ptr<MemoryResource::Interface> shared_pinned_memory() {
  std::lock_guard lock(defaults().mutex);
  auto& memory = defaults().pinned;
  if (!memory) memory = default_pinned_memory();
  return memory;
}

}  // namespace

OwnedPool::OwnedPool(const CUmemPoolProps& properties) {
  driver::call<&Api::cuMemPoolCreate>(
      Doing{[&] { return text("creating a memory pool of at most ", properties.maxSize, " bytes"); }}, &handle_,
      &properties);
}

OwnedPool::~OwnedPool() { driver::release<&Api::cuMemPoolDestroy>(handle_); }

MemoryResource memory_resource_of(int device) {
  {
    std::lock_guard lock(defaults().mutex);
    if (auto chosen = defaults().chosen.find(device); chosen != defaults().chosen.end()) return chosen->second;
  }
  return MemoryResource(shared_device_memory(device));
}

void set_memory_resource_of(int device, const MemoryResource& resource) {
  std::lock_guard lock(defaults().mutex);
  defaults().chosen.insert_or_assign(device, resource);
}

}  // namespace cuprum::core

namespace cuprum {

DeviceMemoryResource::DeviceMemoryResource(const Device& device)
    : MemoryResource(core::shared_device_memory(device.device_id())) {}

DeviceMemoryResource::DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options)
    : MemoryResource(core::own_device_memory(device.device_id(), options.max_size)) {}

PinnedMemoryResource::PinnedMemoryResource() : MemoryResource(core::shared_pinned_memory()) {}

PinnedMemoryResource::PinnedMemoryResource(const PinnedMemoryResourceOptions& options)
    : MemoryResource(core::own_pinned_memory(options.max_size)) {}

}  // namespace cuprum
