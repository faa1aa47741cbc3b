// The devices of the machine for those who look at them: who uses them, how busy, how hot. By NVML, NVIDIA's library
// for this, or softgpu's own.
//
//   for (const cuprum::system::Device& device : cuprum::system::Device::get_all_devices()) {
//     const auto [gpu, memory] = device.utilization();
//     std::cout << device.name() << ": " << gpu << " % busy, " << device.memory_info().used << " bytes in use\n";
//     for (const auto& process : device.compute_running_processes())
//       std::cout << process.pid << ' ' << cuprum::system::get_process_name(process.pid) << '\n';
//   }
//
// Nothing here initialises CUDA, so a process may fork afterwards. Functions throw NotSupported where the device, or
// its driver, does not have what is asked for, and LibraryError with NVML's code and words for everything else.
#pragma once

#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/enums.hpp>
#include <cuprum/system/events.hpp>
#include <cuprum/system/fields.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/links.hpp>
#include <cuprum/system/memory.hpp>

/// The devices of the machine for those who look at them.
namespace cuprum::inline CUPRUM_ABI::system {

/// The version of CUDA that the driver supports, as (13, 0).
CUPRUM_API std::pair<int, int> get_user_mode_driver_version();
/// The version of the driver, as {580, 82, 7}.
CUPRUM_API std::vector<int> get_kernel_mode_driver_version();
/// The version of NVML: that of CUDA and the driver, as {13, 580, 82, 7}.
CUPRUM_API std::vector<int> get_nvml_version();
/// The branch of the driver, as "r580_00".
CUPRUM_API std::string get_driver_branch();
/// How many devices there are.
CUPRUM_API unsigned get_num_devices();
/// What a process is called. Throws LibraryError when there is none of that number.
CUPRUM_API std::string get_process_name(unsigned pid);

}  // namespace cuprum::inline CUPRUM_ABI::system
