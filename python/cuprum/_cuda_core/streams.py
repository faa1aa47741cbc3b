"""How cuda.core makes streams, also of classes that derive from Stream."""

from __future__ import annotations

from typing import Any

from cuprum import Device, Stream, _core


def make(cls: type[Stream], obj: object = None, options: Any = None, device_id: Any = None, ctx: Any = None) -> Stream:
    """A stream of the class: that of `obj`, which has __cuda_stream__, or a new one of a device."""
    if obj is not None:
        if options is not None:
            raise ValueError("obj and options cannot be both specified")
        return _as(cls, _core.Stream_accept(obj, True))
    return _as(cls, Device(device_id).create_stream(options=options))


def legacy_default(cls: type[Stream]) -> Stream:
    """CUDA's legacy default stream."""
    return _as(cls, Stream.legacy_default())


def per_thread_default(cls: type[Stream]) -> Stream:
    """CUDA's default stream of the calling thread."""
    return _as(cls, Stream.per_thread_default())


def _as(cls: type[Stream], stream: Stream) -> Stream:
    return _core._stream_as(cls, stream)
