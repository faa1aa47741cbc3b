"""Waiting for something to happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum import _core
from cuprum._arguments import names_the_nearest_keyword, names_the_nearest_keywords
from cuprum.system._choices import members
from cuprum.system.exceptions import error_of
from cuprum.system.typing import EventType, SystemEventType

if TYPE_CHECKING:
    from cuprum._core import SystemDevice
    from cuprum.system._device import Device


class EventData:
    """Something that happened to a device."""

    def __init__(self, device: Device, event_type: str, data: int, gpu_instance: int | None, compute: int | None) -> None:
        self.device = device
        self.event_type = EventType(event_type)
        self._values = {"event_data": data, "gpu_instance_id": gpu_instance, "compute_instance_id": compute}

    def _of_critical_error(self, name: str) -> int:
        if self.event_type != EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"{name} is only available for Xid critical error events.")
        value = self._values[name]
        return value if value is not None else 0xFFFFFFFF

    @property
    def event_data(self) -> int:
        """The number of a critical error (Xid); ValueError for other events."""
        return self._of_critical_error("event_data")

    @property
    def gpu_instance_id(self) -> int:
        """Of a GPU that is divided (MIG); ValueError for other events than critical errors."""
        return self._of_critical_error("gpu_instance_id")

    @property
    def compute_instance_id(self) -> int:
        """The same, of the part of that."""
        return self._of_critical_error("compute_instance_id")


@names_the_nearest_keywords
class DeviceEvents:
    """What waits for events of a device."""

    def __init__(self, device: SystemDevice, events: EventType | str | list[EventType | str]) -> None:
        self._set = device.register_events(members(EventType, events, "event type"))

    def wait(self, timeout_ms: int = 0) -> EventData:
        """The next event; TimeoutError when there is none in that time. 0 waits for as long as it takes."""
        from cuprum.system._device import Device

        found = self._set.wait(timeout_ms)
        if found is None:
            raise error_of(10, f"nothing has happened to the device in {timeout_ms} ms")
        return EventData(Device._of(found[0]), *found[1:])


class SystemEvent:
    """Something that happened to the devices of a machine."""

    def __init__(self, event_type: str, gpu_id: int) -> None:
        self.event_type = SystemEventType(event_type)
        self.gpu_id = gpu_id

    @property
    def device(self) -> Device:
        """To which it happened."""
        from cuprum.system._device import Device

        return Device._of(_core.system_device_of_event(self.gpu_id))


class SystemEvents:
    """Things that happened."""

    def __init__(self, events: list[SystemEvent]) -> None:
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, idx: int) -> SystemEvent:
        return self._events[idx]


@names_the_nearest_keywords
class RegisteredSystemEvents:
    """What waits for events of the machine."""

    def __init__(self, events: SystemEventType | str | list[SystemEventType | str]) -> None:
        self._set = _core.system_register_events(members(SystemEventType, events, "event type"))

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """The next events, `buffer_size` at most; TimeoutError when there is none in that time. 0 is no limit."""
        found = self._set.wait(timeout_ms, buffer_size)
        if not found:
            raise error_of(10, f"nothing has happened to the machine's devices in {timeout_ms} ms")
        return SystemEvents([SystemEvent(*row) for row in found])


@names_the_nearest_keyword
def register_events(events: SystemEventType | str | list[SystemEventType | str]) -> RegisteredSystemEvents:
    """Wait for events of the machine from now on."""
    return RegisteredSystemEvents(events)
