"""Descriptors of buffers and events as cuda.core has them: the bytes of the driver, and nothing of where they come
from.

What cuprum says besides, and checks, is left out when such a descriptor is pickled.
"""

from __future__ import annotations

from typing import Any

from cuprum import Buffer, Event
from cuprum._core import IPCBufferDescriptor, IPCEventDescriptor
from cuprum._errors import InvalidArgumentError

_SIZE = 64

buffer_from_ours = Buffer.from_ipc_descriptor  # which the functions below take the places of
event_from_ours = Event.from_ipc_descriptor


class RawBufferDescriptor(IPCBufferDescriptor):
    """What another process says of a buffer. Looked at when it is imported."""

    payload: bytes = b""
    size: int = 0

    def __reduce__(self) -> Any:
        return raw_buffer, (self.payload, self.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IPCBufferDescriptor):
            return NotImplemented
        return (self.payload, self.size) == (other.payload, other.size)

    def __hash__(self) -> int:
        return hash((self.payload, self.size))

    def __repr__(self) -> str:
        return f"<the description of a buffer of {self.size} bytes>"


class RawEventDescriptor(IPCEventDescriptor):
    """What another process says of an event. Looked at when it is imported."""

    payload: bytes = b""
    is_blocking_sync: bool = False

    def __reduce__(self) -> Any:
        return raw_event, (self.payload, self.is_blocking_sync)

    def __eq__(self, other: object) -> bool:
        return self.payload == other.payload if isinstance(other, IPCEventDescriptor) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.payload)

    def __repr__(self) -> str:
        return "<the description of an event>"


def raw_buffer(reserved: bytes, size: int) -> RawBufferDescriptor:
    """A descriptor of the driver's bytes and the size of the buffer."""
    descriptor = RawBufferDescriptor.__new__(RawBufferDescriptor)  # none of the library: it has no such bytes yet
    descriptor.payload, descriptor.size = reserved, size
    return descriptor


def raw_event(reserved: bytes, is_blocking_sync: bool) -> RawEventDescriptor:
    """A descriptor of the driver's bytes and of how the event waits."""
    descriptor = RawEventDescriptor.__new__(RawEventDescriptor)
    descriptor.payload, descriptor.is_blocking_sync = reserved, bool(is_blocking_sync)
    return descriptor


def reduce_buffer(self: IPCBufferDescriptor) -> Any:
    """What pickle keeps of one that this process has made."""
    return IPCBufferDescriptor._init, (self.payload, self.size)  # type: ignore[attr-defined]


def buffer_from_ipc_descriptor(mr: Any, ipc_descriptor: Any, stream: Any = None) -> Buffer:
    """Maps a buffer of another process, of either kind of descriptor."""
    if not isinstance(ipc_descriptor, RawBufferDescriptor):
        return buffer_from_ours(mr, ipc_descriptor, stream=stream)
    if not getattr(mr, "is_ipc_enabled", True):
        raise RuntimeError("Memory resource is not IPC-enabled")
    payload = _checked(ipc_descriptor.payload, "IPC buffer descriptor payload")
    adopted = IPCBufferDescriptor.adopt(payload, ipc_descriptor.size)
    try:
        return buffer_from_ours(mr, adopted, stream=stream)
    except InvalidArgumentError as error:  # what the other process says can't be, and no call of the driver failed
        raise ValueError(str(error)) from None


def event_from_ipc_descriptor(ipc_descriptor: Any) -> Event:
    """An event of another process, of either kind of descriptor."""
    if isinstance(ipc_descriptor, RawEventDescriptor):
        payload = _checked(ipc_descriptor.payload, "IPC event descriptor reserved field")
        ipc_descriptor = IPCEventDescriptor.adopt(payload, ipc_descriptor.is_blocking_sync)
    return event_from_ours(ipc_descriptor)


def _checked(payload: bytes, what: str) -> bytes:
    if len(payload) < _SIZE:
        raise ValueError(f"{what} is {len(payload)} bytes; expected at least {_SIZE}")
    return payload[:_SIZE]
