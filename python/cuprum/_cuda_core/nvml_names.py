"""What the numbers of NVML are called: for each of its enumerations, its member of cuda.bindings.nvml by ours.

Both have the same names but for prefixes and a few words, so the tables are made of the names, when one is asked for.
"""

from __future__ import annotations

import re
from typing import Any

import cuprum.system.typing as choices
from cuprum._cuda_utils import _binding

# By table: the enumeration of cuda.bindings.nvml, ours, and those of our members that it calls otherwise.
_TABLES: dict[str, tuple[str, Any, dict[str, str]]] = {
    "_ADDRESSING_MODE_MAPPING": ("DeviceAddressingModeType", choices.AddressingMode, {}),
    "_GPU_P2P_STATUS_MAPPING": ("GpuP2PStatus", choices.GpuP2PStatus, {}),
    "_CLOCKS_EVENT_REASONS_MAPPING": ("ClocksEventReasons", choices.ClocksEventReasons, {}),
    "_EVENT_TYPE_MAPPING": ("EventType", choices.EventType, {}),
    "_FAN_CONTROL_POLICY_MAPPING": (
        "FanControlPolicy",
        choices.FanControlPolicy,
        {"TEMPERATURE_CONTROLLED": "TEMPERATURE_CONTINUOUS_SW"},
    ),
    "_COOLER_CONTROL_MAPPING": ("CoolerControl", choices.CoolerControl, {}),
    "_COOLER_TARGET_MAPPING": ("CoolerTarget", choices.CoolerTarget, {}),
    "_THERMAL_CONTROLLER_MAPPING": ("ThermalController", choices.ThermalController, {}),
    "_THERMAL_TARGET_MAPPING": ("ThermalTarget", choices.ThermalTarget, {}),
    "_AFFINITY_SCOPE_MAPPING": ("AffinityScope", choices.AffinityScope, {}),
    "_GPU_P2P_CAPS_INDEX_MAPPING": ("GpuP2PCapsIndex", choices.GpuP2PCapsIndex, {}),
    "_GPU_TOPOLOGY_LEVEL_MAPPING": ("GpuTopologyLevel", choices.GpuTopologyLevel, {}),
    "_CLOCK_ID_MAPPING": ("ClockId", choices.ClockId, {}),
    "_CLOCK_TYPE_MAPPING": ("ClockType", choices.ClockType, {"MEMORY": "MEM"}),
    "_INFOROM_OBJECT_MAPPING": ("InforomObject", choices.InforomObject, {}),
    "_TEMPERATURE_THRESHOLD_MAPPING": ("TemperatureThresholds", choices.TemperatureThresholds, {}),
    "_SYSTEM_EVENT_TYPE_MAPPING": (
        "SystemEventType",
        choices.SystemEventType,
        {"BIND": "GPU_DRIVER_BIND", "UNBIND": "GPU_DRIVER_UNBIND"},
    ),
}


def __getattr__(name: str) -> Any:
    if name == "_NVLINK_VERSION_MAPPING":
        return _nvlink_versions()
    try:
        enumeration, ours, otherwise = _TABLES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    theirs = getattr(_binding("nvml"), enumeration).__members__
    found = ((member, _named(theirs, otherwise.get(member.name, member.name))) for member in ours)
    return {member: theirs[spelling] for member, spelling in found if spelling is not None}


def _named(theirs: Any, name: str) -> str | None:
    """The member of that name, or with a prefix before it; the shortest, because one name may be the end of another."""
    spellings = [each for each in theirs if each == name or each.endswith(f"_{name}")]
    return min(spellings, key=len, default=None)


def _nvlink_versions() -> dict[Any, tuple[int, int]]:
    """Versions of NVLink, which their members have in their names."""
    numbers = {member: re.findall(r"\d+", name) for name, member in _binding("nvml").NvlinkVersion.__members__.items()}
    return {member: (int(found[0]), int(found[1])) for member, found in numbers.items() if len(found) == 2}
