// Raw NVML, NVIDIA's library for looking at GPUs and their driver: the table of its functions, and checked calls.
//
//   using namespace cuprum;
//   nvml::Device device = nullptr;
//   nvml::call<&nvml::Api::nvmlDeviceGetHandleByIndex_v2>(0u, &device);
//   unsigned milliwatts = 0;
//   nvml::call<&nvml::Api::nvmlDeviceGetPowerUsage>(device, &milliwatts);
//
// It is found, opened and initialised (nvmlInit_v2) at the first use, for the life of the process: softgpu's where
// softgpu is the driver, see <cuprum/driver_choice.hpp>. NVIDIA's <nvml.h> is
// rarely installed, so what is needed of its C interface is declared here; handles are of the same type as there.
// Threads may share everything here.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/error.hpp>
#include <cuprum/nvml_types.hpp>

struct nvmlDevice_st;

/// NVML's C interface.
namespace cuprum::inline CUPRUM_ABI::nvml {

/// nvmlDevice_t: a device as NVML knows it; valid as long as the process.
using Device = ::nvmlDevice_st*;

/// NVML's codes: nvmlReturn_t.
enum class Result : int {
  success = 0,                     ///< it worked
  uninitialized = 1,               ///< nvmlInit_v2 was not called
  invalid_argument = 2,            ///< an argument of the call is wrong
  not_supported = 3,               ///< the device can't do it
  no_permission = 4,               ///< the user may not do it
  already_initialized = 5,         ///< not used any more
  not_found = 6,                   ///< what was asked for is not there
  insufficient_size = 7,           ///< the array or the text that was passed is too small
  insufficient_power = 8,          ///< a power cable of the device is not attached
  driver_not_loaded = 9,           ///< NVIDIA's driver is not loaded
  timeout = 10,                    ///< the time that was given is over
  irq_issue = 11,                  ///< there is something wrong with the device's interrupts
  library_not_found = 12,          ///< NVML itself could not be opened
  function_not_found = 13,         ///< this NVML does not have the function
  corrupted_inforom = 14,          ///< the device's infoROM is damaged
  gpu_is_lost = 15,                ///< the device has fallen off the bus, or can't be reached
  reset_required = 16,             ///< the device must be reset first
  operating_system = 17,           ///< the operating system or a control group blocks the device
  lib_rm_version_mismatch = 18,    ///< NVML and the driver are of different versions
  in_use = 19,                     ///< the device is in use
  memory = 20,                     ///< there is not enough memory
  no_data = 21,                    ///< there is nothing to tell
  vgpu_ecc_not_supported = 22,     ///< not for a virtual GPU while ECC is on
  insufficient_resources = 23,     ///< something other than memory has run out
  freq_not_supported = 24,         ///< the device does not have this frequency
  argument_version_mismatch = 25,  ///< the `version` of a struct is none that this NVML knows
  deprecated = 26,                 ///< not offered any more
  not_ready = 27,                  ///< the system is not ready for it yet
  gpu_not_found = 28,              ///< there is no such device
  invalid_state = 29,              ///< not in the state that it is in
  unknown = 999,                   ///< an error of the driver's own
};

/// Which temperature is meant.
enum class TemperatureSensor : int {
  gpu = 0,  ///< that of the GPU's die
};
/// Which clock is meant.
enum class ClockType : int {
  graphics = 0,  ///< of graphics work
  sm = 1,        ///< of the multiprocessors
  memory = 2,    ///< of the device's memory
  video = 3,     ///< of the encoders and decoders
};
/// Which direction over PCIe is meant.
enum class PcieCounter : int {
  tx_bytes = 0,  ///< from the device
  rx_bytes = 1,  ///< to the device
};

/// Where a device is on PCI: nvmlPciInfo_t.
struct PciInfo {
  char legacy_bus_id[16];  ///< "0000:65:00.0", with a domain of four digits
  unsigned domain;         ///< its number
  unsigned bus;            ///< 0 to 255
  unsigned device;         ///< 0 to 31
  unsigned device_id;      ///< the device's number in the upper, the vendor's in the lower 16 bits
  unsigned subsystem_id;   ///< that of the board, in the same way
  char bus_id[32];         ///< "00000000:65:00.0", with a domain of eight digits
};

/// A device's memory, in bytes: nvmlMemory_t.
struct Memory {
  unsigned long long total;  ///< all there is
  unsigned long long free;   ///< what can be allocated
  unsigned long long used;   ///< what is allocated, with what the driver keeps for itself
};

/// The same with what the driver keeps for itself apart, in bytes: nvmlMemory_v2_t.
struct MemoryWithReserve {
  unsigned version = sizeof(MemoryWithReserve) | 2u << 24;  ///< NVML's way of saying which struct this is
  unsigned long long total = 0;                             ///< all there is
  unsigned long long reserved = 0;                          ///< for the driver and the firmware
  unsigned long long free = 0;                              ///< what can be allocated
  unsigned long long used = 0;                              ///< what is allocated
};

/// The window through which the host and other devices reach a device's memory, in bytes: nvmlBAR1Memory_t.
struct Bar1Memory {
  unsigned long long total;  ///< its size
  unsigned long long free;   ///< what is not mapped
  unsigned long long used;   ///< what is mapped
};

/// How busy a device was in the last sample period, in percent: nvmlUtilization_t.
struct Utilization {
  unsigned gpu;     ///< of the time in which a kernel ran
  unsigned memory;  ///< of the time in which the device's memory was read or written
};

/// A process that uses a device: nvmlProcessInfo_t.
struct ProcessInfo {
  unsigned pid;                        ///< its number
  unsigned long long used_gpu_memory;  ///< in bytes; all bits are set when it is not known
  unsigned gpu_instance_id;            ///< of a GPU that is divided (MIG), else all bits are set
  unsigned compute_instance_id;        ///< the same, of the part of that
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
/// The NVML that api() has the functions of; throws as that does. Its version is that of CUDA which the driver
/// supports.
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
