"""The smallest CuPy and PyTorch that the documents' snippets need, for machines without them.

Arrays are NumPy's, in pinned memory, which kernels reach at the same address. Where the real package is installed and a
GPU is there the real one is used.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

import cuprum


class Array:
    """A one-dimensional array that kernels and NumPy both reach."""

    def __init__(self, values: np.ndarray) -> None:
        self._buffer = cuprum.PinnedMemoryResource().allocate(values.nbytes, stream=cuprum.LEGACY_DEFAULT_STREAM)
        cuprum.LEGACY_DEFAULT_STREAM.sync()
        self.address = int(self._buffer.handle)
        self.values = view(self.address, values.nbytes, values.dtype)
        self.values[:] = values
        self.data = SimpleNamespace(ptr=self.address)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        facts = {"shape": self.values.shape, "typestr": self.values.dtype.str, "strides": None}
        return {**facts, "data": (self.address, False), "version": 3}

    @property
    def size(self) -> int:
        return self.values.size

    def numel(self) -> int:
        return self.values.size

    def data_ptr(self) -> int:
        return self.address

    def all(self) -> bool:
        return bool(self.values.all())

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return Array(self.values == plain(other))

    def __add__(self, other: Any) -> Array:
        return Array(self.values + plain(other))

    __hash__ = None  # type: ignore[assignment]


def view(address: int, size: int, dtype: Any) -> np.ndarray:
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype)


def plain(value: Any) -> Any:
    return value.values if isinstance(value, Array) else value


def allclose(left: Array, right: Array) -> bool:
    return np.allclose(plain(left), plain(right))


def random(size: int, dtype: Any = np.float64) -> Array:
    return Array(np.random.default_rng(1).random(size, dtype=dtype))


def cupy() -> ModuleType:
    module = ModuleType("cupy")
    module.__dict__.update(
        float32=np.float32,
        uint64=np.uint64,
        ones=lambda size, dtype: Array(np.ones(size, dtype)),
        zeros=lambda size, dtype: Array(np.zeros(size, dtype)),
        empty=lambda size, dtype: Array(np.zeros(size, dtype)),
        empty_like=lambda array: Array(np.zeros_like(array.values)),
        allclose=allclose,
        random=SimpleNamespace(random=random, default_rng=lambda: SimpleNamespace(random=random)),
        from_dlpack=lambda buffer: view(int(buffer.handle), buffer.size, np.uint8),  # softgpu: memory is memory
    )
    return module


def torch() -> ModuleType:
    module = ModuleType("torch")
    module.__dict__.update(
        float32=np.float32,
        ones=lambda size, dtype, device: Array(np.ones(size, dtype)),
        full_like=lambda array, value: Array(np.full_like(array.values, value)),
        allclose=allclose,
        cuda=SimpleNamespace(current_stream=lambda: SimpleNamespace(cuda_stream=1)),  # the legacy default stream
    )
    return module


def install() -> None:
    """Put them where `import cupy` and `import torch` find them, unless the real ones are there and can be used."""
    from cuprum._core import driver_info

    for name, make in (("cupy", cupy), ("torch", torch)):
        if driver_info()[0] == "softgpu" or importlib.util.find_spec(name) is None:
            sys.modules[name] = make()
