// The Python object of a device.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

struct PythonDevice {
  Device device;
  bool is_initialised = false;  ///< set_current() was called on it, so on its thread
  /// The context object that set_current() was given last, weakly: who asks for the one before gets the same object.
  nb::object current = {};

  bool operator==(const PythonDevice& other) const { return device == other.device; }
};

/// Properties that know whose they are.
struct PythonDeviceProperties {
  DeviceProperties properties;
  int device_id;
};

}  // namespace cuprum::python
