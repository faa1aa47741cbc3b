"""What cuprum raises.

``CUDAError`` and ``NVRTCError`` are cuda.core's; the others derive from them and from Python's own, so that whoever
catches one of those catches them. Bad arguments are a ``TypeError`` or a ``ValueError``, and closed or unsuitable objects a
``RuntimeError``, as everywhere in Python; where the library finds them, and not Python, they are a ``CUDAError``, too.
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


class InvalidArgumentError(CUDAError, ValueError):
    """A value that can't be, found before anything reached the driver: cuda.core has the driver refuse most of them."""


class WrongTypeError(CUDAError, TypeError):
    """Something of another type than expected, such as an argument that is not what the kernel declares."""


class OutOfRangeError(TypeError, OverflowError):
    """A number that a parameter can't hold. It fits no signature, as a TypeError, and is too big or negative."""


class BoundsError(InvalidArgumentError, OverflowError):
    """A number that is of the right type, and that a parameter can't hold: it is too big or negative."""


class HostMemoryError(TypeError, ValueError, BufferError):
    """An object that has memory of the host, but can't be copied from or to: it is read-only, or has gaps."""


class WrongStateError(CUDAError, RuntimeError):
    """An object that is closed, or can't do this, whatever the arguments."""


class NVRTCError(CUDAError):
    """A compiler refused the program; ``log`` is what it printed."""

    log: str = ""
    source: str = ""
    options: list[str] = []


class CompileError(NVRTCError, RuntimeError):
    """A compiler refused the program: ``log`` is what it printed, ``source`` the lines around the first error."""

    def _repr_html_(self) -> str:
        from ._notebooks import compile_error

        return compile_error(self)


class LinkError(CUDAError, RuntimeError):
    """A linker refused its inputs; ``log`` is what it printed."""

    log: str = ""


class LibraryError(CUDAError, RuntimeError):
    """A call of NVRTC, nvJitLink, libNVVM or NVML failed."""

    library: str = ""


class GraphUpdateError(CUDAError, ValueError):
    """An executable graph can't be made to do what another one does; the message says why."""


class SystemCallError(CUDAError, OSError):
    """The operating system refused something: ``errno`` says what."""


class MissingFileError(SystemCallError, FileNotFoundError):
    """A file that is not there."""


class FolderError(SystemCallError, IsADirectoryError):
    """A folder in the place of a file."""


class NoFolderError(SystemCallError, NotADirectoryError):
    """A file in the place of a folder."""


class ExistingFileError(SystemCallError, FileExistsError):
    """A file that is there already."""


class DeniedError(SystemCallError, PermissionError):
    """A file, or something else, that this user may not use."""


def system_error(code: int, message: str) -> SystemCallError:
    """What is raised for an errno: one that Python's own class for that errno catches, too."""
    pythons = type(OSError(code, message))
    return next((each for each in SystemCallError.__subclasses__() if issubclass(each, pythons)), SystemCallError)(code, message)


_LIBRARY_ERRORS = {"nvvm": ("cuda.bindings.nvvm", "nvvmError"), "nvjitlink": ("cuda.bindings.nvjitlink", "nvJitLinkError")}


def as_error_of(library: str, error: BaseException) -> None:
    """Make `error` one of NVIDIA's bindings of a library, too, which programs that import those bindings catch."""
    import sys

    module, name = _LIBRARY_ERRORS[library]
    theirs = getattr(sys.modules.get(module), name, None)
    if theirs is None or isinstance(error, theirs):
        return
    cls = type(error)
    error.__class__ = type(cls.__name__, (cls, theirs), {"__module__": cls.__module__, "__doc__": cls.__doc__})
