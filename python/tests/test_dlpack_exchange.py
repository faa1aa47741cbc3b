"""Arrays of types that have DLPack's functions for C, as torch.Tensor does: views of them, and them as arguments."""

import ctypes as c
import gc

import pytest

from cuprum import LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuprum.utils import StridedMemoryView

CPU, CUDA, OPENCL = 1, 2, 4
FLOAT, COMPLEX = 2, 5
ONE = LaunchConfig(grid=1, block=1)
new_capsule = c.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]


class Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("code", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class Managed(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p), ("deleter", c.c_void_p)]
    _fields_ += [("flags", c.c_uint64), ("tensor", Tensor)]


Allocate = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p)
FromObject = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(c.POINTER(Managed)))
ToObject = c.PYFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)
Describe = c.PYFUNCTYPE(c.c_int, c.py_object, c.POINTER(Tensor))
CurrentStream = c.PYFUNCTYPE(c.c_int, c.c_int, c.c_int, c.POINTER(c.c_void_p))
Delete = c.CFUNCTYPE(None, c.POINTER(Managed))


class Api(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("previous", c.c_void_p)]
    _fields_ += [("allocate", Allocate), ("from_object", FromObject), ("to_object", ToObject)]
    _fields_ += [("describe", Describe), ("current_stream", CurrentStream)]


class Exporter:
    """A library's array of float32: its methods in Python count how often they are asked."""

    asked = 0

    def __init__(self, buffer, shape, kind=CUDA, code=FLOAT, bits=32, offset=0, is_broken=False, managed_version=1, strides=None):
        self.buffer, self.shape, self.kind, self.code, self.bits = buffer, shape, kind, code, bits
        self.offset, self.is_broken, self.managed_version, self.strides = offset, is_broken, managed_version, strides

    def fill(self, tensor):
        self.extents = (c.c_int64 * len(self.shape))(*self.shape)
        tensor.data, tensor.device_type, tensor.device_id = int(self.buffer.handle), self.kind, 0
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(self.shape), self.code, self.bits, 1
        self.steps = None if self.strides is None else (c.c_int64 * len(self.strides))(*self.strides)
        tensor.shape, tensor.strides, tensor.byte_offset = self.extents, self.steps, self.offset

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **keywords):
        type(self).asked += 1
        raise BufferError("asked in Python")


held = {}  # address of a managed tensor -> what keeps it
streams = {"current": None, "asked": 0}


@Delete
def delete(managed):
    del held[c.addressof(managed.contents)]


@FromObject
def from_object(array, out):
    if array.is_broken:
        return -1
    managed = Managed(major=array.managed_version, minor=3, deleter=c.cast(delete, c.c_void_p).value)
    array.fill(managed.tensor)
    held[c.addressof(managed)] = (managed, array)
    out[0] = c.pointer(managed)
    return 0


@Describe
def describe(array, out):
    if array.is_broken:
        return -1
    array.fill(out.contents)
    return 0


@CurrentStream
def current_stream(kind, device, out):
    streams["asked"] += 1
    out[0] = streams["current"]
    return 0


never = Allocate(lambda *_: -1), ToObject(lambda *_: -1)
api = Api(1, 3, None, never[0], from_object, never[1], describe, current_stream)
newer = Api(9, 0, c.addressof(api), never[0], FromObject(), never[1], Describe(), CurrentStream())
unknown = Api(9, 0, None, never[0], FromObject(), never[1], Describe(), CurrentStream())


def exporter_class(table=api, base=Exporter, **attributes):
    capsule = new_capsule(c.addressof(table), b"dlpack_exchange_api", None)
    return type("Array", (base,), {"__dlpack__": Exporter.__dlpack__, "__dlpack_c_exchange_api__": capsule, "asked": 0, **attributes})


@pytest.fixture(autouse=True)
def nothing_is_left():
    streams.update(current=None, asked=0)
    yield
    gc.collect()
    assert not held


@pytest.fixture
def buffer(device, stream):
    buffer = device.allocate(256, stream=stream)
    stream.sync()
    return buffer


@pytest.mark.parametrize("table", [api, newer], ids=["known", "older-in-the-chain"])
def test_views_are_described_without_python(buffer, table, numpy):
    Array = exporter_class(table)
    array = Array(buffer, (2, 8), offset=64)
    view = StridedMemoryView.from_any_interface(array, -1)
    assert Array.asked == 0 and streams["asked"] == 0
    assert (view.ptr, view.shape, view.strides) == (int(buffer.handle) + 64, (2, 8), None)
    assert str(view.dtype) == "float32" and view.exporting_obj is array and view.is_device_accessible
    other = view.view(dtype="int32")
    del view
    assert held and other.shape == (2, 8)


