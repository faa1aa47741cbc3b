#include <cuprum/device_properties.hpp>
#include <cuprum/driver.hpp>

#include "support/text.hpp"

namespace cuprum {
namespace {

int attribute(int device, CUdevice_attribute which, const char* name) {
  int value = 0;
  driver::call<&driver::Api::cuDeviceGetAttribute>(
      driver::Doing{[&] { return support::text("reading property ", name, " of device ", device); }}, &value, which,
      device);
  return value;
}

}  // namespace

#define CUPRUM_DEVICE_PROPERTY(type, name, ATTRIBUTE)                                        \
  type DeviceProperties::name() const {                                                      \
    return static_cast<type>(attribute(device_id_, CU_DEVICE_ATTRIBUTE_##ATTRIBUTE, #name)); \
  }
#include <cuprum/detail/device_properties.def>

}  // namespace cuprum
