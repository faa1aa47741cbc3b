// `cuprum info`: the devices and their properties, as people know it from nvidia-smi and deviceQuery.
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_state.hpp"
#include "terminal.hpp"

namespace cuprum::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text(int number) { return std::to_string(number); }
std::string yes_or_no(bool value) { return value ? "yes" : "no"; }
std::string kilobytes(int count) { return bytes(static_cast<std::uint64_t>(count)); }
std::string megahertz(int kilohertz) { return text(kilohertz / 1000) + " MHz"; }
std::string shape(int x, int y, int z) { return text(x) + " x " + text(y) + " x " + text(z); }

std::uint64_t total_memory(const Device& device) {
  std::size_t memory = 0;
  driver::call<&driver::Api::cuDeviceTotalMem>(&memory, static_cast<CUdevice>(device.device_id()));
  return memory;
}

std::string capability(const Device& device) {
  const ComputeCapability found = device.compute_capability();
  return text(found.major) + "." + text(found.minor);
}

std::string compute_mode(int mode) {
  constexpr const char* modes[] = {"default", "exclusive (thread)", "prohibited", "exclusive (process)"};
  return mode >= 0 && mode < 4 ? modes[mode] : text(mode);
}

// What people look for first. A row without a value is a heading.
struct Row {
  const char* label;
  std::string (*value)(const Device& device);
};
using P = const Device&;
constexpr Row rows[] = {
    {"Identity", nullptr},
    {"compute capability", capability},
    {"UUID", [](P d) { return d.uuid().to_string(); }},
    {"PCI bus", [](P d) { return d.pci_bus_id(); }},
    {"compute mode", [](P d) { return compute_mode(d.properties().compute_mode()); }},
    {"Memory", nullptr},
    {"total", [](P d) { return bytes(total_memory(d)); }},
    {"bus width", [](P d) { return text(d.properties().global_memory_bus_width()) + " bit"; }},
    {"clock", [](P d) { return megahertz(d.properties().memory_clock_rate()); }},
    {"L2 cache", [](P d) { return kilobytes(d.properties().l2_cache_size()); }},
    {"constant", [](P d) { return kilobytes(d.properties().total_constant_memory()); }},
    {"ECC", [](P d) { return yes_or_no(d.properties().ecc_enabled()); }},
    {"pools", [](P d) { return yes_or_no(d.properties().memory_pools_supported()); }},
    {"managed", [](P d) { return yes_or_no(d.properties().managed_memory()); }},
    {"managed, by host and device at once", [](P d) { return yes_or_no(d.properties().concurrent_managed_access()); }},
    {"Multiprocessors", nullptr},
    {"number", [](P d) { return text(d.properties().multiprocessor_count()); }},
    {"clock", [](P d) { return megahertz(d.properties().clock_rate()); }},
    {"threads each", [](P d) { return text(d.properties().max_threads_per_multiprocessor()); }},
    {"blocks each", [](P d) { return text(d.properties().max_blocks_per_multiprocessor()); }},
    {"registers each", [](P d) { return text(d.properties().max_registers_per_multiprocessor()); }},
    {"shared memory each", [](P d) { return kilobytes(d.properties().max_shared_memory_per_multiprocessor()); }},
    {"warp", [](P d) { return text(d.properties().warp_size()) + " threads"; }},
    {"Blocks", nullptr},
    {"threads", [](P d) { return text(d.properties().max_threads_per_block()); }},
    {"shape of a block at most",
     [](P d) {
       const DeviceProperties p = d.properties();
       return shape(p.max_block_dim_x(), p.max_block_dim_y(), p.max_block_dim_z());
     }},
    {"shape of a grid at most",
     [](P d) {
       const DeviceProperties p = d.properties();
       return shape(p.max_grid_dim_x(), p.max_grid_dim_y(), p.max_grid_dim_z());
     }},
    {"registers", [](P d) { return text(d.properties().max_registers_per_block()); }},
    {"shared memory", [](P d) { return kilobytes(d.properties().max_shared_memory_per_block()); }},
    {"shared memory, opted in", [](P d) { return kilobytes(d.properties().max_shared_memory_per_block_optin()); }},
    {"Abilities", nullptr},
    {"kernels at the same time", [](P d) { return yes_or_no(d.properties().concurrent_kernels()); }},
    {"copy engines", [](P d) { return text(d.properties().async_engine_count()); }},
    {"cooperative launch", [](P d) { return yes_or_no(d.properties().cooperative_launch()); }},
    {"clusters", [](P d) { return yes_or_no(d.properties().cluster_launch()); }},
    {"unified addressing", [](P d) { return yes_or_no(d.properties().unified_addressing()); }},
    {"virtual memory management", [](P d) { return yes_or_no(d.properties().virtual_memory_management_supported()); }},
    {"stream priorities", [](P d) { return yes_or_no(d.properties().stream_priorities_supported()); }},
    {"run time limit on kernels", [](P d) { return yes_or_no(d.properties().kernel_exec_timeout()); }},
};

constexpr std::size_t label_column = 38;

void print_row(const std::string& label, const std::string& value) {
  const char* gap = label.size() < label_column ? "" : "  ";  // of processes with long names
  std::cout << "    " << padded(label, label_column) << gap << value << '\n';
}