def test_all_ways_to_make_a_view_use_them(buffer):
    Array = exporter_class()
    assert StridedMemoryView.from_dlpack(Array(buffer, (4,)), -1).shape == (4,)
    with pytest.warns(DeprecationWarning):
        assert StridedMemoryView(Array(buffer, (4,)), -1).shape == (4,)
    assert Array.asked == 0


@pytest.mark.parametrize(
    "shape, strides", [((), ()), ((5,), (1,)), ((2, 8), (1, 2)), ((3, 0, 2), (0, 2, 1)), ((2,) * 8, (0, 1) * 4), ((3, 1), (1, 1))]
)
def test_views_of_pytorch_need_no_managed_tensor(buffer, shape, strides):
    Mine = type("Mine", (exporter_class(__module__="torch"),), {})  # as torch.nn.Parameter derives
    array = Mine(buffer, shape, strides=strides, offset=8)
    view = StridedMemoryView.from_any_interface(array, -1)
    assert not held and Mine.asked == 0
    array.extents[:] = array.steps[:] = [7] * len(shape)  # as a tensor's change that is resized in place
    assert (view.ptr, view.shape, view.strides) == (int(buffer.handle) + 8, shape, strides)
    assert (view.is_device_accessible, view.device_id, view.readonly) == (True, 0, False)
    assert view.__dlpack_device__() == (CUDA, 0) and str(view.dtype) == "float32" and view.exporting_obj is array
    again = view.view(dtype="int32")
    del view, array
    gc.collect()
    assert again.shape == shape and again.strides == strides


@pytest.mark.parametrize("pointer", [-1, 1, 0])
def test_tensors_of_the_host_are_managed(buffer, pointer):
    """PyTorch's description calls all of its host's memory plain; the managed tensor says which is page-locked."""
    array = exporter_class(__module__="torch")(buffer, (5,), strides=(1,), kind=CPU)
    view = StridedMemoryView.from_any_interface(array, pointer)
    assert held and (view.is_device_accessible, view.device_id) == (False, -1)
    del view, array


@pytest.mark.parametrize(
    "shape, strides", [((1, 4), (9, 1)), ((4, 1), (1, 4)), ((1,) * 9, (1,) * 9), ((4,), None)], ids=["row", "column", "many", "none"]
)
def test_tensors_that_pytorch_changes_for_others_are_managed(buffer, shape, strides):
    view = StridedMemoryView.from_any_interface(exporter_class(__module__="torch")(buffer, shape, strides=strides), -1)
    assert held and view.shape == shape and view.strides == strides


def test_tensors_of_others_are_managed(buffer):
    for module in ("torchlike", "mine", 3):
        view = StridedMemoryView.from_any_interface(exporter_class(__module__=module)(buffer, (4,), strides=(1,)), -1)
        assert held and view.shape == (4,)
        del view
        gc.collect()


@pytest.mark.parametrize("what", [{"code": COMPLEX, "bits": 64}, {"is_broken": True}], ids=["complex", "broken"])
def test_what_pytorch_can_not_say_is_asked_of_the_tensor(buffer, what):
    Array = exporter_class(__module__="torch")
    with pytest.raises(BufferError, match="asked in Python"):
        StridedMemoryView.from_any_interface(Array(buffer, (4,), strides=(1,), **what), -1)
    with pytest.raises(BufferError, match="stream=None is ambiguous"):
        StridedMemoryView.from_any_interface(Array(buffer, (4,), strides=(1,)), None)
    with pytest.raises(BufferError, match="device not supported"):
        StridedMemoryView.from_any_interface(Array(buffer, (4,), strides=(1,), kind=OPENCL), -1)


def test_streams_of_pytorch_are_ordered(device, stream, buffer):
    other = device.create_stream()
    streams["current"] = int(other.handle)
    view = StridedMemoryView.from_dlpack(exporter_class(__module__="torch")(buffer, (4,), strides=(1,)), int(stream.handle))
    assert streams["asked"] == 1 and not held and view.shape == (4,)


def test_types_for_which_there_is_no_room_are_looked_up_each_time(buffer):
    capsule = new_capsule(c.addressof(api), b"dlpack_exchange_api", None)
    own = {"__dlpack__": Exporter.__dlpack__, "__dlpack_c_exchange_api__": capsule}
    classes = [type("Array", (Exporter,), own) for _ in range(1500)]
    for _ in range(2):
        for number, each in enumerate(classes):
            assert StridedMemoryView.from_dlpack(each(buffer, (number,)), -1).shape == (number,)


