// Devices.
#include "softgpu/runtime/base/device.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "softgpu/api/base/call.hpp"

namespace softgpu::api {
namespace {

using runtime::Device;

Device& device_of(CUdevice ordinal) { return Driver::get().device(ordinal); }

template <typename Body>
CUresult call_with_device(const char* name, CUdevice ordinal, Body&& body) {
  return call(name, [&] { return body(device_of(ordinal)); });
}

void copy_text(const std::string& text, char* out, int length) {
  require_pointer(out);
  require(length > 0, CUDA_ERROR_INVALID_VALUE, "no room for the text");
  const std::size_t room = static_cast<std::size_t>(length) - 1;
  out[text.copy(out, room)] = '\0';
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return call(__func__, [&] {
    require_pointer(count);
    *count = Driver::get().devices().count();
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return call(__func__, [&] {
    require_pointer(device);
    *device = device_of(ordinal).ordinal();
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) { copy_text(d.name(), name, length); });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) {
    require_pointer(uuid);
    *uuid = d.uuid();
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) {
    require_pointer(bytes);
    *bytes = d.heap()->capacity();
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) {
    require_pointer(value);
    const auto found = d.attribute(attribute);
    require(found.has_value(), CUDA_ERROR_INVALID_VALUE, "no such attribute of a device");
    *value = *found;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) { copy_text(d.pci_bus_id(), id, length); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return call(__func__, [&] {
    require_pointer(device);
    require_pointer(id, "no bus id");
    const std::string wanted = id;
    for (int i = 0; i < Driver::get().devices().count(); ++i) {
      const std::string own = device_of(i).pci_bus_id();
      // Programs leave out the domain, or the function.
      const std::string without_domain = own.substr(5), without_function = own.substr(0, own.size() - 2);
      if (wanted != own && wanted != without_domain && wanted != without_function) continue;
      *device = i;
      return;
    }
    throw Failure(CUDA_ERROR_INVALID_DEVICE, "no device has this bus id");
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) {
    require_pointer(major);
    require_pointer(minor);
    *major = static_cast<int>(d.compute_capability() / 10);
    *minor = static_cast<int>(d.compute_capability() % 10);
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device& d) {
    require_pointer(properties);
    const auto attribute = [&d](CUdevice_attribute which) { return d.attribute(which).value_or(0); };
    *properties = {
        .maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .maxThreadsDim = {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                          attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        .maxGridSize = {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                        attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        .sharedMemPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .memPitch = attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        .regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        .clockRate = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        .textureAlign = attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType type, CUdevice device) {
  return call_with_device(__func__, device, [&](const Device&) {
    require_pointer(supported);
    require(type == CU_EXEC_AFFINITY_TYPE_SM_COUNT, CUDA_ERROR_INVALID_VALUE, "no such type of affinity");
    *supported = 0;
  });
}

// Devices share the host's memory, so that each can use the others'.
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return call(__func__, [&] {
    require_pointer(can);
    *can = &device_of(device) != &device_of(peer) ? 1 : 0;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source, CUdevice target) {
  return call(__func__, [&] {
    require_pointer(value);
    require(&device_of(source) != &device_of(target), CUDA_ERROR_INVALID_DEVICE, "a device is not its own peer");
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return;
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; return;
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; return;
      default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a pair of devices");
    }
  });
}

}  // extern "C"