void print_all_attributes(const DeviceProperties& properties, const Style& style) {
  std::cout << "  " << style.bold("All attributes") << '\n';
  std::cout << std::boolalpha;
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) \
  std::cout << "    " << padded(#name, label_column + 14) << properties.name() << '\n';
#include <cuprum/detail/device_properties.def>
}

void print_state(const Device& device, const Style& style) {
  const DeviceState state = device_state(device.uuid().to_string());
  if (!state.readings.empty()) std::cout << "  " << style.bold("At this moment (NVML)") << '\n';
  for (const StateRow& row : state.readings) print_row(row.label, row.value);
  if (!state.processes.empty()) std::cout << "  " << style.bold("Processes") << '\n';
  for (const ProcessRow& process : state.processes) {
    print_row(std::to_string(process.pid) + "  " + printable(process.name),
              process.memory ? bytes(*process.memory) : "?");
  }
}

void print_device(const Device& device, const Style& style, bool everything) {
  std::cout << '\n' << style.bold("Device " + text(device.device_id()) + ": " + device.name()) << '\n';
  for (const Row& row : rows) {
    if (row.value) {
      print_row(row.label, row.value(device));
    } else {
      std::cout << "  " << style.bold(row.label) << '\n';
    }
  }
  print_state(device, style);
  if (everything) print_all_attributes(device.properties(), style);
}

// Who can access whose memory.
void print_peers(const std::vector<Device>& devices, const Style& style) {
  if (devices.size() < 2) return;
  std::cout << '\n' << style.bold("Access to the memory of other devices") << "\n      ";
  for (const Device& peer : devices) std::cout << padded(text(peer.device_id()), 4);
  std::cout << '\n';
  for (const Device& device : devices) {
    std::cout << "  " << padded(text(device.device_id()), 4);
    for (const Device& peer : devices) {
      std::cout << padded(peer == device ? "." : device.can_access_peer(peer) ? "yes" : "no", 4);
    }
    std::cout << '\n';
  }
}

Json describe(const Device& device, const std::vector<Device>& all) {
  const DeviceProperties properties = device.properties();
  Json json = {{"id", device.device_id()},
               {"name", device.name()},
               {"uuid", device.uuid().to_string()},
               {"pci_bus_id", device.pci_bus_id()},
               {"compute_capability", capability(device)},
               {"architecture", "sm_" + device.arch()},
               {"memory", total_memory(device)}};
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) json["properties"][#name] = properties.name();
#include <cuprum/detail/device_properties.def>
  json["accesses"] = Json::array();
  for (const Device& peer : all) {
    if (peer != device && device.can_access_peer(peer)) json["accesses"].push_back(peer.device_id());
  }
  const DeviceState state = device_state(device.uuid().to_string());
  json["state"] = Json::object();
  for (const StateRow& row : state.readings) json["state"][row.key] = row.number;
  json["processes"] = Json::array();
  for (const ProcessRow& process : state.processes) {
    const Json memory = process.memory ? Json(*process.memory) : Json(nullptr);
    json["processes"].push_back({{"pid", process.pid}, {"name", process.name}, {"memory_bytes", memory}});
  }
  return json;
}

std::vector<Device> chosen(const Arguments& arguments, const std::vector<Device>& all) {
  const int id = arguments.number("--device", -1);
  if (id < 0) return all;
  if (static_cast<std::size_t>(id) >= all.size()) {
    throw UsageError("--device is " + text(id) + ", and there are " + text(static_cast<int>(all.size())) +
                     " devices, counted from 0");
  }
  return {all[static_cast<std::size_t>(id)]};
}

int run_info(const Arguments& arguments) {
  const driver::Info driver = driver::info();
  const std::vector<Device> all = Device::all();
  const std::vector<Device> devices = chosen(arguments, all);
  const char* kind = driver.kind == driver::Choice::nvidia ? "NVIDIA" : "softgpu";
  if (arguments.has("--json")) {
    Json json = {{"driver", {{"name", kind}, {"path", driver.path}, {"cuda_version", cuda_version(driver.version)}}},
                 {"devices", Json::array()}};
    for (const Device& device : devices) json["devices"].push_back(describe(device, all));
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    const Style style = Style::of_stdout();
    std::cout << style.bold(std::string("Driver ") + kind) << ", CUDA " << cuda_version(driver.version) << ", "
              << driver.path << '\n';
    for (const Device& device : devices) print_device(device, style, arguments.has("--all"));
    print_peers(devices, style);
  }
  return devices.empty() ? 1 : 0;
}

}  // namespace

const Verb info_verb = {
    .name = "info",
    .operands = "",
    .summary = "show the devices and their properties",
    .description =
        {"Shows the driver that libcuprum takes (CUPRUM_DRIVER chooses) and its devices: what they are, "
         "their memory, their "
         "limits and abilities; and what NVML knows of them: use, processes, temperature, power and clocks."},
    .options = {{"--device", "N", "only that device; they are counted from 0"},
                {"--all", "", "print every attribute that the driver knows, too, by its name"},
                {"--json", "", "print everything as one JSON object, for programs"}},
    .exit_codes = {{"0", "there is a device"},
                   {"1", "there is no driver or no device"},
                   {"2", "the command line made no sense"}},
    .examples = {"cuprum info --device 0", "cuprum info --json"},
    .usage_exit_code = 2,
    .run = run_info,
};

}  // namespace cuprum::cli
