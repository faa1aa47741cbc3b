"""Which linker links, as ``cuda.core._linker`` decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuprum import Linker, LinkerOptions
from cuprum.typing import CompilerBackendType

if TYPE_CHECKING:
    from collections.abc import Callable

# What libcuprum says itself: which_backend() below takes the place of its own function.
of_library: Callable[[], Any] = Linker.which_backend
options_as_bytes = LinkerOptions.as_bytes


def which_backend(cls: type[Linker]) -> CompilerBackendType:
    """The linker that is used: what is set or decided in cuda.core._linker. Linker asks this, too, before it links."""
    import cuda.core._linker as decided

    is_nvjitlink = decided._use_nvjitlink_backend
    if is_nvjitlink is None:
        is_nvjitlink = not decided._decide_nvjitlink_or_driver()
    return CompilerBackendType.NVJITLINK if is_nvjitlink else CompilerBackendType.DRIVER


def as_bytes(self: LinkerOptions, backend: str = "nvjitlink") -> list[bytes]:
    """The options as nvJitLink reads them; RuntimeError where the driver links."""
    if str(backend).lower() == "nvjitlink" and Linker.which_backend() == "driver":
        raise RuntimeError("nvJitLink backend is not available: the driver links here, which takes no such options")
    return options_as_bytes(self, backend)
