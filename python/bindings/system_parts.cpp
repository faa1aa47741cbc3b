// Clocks, fans, temperatures, links, the infoROM and parts of devices: see <cuprum/system.hpp>.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "bindings/system.hpp"

namespace cuprum::python {
namespace {

using SystemDevice = system::Device;

system::ClockInfo clock_of(const SystemDevice& self, const std::string& type) {
  return self.get_clock(value_of<system::ClockType>(type));
}

void bind_clocks(nb::class_<SystemDevice>& bound) {
  bound
      .def(
          "clock_current_mhz",
          [](const SystemDevice& self, const std::string& type, const std::string& id) {
            return clock_of(self, type).get_current_mhz(value_of<system::ClockId>(id));
          },
          "type"_a, "id"_a)
      .def(
          "clock_max_mhz",
          [](const SystemDevice& self, const std::string& type) { return clock_of(self, type).get_max_mhz(); },
          "type"_a)
      .def(
          "clock_max_customer_boost_mhz",
          [](const SystemDevice& self, const std::string& type) {
            return clock_of(self, type).get_max_customer_boost_mhz();
          },
          "type"_a)
      .def(
          "clock_min_max_of_pstate_mhz",
          [](const SystemDevice& self, const std::string& type, int pstate) {
            return clock_of(self, type).get_min_max_clock_of_pstate_mhz(pstate);
          },
          "type"_a, "pstate"_a)
      .def(
          "clock_offsets",
          [](const SystemDevice& self, const std::string& type, int pstate) {
            const system::ClockOffsets offsets = clock_of(self, type).get_offsets(pstate);
            return std::tuple(offsets.clock_offset_mhz, offsets.max_offset_mhz, offsets.min_offset_mhz);
          },
          "type"_a, "pstate"_a)
      .def("is_auto_boosted_clocks_enabled", &SystemDevice::is_auto_boosted_clocks_enabled)
      .def("current_clock_event_reasons",
           [](const SystemDevice& self) { return names_of(self.current_clock_event_reasons()); })
      .def("supported_clock_event_reasons",
           [](const SystemDevice& self) { return names_of(self.supported_clock_event_reasons()); })
      .def("performance_state", &SystemDevice::performance_state)
      .def("supported_pstates", &SystemDevice::supported_pstates)
      .def("dynamic_pstates_info", [](const SystemDevice& self) {
        std::vector<std::tuple<bool, unsigned, unsigned, unsigned>> rows;
        for (const auto& part : self.dynamic_pstates_info())
          rows.emplace_back(part.is_present, part.percentage, part.inc_threshold, part.dec_threshold);
        return rows;
      });
}

void bind_fans(nb::class_<SystemDevice>& bound) {
  bound.def("num_fans", &SystemDevice::num_fans)
      .def(
          "fan_speed", [](const SystemDevice& self, unsigned fan) { return self.get_fan(fan).speed(); }, "fan"_a)
      .def(
          "set_fan_speed",
          [](const SystemDevice& self, unsigned fan, unsigned percent) { self.get_fan(fan).set_speed(percent); },
          "fan"_a, "percent"_a)
      .def(
          "fan_speed_rpm", [](const SystemDevice& self, unsigned fan) { return self.get_fan(fan).speed_rpm(); },
          "fan"_a)
      .def(
          "target_fan_speed", [](const SystemDevice& self, unsigned fan) { return self.get_fan(fan).target_speed(); },
          "fan"_a)
      .def(
          "min_max_fan_speed", [](const SystemDevice& self, unsigned fan) { return self.get_fan(fan).min_max_speed(); },
          "fan"_a)
      .def(
          "fan_control_policy",
          [](const SystemDevice& self, unsigned fan) { return name_of(self.get_fan(fan).control_policy()); }, "fan"_a)
      .def(
          "set_default_fan_speed",
          [](const SystemDevice& self, unsigned fan) { self.get_fan(fan).set_default_speed(); }, "fan"_a)
      .def("cooler", [](const SystemDevice& self) {
        const system::CoolerInfo cooler = self.cooler();
        return std::pair(cooler.signal_type ? std::optional(name_of(*cooler.signal_type)) : std::nullopt,
                         names_of(cooler.target));
      });
}

void bind_temperatures(nb::class_<SystemDevice>& bound) {
  bound.def("temperature", [](const SystemDevice& self) { return self.temperature().get_sensor(); })
      .def(
          "temperature_threshold",
          [](const SystemDevice& self, const std::string& threshold) {
            return self.temperature().get_threshold(value_of<system::TemperatureThresholds>(threshold));
          },
          "threshold"_a)
      .def("temperature_margin", [](const SystemDevice& self) { return self.temperature().margin(); })
      .def(
          "thermal_settings",
          [](const SystemDevice& self, const std::string& target) {
            std::vector<std::tuple<std::string, int, int, int, std::string>> rows;
            for (const auto& sensor : self.temperature().get_thermal_settings(value_of<system::ThermalTarget>(target)))
              rows.emplace_back(name_of(sensor.controller), sensor.default_min_temp, sensor.default_max_temp,
                                sensor.current_temp, name_of(sensor.target));
            return rows;
          },
          "target"_a);
}

void bind_links(nb::class_<SystemDevice>& bound) {
  bound
      .def("pci_info",
           [](const SystemDevice& self) {
             const system::PciInfo info = self.pci_info();
             return std::pair(
                 info.bus_id(),
                 std::vector<unsigned>{info.bus(), info.device(), info.domain(), info.vendor_id(), info.device_id(),
                                       info.subsystem_id(), info.base_class(), info.sub_class()});
           })
      .def("pci_link_generation", [](const SystemDevice& self) { return self.pci_info().link_generation(); })
      .def("pci_max_link_generation", [](const SystemDevice& self) { return self.pci_info().max_link_generation(); })
      .def("pci_max_link_width", [](const SystemDevice& self) { return self.pci_info().max_link_width(); })
      .def("pci_current_link_generation",
           [](const SystemDevice& self) { return self.pci_info().current_link_generation(); })
      .def("pci_current_link_width", [](const SystemDevice& self) { return self.pci_info().current_link_width(); })
      .def(
          "pci_rx_throughput", [](const SystemDevice& self) { return self.pci_info().rx_throughput(); }, WithoutGil())
      .def(
          "pci_tx_throughput", [](const SystemDevice& self) { return self.pci_info().tx_throughput(); }, WithoutGil())
      .def("pci_replay_counter", [](const SystemDevice& self) { return self.pci_info().replay_counter(); })
      .def("get_nvlink_count", &SystemDevice::get_nvlink_count)
      .def(
          "nvlink_version",
          [](const SystemDevice& self, unsigned link) { return system::NvlinkInfo(self.handle(), link).version(); },
          "link"_a)
      .def(
          "nvlink_state",
          [](const SystemDevice& self, unsigned link) { return system::NvlinkInfo(self.handle(), link).state(); },
          "link"_a);
}

void bind_divided(nb::class_<SystemDevice>& bound) {
  bound.def("is_mig_device", [](const SystemDevice& self) { return self.mig().is_mig_device(); })
      .def("mig_mode", [](const SystemDevice& self) { return self.mig().mode(); })
      .def("mig_pending_mode", [](const SystemDevice& self) { return self.mig().pending_mode(); })
      .def(
          "set_mig_mode", [](const SystemDevice& self, bool enabled) { self.mig().set_mode(enabled); }, "enabled"_a)
      .def("mig_device_count", [](const SystemDevice& self) { return self.mig().device_count(); })
      .def("mig_parent", [](const SystemDevice& self) { return self.mig().parent(); })
      .def(
          "mig_device", [](const SystemDevice& self, unsigned index) { return self.mig().get_device_by_index(index); },
          "index"_a)
      .def(
          "inforom_version",
          [](const SystemDevice& self, const std::string& object) {
            return self.inforom().get_version(value_of<system::InforomObject>(object));
          },
          "object"_a)
      .def("inforom_image_version", [](const SystemDevice& self) { return self.inforom().image_version(); })
      .def("inforom_configuration_checksum",
           [](const SystemDevice& self) { return self.inforom().configuration_checksum(); })
      .def("validate_inforom", [](const SystemDevice& self) { self.inforom().validate(); })
      .def("inforom_bbx_flush_time", [](const SystemDevice& self) { return self.inforom().bbx_flush_time(); })
      .def("board_part_number", [](const SystemDevice& self) { return self.inforom().board_part_number(); });
}

}  // namespace

void bind_system_parts(nb::class_<SystemDevice>& bound) {
  bind_clocks(bound);
  bind_fans(bound);
  bind_temperatures(bound);
  bind_links(bound);
  bind_divided(bound);
}

}  // namespace cuprum::python
