// The attributes of a device: device.properties().multiprocessor_count() and about 140 more.
#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum {

/// Typed accessors for what cuDeviceGetAttribute knows; <cuda.h> says what each means. Throws DriverError for an
/// attribute that the driver is too old for.
class CUPRUM_API DeviceProperties {
 public:
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) type name() const;
#include <cuprum/detail/device_properties.def>

 private:
  friend class Device;
  explicit DeviceProperties(int device_id) : device_id_(device_id) {}
  int device_id_;
};

}  // namespace cuprum