def test_streams_are_ordered(device, stream, buffer):
    other = device.create_stream()
    streams["current"] = int(other.handle)
    Array = exporter_class()
    StridedMemoryView.from_dlpack(Array(buffer, (4,)), int(stream.handle))
    StridedMemoryView.from_dlpack(Array(buffer, (4,)), int(other.handle))  # the same stream: nothing to order
    assert streams["asked"] == 2
    with pytest.raises(BufferError, match="stream=None is ambiguous"):
        StridedMemoryView.from_dlpack(Array(buffer, (4,)), None)
    stream.sync()


def test_a_consumer_waits_for_the_other_library(device, buffer, stream):
    """The producer's stream fills the memory late; the consumer's copy must see it."""
    source = r"""extern "C" __global__ void late(float* x) {
      long long begin = clock64();
      while (clock64() - begin < 20000000) {}
      x[0] = 42.0f;
    }"""
    kernel = Program(source, "c++").compile("ptx").get_kernel("late")
    producer = device.create_stream()
    streams["current"] = int(producer.handle)
    launch(producer, ONE, kernel, buffer)
    view = StridedMemoryView.from_dlpack(exporter_class()(buffer, (1,)), int(stream.handle))
    pinned = LegacyPinnedMemoryResource().allocate(256)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    assert c.c_float.from_address(int(pinned.handle)).value == 42.0 and view.ptr == int(buffer.handle)


@pytest.mark.parametrize(
    "what", [{"code": COMPLEX, "bits": 64}, {"is_broken": True}, {"managed_version": 2}], ids=["complex", "broken", "version"]
)
def test_what_they_can_not_say_is_asked_of_the_object(buffer, what):
    Array = exporter_class()
    with pytest.raises(BufferError, match="asked in Python"):
        StridedMemoryView.from_any_interface(Array(buffer, (4,), **what), -1)
    assert Array.asked == 1


def test_devices_of_others_are_refused(buffer):
    with pytest.raises(BufferError, match="device not supported"):
        StridedMemoryView.from_any_interface(exporter_class()(buffer, (4,), kind=OPENCL), -1)


def test_tables_of_unknown_versions_are_not_used(buffer):
    with pytest.raises(BufferError, match="asked in Python"):
        StridedMemoryView.from_any_interface(exporter_class(unknown)(buffer, (4,)), -1)


def test_a_class_with_its_own_dlpack_is_asked(buffer):
    Mine = type("Mine", (exporter_class(),), {"__dlpack__": Exporter.__dlpack__})
    with pytest.raises(BufferError, match="asked in Python"):
        StridedMemoryView.from_any_interface(Mine(buffer, (4,)), -1)
    Same = type("Same", (exporter_class(),), {})
    assert StridedMemoryView.from_any_interface(Same(buffer, (4,)), -1).shape == (4,)


def test_what_is_no_table_is_ignored(buffer):
    Array = type("Array", (Exporter,), {"__dlpack_c_exchange_api__": 3})
    with pytest.raises(BufferError, match="asked in Python"):
        StridedMemoryView.from_any_interface(Array(buffer, (4,)), -1)


def test_views_of_views_order_nothing(device, stream, buffer, numpy):
    view = StridedMemoryView.from_buffer(buffer, (4,), dtype="float32")
    builder = stream.create_graph_builder().begin_building()  # where waiting for the legacy stream is not allowed
    again = StridedMemoryView.from_dlpack(view, int(stream.handle))
    builder.end_building()
    assert again.ptr == view.ptr


def test_arrays_are_arguments(device, stream, buffer):
    kernel = Program('extern "C" __global__ void put(float* x, int n) { x[0] = n; }', "c++").compile("ptx").get_kernel("put")
    Array = exporter_class()
    array = Array(buffer, (4,), offset=64)
    launch(stream, ONE, kernel, array, 7)
    pinned = LegacyPinnedMemoryResource().allocate(256)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    assert c.c_float.from_address(int(pinned.handle) + 64).value == 7.0
    assert Array.asked == 0
    with pytest.raises(TypeError, match="argument 1 is a tensor on the host"):
        launch(stream, ONE, kernel, Array(buffer, (4,), kind=CPU), 7)
    with pytest.raises(TypeError, match="argument 1 is of unsupported type"):
        launch(stream, ONE, kernel, Array(buffer, (4,), is_broken=True), 7)
