"""Arguments of a kernel as cuda.bindings passes them to the driver."""

from __future__ import annotations

import ctypes
from typing import Any

from cuprum import Buffer


class ParamHolder:
    """Keeps the values of kernel arguments; ``ptr`` is the address of an array of pointers to them, as cuLaunchKernel
    takes it. An int is 64 bits wide and a float a double, as in launch()."""

    def __init__(self, kernel_args: Any) -> None:
        self._values = [_value(argument) for argument in kernel_args]
        self._pointers = (ctypes.c_void_p * max(len(self._values), 1))(*map(ctypes.addressof, self._values))
        self.ptr = ctypes.addressof(self._pointers) if self._values else 0


def _value(argument: Any) -> Any:
    """A ctypes object with the bytes of the argument."""
    if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union, ctypes.Array)):
        return argument
    if isinstance(argument, Buffer):
        return ctypes.c_void_p(int(argument.handle))
    if hasattr(argument, "dtype") and not getattr(argument, "shape", ()):  # a scalar of NumPy, also a complex one
        return _bytes(argument.tobytes())
    if isinstance(argument, bool):
        return ctypes.c_bool(argument)
    if isinstance(argument, int):
        return ctypes.c_int64(argument) if argument < 1 << 63 else ctypes.c_uint64(argument)
    if isinstance(argument, float):
        return ctypes.c_double(argument)
    if isinstance(argument, complex):
        return (ctypes.c_double * 2)(argument.real, argument.imag)
    if type(argument).__module__.startswith("cuda.bindings."):  # a handle
        return ctypes.c_void_p(int(argument))
    raise TypeError(f"the argument {argument!r} is of unsupported type {type(argument)}")


def _bytes(data: bytes) -> Any:
    return (ctypes.c_char * len(data)).from_buffer_copy(data)
