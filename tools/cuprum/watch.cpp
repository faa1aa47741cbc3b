#include "watch.hpp"

#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <cuprum/error.hpp>
#include <cuprum/nvml.hpp>
#include <cuprum/system.hpp>

namespace cuprum::cli {
namespace {

/// What a device tells; empty when it does not have it.
template <typename Get>
auto told(Get get) -> std::optional<decltype(get())> {
  try {
    return get();
  } catch (const NotSupported&) {
    return std::nullopt;
  }
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

std::string driver_words() {
  const auto [major, minor] = system::get_user_mode_driver_version();
  return "driver " + joined(system::get_kernel_mode_driver_version()) + ", CUDA " + std::to_string(major) + "." +
         std::to_string(minor);
}

WatchedDevice look_at(const system::Device& device) {
  WatchedDevice row;
  row.index = device.index();
  row.name = device.name();
  row.uuid = device.uuid();
  if (const auto memory = told([&] { return device.memory_info(); })) {
    row.memory_used = memory->used;
    row.memory_total = memory->total;
  }
  if (const auto use = told([&] { return device.utilization(); })) {
    row.gpu_percent = use->gpu;
    row.memory_percent = use->memory;
  }
  row.celsius = told([&] { return device.temperature().get_sensor(); });
  row.clock_megahertz = told([&] { return device.get_clock(system::ClockType::sm).get_current_mhz(); });
  if (told([&] { return device.num_fans(); }).value_or(0) != 0)
    row.fan_percent = told([&] { return device.get_fan().speed(); });
  row.milliwatts = told([&] {
    unsigned milliwatts = 0;
    nvml::call<&nvml::Api::nvmlDeviceGetPowerUsage>(device.handle(), &milliwatts);
    return milliwatts;
  });
  return row;
}

std::string owner_of(unsigned pid) {
  struct stat status;
  if (stat(("/proc/" + std::to_string(pid)).c_str(), &status) != 0) return "";
  const passwd* const user = getpwuid(status.st_uid);
  return user ? user->pw_name : std::to_string(status.st_uid);
}

// It may have ended since it was listed.
std::string name_of(unsigned pid) {
  try {
    return system::get_process_name(pid);
  } catch (const Error&) {
    return "";
  }
}

std::string cut(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  std::size_t end = width - std::min<std::size_t>(width, 1);
  while (end > 0 && is_continuation(text[end])) --end;  // not in the middle of a character
  return text.substr(0, end) + "~";
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

constexpr std::size_t widest_bar = 40, narrowest_bar = 10, text_beside_bars = 44;

std::string meter(const char* label, unsigned percent, const std::string& words, const Style& style,
                  std::size_t bar_width) {
  const std::string drawn = bar(percent, bar_width);
  const std::string coloured = percent >= 90   ? style.bad(drawn)
                               : percent >= 50 ? style.doubtful(drawn)
                                               : style.good(drawn);
  return "  " + padded(label, 8) + coloured + "  " + words + "\n";
}

std::string facts_of(const WatchedDevice& device) {
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  if (device.celsius) add(std::to_string(*device.celsius) + " °C");
  if (device.milliwatts) add(std::to_string(*device.milliwatts / 1000) + " W");
  if (device.clock_megahertz) add(std::to_string(*device.clock_megahertz) + " MHz");
  if (device.fan_percent) add("fan " + std::to_string(*device.fan_percent) + " %");
  return facts;
}

std::string picture_of_device(const WatchedDevice& device, const Style& style, std::size_t width) {
  const std::size_t room = width > text_beside_bars ? width - text_beside_bars : narrowest_bar;
  const std::size_t bar_width = std::clamp(room, narrowest_bar, widest_bar);
  std::string text = style.bold(cut("Device " + std::to_string(device.index) + ": " + device.name, width)) + "\n";
  const unsigned memory_share =
      device.memory_total ? static_cast<unsigned>(100 * device.memory_used / device.memory_total) : 0;
  text += device.gpu_percent ? meter("busy", *device.gpu_percent, right(std::to_string(*device.gpu_percent), 3) + " %",
                                     style, bar_width)
                             : "  busy    is not told by this device\n";
  text +=
      meter("memory", memory_share, bytes(device.memory_used) + " of " + bytes(device.memory_total), style, bar_width);
  if (const std::string facts = facts_of(device); !facts.empty()) text += "  " + style.faint(facts) + "\n";
  return text;
}

std::string row_of(const std::string& device, const std::string& pid, const std::string& user,
                   const std::string& memory, const std::string& name, std::size_t width) {
  return cut(right(device, 6) + right(pid, 10) + "  " + padded(cut(user, 12), 12) + right(memory, 12) + "  " + name,
             width);
}

std::string picture_of_process(const WatchedProcess& process, std::size_t width) {
  const std::string memory = process.memory ? bytes(*process.memory) : "?";
  return row_of(std::to_string(process.device), std::to_string(process.pid), process.user, memory,
                printable(process.name), width);
}

}  // namespace

std::string bar(unsigned percent, std::size_t width) {
  const std::size_t full = std::min<std::size_t>(width, (percent * width + 50) / 100);
  return std::string(full, '#') + std::string(width - full, '.');
}

Watched watch() {
  Watched watched;
  watched.driver = driver_words();
  for (const system::Device& device : system::Device::get_all_devices()) {
    watched.devices.push_back(look_at(device));
    const auto processes = told([&] { return device.compute_running_processes(); });
    for (const system::ProcessInfo& process : processes.value_or(std::vector<system::ProcessInfo>()))
      watched.processes.push_back({.device = watched.devices.back().index,
                                   .pid = process.pid,
                                   .user = owner_of(process.pid),
                                   .name = name_of(process.pid),
                                   .memory = process.used_gpu_memory});
  }
  return watched;
}

std::string picture_of(const Watched& watched, const Style& style, std::size_t width) {
  std::string text = cut(watched.driver, width) + "\n\n";
  for (const WatchedDevice& device : watched.devices) text += picture_of_device(device, style, width) + "\n";
  text += style.bold(row_of("device", "pid", "user", "memory", "process", width)) + "\n";
  for (const WatchedProcess& process : watched.processes) text += picture_of_process(process, width) + "\n";
  if (watched.processes.empty()) text += cut("  no process uses a device", width) + "\n";
  return text;
}

}  // namespace cuprum::cli
