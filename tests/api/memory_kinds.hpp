// Every kind of memory resource, for suites that hold for all of them.
#pragma once

#include <atomic>
#include <ostream>
#include <span>

#include "api/fixture.hpp"

namespace cuprum::tests {

/// A user's own resource: counts what goes through it.
class CountingMemory : public MemoryResource::Interface {
 public:
  explicit CountingMemory(const MemoryResource& upstream) : upstream_(upstream.implementation()) {}
  DevicePointer allocate(std::size_t size, const Stream& stream) override {
    const DevicePointer pointer = upstream_->allocate(size, stream);
    ++allocations;
    return pointer;
  }
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override {
    --allocations;
    freed_on = stream.handle();
    upstream_->deallocate(pointer, size, stream);
  }
  bool is_device_accessible() const override { return upstream_->is_device_accessible(); }
  bool is_host_accessible() const override { return upstream_->is_host_accessible(); }
  std::optional<int> device_id() const override { return upstream_->device_id(); }

  // Threads share a resource, so a user's own has to bear that.
  std::atomic<int> allocations = 0;
  std::atomic<CUstream_st*> freed_on = nullptr;  ///< by the last deallocate()

 private:
  std::shared_ptr<MemoryResource::Interface> upstream_;
};

struct MemoryKind {
  const char* name;
  bool on_host;    ///< the host can access it
  bool on_device;  ///< it is a device's, so it has a device_id()
  bool is_managed;
  bool is_ordered;  ///< by streams: it can be freed while it is in use
  MemoryResource (*make)(const Device&);
};

inline void PrintTo(const MemoryKind& kind, std::ostream* out) { *out << kind.name; }

inline const MemoryKind memory_kinds[] = {
    {"Device", false, true, false, true,
     [](const Device& device) -> MemoryResource { return DeviceMemoryResource(device); }},
    {"DevicePool", false, true, false, true,
     [](const Device& device) -> MemoryResource { return DeviceMemoryResource(device, {.max_size = 1 << 26}); }},
    {"Pinned", true, false, false, true, [](const Device&) -> MemoryResource { return PinnedMemoryResource(); }},
    {"PinnedPool", true, false, false, true,
     [](const Device&) -> MemoryResource { return PinnedMemoryResource({.max_size = 1 << 26}); }},
    {"PinnedNuma", true, false, false, true,
     [](const Device&) -> MemoryResource { return PinnedMemoryResource({.numa_id = 0}); }},
    {"LegacyPinned", true, false, false, false,
     [](const Device&) -> MemoryResource { return LegacyPinnedMemoryResource(); }},
    {"Managed", true, false, true, true, [](const Device&) -> MemoryResource { return ManagedMemoryResource(); }},
    {"ManagedOnDevice", true, true, true, true,
     [](const Device& device) -> MemoryResource {
       return ManagedMemoryResource({.preferred_location = device.device_id()});
     }},
    {"ManagedOnHost", true, false, true, true,
     [](const Device&) -> MemoryResource {
       return ManagedMemoryResource({.preferred_location_type = ManagedMemoryLocationType::host});
     }},
    {"Virtual", false, true, false, false,
     [](const Device& device) -> MemoryResource { return VirtualMemoryResource(device); }},
    {"VirtualUnshared", false, true, false, false,
     [](const Device& device) -> MemoryResource {
       return VirtualMemoryResource(
           device, {.handle_type = std::nullopt, .granularity = VirtualMemoryGranularityType::minimum});
     }},
    {"Custom", false, true, false, true,
     [](const Device& device) -> MemoryResource {
       return MemoryResource(std::make_shared<CountingMemory>(DeviceMemoryResource(device)));
     }},
};

inline std::string kind_name(const ::testing::TestParamInfo<MemoryKind>& instance) { return instance.param.name; }

}  // namespace cuprum::tests
