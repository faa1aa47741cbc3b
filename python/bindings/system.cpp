// The devices of the machine for those who look at them: see <cuprum/system.hpp>. What Python programs use are the
// classes of cuprum/system/, which have the interface of cuda.core; these are what they ask. Enumerations go by their
// names.
#include "bindings/system.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include "bindings/device.hpp"

namespace cuprum::python {
namespace {

using SystemDevice = system::Device;

std::uint64_t handle_number(const SystemDevice& self) { return reinterpret_cast<std::uint64_t>(self.handle()); }

SystemDevice from_handle_number(std::uint64_t handle) {
  return SystemDevice::from_handle(reinterpret_cast<::nvmlDevice_st*>(handle));
}

std::vector<system::Field> fields_of(const std::vector<std::pair<unsigned, unsigned>>& pairs) {
  std::vector<system::Field> fields;
  for (const auto& [id, scope] : pairs) fields.push_back({id, scope});
  return fields;
}

using Number = std::variant<double, unsigned long long, long long>;
using FieldRow = std::tuple<unsigned, unsigned, long long, long long, int, Number>;

std::vector<FieldRow> field_values(const SystemDevice& self, const std::vector<std::pair<unsigned, unsigned>>& fields) {
  std::vector<FieldRow> rows;
  for (const system::FieldValue& value : self.get_field_values(fields_of(fields)))
    rows.emplace_back(value.field_id, value.scope_id, value.timestamp, value.latency_usec, value.result, value.raw);
  return rows;
}

// The exception for the code that a field came with.
void raise_field_error(int code) {
  system::FieldValue value;
  value.result = code;
  static_cast<void>(value.value());
}

using ProcessRow =
    std::tuple<unsigned, std::optional<unsigned long long>, std::optional<unsigned>, std::optional<unsigned>>;

std::vector<ProcessRow> processes(const SystemDevice& self) {
  std::vector<ProcessRow> rows;
  for (const system::ProcessInfo& process : self.compute_running_processes())
    rows.emplace_back(process.pid, process.used_gpu_memory, process.gpu_instance_id, process.compute_instance_id);
  return rows;
}

std::vector<unsigned long long> attribute_row(const SystemDevice& self) {
  const system::DeviceAttributes found = self.attributes();
  return {found.multiprocessor_count,
          found.shared_copy_engine_count,
          found.shared_decoder_count,
          found.shared_encoder_count,
          found.shared_jpeg_count,
          found.shared_ofa_count,
          found.gpu_instance_slice_count,
          found.compute_instance_slice_count,
          found.memory_size_mb};
}

void bind_identity(nb::class_<SystemDevice>& bound) {
  bound.def_static("from_index", &SystemDevice::from_index, "index"_a)
      .def_static("from_uuid", &SystemDevice::from_uuid, "uuid"_a)
      .def_static("from_pci_bus_id", &SystemDevice::from_pci_bus_id, "pci_bus_id"_a)
      .def_static("from_serial", &SystemDevice::from_serial, "serial"_a)
      .def_static("from_handle", &from_handle_number, "handle"_a)
      .def_static(
          "from_cuda_device", [](const PythonDevice& device) { return SystemDevice::from_cuda_device(device.device); },
          "device"_a)
      .def_static("get_device_count", &SystemDevice::get_device_count)
      .def_static("get_all_devices_with_cpu_affinity", &SystemDevice::get_all_devices_with_cpu_affinity, "cpu_index"_a)
      .def("handle", &handle_number)
      .def("index", &SystemDevice::index)
      .def("uuid", &SystemDevice::uuid)
      .def("numa_node_id", &SystemDevice::numa_node_id)
      .def("arch", [](const SystemDevice& self) { return static_cast<unsigned>(self.arch()); })
      .def("name", &SystemDevice::name)
      .def("brand", &SystemDevice::brand)
      .def("serial", &SystemDevice::serial)
      .def("module_id", &SystemDevice::module_id)
      .def("minor_number", &SystemDevice::minor_number)
      .def("cuda_compute_capability", &SystemDevice::cuda_compute_capability)
      .def("attributes", &attribute_row)
      .def("is_c2c_enabled", &SystemDevice::is_c2c_enabled)
      .def("is_persistence_mode_enabled", &SystemDevice::is_persistence_mode_enabled)
      .def("set_persistence_mode_enabled", &SystemDevice::set_persistence_mode_enabled, "enabled"_a)
      .def("addressing_mode",
           [](const SystemDevice& self) {
             const auto mode = self.addressing_mode();
             return mode ? std::optional(name_of(*mode)) : std::nullopt;
           })
      .def("is_display_connected", &SystemDevice::is_display_connected)
      .def("is_display_active", &SystemDevice::is_display_active);
}

void bind_use(nb::class_<SystemDevice>& bound) {
  bound
      .def(
          "memory_info",
          [](const SystemDevice& self) {
            const system::MemoryInfo info = self.memory_info();
            return std::tuple(info.free, info.total, info.used, info.reserved);
          },
          WithoutGil())
      .def("bar1_memory_info",
           [](const SystemDevice& self) {
             const system::BAR1MemoryInfo info = self.bar1_memory_info();
             return std::tuple(info.free, info.total, info.used);
           })
      .def(
          "utilization",
          [](const SystemDevice& self) {
            const system::Utilization use = self.utilization();
            return std::pair(use.gpu, use.memory);
          },
          WithoutGil())
      .def("compute_running_processes", &processes, WithoutGil())
      .def("get_field_values", &field_values, "fields"_a, WithoutGil())
      .def(
          "clear_field_values",
          [](const SystemDevice& self, const std::vector<std::pair<unsigned, unsigned>>& fields) {
            self.clear_field_values(fields_of(fields));
          },
          "fields"_a)
      .def("repair_status", [](const SystemDevice& self) {
        const system::RepairStatus status = self.repair_status();
        return std::pair(status.channel_repair_pending, status.tpc_repair_pending);
      });
}

void bind_affinity(nb::class_<SystemDevice>& bound) {
  bound
      .def(
          "get_memory_affinity",
          [](const SystemDevice& self, const std::string& scope) {
            return self.get_memory_affinity(value_of<system::AffinityScope>(scope));
          },
          "scope"_a)
      .def(
          "get_cpu_affinity",
          [](const SystemDevice& self, const std::string& scope) {
            return self.get_cpu_affinity(value_of<system::AffinityScope>(scope));
          },
          "scope"_a)
      .def("set_cpu_affinity", &SystemDevice::set_cpu_affinity)
      .def("clear_cpu_affinity", &SystemDevice::clear_cpu_affinity)
      .def(
          "get_topology_nearest_gpus",
          [](const SystemDevice& self, const std::string& level) {
            return self.get_topology_nearest_gpus(value_of<system::GpuTopologyLevel>(level));
          },
          "level"_a)
      .def(
          "get_topology_common_ancestor",
          [](const SystemDevice& self, const SystemDevice& other) {
            return name_of(get_topology_common_ancestor(self, other));
          },
          "other"_a)
      .def(
          "get_p2p_status",
          [](const SystemDevice& self, const SystemDevice& other, const std::string& index) {
            return name_of(get_p2p_status(self, other, value_of<system::GpuP2PCapsIndex>(index)));
          },
          "other"_a, "index"_a);
}

void bind_functions(nb::module_& module) {
  module.def("system_user_mode_driver_version", &system::get_user_mode_driver_version)
      .def("system_kernel_mode_driver_version", &system::get_kernel_mode_driver_version)
      .def("system_nvml_version", &system::get_nvml_version)
      .def("system_driver_branch", &system::get_driver_branch)
      .def("system_process_name", &system::get_process_name, "pid"_a, WithoutGil())
      .def("system_raise_field_error", &raise_field_error, "code"_a);
}

}  // namespace

void bind_system(nb::module_& module) {
  bind_functions(module);
  nb::class_<SystemDevice> bound(module, "SystemDevice", "What cuprum.system.Device asks.");
  bind_identity(bound);
  bind_use(bound);
  bind_affinity(bound);
  bind_system_parts(bound);
  bind_system_events(module, bound);
}

}  // namespace cuprum::python
