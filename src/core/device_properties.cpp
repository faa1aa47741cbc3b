#include <array>
#include <atomic>
#include <cstdint>
#include <cuprum/device_properties.hpp>
#include <cuprum/driver.hpp>
#include <limits>
#include <vector>

#include "core/base/device_facts.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

enum Property : std::size_t {
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) property_##name,
#include <cuprum/detail/device_properties.def>
  property_count
};

/// A value that was not read yet; those of the driver are ints.
constexpr std::int64_t unread = std::numeric_limits<std::int64_t>::min();

/// The properties of a device as far as they were read. Two threads that read one at the same time read the same.
struct Cache {
  Cache() {
    for (std::atomic<std::int64_t>& value : values) value.store(unread, std::memory_order_relaxed);
  }
  std::array<std::atomic<std::int64_t>, property_count> values;
};

Cache& cache_of(int device) {
  static auto& caches = *new std::vector<Cache>(static_cast<std::size_t>(core::device_count()));
  if (static_cast<std::size_t>(device) >= caches.size()) core::device_facts(device);  // throws
  return caches[static_cast<std::size_t>(device)];
}

/// What an attribute is taken for when the driver is too old to know it: that of a device without the feature.
int when_unknown(CUdevice_attribute which) {
  if (which == CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) return 1;  // all memory operations are in one
  if (which == CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID) return -1;          // no node
  return 0;
}

/// What tells a device from others of its kind. A process that was checkpointed may go on with another of them, so this
/// is asked for each time; all else is the same then.
constexpr bool is_of_one_device(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID: return true;
    default: return false;
  }
}

int read(int device, CUdevice_attribute which, const char* name) {
  int value = 0;
  const CUresult result = driver::try_call<&driver::Api::cuDeviceGetAttribute>(&value, which, device);
  if (result == CUDA_SUCCESS) return value;
  if (result == CUDA_ERROR_INVALID_VALUE) return when_unknown(which);
  driver::detail::raise(result, driver::detail::index_of_cuDeviceGetAttribute,
                        support::text("reading property ", name, " of device ", device));
}

int property(int device, Property index, CUdevice_attribute which, const char* name) {
  std::atomic<std::int64_t>& value = cache_of(device).values[index];
  std::int64_t known = value.load(std::memory_order_relaxed);
  if (known == unread || is_of_one_device(which))
    value.store(known = read(device, which, name), std::memory_order_relaxed);
  return static_cast<int>(known);
}

}  // namespace

#define CUPRUM_DEVICE_PROPERTY(type, name, ATTRIBUTE)                                                        \
  type DeviceProperties::name() const {                                                                      \
    return static_cast<type>(property(device_id_, property_##name, CU_DEVICE_ATTRIBUTE_##ATTRIBUTE, #name)); \
  }
#include <cuprum/detail/device_properties.def>

}  // namespace cuprum::inline CUPRUM_ABI
