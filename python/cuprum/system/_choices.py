"""Strings and members of enumerations, as callers give them."""

from __future__ import annotations

from enum import Enum


def member(enumeration: type[Enum], given: object, what: str) -> str:
    """The string of a member that a caller gave, itself or as a string. ValueError with all there are for anything else."""
    try:
        return str(enumeration(given).value)
    except ValueError:
        raise ValueError(
            f"Invalid {what}: {given}. Must be one of {[str(each) for each in enumeration]}"
        ) from None


def members(enumeration: type[Enum], given: object, what: str) -> list[str]:
    """The same for one or a list of them. TypeError for what is neither."""
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        raise TypeError(f"events must be of {enumeration.__name__}, strings, or a list of them, not {type(given)}")
    return [member(enumeration, each, what) for each in given]
