"""The types of cuprum.typing that are made of Python's typing, which takes a while to import."""

from __future__ import annotations

from typing import Literal, Protocol

ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]
"""Where a process stands between running and checkpointed."""


class IsStreamType(Protocol):
    """An object that stands for a CUDA stream, whichever library made it.

    >>> class Wrapped:
    ...     def __init__(self, stream):
    ...         self.stream = stream
    ...     def __cuda_stream__(self):
    ...         return (0, int(self.stream.handle))
    """

    def __cuda_stream__(self) -> tuple[int, int]:
        """The version of the protocol, which is 0, and the address of the stream, both as int."""
        ...


IsStreamType.__module__ = "cuprum.typing"
