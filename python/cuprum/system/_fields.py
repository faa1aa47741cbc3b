"""Values by number."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index

from cuprum import _core
from cuprum._errors import OutOfRangeError
from cuprum.system.typing import FieldId

_MOST = 0xFFFF_FFFF


class FieldValue:
    """A value, or why there is none."""

    def __init__(self, row: tuple[int, int, int, int, int, int | float]) -> None:
        self._field_id, self.scope_id, self.timestamp, self.latency_usec, self._code, self._value = row

    @property
    def field_id(self) -> FieldId:
        """Which was asked for."""
        return FieldId(self._field_id)

    @property
    def value(self) -> int | float:
        """The value; raises what NVML said when there is none."""
        if self._code != 0:
            _core.system_raise_field_error(self._code)
        return self._value


class FieldValues:
    """Values of several fields, each of which may have an error of its own."""

    def __init__(self, values: list[FieldValue]) -> None:
        self._values = values

    def __getitem__(self, idx: int) -> FieldValue:
        return self._values[idx]

    def __len__(self) -> int:
        return len(self._values)

    def validate(self) -> None:
        """Raise the first error that there is."""
        for value in self._values:
            value.value  # noqa: B018

    def get_all_values(self) -> list[int | float]:
        """All of them."""
        return [value.value for value in self._values]


def as_pairs(field_ids: list[int | tuple[int, int]]) -> list[tuple[int, int]]:
    """Numbers, or pairs of a number and a scope, as pairs."""
    if not isinstance(field_ids, Iterable) or isinstance(field_ids, (str, bytes)):
        raise TypeError(f"field_ids must be a list of numbers, or of pairs of them, not {type(field_ids).__name__}")
    return [_as_pair(each) for each in field_ids]


def _as_pair(entry: object) -> tuple[int, int]:
    pair = entry if isinstance(entry, tuple) else (entry, 0)
    try:
        field, scope = (index(each) for each in pair)
    except (TypeError, ValueError):
        raise ValueError(f"each of field_ids must be a field's number, or a tuple of that and a scope, not {entry!r}") from None
    if not (0 <= field <= _MOST and 0 <= scope <= _MOST):
        raise OutOfRangeError(f"each of field_ids must be from 0 to {_MOST}, as must its scope, not {entry!r}")
    return field, scope
