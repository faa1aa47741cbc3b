"""Places of managed memory as the driver counts them."""

from __future__ import annotations

from dataclasses import dataclass

from cuprum import Device, Host


@dataclass(frozen=True)
class _LocSpec:
    """A kind of place, "device", "host", "host_numa" or "host_numa_current", and its number."""

    kind: str
    id: int = 0


def _coerce_location(value: object, *, allow_none: bool = False) -> _LocSpec | None:
    """The place that a Device or a Host stands for."""
    if value is None:
        if allow_none:
            return None
        raise ValueError("location is required: give a Device or a Host")
    if isinstance(value, _LocSpec):
        return value
    if isinstance(value, Device):
        return _LocSpec("device", value.device_id)
    if not isinstance(value, Host):
        raise TypeError(f"location must be a Device, Host, or None, not {type(value).__name__}")
    if value.is_numa_current:
        return _LocSpec("host_numa_current")
    return _LocSpec("host") if value.numa_id is None else _LocSpec("host_numa", value.numa_id)
