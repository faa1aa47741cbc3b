"""What unpickling calls: functions of the extension have no name that pickle finds."""

from __future__ import annotations

from typing import Any

from cuprum import _core


def object_code_from_bytes(data: bytes) -> Any:
    """The ObjectCode of which to_bytes() gave `data`."""
    return _core.ObjectCode.from_bytes(data)


def object_code_from_given(code: bytes | str, code_type: str, name: str, symbol_mapping: dict[Any, Any]) -> Any:
    """The ObjectCode that one of the from_… functions made of code or a path."""
    return _core.ObjectCode._from_given(code, code_type, name=name, symbol_mapping=symbol_mapping)


def numa_current() -> Any:
    """Host.numa_current()."""
    return _core.Host.numa_current()


def device_properties(device_id: int) -> Any:
    """The properties of the device that has this number where this is called."""
    return _core.Device(device_id).properties
