// Raw NVML, NVIDIA's library for looking at GPUs and their driver: the table of its functions, and checked calls.
//
//   using namespace cuprum;
//   nvml::Device device = nullptr;
//   nvml::call<&nvml::Api::nvmlDeviceGetHandleByIndex_v2>(0u, &device);
//   unsigned milliwatts = 0;
//   nvml::call<&nvml::Api::nvmlDeviceGetPowerUsage>(device, &milliwatts);
//
// It is found, opened and initialised (nvmlInit_v2) at the first use, for the life of the process. NVIDIA's <nvml.h> is
// rarely installed, so what is needed of its C interface is declared here; handles are of the same type as there.
// Threads may share everything here.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/error.hpp>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::nvml {

using Device = ::nvmlDevice_st*;

enum class Result : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  already_initialized = 5,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  lib_rm_version_mismatch = 18,
  in_use = 19,
  memory = 20,
  no_data = 21,
  vgpu_ecc_not_supported = 22,
  insufficient_resources = 23,
  freq_not_supported = 24,
  argument_version_mismatch = 25,
  deprecated = 26,
  not_ready = 27,
  gpu_not_found = 28,
  invalid_state = 29,
  unknown = 999,
};

enum class TemperatureSensor : int { gpu = 0 };
enum class ClockType : int { graphics = 0, sm = 1, memory = 2, video = 3 };
enum class PcieCounter : int { tx_bytes = 0, rx_bytes = 1 };

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct MemoryWithReserve {
  unsigned version = sizeof(MemoryWithReserve) | 2u << 24;  ///< NVML's way of saying which struct this is
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct Bar1Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};

namespace detail {
enum EntryPointIndex : std::size_t {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) index_of_##name,
#include <cuprum/detail/nvml_entry_points.def>
  entry_point_count
};
}  // namespace detail

/// NVML's functions by their C names.
struct Api {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
  ::cuprum::detail::EntryPoint<detail::index_of_##name, result(*) parameters> name;
#include <cuprum/detail/nvml_entry_points.def>
};

/// The table. Throws NotSupported when there is no NVML, LibraryError when it can't be initialised (no driver is
/// loaded, say), each time anew.
CUPRUM_API const Api& api();
/// Its version is that of CUDA which the driver supports.
CUPRUM_API const LibraryInfo& info();

/// Calls an entry point and returns its code. Throws NotSupported when this NVML doesn't have it.
template <auto Entry, typename... Arguments>
auto try_call(Arguments... arguments) {
  return ::cuprum::detail::try_call_library<::cuprum::detail::Library::nvml>(api().*Entry, arguments...);
}

/// Calls an entry point; throws LibraryError with NVML's own words when it fails.
template <auto Entry, typename... Arguments>
void call(Arguments... arguments) {
  ::cuprum::detail::call_library<::cuprum::detail::Library::nvml>(api().*Entry, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI::nvml
