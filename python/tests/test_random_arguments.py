"""Kernel arguments of random types against what ctypes and NumPy say that their bytes are."""

import ctypes
import random

import pytest
from random_values import seeds

from cuprum import LaunchConfig, ObjectCode, PinnedMemoryResource, launch
from cuprum.utils import StridedMemoryView

numpy = pytest.importorskip("numpy")

CTYPES = [
    ctypes.c_int8, ctypes.c_uint8, ctypes.c_int16, ctypes.c_uint16, ctypes.c_int32, ctypes.c_uint32, ctypes.c_int64,
    ctypes.c_uint64, ctypes.c_float, ctypes.c_double, ctypes.c_bool, ctypes.c_void_p, ctypes.c_size_t,
]  # fmt: skip
DTYPES = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "F", "D", "M8[ns]", "m8[s]"]
PRELUDE = ".version 7.0\n.target sm_70\n.address_size 64\n"


def kernel_that_copies(sizes):
    """One that writes the bytes of its parameters, which have these sizes, one after the other to its first argument."""
    parameters = [".param .u64 out"] + [f".param .align 16 .b8 p{i}[{size}]" for i, size in enumerate(sizes)]
    body, place = [], 0
    for index, size in enumerate(sizes):
        for offset in range(size):
            body.append(f"ld.param.u8 %r1, [p{index}+{offset}]; st.global.u8 [%rd1+{place}], %r1;")
            place += 1
    text = f"{PRELUDE}.visible .entry k({', '.join(parameters)}) {{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    text += "ld.param.u64 %rd1, [out];\n" + "\n".join(body) + "\nret; }\n"
    return ObjectCode.from_ptx(text.encode()).get_kernel("k")


def random_integer(rng, bytes_):
    """One that fits so many bytes, with a sign or without; often at the ends of what fits."""
    low, high = -(1 << (8 * bytes_ - 1)), (1 << (8 * bytes_)) - 1
    return rng.choice([low, high, 0, -1, 1, rng.randint(low, high), rng.randint(low, high)])


def packed(value, bytes_):
    return (value % (1 << (8 * bytes_))).to_bytes(bytes_, "little")


def random_structure(rng, depth=0):
    """A class of ctypes with random fields, and an object of it with random bytes."""
    fields = []
    for index in range(rng.randint(1, 5)):
        kind = rng.choice(CTYPES)
        if depth < 2 and rng.random() < 0.2:
            kind = random_structure(rng, depth + 1)
        elif rng.random() < 0.2:
            kind = kind * rng.randint(1, 4)
        fields.append((f"f{index}", kind))
    return type("Structure", (ctypes.Structure,), {"_fields_": fields})


def random_dtype(rng):
    fields = []
    for index in range(rng.randint(1, 5)):
        kind = rng.choice(DTYPES)
        fields.append((f"f{index}", kind, (rng.randint(1, 3),)) if rng.random() < 0.3 else (f"f{index}", kind))
    return numpy.dtype(fields, align=rng.random() < 0.5)


class CudaArray:
    def __init__(self, buffer):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (int(buffer.size),), "typestr": "|u1", "data": (int(buffer.handle), False),
        }  # fmt: skip


def random_argument(rng, buffer):
    """An argument, and the bytes that a kernel must see."""
    kind = rng.randrange(10)
    if kind == 0:
        size = rng.choice([1, 2, 4, 8])
        value = random_integer(rng, size)
        return value, packed(value, size)
    if kind == 1:
        value = rng.random() < 0.5
        return value, packed(int(value), rng.choice([1, 2, 4, 8]))
    if kind == 2:
        value = rng.choice([rng.uniform(-1e9, 1e9), float("inf"), -0.0, float("nan")])
        return value, bytes(ctypes.c_double(value))
    if kind == 3:
        value = complex(rng.uniform(-1, 1), rng.uniform(-1, 1))
        return value, numpy.complex128(value).tobytes()
    if kind == 4:
        value = rng.choice(CTYPES)()
        ctypes.memmove(ctypes.byref(value), rng.randbytes(ctypes.sizeof(value)), ctypes.sizeof(value))
        return value, bytes(value)
    if kind == 5:
        value = random_structure(rng)()
        ctypes.memmove(ctypes.byref(value), rng.randbytes(ctypes.sizeof(value)), ctypes.sizeof(value))
        return value, bytes(value)
    if kind == 6:
        dtype = numpy.dtype(rng.choice(DTYPES))
        value = numpy.frombuffer(rng.randbytes(dtype.itemsize), dtype)[0]
        return value, value.tobytes()
    if kind == 7:
        dtype = random_dtype(rng)
        value = numpy.frombuffer(rng.randbytes(dtype.itemsize), dtype)[0]
        return value, value.tobytes()
    if kind == 8:
        value = rng.choice(["bfloat16", "float8_e4m3fn", "int4"])
        scalar = ml_dtype_scalar(value, rng)
        return (scalar, scalar.tobytes()) if scalar is not None else (buffer, packed(int(buffer.handle), 8))
    value = rng.choice(
        [buffer, StridedMemoryView.from_buffer(buffer, (4,), itemsize=4), CudaArray(buffer), int(buffer.handle)]
    )
    return value, packed(int(buffer.handle), 8)


def ml_dtype_scalar(name, rng):
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy.float32(rng.uniform(-2, 2)).astype(getattr(ml_dtypes, name))


@seeds(15)
def test_random_arguments_arrive(device, stream, seed):
    rng = random.Random(seed)
    out = PinnedMemoryResource().allocate(8192, stream=stream)
    pointed = PinnedMemoryResource().allocate(64, stream=stream)
    given = [random_argument(rng, pointed) for _ in range(rng.choice([1, 3, 5, 16, 24, 25, 30]))]
    kernel = kernel_that_copies([len(bytes_) for _, bytes_ in given])
    launch(stream, LaunchConfig(1, block=1), kernel, out, *(value for value, _ in given))
    stream.sync()
    arrived, place = bytes(out), 0
    for index, (value, expected) in enumerate(given):
        assert arrived[place : place + len(expected)] == expected, (index, type(value), value)
        place += len(expected)


@seeds(15)
def test_random_arguments_of_another_size_are_refused(device, stream, seed):
    """Nothing is queued, and the message names the argument."""
    rng = random.Random(seed)
    out = PinnedMemoryResource().allocate(8192, stream=stream)
    out.fill(b"\x55", stream=stream)
    given = [random_argument(rng, out) for _ in range(rng.randint(1, 6))]
    wrong = rng.randrange(len(given))
    value, expected = given[wrong]
    sizes = [len(bytes_) for _, bytes_ in given]
    if isinstance(value, int):
        size = rng.choice([1, 2, 4])
        sizes[wrong] = size
        value = rng.choice([1 << (8 * size), -(1 << (8 * size - 1)) - 1])
    else:
        sizes[wrong] = len(expected) + rng.choice([-1, 1] if len(expected) > 1 else [1])
    values = [value if index == wrong else each for index, (each, _) in enumerate(given)]
    with pytest.raises((TypeError, ValueError), match=f"argument {wrong + 2}\\b"):
        launch(stream, LaunchConfig(1, block=1), kernel_that_copies(sizes), out, *values)
    stream.sync()
    assert set(bytes(out)) == {0x55}
