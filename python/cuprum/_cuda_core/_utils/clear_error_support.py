"""Checks that say what was expected."""

from __future__ import annotations

from typing import NoReturn


def assert_type(obj: object, expected_type: type) -> None:
    """Raise TypeError unless `obj` is of the type."""
    if not isinstance(obj, expected_type):
        raise TypeError(f"Expected type {expected_type.__name__}, not {type(obj).__name__}")


def assert_type_str_or_bytes_like(obj: object) -> None:
    """Raise TypeError unless `obj` is text, as str or as bytes."""
    if not isinstance(obj, (str, bytes, bytearray)):
        raise TypeError(f"Expected type str or bytes or bytearray, not {type(obj).__name__}")


def raise_code_path_meant_to_be_unreachable() -> NoReturn:
    """Raise RuntimeError: whoever calls this can't have got here."""
    raise RuntimeError("This code path is meant to be unreachable")
