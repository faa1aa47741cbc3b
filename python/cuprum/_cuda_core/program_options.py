"""The options of a program as NVRTC and libNVVM take them through cuda.bindings: as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuprum import ProgramOptions


def name(self: ProgramOptions) -> bytes:
    """The name of the program."""
    return str(self.name).encode()


def extra_sources(self: ProgramOptions) -> list[tuple[bytes, bytes]] | None:
    """Names and code of further modules."""
    if self.extra_sources is None:
        return None
    return [(_bytes(module), _bytes(source)) for module, source in self.extra_sources]


def _bytes(text: str | bytes | bytearray) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)
