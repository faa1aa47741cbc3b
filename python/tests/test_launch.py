"""launch(): how Python values become kernel arguments, and what is refused."""

import ctypes
import random

import pytest

from cuprum import Kernel, LaunchConfig, PinnedMemoryResource, Program, launch

np = pytest.importorskip("numpy")

ONE = LaunchConfig(grid=1, block=1)

SOURCE = r"""
struct Pair { int first; double second; };
struct Large { unsigned char bytes[100]; };
template <typename T> __global__ void take(T* out, T value) { *out = value; }
extern "C" __global__ void many(int* out, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l,
    int m, int n, int o, int p, int q, int r, int s, int t, int u, int v, int w, int x, int y) {
  int all[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y};
  for (int z = 0; z < 25; ++z) out[z] = all[z];
}
extern "C" __global__ void nothing() {}
"""

TYPES = {
    "bool": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4,
    "long long": 8, "unsigned long long": 8, "float": 4, "double": 8, "double2": 16, "float2": 8, "Pair": 16, "Large": 100,
    "int*": 8,
}  # fmt: skip


@pytest.fixture(scope="module")
def code():
    from cuprum import Device

    Device(0).set_current()
    names = tuple(f"take<{name}>" for name in TYPES)
    return Program(SOURCE, "c++").compile("cubin", name_expressions=names)


@pytest.fixture
def result(device, stream):
    buffer = PinnedMemoryResource().allocate(256, stream=stream)
    stream.sync()
    return buffer


@pytest.fixture
def passed(code, result, stream):
    """passed(type, value): the bytes that a kernel gets for a parameter of that type."""

    def run(name, value):
        launch(stream, ONE, code.get_kernel(f"take<{name}>"), result, value)
        stream.sync()
        return bytes(memoryview(result).cast("B")[: TYPES[name]])

    return run


INTEGERS = {
    "bool": "B", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i",
    "unsigned int": "I", "long long": "q", "unsigned long long": "Q",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in INTEGERS if name != "bool"])
def test_ints_take_the_width_that_is_declared(passed, name):
    bits = TYPES[name] * 8
    chosen = random.Random(name)
    values = [0, 1, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 2**bits - 1]
    values += [chosen.randrange(-(2 ** (bits - 1)), 2**bits) for _ in range(20)]
    for value in values:
        assert int.from_bytes(passed(name, value), "little") == value % 2**bits
    for value in (2**bits, -(2 ** (bits - 1)) - 1, 2**200, -(2**200)):
        with pytest.raises(ValueError, match=f"argument 2 .* does not fit the {bits // 8} bytes"):
            passed(name, value)


def test_bools(passed):
    assert passed("bool", True) == b"\1"
    assert passed("bool", np.bool_(False)) == b"\0"
    assert passed("int", True) == b"\1\0\0\0"


def test_floats_say_their_width(passed):
    assert passed("double", 1.5) == np.float64(1.5).tobytes()
    assert passed("float", np.float32(1.5)) == np.float32(1.5).tobytes()
    assert passed("float", ctypes.c_float(1.5)) == np.float32(1.5).tobytes()
    with pytest.raises(TypeError, match=r"numpy.float32\(x\) or ctypes.c_float"):
        passed("float", 1.5)
    with pytest.raises(TypeError, match="has 8 bytes"):
        passed("float", np.float64(1.5))


def test_complex_numbers(passed):
    assert passed("double2", 1 + 2j) == np.complex128(1 + 2j).tobytes()
    assert passed("float2", np.complex64(1 + 2j)) == np.complex64(1 + 2j).tobytes()
    with pytest.raises(TypeError, match="has 16 bytes"):
        passed("float2", 1 + 2j)


@pytest.mark.parametrize("name", INTEGERS)
def test_scalars_of_numpy_and_ctypes(passed, name):
    kind = np.dtype("?" if name == "bool" else INTEGERS[name]).type
    value = kind(1)
    assert passed(name, value) == value.tobytes()
    simple = {
        "bool": ctypes.c_bool, "signed char": ctypes.c_int8, "unsigned char": ctypes.c_uint8, "short": ctypes.c_int16,
        "unsigned short": ctypes.c_uint16, "int": ctypes.c_int32, "unsigned int": ctypes.c_uint32,
        "long long": ctypes.c_int64, "unsigned long long": ctypes.c_uint64,
    }[name]  # fmt: skip
    assert passed(name, simple(1)) == value.tobytes()


def test_a_scalar_of_another_width_is_refused(passed):
    with pytest.raises(TypeError, match="argument 2 of 2 has 8 bytes"):
        passed("int", np.int64(1))
    with pytest.raises(TypeError, match="argument 2 of 2 has 4 bytes"):
        passed("long long", np.int32(1))


