"""PCI and NVLink."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from cuprum._arguments import names_the_nearest_keywords

if TYPE_CHECKING:
    from cuprum._core import SystemDevice


class PciInfo:
    """Where a device is on PCI, and the link to it."""

    def __init__(self, device: SystemDevice) -> None:
        self._device = device
        self.bus_id, numbers = device.pci_info()
        (
            self.bus,
            self.device,
            self.domain,
            self.vendor_id,
            self.device_id,
            self.subsystem_id,
            self.base_class,
            self.sub_class,
        ) = numbers

    @property
    def link_generation(self) -> int:
        """The highest generation that device and slot have together."""
        return self._device.pci_link_generation()

    @property
    def max_link_generation(self) -> int:
        """The highest generation that the device has."""
        return self._device.pci_max_link_generation()

    @property
    def max_link_width(self) -> int:
        """The most lanes that device and slot have together."""
        return self._device.pci_max_link_width()

    @property
    def current_link_generation(self) -> int:
        """The generation at this moment."""
        return self._device.pci_current_link_generation()

    @property
    def current_link_width(self) -> int:
        """The lanes at this moment."""
        return self._device.pci_current_link_width()

    @property
    def rx_throughput(self) -> int:
        """What arrives at the device, in KB/s."""
        return self._device.pci_rx_throughput()

    @property
    def tx_throughput(self) -> int:
        """What leaves it, in KB/s."""
        return self._device.pci_tx_throughput()

    @property
    def replay_counter(self) -> int:
        """How often something had to be sent again."""
        return self._device.pci_replay_counter()


class _NvlinkInfoMeta(type):
    @property
    def max_links(cls) -> int:
        warnings.warn(
            "max_links is deprecated: use Device.get_nvlink_count", DeprecationWarning, stacklevel=2
        )
        return 18


@names_the_nearest_keywords
class NvlinkInfo(metaclass=_NvlinkInfoMeta):
    """One of a device's NVLinks."""

    def __init__(self, device: SystemDevice, link: int) -> None:
        self._device = device
        self._link = link

    @property
    def version(self) -> tuple[int, int]:
        """As (4, 0)."""
        return self._device.nvlink_version(self._link)

    @property
    def state(self) -> bool:
        """Whether it is in use."""
        return self._device.nvlink_state(self._link)
