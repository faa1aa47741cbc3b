"""Functions of ctypes as callbacks of graphs."""

from __future__ import annotations

import sys
from typing import Any


def native_callback(function: Any, user_data: Any) -> tuple[int, int | bytes] | None:
    """The address of a function of ctypes and what it is to be given; None for a Python callable.

    What is no address, such as bytes or a ctypes structure, is copied for the function.
    """
    ctypes = sys.modules.get("ctypes")  # where nobody has imported it, there are no functions of it
    if ctypes is None or not isinstance(function, ctypes._CFuncPtr):
        if not callable(function):
            raise TypeError(f"callback must be callable, got {type(function).__name__}")
        if user_data is not None:
            raise ValueError("user_data is only supported with ctypes function pointers")
        return None
    if function.restype is not None or tuple(function.argtypes or ()) != (ctypes.c_void_p,):
        raise TypeError(
            f"a callback with restype={function.restype!r} and argtypes={function.argtypes!r}: CUDA calls a "
            "CUhostFn (void (*)(void*)), which is ctypes.CFUNCTYPE(None, ctypes.c_void_p); or pass a Python callable"
        )
    address = ctypes.cast(function, ctypes.c_void_p).value
    if user_data is None:
        return address, 0
    if isinstance(user_data, int):
        return address, user_data
    return address, bytes(user_data)
