"""Clocks and performance states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum.system._choices import member
from cuprum.system.typing import ClockId, ClockType

if TYPE_CHECKING:
    from cuprum._core import SystemDevice


def _state(pstate: int) -> int:
    if not 0 <= pstate <= 15:
        raise ValueError(f"Invalid P-state: {pstate}. Must be between 0 and 15 inclusive.")
    return pstate


class ClockOffsets:
    """How far a clock is moved from where it would be, in MHz."""

    def __init__(self, clock_offset_mhz: int, max_offset_mhz: int, min_offset_mhz: int) -> None:
        self.clock_offset_mhz = clock_offset_mhz
        self.max_offset_mhz = max_offset_mhz
        self.min_offset_mhz = min_offset_mhz


class ClockInfo:
    """One of a device's clocks. Performance states are 0 (fastest) to 15."""

    def __init__(self, device: SystemDevice, clock_type: ClockType | str) -> None:
        self._device = device
        self._type = member(ClockType, clock_type, "clock type")

    def get_current_mhz(self, clock_id: ClockId | str = ClockId.CURRENT) -> int:
        """Its value, in MHz."""
        return self._device.clock_current_mhz(self._type, member(ClockId, clock_id, "clock ID"))

    def get_max_mhz(self) -> int:
        """The most that it can be."""
        return self._device.clock_max_mhz(self._type)

    def get_max_customer_boost_mhz(self) -> int:
        """The most that the manufacturer of the board allows."""
        return self._device.clock_max_customer_boost_mhz(self._type)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """The least and the most of a performance state."""
        return self._device.clock_min_max_of_pstate_mhz(self._type, _state(pstate))

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """How far it is moved in a performance state."""
        return ClockOffsets(*self._device.clock_offsets(self._type, _state(pstate)))


class GpuDynamicPstatesUtilization:
    """How busy a part of a device is, in percent, and when that changes its clocks."""

    def __init__(self, is_present: bool, percentage: int, inc_threshold: int, dec_threshold: int) -> None:
        self.is_present = is_present
        self.percentage = percentage
        self.inc_threshold = inc_threshold
        self.dec_threshold = dec_threshold


class GpuDynamicPstatesInfo:
    """The parts of a device: graphics, memory, video, bus, and four that are not used."""

    def __init__(self, parts: list[GpuDynamicPstatesUtilization]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, idx: int) -> GpuDynamicPstatesUtilization:
        if not 0 <= idx < len(self._parts):
            raise IndexError("GPU dynamic P-states index out of range")
        return self._parts[idx]
