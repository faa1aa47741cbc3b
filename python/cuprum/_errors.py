"""What cuprum raises.

``CUDAError`` and ``NVRTCError`` are cuda.core's; the others derive from them and from Python's own, so that whoever
catches one of those catches them. Bad arguments raise ``TypeError`` and ``ValueError``, and closed or unsuitable objects
``RuntimeError``, as everywhere in Python.
"""

from __future__ import annotations


class CUDAError(Exception):
    """A call of the CUDA driver failed, or the device can't do what was asked."""

    code: int | None = None
    name: str = ""
    description: str = ""
    call: str = ""
    reason: str = ""


class OutOfMemoryError(CUDAError, MemoryError):
    """The driver has no memory left for the request."""


class NotSupportedError(CUDAError, NotImplementedError):
    """This device, driver or machine can't do it; the message says what would be needed."""


class NVRTCError(CUDAError):
    """A compiler refused the program; ``log`` is what it printed."""

    log: str = ""
    source: str = ""
    options: list[str] = []


class CompileError(NVRTCError, RuntimeError):
    """A compiler refused the program: ``log`` is what it printed, ``source`` the lines around the first error."""


class LinkError(CUDAError, RuntimeError):
    """A linker refused its inputs; ``log`` is what it printed."""

    log: str = ""


class LibraryError(CUDAError, RuntimeError):
    """A call of NVRTC, nvJitLink, libNVVM or NVML failed."""

    library: str = ""


class GraphUpdateError(CUDAError, ValueError):
    """An executable graph can't be made to do what another one does; the message says why."""
