#include <cuprum/system/enums.hpp>

namespace cuprum::inline CUPRUM_ABI::system {

std::span<const EnumName<AddressingMode>> names_like(AddressingMode) {
  static constexpr EnumName<AddressingMode> rows[] = {
      {AddressingMode::hmm, "hmm"},
      {AddressingMode::ats, "ats"},
  };
  return rows;
}

std::span<const EnumName<AffinityScope>> names_like(AffinityScope) {
  static constexpr EnumName<AffinityScope> rows[] = {
      {AffinityScope::node, "node"},
      {AffinityScope::socket, "socket"},
  };
  return rows;
}

std::span<const EnumName<ClockId>> names_like(ClockId) {
  static constexpr EnumName<ClockId> rows[] = {
      {ClockId::current, "current"},
      {ClockId::customer_boost_max, "customer_boost_max"},
  };
  return rows;
}

std::span<const EnumName<ClocksEventReasons>> names_like(ClocksEventReasons) {
  static constexpr EnumName<ClocksEventReasons> rows[] = {
      {ClocksEventReasons::none, "none"},
      {ClocksEventReasons::gpu_idle, "gpu_idle"},
      {ClocksEventReasons::applications_clocks_setting, "applications_clocks_setting"},
      {ClocksEventReasons::sw_power_cap, "sw_power_cap"},
      {ClocksEventReasons::hw_slowdown, "hw_slowdown"},
      {ClocksEventReasons::sync_boost, "sync_boost"},
      {ClocksEventReasons::sw_thermal_slowdown, "sw_thermal_slowdown"},
      {ClocksEventReasons::hw_thermal_slowdown, "hw_thermal_slowdown"},
      {ClocksEventReasons::hw_power_brake_slowdown, "hw_power_brake_slowdown"},
      {ClocksEventReasons::display_clock_setting, "display_clock_setting"},
  };
  return rows;
}

std::span<const EnumName<ClockType>> names_like(ClockType) {
  static constexpr EnumName<ClockType> rows[] = {
      {ClockType::graphics, "graphics"},
      {ClockType::sm, "sm"},
      {ClockType::memory, "memory"},
      {ClockType::video, "video"},
  };
  return rows;
}

std::span<const EnumName<CoolerControl>> names_like(CoolerControl) {
  static constexpr EnumName<CoolerControl> rows[] = {
      {CoolerControl::toggle, "toggle"},
      {CoolerControl::variable, "variable"},
  };
  return rows;
}

std::span<const EnumName<CoolerTarget>> names_like(CoolerTarget) {
  static constexpr EnumName<CoolerTarget> rows[] = {
      {CoolerTarget::none, "none"},
      {CoolerTarget::gpu, "gpu"},
      {CoolerTarget::memory, "memory"},
      {CoolerTarget::power_supply, "power_supply"},
  };
  return rows;
}

std::span<const EnumName<EventType>> names_like(EventType) {
  static constexpr EnumName<EventType> rows[] = {
      {EventType::none, "none"},
      {EventType::single_bit_ecc_error, "single_bit_ecc_error"},
      {EventType::double_bit_ecc_error, "double_bit_ecc_error"},
      {EventType::pstate, "pstate"},
      {EventType::xid_critical_error, "xid_critical_error"},
      {EventType::clock, "clock"},
      {EventType::power_source_change, "power_source_change"},
      {EventType::mig_config_change, "mig_config_change"},
      {EventType::single_bit_ecc_error_storm, "single_bit_ecc_error_storm"},
      {EventType::dram_retirement_event, "dram_retirement_event"},
      {EventType::dram_retirement_failure, "dram_retirement_failure"},
      {EventType::non_fatal_poison_error, "non_fatal_poison_error"},
      {EventType::fatal_poison_error, "fatal_poison_error"},
      {EventType::gpu_unavailable_error, "gpu_unavailable_error"},
      {EventType::gpu_recovery_action, "gpu_recovery_action"},
  };
  return rows;
}

std::span<const EnumName<FanControlPolicy>> names_like(FanControlPolicy) {
  static constexpr EnumName<FanControlPolicy> rows[] = {
      {FanControlPolicy::temperature_controlled, "temperature_controlled"},
      {FanControlPolicy::manual, "manual"},
  };
  return rows;
}

std::span<const EnumName<GpuP2PCapsIndex>> names_like(GpuP2PCapsIndex) {
  static constexpr EnumName<GpuP2PCapsIndex> rows[] = {
      {GpuP2PCapsIndex::read, "read"},       {GpuP2PCapsIndex::write, "write"}, {GpuP2PCapsIndex::nvlink, "nvlink"},
      {GpuP2PCapsIndex::atomics, "atomics"}, {GpuP2PCapsIndex::pci, "pci"},     {GpuP2PCapsIndex::prop, "prop"},
      {GpuP2PCapsIndex::unknown, "unknown"},
  };
  return rows;
}

std::span<const EnumName<GpuP2PStatus>> names_like(GpuP2PStatus) {
  static constexpr EnumName<GpuP2PStatus> rows[] = {
      {GpuP2PStatus::ok, "ok"},
      {GpuP2PStatus::chipset_not_supported, "chipset not supported"},
      {GpuP2PStatus::gpu_not_supported, "GPU not supported"},
      {GpuP2PStatus::ioh_topology_not_supported, "IOH topology not supported"},
      {GpuP2PStatus::disabled_by_regkey, "disabled by regkey"},
      {GpuP2PStatus::not_supported, "not supported"},
      {GpuP2PStatus::unknown, "unknown"},
  };
  return rows;
}

std::span<const EnumName<GpuTopologyLevel>> names_like(GpuTopologyLevel) {
  static constexpr EnumName<GpuTopologyLevel> rows[] = {
      {GpuTopologyLevel::internal, "internal"}, {GpuTopologyLevel::single, "single"},
      {GpuTopologyLevel::multiple, "multiple"}, {GpuTopologyLevel::hostbridge, "hostbridge"},
      {GpuTopologyLevel::node, "node"},         {GpuTopologyLevel::system, "system"},
  };
  return rows;
}

std::span<const EnumName<InforomObject>> names_like(InforomObject) {
  static constexpr EnumName<InforomObject> rows[] = {
      {InforomObject::oem, "oem"},
      {InforomObject::ecc, "ecc"},
      {InforomObject::power, "power"},
      {InforomObject::den, "den"},
  };
  return rows;
}

std::span<const EnumName<SystemEventType>> names_like(SystemEventType) {
  static constexpr EnumName<SystemEventType> rows[] = {
      {SystemEventType::unbind, "unbind"},
      {SystemEventType::bind, "bind"},
  };
  return rows;
}

std::span<const EnumName<TemperatureThresholds>> names_like(TemperatureThresholds) {
  static constexpr EnumName<TemperatureThresholds> rows[] = {
      {TemperatureThresholds::shutdown, "shutdown"},         {TemperatureThresholds::slowdown, "slowdown"},
      {TemperatureThresholds::mem_max, "mem_max"},           {TemperatureThresholds::gpu_max, "gpu_max"},
      {TemperatureThresholds::acoustic_min, "acoustic_min"}, {TemperatureThresholds::acoustic_curr, "acoustic_curr"},
      {TemperatureThresholds::acoustic_max, "acoustic_max"}, {TemperatureThresholds::gps_curr, "gps_curr"},
  };
  return rows;
}

std::span<const EnumName<ThermalController>> names_like(ThermalController) {
  static constexpr EnumName<ThermalController> rows[] = {
      {ThermalController::gpu_internal, "gpu_internal"},
      {ThermalController::adm1032, "adm1032"},
      {ThermalController::adt7461, "adt7461"},
      {ThermalController::max6649, "max6649"},
      {ThermalController::max1617, "max1617"},
      {ThermalController::lm99, "lm99"},
      {ThermalController::lm89, "lm89"},
      {ThermalController::lm64, "lm64"},
      {ThermalController::g781, "g781"},
      {ThermalController::adt7473, "adt7473"},
      {ThermalController::sbmax6649, "sbmax6649"},
      {ThermalController::vbiosevt, "vbiosevt"},
      {ThermalController::os, "os"},
      {ThermalController::nvsyscon_canoas, "nvsyscon_canoas"},
      {ThermalController::nvsyscon_e551, "nvsyscon_e551"},
      {ThermalController::max6649r, "max6649r"},
      {ThermalController::adt7473s, "adt7473s"},
      {ThermalController::unknown, "unknown"},
  };
  return rows;
}

std::span<const EnumName<ThermalTarget>> names_like(ThermalTarget) {
  static constexpr EnumName<ThermalTarget> rows[] = {
      {ThermalTarget::none, "none"},
      {ThermalTarget::gpu, "gpu"},
      {ThermalTarget::memory, "memory"},
      {ThermalTarget::power_supply, "power_supply"},
      {ThermalTarget::board, "board"},
      {ThermalTarget::vcd_board, "vcd_board"},
      {ThermalTarget::vcd_inlet, "vcd_inlet"},
      {ThermalTarget::vcd_outlet, "vcd_outlet"},
      {ThermalTarget::all, "all"},
  };
  return rows;
}

}  // namespace cuprum::inline CUPRUM_ABI::system
