"""Views of arrays that say by attributes what CuPy's say, against those that their methods describe."""

import random
import sys
import types

import numpy as np
import pytest

from cuprum import LegacyPinnedMemoryResource
from cuprum.utils import StridedMemoryView

FACTS = ("ptr", "shape", "strides", "dtype", "device_id", "is_device_accessible", "readonly", "size")


class Array:
    """NumPy's memory, which is page-locked, under CuPy's names. Counts how often its methods are asked."""

    asked = 0

    def __init__(self, values, **other):
        self.values = values
        self.data = types.SimpleNamespace(ptr=values.ctypes.data, device_id=0)
        self.shape, self.strides, self.dtype = values.shape, values.strides, values.dtype
        self.__dict__.update(other)

    def __dlpack_device__(self):
        return (3, 0)

    def __dlpack__(self, *, stream=None, **keywords):
        type(self).asked += 1
        return self.values.__dlpack__(**keywords)


@pytest.fixture
def cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.ndarray = type("ndarray", (Array,), {"asked": 0})
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def memory(device):
    buffer = LegacyPinnedMemoryResource().allocate(4096)
    return np.from_dlpack(buffer).view(np.uint8)


def facts(view):
    return {**{name: getattr(view, name) for name in FACTS}, "layout": view._layout}


def random_array(memory, numbers):
    dtype = np.dtype(numbers.choice(["?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d", "F", "D"]))
    values = memory[: 120 * dtype.itemsize].view(dtype).reshape(numbers.choice([(120,), (2, 60), (4, 5, 6), (1, 120), (2, 3, 4, 5)]))
    for axis in range(values.ndim):
        low, high = sorted((numbers.randrange(values.shape[axis] + 1), numbers.randrange(values.shape[axis] + 1)))
        values = values[(slice(None),) * axis + (slice(low, high, numbers.choice([1, 1, 2])),)]
    return values.transpose(numbers.sample(range(values.ndim), values.ndim))


@pytest.mark.parametrize("seed", range(40))
def test_the_same_is_said_as_by_dlpack(cupy, memory, seed):
    values = random_array(memory, random.Random(seed))
    quick = StridedMemoryView.from_any_interface(cupy.ndarray(values), stream_ptr=-1)
    assert cupy.ndarray.asked == 0
    slow = StridedMemoryView.from_any_interface(Array(values), stream_ptr=-1)
    said, expected = facts(quick), facts(slow)
    if values.size == 0 or 1 in values.shape:  # NumPy has other strides in DLPack where they don't matter
        for each in (said, expected):
            del each["strides"], each["layout"]
        said["ptr"] = expected["ptr"]
    assert said == expected
    assert quick.view(dtype=quick.dtype).shape == slow.shape


def test_the_view_stays_when_the_array_changes(cupy, memory):
    array = cupy.ndarray(memory[:48].view(np.float32))
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    array.shape, array.strides = (3, 4), (16, 4)
    assert view.shape == (12,) and view.strides == (1,) and view.exporting_obj is array
    assert view.view(dtype="int32").dtype == np.int32 and view.__dlpack_device__() == (3, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"dtype": np.dtype(">f4")},
        {"dtype": None},
        {"shape": [3]},
        {"strides": None},
        {"data": None},
        {"data": types.SimpleNamespace(ptr=2**64, device_id=0)},
        {"data": types.SimpleNamespace(ptr="1", device_id=0)},
        {"data": types.SimpleNamespace(ptr=1)},
    ],
    ids=str,
)
def test_what_is_not_as_expected_is_asked_of_its_methods(cupy, memory, other):
    values = memory[:12].view(np.float32)
    view = StridedMemoryView.from_any_interface(cupy.ndarray(values, **other), stream_ptr=-1)
    assert cupy.ndarray.asked == 1
    assert view.ptr == values.ctypes.data and view.shape == (3,) and view.dtype == np.float32


def test_classes_that_derive_and_streams_are_asked_of_methods(cupy, memory, stream):
    values = memory[:12].view(np.float32)
    Mine = type("Mine", (cupy.ndarray,), {"asked": 0})
    assert StridedMemoryView.from_dlpack(Mine(values), -1).shape == (3,) and Mine.asked == 1
    for number in (int(stream.handle), 1, None):
        assert StridedMemoryView.from_dlpack(cupy.ndarray(values), number).shape == (3,)
    assert cupy.ndarray.asked == 3
    for number in (2**64 - 1, -(2**64) - 1):
        with pytest.raises(ValueError, match="out of range"):
            StridedMemoryView.from_dlpack(cupy.ndarray(values), number)
