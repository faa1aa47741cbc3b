"""Views of random shapes, strides and types against NumPy."""

import random

import pytest
from random_values import seeds

from cuprum import DeviceMemoryResource, PinnedMemoryResource
from cuprum.utils import StridedLayout, StridedMemoryView

numpy = pytest.importorskip("numpy")

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def random_array(rng, dtype, dimensions=None):
    """A view of a part of a larger array: sliced, with steps in both directions, transposed."""
    dimensions = rng.randint(0, 5) if dimensions is None else dimensions
    shape = [rng.choice([1, 2, 3, 5, 8]) for _ in range(dimensions)]
    itemsize = numpy.dtype(dtype).itemsize
    count = int(numpy.prod(shape, dtype=int))
    data = rng.randbytes(count * itemsize) if dtype != "?" else bytes(rng.randint(0, 1) for _ in range(count))
    array = numpy.frombuffer(bytearray(data), dtype).reshape(shape)
    array = array.transpose(rng.sample(range(dimensions), dimensions))
    slices = []
    for extent in array.shape:
        begin, end = sorted((rng.randint(0, extent), rng.randint(0, extent)))
        slices.append(slice(begin, end if end > begin else extent, rng.choice([1, 1, 2, 3])))
    return array[(*slices, ...)]


def strides_in_elements(array):
    return tuple(stride // array.itemsize for stride in array.strides)


def same(view, array):
    assert view.shape == array.shape
    assert view.dtype == array.dtype
    assert view.ptr == array.ctypes.data or array.size == 0
    strides = view.strides if view.strides is not None else strides_in_elements(numpy.empty(array.shape, array.dtype))
    long = [i for i, extent in enumerate(array.shape) if extent > 1]  # NumPy has any stride for the others
    if array.size:
        assert [strides[i] for i in long] == [strides_in_elements(array)[i] for i in long]


@seeds(60)
def test_random_arrays_are_seen_as_numpy_sees_them(device, seed):
    rng = random.Random(seed)
    array = random_array(rng, rng.choice(DTYPES))
    same(StridedMemoryView.from_array_interface(array), array)
    same(StridedMemoryView.from_dlpack(array, -1), array)
    view = StridedMemoryView.from_any_interface(array, -1)
    same(view, array)
    assert numpy.from_dlpack(view).tobytes() == array.tobytes()


@seeds(60)
def test_random_layouts_know_what_numpy_knows(seed):
    rng = random.Random(seed)
    array = random_array(rng, rng.choice(DTYPES))
    layout = StridedLayout(array.shape, strides_in_elements(array), array.itemsize)
    assert layout.ndim == array.ndim
    assert layout.volume == array.size
    if array.size:
        assert layout.is_contiguous_c == array.flags.c_contiguous
        assert layout.is_contiguous_f == array.flags.f_contiguous
    axes = tuple(rng.sample(range(array.ndim), array.ndim))
    other = layout.permuted(axes)
    assert other.shape == array.transpose(axes).shape
    assert other.strides == strides_in_elements(array.transpose(axes))
    shape = tuple(rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 2))) + tuple(
        rng.choice([extent, 4]) if extent == 1 else extent for extent in array.shape
    )
    wider = numpy.broadcast_to(array, shape)
    broadcast = layout.broadcast_to(shape)
    assert broadcast.shape == wider.shape
    long = [i for i, extent in enumerate(shape) if extent > 1]
    assert [broadcast.strides[i] for i in long] == [strides_in_elements(wider)[i] for i in long]


@seeds(40)
def test_random_copies_between_layouts(device, stream, seed):
    """From an array of the host to strided memory of the device, and back to another layout."""
    rng = random.Random(seed)
    array = random_array(rng, rng.choice(DTYPES), rng.randint(1, 4))
    if array.size == 0:
        return
    order = rng.sample(range(array.ndim), array.ndim)
    gap = rng.choice([1, 1, 2])
    strides, step = [0] * array.ndim, gap
    for axis in order:
        strides[axis] = step
        step *= array.shape[axis]
    buffer = DeviceMemoryResource(device).allocate(step * array.itemsize, stream=stream)
    buffer.fill(b"\0", stream=stream)
    view = StridedMemoryView.from_buffer(buffer, array.shape, tuple(strides), dtype=array.dtype)
    view.copy_from(StridedMemoryView.from_array_interface(array), stream=stream)
    host = PinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    raw = numpy.frombuffer(host, array.dtype)
    seen = numpy.lib.stride_tricks.as_strided(raw, array.shape, [stride * array.itemsize for stride in strides])
    assert seen.tobytes() == array.tobytes()
    back = numpy.zeros(array.shape[::-1], array.dtype).transpose()
    view.copy_to(StridedMemoryView.from_array_interface(back), stream=stream)
    stream.sync()
    assert back.tobytes() == array.tobytes()
