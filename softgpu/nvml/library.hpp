// The state of the library: between the first nvmlInit and the last nvmlShutdown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/nvml/interface.hpp"
#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/base/device_facts.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::nvml {

using runtime::DeviceFacts;

// What is known while the library is initialised. Does not change but by init() and shut_down().
struct Library {
  runtime::Config config;
  std::vector<DeviceFacts> devices;
  std::vector<unsigned> cores;  // that the process could run on when it began
};

Return init();
Return shut_down();

// Null: not initialised.
const Library* library();

// Handles stay what they are when the library is shut down and initialised again.
DeviceHandle* handle_of(unsigned index);
// Null for what is no device's handle.
const DeviceFacts* device_of(const Library& library, const DeviceHandle* handle);

// The pages of all processes that use the devices.
std::vector<usage::Page> running_processes(const Library& library);

// Copies a text and its end to where a caller wants it.
Return give_text(std::string_view text, char* to, unsigned capacity);

// Calls a function with the library, or says that there is none.
template <typename Function>
Return with_library(Function&& function) noexcept {
  const Library* const found = library();
  if (found == nullptr) return Return::uninitialized;
  try {
    return function(*found);
  } catch (...) {
    return Return::memory;
  }
}

// The same for a function of a device; `outputs` are pointers that must not be null.
template <typename Function, typename... Output>
Return with_device(const DeviceHandle* handle, Function&& function, const Output*... outputs) noexcept {
  return with_library([&](const Library& found) {
    const DeviceFacts* const device = device_of(found, handle);
    if (device == nullptr || (false || ... || (outputs == nullptr))) return Return::invalid_argument;
    return function(found, *device);
  });
}

// The same for a struct that says its version.
template <typename Struct, typename Function>
Return with_struct(const DeviceHandle* handle, Struct* out, unsigned number, Function&& function) noexcept {
  return with_device(
      handle,
      [&](const Library& found, const DeviceFacts& device) {
        if (out->version != version_of<Struct>(number)) return Return::argument_version_mismatch;
        return function(found, device);
      },
      out);
}

// A number that is there, or not.
template <typename Number>
Return give(const std::optional<Number>& number, Number* to) {
  if (!number) return Return::not_supported;
  *to = *number;
  return Return::success;
}

}  // namespace softgpu::nvml
