"""What the numbers of NVML are called: for each of its enumerations, our member by its member of cuda.bindings.nvml.

Both have the same names but for prefixes and a few words, so the tables are made of the names, when one is asked for.
"""

from __future__ import annotations

from typing import Any

import cuprum.system.typing as choices
from cuprum._cuda_utils import _binding

# By table: the enumeration of cuda.bindings.nvml, ours, the prefix that its members have where bindings are old, and those of
# our members that it calls otherwise.
_TABLES: dict[str, tuple[str, Any, str, dict[str, str]]] = {
    "_ADDRESSING_MODE_MAPPING": ("DeviceAddressingModeType", choices.AddressingMode, "DEVICE_ADDRESSING_MODE_", {}),
    "_GPU_P2P_STATUS_MAPPING": ("GpuP2PStatus", choices.GpuP2PStatus, "P2P_STATUS_", {}),
    "_CLOCKS_EVENT_REASONS_MAPPING": ("ClocksEventReasons", choices.ClocksEventReasons, "EVENT_REASON_", {}),
    "_EVENT_TYPE_MAPPING": ("EventType", choices.EventType, "", {}),
    "_FAN_CONTROL_POLICY_MAPPING": (
        "FanControlPolicy",
        choices.FanControlPolicy,
        "",
        {"TEMPERATURE_CONTROLLED": "TEMPERATURE_CONTINUOUS_SW"},
    ),
    "_COOLER_CONTROL_MAPPING": ("CoolerControl", choices.CoolerControl, "THERMAL_COOLER_SIGNAL_", {}),
    "_COOLER_TARGET_MAPPING": ("CoolerTarget", choices.CoolerTarget, "THERMAL_", {}),
    "_THERMAL_CONTROLLER_MAPPING": ("ThermalController", choices.ThermalController, "", {}),
    "_THERMAL_TARGET_MAPPING": ("ThermalTarget", choices.ThermalTarget, "", {}),
    "_AFFINITY_SCOPE_MAPPING": ("AffinityScope", choices.AffinityScope, "", {}),
    "_GPU_P2P_CAPS_INDEX_MAPPING": ("GpuP2PCapsIndex", choices.GpuP2PCapsIndex, "P2P_CAPS_INDEX_", {}),
    "_GPU_TOPOLOGY_LEVEL_MAPPING": ("GpuTopologyLevel", choices.GpuTopologyLevel, "TOPOLOGY_", {}),
    "_CLOCK_ID_MAPPING": ("ClockId", choices.ClockId, "", {}),
    "_CLOCK_TYPE_MAPPING": ("ClockType", choices.ClockType, "CLOCK_", {"MEMORY": "MEM"}),
    "_INFOROM_OBJECT_MAPPING": ("InforomObject", choices.InforomObject, "INFOROM_", {}),
    "_TEMPERATURE_THRESHOLD_MAPPING": (
        "TemperatureThresholds",
        choices.TemperatureThresholds,
        "TEMPERATURE_THRESHOLD_",
        {},
    ),
    "_SYSTEM_EVENT_TYPE_MAPPING": ("SystemEventType", choices.SystemEventType, "", {}),
}


def __getattr__(name: str) -> Any:
    try:
        enumeration, ours, prefix, otherwise = _TABLES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    theirs = getattr(_binding("nvml"), enumeration).__members__
    pairs = ((otherwise.get(member.name, member.name), member) for member in ours)
    return {
        theirs[spelling]: member
        for name, member in pairs
        for spelling in (name, prefix + name)
        if spelling in theirs
    }
