"""Views of other libraries' arrays, and layouts."""

import ctypes
import gc
import threading
import weakref
from types import SimpleNamespace

import pytest

from cuprum import PinnedMemoryResource
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedLayout, StridedMemoryView, args_viewable_as_strided_memory

np = pytest.importorskip("numpy")

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()


class DeviceArray:
    """What a library of arrays on devices would have."""

    def __init__(self, buffer, shape, typestr="<f4", strides=None, stream=None, readonly=False, version=3, mask=None):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": typestr,
            "data": (buffer.handle, readonly),
            "strides": strides,
            "version": version,
            "mask": mask,
            "stream": stream,
        }


class OldExporter:
    """Knows no DLPack 1.0."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(
    "shape, part", [((6,), ()), ((4, 6), (slice(None, None, 2), slice(1, None, 3))), ((), ()), ((0, 3), ())]
)
def test_numpy_arrays_of_every_type(name, shape, part):
    array = np.zeros(shape, name)[part]
    if not isinstance(array, np.ndarray):
        array = np.zeros((), name)
    view = StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    assert view.dtype == np.dtype(name) and view.shape == array.shape and view.size == array.size
    assert view.ptr == array.ctypes.data or array.size == 0
    assert view.strides is None or view.strides == tuple(s // array.itemsize for s in array.strides)
    assert view.device_id == -1 and not view.is_device_accessible and not view.readonly
    assert view.exporting_obj is array
    assert view.__dlpack_device__() == (1, 0)
    again = np.from_dlpack(view)
    assert again.dtype == array.dtype and again.shape == array.shape and (again == array).all()


def test_arrays_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.zeros(4, ml_dtypes.bfloat16)
    view = StridedMemoryView.from_array_interface(array).view(dtype=ml_dtypes.bfloat16)
    assert view.dtype == np.dtype("bfloat16")


def test_the_same_memory_is_seen():
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    copy = np.from_dlpack(StridedMemoryView.from_dlpack(array, -1))
    array[1, 2] = 99
    assert copy[1, 2] == 99


def test_numpy_arrays_in_page_locked_memory(stream):
    array = np.from_dlpack(PinnedMemoryResource().allocate(16, stream=stream))
    view = StridedMemoryView.from_dlpack(array, -1)
    assert view.is_device_accessible and view.ptr == array.ctypes.data and view.__dlpack_device__() == (3, 0)


def test_exporters_before_dlpack_1():
    array = np.arange(6, dtype=np.float32)
    view = StridedMemoryView.from_dlpack(OldExporter(array), -1)
    assert view.shape == (6,) and not view.readonly
    assert np.from_dlpack(view).tolist() == array.tolist()


def test_read_only_arrays():
    array = np.frombuffer(b"abcdefgh", np.int32)
    assert StridedMemoryView.from_array_interface(array).readonly
    view = StridedMemoryView.from_dlpack(array, -1)
    assert view.readonly
    assert not np.from_dlpack(view).flags.writeable


def test_streams_must_be_given():
    array = np.zeros(4)
    for make in (StridedMemoryView.from_dlpack, StridedMemoryView.from_any_interface):
        with pytest.raises(BufferError, match="stream=None is ambiguous"):
            make(array)
        with pytest.raises((TypeError, ValueError)):
            make(array, "stream")


def test_objects_without_a_protocol():
    for wrong in (None, 7, "array", object(), [1, 2]):
        with pytest.raises(BufferError, match="does not support any data exchange protocol"):
            StridedMemoryView.from_any_interface(wrong, -1)
        for make in (StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface):
            with pytest.raises(AttributeError):
                make(wrong, -1)


def test_exporters_that_answer_nonsense():
    class Odd:
        def __init__(self, device, capsule):
            self.answers = device, capsule

        def __dlpack_device__(self):
            return self.answers[0]

        def __dlpack__(self, **kwargs):
            if isinstance(self.answers[1], Exception):
                raise self.answers[1]
            return self.answers[1]

    array = np.zeros(3)
    used = array.__dlpack__()
    np.from_dlpack(OldExporter(array))
    ctypes.pythonapi.PyCapsule_SetName.argtypes = ctypes.py_object, ctypes.c_char_p
    with pytest.raises(BufferError, match="device not supported"):
        StridedMemoryView.from_dlpack(Odd((7, 0), used), -1)
    for wrong in (None, 7, "capsule"):
        with pytest.raises(BufferError, match="capsule"):
            StridedMemoryView.from_dlpack(Odd((1, 0), wrong), -1)
    StridedMemoryView.from_dlpack(Odd((1, 0), used), -1)
    with pytest.raises(BufferError, match="nobody has used"):
        StridedMemoryView.from_dlpack(Odd((1, 0), used), -1)
    with pytest.raises(KeyError):
        StridedMemoryView.from_dlpack(Odd((1, 0), KeyError("x")), -1)
    for wrong in (None, 7, (2,), ("a", "b")):
        with pytest.raises((TypeError, IndexError, RuntimeError, ValueError)):
            StridedMemoryView.from_dlpack(Odd(wrong, used), -1)


def test_cuda_array_interface(device, stream):
    buffer = device.allocate(96, stream=stream)
    view = StridedMemoryView.from_cuda_array_interface(DeviceArray(buffer, (4, 6)), -1)
    assert view.ptr == buffer.handle and view.shape == (4, 6) and view.strides is None
    assert view.dtype == np.float32 and view.device_id == 0 and view.is_device_accessible
    assert view.__dlpack_device__() == (2, 0)
    view = StridedMemoryView.from_any_interface(DeviceArray(buffer, (4, 3), strides=(24, 8), readonly=True), -1)
    assert view.strides == (6, 2) and view.readonly


def test_cuda_array_interface_orders_streams(device, stream):
    other = device.create_stream()
    buffer = device.allocate(64, stream=stream)
    buffer.fill(2, stream=stream)
    array = DeviceArray(buffer, (16,), stream=int(stream.handle))
    view = StridedMemoryView.from_cuda_array_interface(array, other.handle)
    host = PinnedMemoryResource().allocate(64, stream=other)
    host.copy_from(buffer, stream=other)
    other.sync()
    assert bytes(host) == b"\x02" * 64 and view.ptr == buffer.handle
    for number in (1, 2):  # the default streams
        StridedMemoryView.from_cuda_array_interface(DeviceArray(buffer, (16,), stream=number), other.handle)


@pytest.mark.parametrize(
    "changes, error",
    [
        ({"version": 2}, BufferError),
        ({"mask": object()}, BufferError),
        ({"shape": (-1,)}, ValueError),
        ({"shape": 7}, TypeError),
        ({"shape": ("a",)}, TypeError),
        ({"strides": (3,)}, ValueError),
        ({"strides": (4, 4)}, ValueError),
        ({"typestr": "nothing"}, TypeError),
        ({"typestr": 7}, TypeError),
    ],
)
def test_cuda_array_interfaces_that_make_no_sense(device, stream, changes, error):
    arguments = {"shape": (4,), **changes}
    with pytest.raises(error):
        StridedMemoryView.from_cuda_array_interface(
            DeviceArray(device.allocate(64, stream=stream), **arguments), stream_ptr=-1
        )


@pytest.mark.parametrize("missing", ["shape", "typestr", "data", "version"])
def test_cuda_array_interfaces_that_lack_something(device, stream, missing):
    array = DeviceArray(device.allocate(64, stream=stream), (4,))
    del array.__cuda_array_interface__[missing]
    with pytest.raises(BufferError):
        StridedMemoryView.from_cuda_array_interface(array, -1)
    array.__cuda_array_interface__ = 7
    with pytest.raises(BufferError, match="must be a dict"):
        StridedMemoryView.from_cuda_array_interface(array, -1)


def test_structures_by_the_array_interface():
    array = np.zeros(3, [("a", "i4"), ("b", "f8")])
    view = StridedMemoryView.from_array_interface(array)
    assert view.dtype == np.dtype("V12") and view.shape == (3,)
    with pytest.raises(ValueError, match="divisible by itemsize"):
        StridedMemoryView.from_array_interface(array["b"])
    with pytest.raises(BufferError, match="Unsupported dtype"):
        view.__dlpack__()
    with pytest.raises(BufferError, match="Structured dtypes"):
        view.view(dtype=array.dtype).__dlpack__()
    with pytest.raises(BufferError, match="Non-native-endian"):
        StridedMemoryView.from_array_interface(np.zeros(3, ">i4")).__dlpack__()


def test_views_of_buffers(device, stream):
    buffer = device.allocate(96, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (4, 6), dtype=np.float32)
    assert view.exporting_obj is buffer and view.ptr == buffer.handle
    assert view.shape == (4, 6) and view.strides is None and view.device_id == 0 and not view.readonly
    part = view.view(view._layout[1:, ::2])
    assert part.shape == (3, 3) and part.strides == (6, 2) and part.ptr == buffer.handle + 24
    assert part.view(view._layout).ptr == buffer.handle
    assert view.view() is view
    assert view.view(dtype=np.int32).dtype == np.int32
    assert StridedMemoryView.from_buffer(buffer, (4, 3), (6, 2), dtype="f4", is_readonly=True).readonly
    assert StridedMemoryView.from_buffer(buffer, (96,), itemsize=1).dtype is None


@pytest.mark.parametrize(
    "arguments, keywords, error",
    [
        (((4,),), {}, ValueError),
        (((4,),), {"itemsize": 2, "dtype": np.float32}, ValueError),
        (((17,),), {"dtype": np.float32}, ValueError),
        (((4,), (-1,)), {"dtype": np.float32}, ValueError),
        (((4,), (1, 1)), {"dtype": np.float32}, ValueError),
        (((-4,),), {"dtype": np.float32}, ValueError),
        (((4,),), {"dtype": "nonsense"}, TypeError),
        ((4,), {"dtype": np.float32}, TypeError),
        (((2**62, 2**62),), {"dtype": np.float32}, ValueError),
    ],
)
def test_views_of_buffers_that_make_no_sense(device, stream, arguments, keywords, error):
    with pytest.raises(error):
        StridedMemoryView.from_buffer(device.allocate(64, stream=stream), *arguments, **keywords)


def test_views_need_buffers(device):
    with pytest.raises(TypeError, match="buffer must be a Buffer"):
        StridedMemoryView.from_buffer(np.zeros(4), (4,), dtype=np.float32)
    with pytest.raises(TypeError, match="layout must be"):
        StridedMemoryView.from_dlpack(np.zeros(4), -1).view((2, 2))
    with pytest.raises(ValueError, match="itemsize"):
        StridedMemoryView.from_dlpack(np.zeros(4), -1).view(dtype=np.int8)


def test_a_view_outlives_its_closed_buffer(stream):
    buffer = PinnedMemoryResource().allocate(16, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.int32)
    np.from_dlpack(view)[:] = 5
    buffer.close()
    assert np.from_dlpack(StridedMemoryView.from_dlpack(np.from_dlpack(buffer_of(view)), -1)).tolist() == [5] * 4


def buffer_of(view):
    return np.ctypeslib.as_array(ctypes.cast(view.ptr, ctypes.POINTER(ctypes.c_int32)), (4,))


def test_copies_between_views(device, stream):
    source = np.arange(24, dtype=np.float32).reshape(4, 6)
    target = np.zeros((4, 6), np.float32)
    buffer = device.allocate(96, stream=stream)
    there = StridedMemoryView.from_buffer(buffer, (4, 6), dtype=np.float32)
    there.copy_from(StridedMemoryView.from_dlpack(source, -1), stream)
    there.copy_to(StridedMemoryView.from_dlpack(target, -1), stream=stream)
    stream.sync()
    assert (source == target).all()
    part = there.view(there._layout[::2, 1:4])
    small = np.zeros((2, 3), np.float32)
    part.copy_to(StridedMemoryView.from_dlpack(small, -1), stream, blocking=True)
    assert (small == source[::2, 1:4]).all()


def test_copies_that_do_not_fit(device, stream):
    view = StridedMemoryView.from_dlpack(np.zeros(4, np.float32), -1)
    with pytest.raises(ValueError):
        view.copy_from(StridedMemoryView.from_dlpack(np.zeros(5, np.float32), -1), stream)
    with pytest.raises(ValueError, match="dtypes"):
        view.copy_from(StridedMemoryView.from_dlpack(np.zeros(4, np.int32), -1), stream)
    with pytest.raises(TypeError, match="StridedMemoryView"):
        view.copy_from(np.zeros(4, np.float32), stream)
    with pytest.raises(NotImplementedError, match="copy_to without a stream"):
        view.copy_to(view)
    constant = StridedMemoryView.from_dlpack(np.frombuffer(bytes(16), np.float32), -1)
    with pytest.raises((ValueError, RuntimeError)):
        constant.copy_from(view, stream)


def test_views_as_arguments_of_functions():
    seen = []

    @args_viewable_as_strided_memory((0, 2))
    def function(a, b, c, *, scale=1):
        """Documented."""
        seen.append((a.view(-1).shape, b, c.view(-1).dtype, scale))

    function(np.zeros((2, 3)), 7, np.zeros(3, np.int8), scale=4)
    assert seen == [((2, 3), 7, np.dtype(np.int8), 4)]
    assert function.__name__ == "function" and function.__doc__ == "Documented."
    with pytest.raises(BufferError):
        function(1, 2, 3)
    with pytest.raises(TypeError, match=r"function\(\) needs the argument 'c' by position, to view it as strided memory, but 1 were given"):
        function(np.zeros(3))
    with pytest.raises(TypeError, match="needs the argument 'a' by position, to view it as strided memory: it was given by keyword"):
        function(a=np.zeros(3))


@pytest.mark.parametrize("way", ["to_device", "to_host"])
def test_copies_that_do_not_block_keep_host_memory(device, stream, way):
    go_on = threading.Event()
    graph = GraphDefinition()
    graph.callback(lambda: go_on.wait(10))
    executable = graph.instantiate()
    there = DeviceArray(device.allocate(4096 * 4, stream=stream), (4096,))
    host = np.arange(4096, dtype=np.float32)
    stream.sync()
    executable.launch(stream)
    kept = weakref.ref(host)
    view = StridedMemoryView.from_dlpack(host, -1)
    if way == "to_host":
        # CUDA returns from a copy to pageable memory only when that is done: somebody else has to let it go on.
        threading.Timer(0.1, go_on.set).start()
    if way == "to_device":
        StridedMemoryView.from_cuda_array_interface(there, -1).copy_from(view, stream, blocking=False)
    else:
        view.copy_from(StridedMemoryView.from_cuda_array_interface(there, -1), stream, blocking=False)
    copied = stream.record()
    del host, view
    gc.collect()
    # A driver may have copied pageable memory by the time the call returns; then nobody needs it.
    was_kept = kept() is not None or copied.is_done
    go_on.set()
    stream.sync()
    gc.collect()
    assert was_kept
    assert kept() is None
    if way == "to_device":
        result = np.zeros(4096, np.float32)
        StridedMemoryView.from_dlpack(result, -1).copy_from(StridedMemoryView.from_cuda_array_interface(there, -1), stream)
        assert (result == np.arange(4096)).all()


class TestPageLockedMemory:
    """Of an array of NumPy, which is read and written when the copy runs."""

    COUNT = 1024

    def page_locked(self, stream):
        return np.frombuffer(PinnedMemoryResource().allocate(4 * self.COUNT, stream=stream), np.float32)

    @pytest.fixture
    def there(self, device, stream):
        return device.allocate(4 * self.COUNT, stream=stream)

    def copy(self, way, there, host, stream):
        if way == "buffer":
            return there.copy_from(host, stream=stream)
        on_device = StridedMemoryView.from_cuda_array_interface(DeviceArray(there, (self.COUNT,)), -1)
        by = StridedMemoryView.from_array_interface if way == "array_interface" else StridedMemoryView.from_any_interface
        view = by(host) if way == "array_interface" else by(host, -1)
        if way == "to_host":
            return on_device.copy_to(view, stream, blocking=False)
        on_device.copy_from(view, stream, blocking=False)

    @pytest.mark.parametrize("way", ["buffer", "dlpack", "array_interface", "to_host"])
    def test_is_kept_until_the_copy_has_run(self, stream, there, way):
        host = self.page_locked(stream)
        go_on = threading.Event()
        graph = GraphDefinition()
        graph.callback(lambda: go_on.wait(10))
        executable = graph.instantiate()
        stream.sync()
        executable.launch(stream)
        kept = weakref.ref(host)
        self.copy(way, there, host, stream)
        del host
        gc.collect()
        was_kept = kept() is not None
        go_on.set()
        stream.sync()
        gc.collect()
        assert was_kept
        assert kept() is None

    @pytest.mark.parametrize("way", ["buffer", "dlpack", "array_interface", "to_host"])
    def test_is_kept_by_the_graph_that_is_captured(self, device, stream, there, way):
        host = self.page_locked(stream)
        stream.sync()
        kept = weakref.ref(host)
        builder = device.create_graph_builder().begin_building()
        self.copy(way, there, host, builder)
        graph = builder.end_building().complete()
        builder.close()
        del host
        gc.collect()
        assert kept() is not None
        graph.launch(stream)
        stream.sync()
        assert kept() is not None
        graph.close()
        del graph, builder
        for _ in range(1000):
            device.sync()
            gc.collect()
            if kept() is None:
                break
        assert kept() is None


def test_constructing_a_view_is_deprecated():
    with pytest.warns(DeprecationWarning, match="from a DLPack-supporting object"):
        view = StridedMemoryView(np.zeros(3), -1)
    assert view.shape == (3,)
    with pytest.warns(DeprecationWarning, match="empty"):
        empty = StridedMemoryView()
    with pytest.raises(ValueError, match="Cannot infer layout"):
        empty.shape
    with pytest.raises(ValueError, match="Cannot infer layout"):
        repr(empty)
    assert empty.exporting_obj is None and empty.dtype is None


def test_class_methods_make_views_of_the_class_that_they_are_asked_of(device, stream):
    class Named(StridedMemoryView):
        name = "mine"

    buffer = device.allocate(16, stream=stream)
    interface = {"shape": (4,), "typestr": "<f4", "data": (int(buffer.handle), False), "version": 3}
    views = [
        Named.from_dlpack(np.zeros(3), -1),
        Named.from_any_interface(np.zeros(3), stream_ptr=-1),
        Named.from_cuda_array_interface(SimpleNamespace(__cuda_array_interface__=interface), -1),
        Named.from_array_interface(np.zeros(3)),
        Named.from_buffer(buffer, (4,), itemsize=4),
    ]
    views.append(views[0].view(dtype=np.dtype("i8")))
    assert {type(view) for view in views} == {Named}
    assert {view.name for view in views} == {"mine"}
    with pytest.raises(TypeError, match="class method of StridedMemoryView and of what derives from it, not of <class 'int'>"):
        vars(StridedMemoryView)["from_dlpack"].__func__(int, np.zeros(3), -1)


def test_representation():
    text = repr(StridedMemoryView.from_dlpack(np.zeros((2, 3), np.int16), -1))
    assert text.startswith("StridedMemoryView(ptr=") and "shape=(2, 3)" in text and "itemsize=2" in text


def test_views_keep_the_array_and_the_capsule():
    class Array(np.ndarray):
        pass

    array = np.zeros(4).view(Array)
    gone = weakref.ref(array)
    view = StridedMemoryView.from_dlpack(array, -1)
    capsule = view.__dlpack__()
    del array, view
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


def test_cycles_through_the_exporting_object_are_found():
    class Holder:
        def __init__(self):
            self.array = np.zeros(4)

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**{**kwargs, "stream": None})

        def __dlpack_device__(self):
            return (1, 0)

    holder = Holder()
    holder.view = StridedMemoryView.from_dlpack(holder, -1)
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None


def test_layouts():
    layout = StridedLayout((4, 6), None, 4)
    assert (layout.ndim, layout.shape, layout.strides, layout.itemsize, layout.volume) == (2, (4, 6), None, 4, 24)
    assert layout.is_dense and layout.is_contiguous_c and not layout.is_contiguous_f and layout.is_unique
    assert layout == StridedLayout((4, 6), (6, 1), 4) == StridedLayout((4, 6), (24, 4), 4, divide_strides=True)
    assert layout != StridedLayout((4, 6), (1, 4), 4) and layout != 7
    assert StridedLayout.dense((4, 6), 4, "F").strides == (1, 4)
    assert StridedLayout.dense((2, 3, 4), 1, (2, 0, 1)).stride_order == (2, 0, 1)
    assert layout.permuted((1, 0)).strides == (1, 6)
    assert layout.reshaped((2, -1)).shape == (2, 12)
    assert layout.flattened().shape == (24,)
    assert layout[1].shape == (6,) and layout[1, 2].shape == () and layout[..., 0].strides == (6,)
    assert StridedLayout((6, 0, 1), None, 4).stride_order == (0, 1, 2)
    part = layout[1:3, ::-2]
    assert (part.shape, part.strides, part.slice_offset, part.slice_offset_in_bytes) == ((2, 3), (6, -2), 11, 44)
    assert part.offset_bounds == (part.min_offset, part.max_offset) == (7, 17)
    assert part.required_size_in_bytes() == 72
    assert part.to_dense().is_dense and layout.to_dense() is layout
    assert layout.unsqueezed(0).shape == (1, 4, 6) and layout.unsqueezed((0, 3)).shape == (1, 4, 6, 1)
    assert layout.unsqueezed(1).squeezed().shape == (4, 6)
    assert layout.broadcast_to((3, 4, 6)).strides == (0, 6, 1)
    assert layout.repacked(8).shape == (4, 3) and layout.max_compatible_itemsize() == 8
    assert repr(part) == "_StridedLayout(shape=(2, 3), strides=(6, -2), itemsize=4, _slice_offset=11)"
    assert hash(layout) == hash(StridedLayout((4, 6), (6, 1), 4))


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: StridedLayout((-1,), None, 4), ValueError),
        (lambda: StridedLayout((4,), (1, 1), 4), ValueError),
        (lambda: StridedLayout((4,), (6,), 4, divide_strides=True), ValueError),
        (lambda: StridedLayout((4,), None, 0), ValueError),
        (lambda: StridedLayout(("4",), None, 4), TypeError),
        (lambda: StridedLayout(4, None, 4), TypeError),
        (lambda: StridedLayout.dense((4,), 4, "Q"), ValueError),
        (lambda: StridedLayout.dense((4, 4), 4, (0, 0)), ValueError),
        (lambda: StridedLayout((4,), None, 4)[4], ValueError),
        (lambda: StridedLayout((4,), None, 4)["a"], TypeError),
        (lambda: StridedLayout((4,), None, 4)[0, 0], ValueError),
        (lambda: StridedLayout((4,), None, 4)[::0], ValueError),
        (lambda: StridedLayout((4,), None, 4).reshaped((3,)), ValueError),
        (lambda: StridedLayout((4,), None, 4).permuted((1,)), ValueError),
        (lambda: StridedLayout((4,), None, 4).broadcast_to((3,)), ValueError),
        (lambda: StridedLayout((4,), None, 4).repacked(3), ValueError),
    ],
)
def test_layouts_that_make_no_sense(make, error):
    with pytest.raises(error):
        make()


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_nothing_is_left(device, stream):
    array = np.zeros((4, 6))
    buffer = device.allocate(96, stream=stream)
    on_device = DeviceArray(buffer, (4, 6))

    def make():
        view = StridedMemoryView.from_dlpack(array, -1)
        view.shape, view.dtype, view._layout[1:], view.__dlpack__(max_version=(1, 0)), view.__dlpack__()
        np.from_dlpack(view)
        StridedMemoryView.from_cuda_array_interface(on_device, -1)
        StridedMemoryView.from_array_interface(array)
        StridedMemoryView.from_buffer(buffer, (4, 6), dtype=np.float32)

    for _ in range(1000):
        make()
    before = resident_bytes()
    for _ in range(10_000):
        make()
    assert resident_bytes() - before < 1 << 20
