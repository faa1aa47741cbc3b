"""Devices that are divided, the infoROM, repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum.system._choices import member
from cuprum.system.exceptions import NotFoundError
from cuprum.system.typing import InforomObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuprum._core import SystemDevice
    from cuprum.system._device import Device


class InforomInfo:
    """The infoROM of a device, in which the board says what it is."""

    def __init__(self, device: SystemDevice) -> None:
        self._device = device

    def get_version(self, inforom: InforomObject | str) -> str:
        """The version of a part of it."""
        return self._device.inforom_version(member(InforomObject, inforom, "InfoROM object"))

    @property
    def image_version(self) -> str:
        """The version of the whole."""
        return self._device.inforom_image_version()

    @property
    def configuration_checksum(self) -> int:
        """Of what is configured."""
        return self._device.inforom_configuration_checksum()

    def validate(self) -> None:
        """Read it all and compare its checksums; raises CorruptedInforomError when it is damaged."""
        self._device.validate_inforom()

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """When the board's black box was last written, and how long that took, in microseconds."""
        return self._device.inforom_bbx_flush_time()

    @property
    def board_part_number(self) -> str:
        """Of the board."""
        return self._device.board_part_number()


class RepairStatus:
    """Repairs that wait for a reset of the device."""

    def __init__(self, channel_repair_pending: bool, tpc_repair_pending: bool) -> None:
        self.channel_repair_pending = channel_repair_pending
        self.tpc_repair_pending = tpc_repair_pending


class MigInfo:
    """A GPU that is divided into several (MIG), or a part of one."""

    def __init__(self, device: Device) -> None:
        self._of = device
        self._device = device._device

    @property
    def is_mig_device(self) -> bool:
        """Whether this is a part."""
        return self._device.is_mig_device()

    @property
    def mode(self) -> bool:
        """Whether the device is divided. Setting it needs root's rights, and a reset."""
        return self._device.mig_mode()

    @mode.setter
    def mode(self, mode: bool) -> None:
        self._device.set_mig_mode(bool(mode))

    @property
    def pending_mode(self) -> bool:
        """Whether it will be after the next reset."""
        return self._device.mig_pending_mode()

    @property
    def device_count(self) -> int:
        """The most parts there can be."""
        return self._device.mig_device_count()

    @property
    def parent(self) -> Device:
        """The device that this is a part of."""
        return type(self._of)._of(self._device.mig_parent())

    def get_device_by_index(self, index: int) -> Device:
        """One of the parts; NotFoundError where there is none of that number."""
        return type(self._of)._of(self._device.mig_device(index))

    def get_all_devices(self) -> Iterable[Device]:
        """All parts that there are."""
        for index in range(self.device_count):
            try:
                yield self.get_device_by_index(index)
            except NotFoundError:
                continue
