"""Sets that the driver keeps: which devices can access a pool, and where managed memory is kept mapped.

Each read asks the driver and each write tells it, so that all views of one pool or buffer agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from cuprum import _core

if TYPE_CHECKING:
    from cuprum import Device, DeviceMemoryResource, Host, ManagedBuffer


class PeerAccessibleBySetProxy(MutableSet):  # type: ignore[type-arg]
    """The other devices that can access a memory pool. Takes devices and their numbers; gives devices.

    Changing access takes long, because the driver updates every mapping of the pool: the operations for several devices
    make one call of it.
    """

    __slots__ = ("_resource",)

    def __init__(self, mr: DeviceMemoryResource) -> None:
        self._resource = mr

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)  # what & and the like make is no view

    def __contains__(self, value: object) -> bool:
        devices = _devices([value])
        return bool(devices) and self._resource._peers.contains(devices[0])

    def __iter__(self) -> Iterator[Device]:
        return iter(self._resource._peers.devices())

    def __len__(self) -> int:
        return len(self._resource._peers.devices())

    def add(self, value: Device | int) -> None:
        """Let a device access the pool."""
        self._resource._peers.update([value])

    def discard(self, value: Device | int) -> None:
        """Take a device's access away; what is no device has none."""
        self._resource._peers.difference_update(_devices([value]))

    def clear(self) -> None:
        """Take the access of all devices away."""
        self._resource._peers.intersection_update([])

    def update(self, *others: Iterable[Device | int]) -> None:
        """Let all these devices access the pool, too."""
        self._resource._peers.update([device for other in others for device in other])

    def difference_update(self, *others: Iterable[Device | int]) -> None:
        """Take the access of all these devices away."""
        self._resource._peers.difference_update(_devices([device for other in others for device in other]))

    def intersection_update(self, *others: Iterable[Device | int]) -> None:
        """Take the access of all devices away that are not in each of `others`."""
        if not others:
            return
        kept = set.intersection(*(set(_devices(other)) for other in others))
        self._resource._peers.intersection_update(list(kept))

    def symmetric_difference_update(self, other: Iterable[Device | int]) -> None:
        """Take the access of those devices that have it, and give it to those that have not."""
        self._resource._peers.symmetric_difference_update(list(set(_devices(other))))

    def __ior__(self, other: Any) -> PeerAccessibleBySetProxy:  # type: ignore[override,misc]
        self.update(other)
        return self

    def __iand__(self, other: Any) -> PeerAccessibleBySetProxy:  # type: ignore[override,misc]
        self.intersection_update(other)
        return self

    def __isub__(self, other: Any) -> PeerAccessibleBySetProxy:  # type: ignore[override,misc]
        self.difference_update(list(other))
        return self

    def __ixor__(self, other: Any) -> PeerAccessibleBySetProxy:  # type: ignore[override,misc]
        self.symmetric_difference_update(list(other))
        return self

    def __repr__(self) -> str:
        return f"PeerAccessibleBySetProxy({set(self)!r})"


def _devices(values: Iterable[object]) -> list[Any]:
    """Those of `values` that are devices or numbers of devices, as devices."""
    devices = []
    for value in values:
        if value is None:
            continue  # Device(None) is the current one
        try:
            devices.append(_core.Device(value))  # type: ignore[arg-type] # what is no device is refused
        except (TypeError, ValueError):
            continue
    return devices


class AccessedBySetProxy(MutableSet):  # type: ignore[type-arg]
    """The places that managed memory is kept mapped for: devices, and the host as a whole."""

    __slots__ = ("_buffer",)

    def __init__(self, buf: ManagedBuffer) -> None:
        self._buffer = buf

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)  # what & and the like make is no view

    def __contains__(self, location: object) -> bool:
        return _is_location(location) and self._buffer._accessed_by.contains(location)

    def __iter__(self) -> Iterator[Device | Host]:
        return iter(self._buffer._accessed_by.locations())

    def __len__(self) -> int:
        return len(self._buffer._accessed_by.locations())

    def add(self, location: Device | Host) -> None:
        """Keep the memory mapped for a place."""
        if not _is_location(location):
            raise TypeError(f"expected Device or Host, got {type(location).__name__}")
        self._buffer._accessed_by.add(location)

    def discard(self, location: Device | Host) -> None:
        """Keep it mapped for a place no longer; what is no place is in no set."""
        if _is_location(location):
            self._buffer._accessed_by.discard(location)

    def __repr__(self) -> str:
        return f"AccessedBySetProxy({set(self)!r})"


def _is_location(value: object) -> bool:
    return isinstance(value, (_core.Device, _core.Host))


def DMR_mempool_get_access(dmr: DeviceMemoryResource, device_id: Device | int) -> str:
    """What a device may do with the memory of a pool: "rw", or "" for nothing."""
    device = _core.Device(device_id)
    return "rw" if device.device_id == dmr.device_id or dmr._peers.contains(device) else ""
