"""How GraphicsResource takes its flags."""

from __future__ import annotations

from collections.abc import Sequence

_REGISTER_FLAGS = {"none": 0, "read_only": 1, "write_discard": 2, "surface_load_store": 4, "texture_gather": 8}


def _parse_register_flags(flags: str | Sequence[str] | None) -> int:
    """The flags as one number, in which CUDA has a bit for each.

    >>> _parse_register_flags(["read_only", "texture_gather"])
    9
    """
    if flags is None:
        return 0
    number = 0
    for flag in (flags,) if isinstance(flags, str) else flags:
        if flag not in _REGISTER_FLAGS:
            raise ValueError(f"Unknown register flag {flag!r}: it must be one of {', '.join(map(repr, _REGISTER_FLAGS))}")
        number |= _REGISTER_FLAGS[flag]
    return number
