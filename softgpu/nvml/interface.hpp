// What softgpu answers of NVML's C interface: codes, structs and enumerations, from NVML's public documentation.
// NVIDIA's <nvml.h> is in few toolkits' installations, and nothing of it is needed.
#pragma once

#include <cstdint>

namespace softgpu::nvml {

// nvmlReturn_t.
enum class Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  driver_not_loaded = 9,
  timeout = 10,
  memory = 20,
  no_data = 21,
  argument_version_mismatch = 25,
  unknown = 999,
};

// nvmlDevice_t points to one of these; what is in it is nobody's business.
struct DeviceHandle {
  std::uint64_t unused;
};

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct PciInfoV2 {  // the second of three, which was short-lived
  char bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id, reserved[4];
};
struct PciInfoExt {
  unsigned version, domain, bus, device, device_id, subsystem_id, base_class, sub_class;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfoV1 {
  unsigned pid;
  unsigned long long used_memory;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
struct ProcessDetail {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
  unsigned long long protected_memory;
};
struct ProcessDetailList {
  unsigned version, mode, count;
  ProcessDetail* processes;
};
struct ProcessUtilization {
  unsigned pid;
  unsigned long long timestamp;
  unsigned sm, memory, encoder, decoder;
};
struct ProcessUtilizationInfo {
  unsigned long long timestamp;
  unsigned pid, sm, memory, encoder, decoder, jpeg, ofa;
};
struct ProcessesUtilizationInfo {
  unsigned version, count;
  unsigned long long last_seen;
  ProcessUtilizationInfo* processes;
};
struct DriverBranch {
  unsigned version;
  char branch[80];
};
struct TemperatureV1 {
  unsigned version;
  int sensor, celsius;
};
struct Uuid {
  unsigned version, type;
  union {
    char text[41];
    unsigned char bytes[16];
  } value;
};
struct AddressingMode {
  unsigned version, value;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type;
  Return result;
  union {
    double real;
    unsigned number;
    unsigned long long long_number;
  } value;
};
struct EventData {
  DeviceHandle* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
struct SystemEventSetRequest {  // to create one, and to free it
  unsigned version;
  void* set;
};
struct SystemRegisterRequest {
  unsigned version;
  unsigned long long types;
  void* set;
};
struct SystemWaitRequest {
  unsigned version, timeout_ms;
  void* set;
  void* data;
  unsigned capacity, count;
};

inline constexpr unsigned kNoInstance = 0xFFFFFFFF;  // of a GPU that is not divided

// How such structs say what they are.
template <typename Struct>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(Struct)) | number << 24;
}

}  // namespace softgpu::nvml

// A function of the interface, by its C name.
#define SOFTGPU_NVML extern "C" __attribute__((visibility("default"))) softgpu::nvml::Return
