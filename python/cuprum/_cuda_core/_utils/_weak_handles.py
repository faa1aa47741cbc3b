"""Seeing when a resource goes that no Python object stands for: memory that graphs keep, and graphs."""

from __future__ import annotations

from typing import Any

from cuprum import _core


class WeakHandle:
    """True as long as somebody keeps the resource, which this does not."""

    def __init__(self, obj: Any) -> None:
        self._observer = _core._Observer(obj)

    def __bool__(self) -> bool:
        return bool(self._observer)

    def expired(self) -> bool:
        """Whether nobody keeps the resource any more."""
        return not self


def weak_handle(obj: Any) -> WeakHandle:
    """Of the memory of a Buffer, or of a GraphDefinition."""
    return WeakHandle(obj)
