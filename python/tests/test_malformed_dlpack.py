"""DLPack tensors of other libraries that say of themselves what can't be: refused with a reason, and given back."""

import ctypes
import gc

import pytest

from cuprum.utils import StridedMemoryView


class DLDevice(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("number", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Producer:
    """Hands out one tensor: four floats of the host, unless told otherwise."""

    name = b"dltensor"

    def __init__(self, ndim=1, dtype=(2, 32, 1), shape=(4,), strides=None, byte_offset=0, has_data=True):
        self.given_back = 0
        self.memory = (ctypes.c_float * 64)(*range(64))
        self.managed = DLManagedTensor()
        tensor = self.managed.tensor
        tensor.data = ctypes.addressof(self.memory) if has_data else None
        tensor.device, tensor.ndim, tensor.dtype, tensor.byte_offset = DLDevice(1, 0), ndim, DLDataType(*dtype), byte_offset
        self.extents = [None if each is None else (ctypes.c_int64 * len(each))(*each) for each in (shape, strides)]
        for field, each in zip(("shape", "strides"), self.extents, strict=True):
            if each is not None:
                setattr(tensor, field, ctypes.cast(each, ctypes.POINTER(ctypes.c_int64)))
        self.managed.deleter = DELETER(self.delete)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = make(ctypes.addressof(self.managed), self.name, None)

    def delete(self, _):
        self.given_back += 1

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        ({"shape": None}, "a DLPack tensor of 1 dimensions has no shape"),
        ({"ndim": -1}, "a DLPack tensor of -1 dimensions: there can be 0 to 64"),
        ({"ndim": 1000000}, "a DLPack tensor of 1000000 dimensions: there can be 0 to 64"),
        ({"shape": (-1,)}, "a DLPack tensor has a negative extent: -1"),
        ({"dtype": (0, 0, 1)}, "a DLPack tensor of elements without bits: bits=0, lanes=1"),
        ({"dtype": (2, 32, 0)}, "a DLPack tensor of elements without bits: bits=32, lanes=0"),
        ({"has_data": False}, "a DLPack tensor with elements has no data"),
    ],
)
def test_what_can_not_be_is_refused_and_given_back(device, tensor, said):
    producer = Producer(**tensor)
    with pytest.raises(BufferError) as caught:
        StridedMemoryView.from_dlpack(producer, -1)
    assert str(caught.value) == said
    del caught
    gc.collect()
    assert producer.given_back == 1


def test_what_can_be_is_taken(device, numpy):
    offset = Producer(byte_offset=8)
    view = StridedMemoryView.from_dlpack(offset, -1)
    assert (view.ptr, view.shape, view.strides) == (ctypes.addressof(offset.memory) + 8, (4,), None)
    assert StridedMemoryView.from_dlpack(Producer(ndim=0, shape=None), -1).size == 1
    assert StridedMemoryView.from_dlpack(Producer(strides=(-1,)), -1).strides == (-1,)
    assert StridedMemoryView.from_dlpack(Producer(shape=(0,), has_data=False), -1).size == 0


def test_a_type_that_numpy_does_not_have_is_refused_when_it_is_asked_for(device, numpy):
    view = StridedMemoryView.from_dlpack(Producer(dtype=(77, 8, 1)), -1)
    with pytest.raises(TypeError, match="dtype code: 77 of 8 bits"):
        view.dtype  # noqa: B018
