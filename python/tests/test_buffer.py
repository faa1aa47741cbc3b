"""Buffers: copies, fills, lifetimes, and how other libraries see them."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from cuprum import Buffer, Device, DeviceMemoryResource, MemoryResource, PinnedMemoryResource

np = pytest.importorskip("numpy")


@pytest.fixture
def pinned(stream):
    return PinnedMemoryResource().allocate(64, stream=stream)


def contents(buffer, stream):
    """The bytes of any buffer."""
    host = PinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return bytes(host)


def test_an_allocation_has_what_it_was_asked_for(device, stream):
    buffer = device.allocate(1024, stream=stream)
    assert buffer.size == 1024
    assert isinstance(buffer.handle, int) and buffer.handle != 0
    assert buffer.is_device_accessible and not buffer.is_host_accessible
    assert not buffer.is_managed and not buffer.is_mapped
    assert buffer.device_id == 0
    assert buffer.owner is None
    assert repr(buffer) == f"<Buffer ptr={buffer.handle:#x} size=1024>"


def test_the_stream_may_be_left_out_or_given_by_position(device, stream):
    assert device.allocate(16).size == 16
    assert device.allocate(16, stream).size == 16
    assert device.memory_resource.allocate(16, stream).size == 16


def test_host_arrays_go_to_the_device_and_come_back(device, stream, pinned):
    values = np.arange(16, dtype=np.float32)
    np.from_dlpack(pinned).view(np.float32)[:] = values
    buffer = device.allocate(64, stream=stream)
    buffer.copy_from(pinned, stream=stream)
    assert contents(buffer, stream) == values.tobytes()


def test_copy_from_takes_objects_with_the_buffer_protocol(device, stream):
    buffer = device.allocate(32, stream=stream)
    buffer.fill(0xFF, stream=stream)
    buffer.copy_from(np.arange(4, dtype=np.float32), stream=stream)
    assert contents(buffer, stream) == np.arange(4, dtype=np.float32).tobytes() + b"\xff" * 16
    buffer.copy_from(bytearray(range(32)), stream=stream)
    assert contents(buffer, stream) == bytes(range(32))
    with pytest.raises(ValueError, match="33 bytes"):
        buffer.copy_from(bytes(33), stream=stream)
    with pytest.raises((ValueError, BufferError)):
        buffer.copy_from(np.zeros((4, 4), dtype=np.int8)[:, ::2], stream=stream)
    with pytest.raises(TypeError, match="src must be a Buffer"):
        buffer.copy_from(7, stream=stream)


def test_copy_to_allocates_from_the_same_resource(device, stream):
    resource = DeviceMemoryResource(device, {"max_size": 1 << 20})
    buffer = resource.allocate(16, stream=stream)
    buffer.fill(b"\x01\x02", stream=stream)
    other = buffer.copy_to(stream=stream)
    assert other.memory_resource is resource
    assert contents(other, stream) == b"\x01\x02" * 8
    assert other != buffer


def test_copies_of_other_sizes_are_refused(device, stream):
    small, large = device.allocate(8, stream=stream), device.allocate(16, stream=stream)
    for copy in (small.copy_to, small.copy_from):
        with pytest.raises(ValueError, match="buffer sizes mismatch between src and dst"):
            copy(large, stream=stream)


def test_copies_with_wrong_arguments(device, stream):
    buffer = device.allocate(8, stream=stream)
    with pytest.raises(TypeError, match="dst must be a Buffer"):
        buffer.copy_to(bytearray(8), stream=stream)
    with pytest.raises(TypeError, match="stream is required"):
        buffer.copy_to(buffer, stream=None)
    with pytest.raises(TypeError):
        buffer.copy_to(buffer)
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
        buffer.copy_from(buffer, stream=7)
    with pytest.raises(TypeError, match="options must be CopyOptions"):
        buffer.copy_to(device.allocate(8, stream=stream), stream=stream, options=7)
    with pytest.raises(ValueError, match="a destination buffer must be provided"):
        Buffer.from_handle(buffer.handle, 8).copy_to(stream=stream)


@pytest.mark.parametrize("order", ["stream", "any"])
def test_copies_take_options(device, stream, order):
    first, second = device.allocate(8, stream=stream), device.allocate(8, stream=stream)
    first.fill(5, stream=stream)
    first.copy_to(second, stream=stream, options={"src_access_order": order, "src_location_hint": device})
    assert contents(second, stream) == b"\x05" * 8
    with pytest.raises(TypeError, match="must be a Device, Host, or None"):
        first.copy_to(second, stream=stream, options={"src_location_hint": 7})


def test_options_are_refused_on_the_legacy_stream(device, stream):
    from cuprum import LEGACY_DEFAULT_STREAM, CopyOptions

    first, second = device.allocate(8, stream=stream), device.allocate(8, stream=stream)
    with pytest.raises(TypeError, match="LEGACY_DEFAULT_STREAM"):
        first.copy_to(second, stream=LEGACY_DEFAULT_STREAM, options=CopyOptions())


@pytest.mark.parametrize(
    "value, expected",
    [
        (0x42, b"\x42" * 16),
        (True, b"\x01" * 16),
        (b"\x34\x12", b"\x34\x12" * 8),
        (np.uint8(255), b"\xff" * 16),
        (np.int16(-2), np.full(8, -2, np.int16).tobytes()),
        (np.float32(1.5), np.full(4, 1.5, np.float32).tobytes()),
        (bytearray(b"abcd"), b"abcd" * 4),
    ],
)
def test_fill_repeats_a_value(device, stream, value, expected):
    buffer = device.allocate(16, stream=stream)
    buffer.fill(value, stream=stream)
    assert contents(buffer, stream) == expected


@pytest.mark.parametrize(
    "value, error",
    [
        (-1, OverflowError),
        (256, OverflowError),
        (1 << 80, OverflowError),
        (1.5, TypeError),
        ("a", TypeError),
        (None, TypeError),
        (b"", ValueError),
        (b"abc", ValueError),
        (np.float64(1), ValueError),
        (np.float32(1), ValueError),  # 6 bytes are no multiple of 4
    ],
)
def test_fill_refuses_other_values(device, stream, value, error):
    buffer = device.allocate(6, stream=stream)
    with pytest.raises(error):
        buffer.fill(value, stream=stream)


def test_closed_buffers_are_empty(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.close()
    buffer.close()
    assert buffer.handle == 0 and buffer.size == 0
    assert buffer.memory_resource is None and buffer.owner is None
    assert not buffer.is_mapped
    assert repr(buffer) == "<Buffer ptr=0x0 size=0>"
    for use in (
        lambda: buffer.fill(0, stream=stream),
        lambda: buffer.copy_to(device.allocate(16, stream=stream), stream=stream),
        lambda: device.allocate(16, stream=stream).copy_from(buffer, stream=stream),
        lambda: buffer.is_managed,
        lambda: buffer.is_device_accessible,
        lambda: buffer.device_id,
        lambda: buffer.__dlpack__(),
        lambda: buffer.set_deallocation_stream(stream),
    ):
        with pytest.raises((ValueError, RuntimeError)):
            use()
    with pytest.raises(BufferError):
        memoryview(buffer)


def test_close_takes_a_stream(device, stream):
    buffer = device.allocate(16, stream=stream)
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
        buffer.close("stream")
    assert buffer.handle != 0
    buffer.close(stream)
    assert buffer.handle == 0


def test_buffers_are_context_managers(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        assert buffer.size == 16
    assert buffer.handle == 0
    with pytest.raises(KeyError), device.allocate(16, stream=stream) as buffer:
        raise KeyError
    assert buffer.handle == 0


def test_buffers_compare_by_their_bytes(device, stream):
    buffer = device.allocate(16, stream=stream)
    same = Buffer.from_handle(buffer.handle, 16)
    assert buffer == same and hash(buffer) == hash(same)
    assert buffer != Buffer.from_handle(buffer.handle, 8)
    assert buffer != 16 and (buffer == None) is False  # noqa: E711
    assert len({buffer, same}) == 1


def test_buffers_are_made_by_resources_only():
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        Buffer()


def test_the_default_stream_gives_memory_back_in_a_context_only(device, stream):
    class Resource(MemoryResource):
        is_device_accessible, is_host_accessible, device_id = True, False, 0

        def allocate(self, size, *, stream):
            raise NotImplementedError

        def deallocate(self, ptr, size, *, stream):
            pass

    resource = Resource()
    buffer = Buffer.from_handle(1, 16, mr=resource, stream=stream)

    def use():
        with pytest.raises(RuntimeError, match="no CUDA context is current"):
            Buffer.from_handle(1, 16, mr=resource)
        with pytest.raises(RuntimeError, match="no CUDA context is current"):
            buffer.close(device.default_stream)
        Buffer.from_handle(1, 16, mr=resource, stream=stream).close()
        return True

    with ThreadPoolExecutor(1) as thread:  # on which no context is current
        assert thread.submit(use).result()
    buffer.close()


def test_from_handle_keeps_the_owner():
    class Owner:
        pass

    owner = Owner()
    memory = np.zeros(16, np.int8)
    gone = weakref.ref(owner)
    buffer = Buffer.from_handle(memory.ctypes.data, 16, owner=owner)
    assert buffer.owner is owner
    del owner
    gc.collect()
    assert gone() is not None
    buffer.close()
    assert gone() is None


def test_from_handle_knows_host_memory(device):
    memory = np.arange(16, dtype=np.int8)
    buffer = Buffer.from_handle(memory.ctypes.data, 16, owner=memory)
    assert buffer.is_host_accessible and not buffer.is_device_accessible
    assert buffer.device_id == -1
    assert bytes(buffer) == memory.tobytes()
    assert buffer.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize(
    "arguments, keywords, error",
    [
        (("x", 16), {}, TypeError),
        ((None, 16), {}, TypeError),
        ((16, "x"), {}, TypeError),
        ((16, 1.5), {}, TypeError),
        ((16, -1), {}, OverflowError),
        ((16, 16, "mr"), {}, TypeError),
        ((16, 16), {"stream": 7}, ValueError),
        ((16,), {}, TypeError),
    ],
)
def test_from_handle_refuses_other_arguments(device, arguments, keywords, error):
    with pytest.raises(error):
        Buffer.from_handle(*arguments, **keywords)


def test_from_handle_has_an_owner_or_a_resource(device, stream):
    with pytest.raises(ValueError, match="owner and memory resource cannot be both"):
        Buffer.from_handle(16, 16, device.memory_resource, object())
    with pytest.raises(ValueError, match="stream requires a memory resource"):
        Buffer.from_handle(16, 16, stream=stream)


def test_weak_references(device, stream):
    buffer = device.allocate(16, stream=stream)
    reference = weakref.ref(buffer)
    assert reference() is buffer
    del buffer
    assert reference() is None


def test_the_buffer_protocol_needs_host_memory(device, stream, pinned):
    view = memoryview(pinned)
    assert view.nbytes == 64 and not view.readonly and view.format == "B"
    view[:4] = b"abcd"
    assert bytes(pinned)[:4] == b"abcd"
    with pytest.raises(BufferError, match="the host can't access"):
        memoryview(device.allocate(16, stream=stream))


def test_an_exported_view_outlives_the_buffer(pinned):
    view = np.frombuffer(pinned, np.int32)
    view[:] = 7
    pinned.close()
    assert (view == 7).all()


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 3), (2, 0)])
def test_dlpack_capsules_have_the_version_that_is_asked_for(device, stream, max_version):
    capsule = device.allocate(16, stream=stream).__dlpack__(stream=-1, max_version=max_version)
    name = "dltensor_versioned" if max_version and max_version >= (1, 0) else "dltensor"
    assert f'"{name}"' in repr(capsule)


def test_dlpack_gives_bytes(pinned):
    array = np.from_dlpack(pinned)
    assert array.dtype == np.int8 and array.shape == (64,)
    array[:] = 3
    del pinned
    assert (array == 3).all()


def test_dlpack_refuses_what_it_can_not_do(device, stream):
    buffer = device.allocate(16, stream=stream)
    assert buffer.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError, match="copy=True"):
        buffer.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="dl_device"):
        buffer.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError, match="max_version"):
        buffer.__dlpack__(max_version=1)
    with pytest.raises(ValueError, match="ambiguous"):
        buffer.__dlpack__(stream=0)
    with pytest.raises(TypeError):
        buffer.__dlpack__(stream="s")
    buffer.__dlpack__(dl_device=(2, 0), copy=False)


def test_dlpack_orders_the_stream_that_asks(device, stream):
    other = device.create_stream()
    buffer = device.allocate(16, stream=stream)
    buffer.fill(9, stream=stream)
    capsule = buffer.__dlpack__(stream=int(other.handle))
    assert contents(buffer, other) == b"\x09" * 16
    del capsule


def test_buffers_of_no_bytes(device, stream):
    buffer = device.allocate(0, stream=stream)
    assert buffer.size == 0
    buffer.fill(0, stream=stream)
    assert buffer.memory_resource is device.memory_resource
    buffer.close()


@pytest.mark.parametrize("size, error", [(-1, OverflowError), ("16", TypeError), (1.5, TypeError), (None, TypeError)])
def test_sizes_that_are_none(device, stream, size, error):
    with pytest.raises(error):
        device.allocate(size, stream=stream)


def test_too_much_memory_is_refused(device, stream):
    with pytest.raises(MemoryError):
        device.allocate(1 << 50, stream=stream)


def test_set_deallocation_stream(device, stream):
    buffer = device.allocate(16, stream=stream)
    buffer.set_deallocation_stream(device.create_stream())
    with pytest.raises(TypeError, match="stream is required"):
        buffer.set_deallocation_stream(None)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed Buffer"):
        buffer.set_deallocation_stream(stream)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize(
    "make",
    [
        lambda device, stream: device.allocate(64, stream=stream),
        lambda device, stream: device.allocate(64, stream=stream).close(),
        lambda device, stream: Buffer.from_handle(4096, 64, owner=object()),
        lambda device, stream: device.allocate(64, stream=stream).__dlpack__(stream=-1),
        lambda device, stream: bytes(PinnedMemoryResource().allocate(64, stream=stream)),
        lambda device, stream: DeviceMemoryResource(device).allocate(64, stream=stream).memory_resource,
        lambda device, stream: weakref.ref(device.allocate(64, stream=stream)),
    ],
    ids=["allocate", "close", "from_handle", "dlpack", "bytes", "resource", "weakref"],
)
def test_nothing_is_left(device, stream, make):
    for _ in range(2000):
        make(device, stream)
    stream.sync()
    before = resident_bytes()
    for _ in range(10_000):
        make(device, stream)
    stream.sync()
    assert resident_bytes() - before < 1 << 20
