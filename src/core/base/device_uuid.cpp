#include "core/base/device_uuid.hpp"

#include <bit>
#include <cuprum/driver.hpp>

#include "core/base/device_facts.hpp"
#include "support/text.hpp"

namespace cuprum::core {

Uuid device_uuid(int device) {
  CUuuid raw{};
  driver::call<&driver::Api::cuDeviceGetUuid>(
      driver::Doing{[&] { return support::text("reading the UUID of device ", device); }}, &raw, device);
  return std::bit_cast<Uuid>(raw);
}

std::optional<int> device_with(const Uuid& uuid) {
  for (int device = 0; device < device_count(); ++device) {
    if (device_uuid(device) == uuid) return device;
  }
  return std::nullopt;
}

}  // namespace cuprum::core
