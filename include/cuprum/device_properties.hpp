// The attributes of a device: device.properties().multiprocessor_count() and 142 more.
#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::inline CUPRUM_ABI {

/// Typed accessors for what cuDeviceGetAttribute knows; <cuda.h> says more. None needs a context; each is read once,
/// but for where the device is (PCI, NUMA). What an older driver doesn't know is 0 or false. Threads may share it.
class CUPRUM_API DeviceProperties {
 public:
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) type name() const;
#include <cuprum/detail/device_properties.def>

 private:
  friend class Device;
  explicit DeviceProperties(int device_id) : device_id_(device_id) {}
  int device_id_;
};

}  // namespace cuprum::inline CUPRUM_ABI
