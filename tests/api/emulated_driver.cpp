// The suite on drivers and devices that nobody has at hand: CUPRUM_TEST_DRIVER=12.4 takes away the entry points that
// came later, CUPRUM_TEST_DRIVER=without-pools the memory pools.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cuprum/driver.hpp>
#include <string>

namespace cuprum::tests {
namespace {

using driver::Api;

const Api* real = nullptr;
int last_version = 0;

template <auto Entry>
void take_away_if_newer(Api& table, int version) {
  if (version > last_version) (table.*Entry).function = nullptr;
}

CUresult version_without_later_ones(int* version) {
  *version = last_version;
  return CUDA_SUCCESS;
}

CUresult attribute_without_pools(int* value, CUdevice_attribute which, CUdevice device) {
  const CUresult code = real->cuDeviceGetAttribute(value, which, device);
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: *value = 0; break;
    default: break;
  }
  return code;
}

class EmulatedDriver : public ::testing::Environment {
  void SetUp() override {
    const char* chosen = std::getenv("CUPRUM_TEST_DRIVER");
    if (!chosen) return;
    static Api table = driver::api();
    if (chosen == std::string("12.4")) {
      last_version = 12040;
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) take_away_if_newer<&Api::name>(table, version);
#include <cuprum/detail/driver_entry_points.def>
      table.cuDriverGetVersion.function = version_without_later_ones;
    } else if (chosen == std::string("without-pools")) {
      table.cuDeviceGetAttribute.function = attribute_without_pools;
    } else {
      FAIL() << "CUPRUM_TEST_DRIVER is '" << chosen << "'; it can be 12.4 or without-pools";
    }
    real = &driver::replace_api(table);
  }
};

const auto* const registered_driver = ::testing::AddGlobalTestEnvironment(new EmulatedDriver);

}  // namespace
}  // namespace cuprum::tests