def test_structures(passed):
    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]

    found = passed("Pair", Pair(3, 4.5))
    assert Pair.from_buffer_copy(found).first == 3
    assert Pair.from_buffer_copy(found).second == 4.5
    record = np.array([(3, 4.5)], dtype=np.dtype([("first", "i4"), ("second", "f8")], align=True))[0]
    assert passed("Pair", record)[8:] == found[8:]
    large = (ctypes.c_uint8 * 100)(*range(100))
    assert passed("Large", large) == bytes(range(100))
    with pytest.raises(TypeError, match="structure of ctypes or a record of NumPy"):
        passed("Large", 3)


def test_pointers(passed, result):
    address = result.handle.to_bytes(8, "little")
    assert passed("int*", result) == address
    assert passed("int*", result.handle) == address
    assert passed("int*", ctypes.c_void_p(result.handle)) == address
    assert passed("int*", np.uintp(result.handle)) == address

    class Array:
        __cuda_array_interface__ = {"data": (result.handle, False), "shape": (1,), "typestr": "<i4", "version": 3}

    assert passed("int*", Array()) == address

    class Tensor:
        is_cuda = True

        def data_ptr(self):
            return result.handle

    assert passed("int*", Tensor()) == address


def test_handles_of_cuda_bindings(passed, result):
    driver = pytest.importorskip("cuda.bindings.driver")
    assert passed("int*", driver.CUdeviceptr(result.handle)) == result.handle.to_bytes(8, "little")


@pytest.mark.parametrize(
    "value, said",
    [
        (None, "pass 0 for a null pointer"),
        ("text", "unsupported type"),
        (b"bytes", "memory of the host"),
        (bytearray(4), "memory of the host"),
        (np.zeros(3), "memory of the host"),
        ([1], "unsupported type"),
        ({}, "unsupported type"),
        (object(), "unsupported type"),
        (int, "unsupported type"),
    ],
)
def test_refuses_what_is_no_argument(passed, value, said):
    with pytest.raises(TypeError, match=said):
        passed("int*", value)


def test_many_arguments(code, result, stream):
    launch(stream, ONE, code.get_kernel("many"), result, *range(25))
    stream.sync()
    assert list(memoryview(result).cast("B").cast("i")[:25]) == list(range(25))


def test_the_number_of_arguments_is_checked(code, result, stream):
    for arguments in ((), (result,), (result, 1, 2)):
        with pytest.raises(TypeError, match="takes 2 arguments"):
            launch(stream, ONE, code.get_kernel("take<int>"), *arguments)


def test_names(code, stream):
    kernel = code.get_kernel("nothing")
    launch(config=ONE, kernel=kernel, stream=stream)
    launch(stream, kernel=kernel, config=ONE)
    with pytest.raises(TypeError, match="unexpected keyword argument 'konfig'"):
        launch(stream, konfig=ONE, kernel=kernel)
    with pytest.raises(TypeError, match="multiple values for argument 'stream'"):
        launch(stream, ONE, kernel, stream=stream)
    with pytest.raises(TypeError, match="missing is kernel"):
        launch(stream, ONE)
    with pytest.raises(TypeError, match="missing is stream"):
        launch()


def test_refuses_what_is_no_stream_config_or_kernel(code, stream):
    kernel = code.get_kernel("nothing")
    with pytest.raises(TypeError, match="__cuda_stream__"):
        launch(3, ONE, kernel)
    with pytest.raises(TypeError, match="LaunchConfig"):
        launch(stream, {"grid": 1, "block": 1}, kernel)
    with pytest.raises(TypeError, match="Kernel"):
        launch(stream, ONE, "nothing")
    with pytest.raises(TypeError, match="Kernel"):
        launch(stream, ONE, Kernel)


def test_streams_of_others(code, result, stream):
    class Foreign:
        def __cuda_stream__(self):
            return (0, int(stream.handle))

    with pytest.warns(DeprecationWarning, match="foreign stream objects"):
        launch(Foreign(), ONE, code.get_kernel("take<int>"), result, 7)
    stream.sync()
    assert memoryview(result).cast("B").cast("i")[0] == 7


def test_closed_objects(code, result, stream):
    kernel = code.get_kernel("take<int>")
    result.close()
    with pytest.raises(RuntimeError, match="closed"):
        launch(stream, ONE, kernel, result, 1)
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        launch(stream, ONE, code.get_kernel("nothing"))


def test_shapes_over_the_limit(code, stream):
    with pytest.raises(ValueError, match="1024"):
        launch(stream, LaunchConfig(grid=1, block=2000), code.get_kernel("nothing"))


def test_arguments_do_not_leak(code, result, stream):
    import sys

    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_double)]

    values = {"int": np.int32(3), "Pair": Pair(1, 2), "int*": result}
    before = {name: sys.getrefcount(value) for name, value in values.items()}
    for name, value in values.items():
        kernel = code.get_kernel(f"take<{name}>")
        for _ in range(50):
            launch(stream, ONE, kernel, result, value)
            with pytest.raises((TypeError, ValueError)):
                launch(stream, ONE, kernel, result, value, None)
    stream.sync()
    del value
    assert {name: sys.getrefcount(value) for name, value in values.items()} == before
