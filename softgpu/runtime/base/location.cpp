#include "softgpu/runtime/base/location.hpp"

#include <sched.h>

#include <filesystem>
#include <string>

#include "softgpu/runtime/base/devices.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

bool is_numa_node(int id) {
  if (id == 0) return true;
  std::error_code ignored;
  return id > 0 && std::filesystem::exists("/sys/devices/system/node/node" + std::to_string(id), ignored);
}

int current_numa_node() {
  unsigned processor = 0, node = 0;
  return getcpu(&processor, &node) == 0 ? static_cast<int>(node) : 0;
}

CUmemLocation checked_location(const CUmemLocation& location, const Devices& devices) {
  CUmemLocation result = location;
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: devices.at(location.id); return result;
    case CU_MEM_LOCATION_TYPE_HOST: result.id = 0; return result;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(is_numa_node(location.id), CUDA_ERROR_INVALID_VALUE, "no such node of host memory");
      return result;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      result.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
      result.id = current_numa_node();
      return result;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "a location is a device, the host or a node of its memory");
  }
}

CUmemLocation location_of_device(CUdevice device) {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

CUdevice device_of_location(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return location.id;
    case CU_MEM_LOCATION_TYPE_INVALID: return CU_DEVICE_INVALID;
    default: return CU_DEVICE_CPU;
  }
}

}  // namespace softgpu::runtime
