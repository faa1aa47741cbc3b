"""What NVML's functions raise: a class for each of its codes, under the names that NVIDIA's bindings have for them."""

from __future__ import annotations

import sys

from cuprum import _errors


class NvmlError(_errors.LibraryError):
    """A call of NVML failed; ``code`` is what it returned."""

    code: int = 999

    def __init__(self, *args: object) -> None:
        super().__init__(*(args or (self.__doc__,)))


def _error(name: str, code: int, words: str, *bases: type) -> type[NvmlError]:
    return type(name, (NvmlError, *bases), {"__module__": __name__, "__doc__": words, "code": code})


UninitializedError = _error("UninitializedError", 1, "NVML is not initialised.")
InvalidArgumentError = _error("InvalidArgumentError", 2, "An argument of the call is wrong.", ValueError)
NotSupportedError = _error("NotSupportedError", 3, "The device can't do it.", _errors.NotSupportedError)
NoPermissionError = _error("NoPermissionError", 4, "The user may not do it.")
AlreadyInitializedError = _error("AlreadyInitializedError", 5, "NVML is initialised already.")
NotFoundError = _error("NotFoundError", 6, "What was asked for is not there.")
InsufficientSizeError = _error("InsufficientSizeError", 7, "There is too little room for the answer.")
InsufficientPowerError = _error("InsufficientPowerError", 8, "A power cable of the device is not attached.")
DriverNotLoadedError = _error("DriverNotLoadedError", 9, "NVIDIA's driver is not loaded.")
TimeoutError = _error("TimeoutError", 10, "The time that was given is over.")
IrqIssueError = _error("IrqIssueError", 11, "There is something wrong with the device's interrupts.")
LibraryNotFoundError = _error("LibraryNotFoundError", 12, "NVML could not be opened.")
FunctionNotFoundError = _error(
    "FunctionNotFoundError", 13, "This NVML does not have the function.", _errors.NotSupportedError
)
CorruptedInforomError = _error("CorruptedInforomError", 14, "The device's infoROM is damaged.")
GpuIsLostError = _error("GpuIsLostError", 15, "The device can't be reached.")
ResetRequiredError = _error("ResetRequiredError", 16, "The device must be reset first.")
OperatingSystemError = _error("OperatingSystemError", 17, "The operating system blocks the device.")
LibRmVersionMismatchError = _error("LibRmVersionMismatchError", 18, "NVML and the driver are of different versions.")
InUseError = _error("InUseError", 19, "The device is in use.")
MemoryError = _error("MemoryError", 20, "There is not enough memory.")
NoDataError = _error("NoDataError", 21, "There is nothing to tell.")
VgpuEccNotSupportedError = _error("VgpuEccNotSupportedError", 22, "Not for a virtual GPU while ECC is on.")
InsufficientResourcesError = _error("InsufficientResourcesError", 23, "Something other than memory has run out.")
FreqNotSupportedError = _error("FreqNotSupportedError", 24, "The device does not have this frequency.")
ArgumentVersionMismatchError = _error("ArgumentVersionMismatchError", 25, "This NVML does not know the struct.")
DeprecatedError = _error("DeprecatedError", 26, "It is not offered any more.")
NotReadyError = _error("NotReadyError", 27, "The system is not ready for it yet.")
GpuNotFoundError = _error("GpuNotFoundError", 28, "There is no such device.")
InvalidStateError = _error("InvalidStateError", 29, "Not in the state that it is in.")
ResetTypeNotSupportedError = _error("ResetTypeNotSupportedError", 30, "The device can't be reset in this way.")
UnknownError = _error("UnknownError", 999, "An error of the driver's own.")

__all__ = sorted(name for name in globals() if name.endswith("Error"))

_CLASSES = {value.code: value for value in list(globals().values()) if isinstance(value, type) and value is not NvmlError
            and issubclass(value, NvmlError)}


def error_of(code: int, message: str) -> NvmlError:
    """The exception for a code. Where NVIDIA's bindings of NVML are loaded it is one of theirs, too, for those who catch those."""
    error = _CLASSES.get(code, UnknownError)(message)
    error.code = code
    theirs = getattr(sys.modules.get("cuda.bindings.nvml"), type(error).__name__, None)
    if isinstance(theirs, type):
        cls = type(error)
        error.__class__ = type(cls.__name__, (cls, theirs), {"__module__": cls.__module__, "__doc__": cls.__doc__})
        error.status = code  # type: ignore[attr-defined]
    return error
