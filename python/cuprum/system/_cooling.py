"""Temperatures, fans and coolers."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from cuprum.system._choices import member
from cuprum.system.typing import (
    CoolerControl,
    CoolerTarget,
    DeviceArch,
    FanControlPolicy,
    TemperatureThresholds,
    ThermalController,
    ThermalTarget,
)

if TYPE_CHECKING:
    from cuprum._core import SystemDevice

# NVIDIA has fields for these since Ada.
_BETTER_AS_FIELDS = ("shutdown", "slowdown", "mem_max", "gpu_max")


class CoolerInfo:
    """What cools a device."""

    def __init__(self, signal_type: str | None, target: list[str]) -> None:
        self.signal_type: CoolerControl | None = CoolerControl(signal_type) if signal_type is not None else None
        self.target: list[CoolerTarget] = [CoolerTarget(each) for each in target]


class FanInfo:
    """One fan of a device."""

    def __init__(self, device: SystemDevice, fan: int) -> None:
        self._device = device
        self._fan = fan

    @property
    def speed(self) -> int:
        """In percent of the fastest. Setting it needs root's rights."""
        return self._device.fan_speed(self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        self._device.set_fan_speed(self._fan, speed)

    @property
    def speed_rpm(self) -> int:
        """In turns per minute."""
        return self._device.fan_speed_rpm(self._fan)

    @property
    def target_speed(self) -> int:
        """What it is meant to be, in percent."""
        return self._device.target_fan_speed(self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """What can be set, in percent."""
        return self._device.min_max_fan_speed(self._fan)

    @property
    def control_policy(self) -> FanControlPolicy:
        """Who decides."""
        return FanControlPolicy(self._device.fan_control_policy(self._fan))

    def set_default_speed(self) -> None:
        """Leave it to the driver again."""
        self._device.set_default_fan_speed(self._fan)


class ThermalSensor:
    """What measures a temperature, in degrees Celsius."""

    def __init__(
        self, controller: str, default_min_temp: int, default_max_temp: int, current_temp: int, target: str
    ) -> None:
        self.controller = ThermalController(controller)
        self.default_min_temp = default_min_temp
        self.default_max_temp = default_max_temp
        self.current_temp = current_temp
        self.target = ThermalTarget(target)


class ThermalSettings:
    """The sensors of a device."""

    def __init__(self, sensors: list[ThermalSensor]) -> None:
        self._sensors = sensors

    def __len__(self) -> int:
        return len(self._sensors)

    def __getitem__(self, idx: int) -> ThermalSensor:
        if not 0 <= idx < len(self._sensors):
            raise IndexError("Thermal sensor index out of range")
        return self._sensors[idx]


class Temperature:
    """The temperatures of a device, in degrees Celsius."""

    def __init__(self, device: SystemDevice) -> None:
        self._device = device

    def get_sensor(self) -> int:
        """Of the GPU's die."""
        return self._device.temperature()

    def get_threshold(self, threshold_type: TemperatureThresholds | str) -> int:
        """From where on something happens."""
        threshold = member(TemperatureThresholds, threshold_type, "temperature threshold type")
        arch = self._device.arch()
        if threshold in _BETTER_AS_FIELDS and DeviceArch.ADA <= arch != DeviceArch.UNKNOWN:
            warnings.warn(
                f"{threshold} is no longer recommended from Ada on: use get_field_values with the fields of "
                "temperatures",
                DeprecationWarning,
                stacklevel=2,
            )
        return self._device.temperature_threshold(threshold)

    @property
    def margin(self) -> int:
        """How much it may rise until the device slows down."""
        return self._device.temperature_margin()

    def get_thermal_settings(self, sensor_index: ThermalTarget | str) -> ThermalSettings:
        """The sensors of a part of the device."""
        target = member(ThermalTarget, sensor_index, "thermal sensor index")
        return ThermalSettings([ThermalSensor(*row) for row in self._device.thermal_settings(target)])
