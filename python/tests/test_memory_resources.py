"""Memory resources: the library's own, and those written in Python."""

import ctypes
import gc
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

from cuprum import Buffer, Device, DeviceMemoryResource, MemoryResource, PinnedMemoryResource, Stream


class HostMemory(MemoryResource):
    """Memory of ctypes, as the simplest resource one would write."""

    def __init__(self, device_id=-1):
        self.blocks = {}
        self.streams = []
        self._device_id = device_id

    def allocate(self, size, *, stream=None):
        block = (ctypes.c_byte * size)()
        self.blocks[ctypes.addressof(block)] = block
        return Buffer.from_handle(ctypes.addressof(block), size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream=None):
        assert ctypes.sizeof(self.blocks.pop(ptr)) == size
        self.streams.append(stream)

    @property
    def is_device_accessible(self):
        return False

    @property
    def is_host_accessible(self):
        return True

    @property
    def device_id(self):
        return self._device_id


@pytest.fixture
def own_resource(device):
    """Puts the device's resource back."""
    before = device.memory_resource
    yield
    device.memory_resource = before


def test_the_abstract_resource_does_nothing(device, stream):
    resource = MemoryResource()
    for use in (
        lambda: resource.allocate(16, stream=stream),
        lambda: resource.deallocate(0, 16, stream=stream),
        lambda: resource.is_device_accessible,
        lambda: resource.is_host_accessible,
        lambda: resource.device_id,
    ):
        with pytest.raises(TypeError, match="must be implemented by subclasses"):
            use()
    assert resource.is_managed is False


def test_a_buffer_knows_the_resource_written_in_python(device):
    resource = HostMemory()
    buffer = resource.allocate(16)
    assert buffer.memory_resource is resource
    assert buffer.is_host_accessible and not buffer.is_device_accessible and not buffer.is_managed
    assert buffer.device_id == -1
    assert len(resource.blocks) == 1
    buffer.close()
    assert not resource.blocks


@pytest.mark.parametrize("how", ["drop", "close", "close with stream", "with"])
def test_memory_goes_back_in_the_order_of_its_stream(device, stream, how):
    resource = HostMemory()
    other = device.create_stream()
    buffer = resource.allocate(16, stream=stream)
    if how == "close":
        buffer.close()
    elif how == "close with stream":
        buffer.close(other)
    elif how == "with":
        with buffer:
            pass
    del buffer
    assert not resource.blocks
    assert resource.streams == [other if how == "close with stream" else stream]
    assert isinstance(resource.streams[0], Stream)


def test_a_buffer_keeps_its_resource(device):
    resource = HostMemory()
    gone = weakref.ref(resource)
    buffer = resource.allocate(16)
    del resource
    gc.collect()
    assert buffer.memory_resource is gone()
    buffer.close()
    del buffer
    gc.collect()
    assert gone() is None


def test_devices_draw_on_resources_written_in_python(device, stream, own_resource):
    resource = HostMemory()
    device.memory_resource = resource
    assert device.memory_resource is resource
    buffer = device.allocate(16, stream=stream)
    assert buffer.memory_resource is resource and len(resource.blocks) == 1
    del buffer
    assert not resource.blocks


def test_resources_of_the_library_are_one_object(device, stream):
    assert device.memory_resource is device.memory_resource
    buffer = device.allocate(16, stream=stream)
    assert buffer.memory_resource is device.memory_resource
    for resource in (
        DeviceMemoryResource(device),
        DeviceMemoryResource(0, {"max_size": 1 << 20}),
        PinnedMemoryResource(),
        PinnedMemoryResource({"max_size": 1 << 20}),
    ):
        assert resource.allocate(16, stream=stream).memory_resource is resource


def test_two_resources_of_one_pool_are_told_apart(device, stream):
    first, second = DeviceMemoryResource(device), DeviceMemoryResource(device)
    assert first.allocate(16, stream=stream).memory_resource is first
    assert second.allocate(16, stream=stream).memory_resource is second


def test_setting_something_else_is_refused(device):
    for wrong in (None, 7, object(), DeviceMemoryResource):
        with pytest.raises(TypeError, match="MemoryResource"):
            device.memory_resource = wrong


def test_a_device_says_when_its_resource_gives_no_buffer(device, stream):
    class Careless(HostMemory):
        def allocate(self, size, *, stream=None):
            return memoryview(bytes(size))

    before = device.memory_resource
    device.memory_resource = Careless()
    try:
        with pytest.raises(TypeError, match="Careless.allocate must return a Buffer, not <class 'memoryview'>"):
            device.allocate(4, stream=stream)
    finally:
        device.memory_resource = before


class Counting(DeviceMemoryResource):
    def __init__(self, device):
        super().__init__(device)
        self.count = 0

    def allocate(self, size, *, stream):
        self.count += 1
        return super().allocate(size, stream=stream)


def test_resources_of_the_library_can_be_derived_from(device, stream, own_resource):
    resource = Counting(device)
    buffer = resource.allocate(16, stream=stream)
    assert resource.count == 1 and buffer.memory_resource is resource
    device.memory_resource = resource
    assert device.memory_resource is resource
    assert device.allocate(16, stream=stream).memory_resource is resource
    assert resource.count == 2
    gone = weakref.ref(resource)
    del resource
    device.memory_resource = DeviceMemoryResource(device)
    assert buffer.memory_resource is gone()
    del buffer
    gc.collect()
    assert gone() is None


class Failing(HostMemory):
    def allocate(self, size, *, stream=None):
        raise KeyError("none left")


def test_exceptions_of_allocate_come_out(device, stream, own_resource):
    resource = Failing()
    with pytest.raises(KeyError, match="none left"):
        resource.allocate(16)
    device.memory_resource = resource
    with pytest.raises(KeyError, match="none left"):
        device.allocate(16, stream=stream)


class FailingToFree(HostMemory):
    def deallocate(self, ptr, size, *, stream=None):
        raise RuntimeError("the memory stays")


def test_exceptions_of_deallocate_are_reported(device, capfd):
    buffer = FailingToFree().allocate(16)
    buffer.close()
    del buffer
    assert "the memory stays" in capfd.readouterr().err
    buffer = FailingToFree().allocate(16)
    with pytest.raises(ZeroDivisionError):
        try:
            raise ZeroDivisionError
        finally:
            del buffer
    assert "the memory stays" in capfd.readouterr().err


def test_copies_of_a_buffer_that_fails_to_allocate(device, stream):
    class Once(HostMemory):
        def allocate(self, size, *, stream=None):
            if self.blocks:
                raise MemoryError("only one")
            return super().allocate(size, stream=stream)

    buffer = Once().allocate(16)
    with pytest.raises(MemoryError, match="only one"):
        buffer.copy_to(stream=stream)


def test_memory_goes_back_from_other_threads(device):
    resource = HostMemory()
    buffers = [resource.allocate(16) for _ in range(100)]
    threads = [threading.Thread(target=lambda part=buffers[i::4]: [b.close() for b in part]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not resource.blocks


def test_properties_that_raise(device, stream):
    class NoDevice(HostMemory):
        @property
        def device_id(self):
            raise RuntimeError("no device")

    buffer = NoDevice().allocate(16)
    with pytest.raises(RuntimeError, match="no device"):
        buffer.device_id
    assert buffer.is_host_accessible
    assert bytes(buffer) == bytes(16)


def test_deallocate_of_the_library(device, stream):
    resource = device.memory_resource
    with pytest.raises(TypeError):
        resource.deallocate("x", 16, stream=stream)
    with pytest.raises(OverflowError):
        resource.deallocate(16, -1, stream=stream)
    with pytest.raises(TypeError):
        resource.deallocate(16, 16, stream=7)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeviceMemoryResource("0"),
        lambda: DeviceMemoryResource(),
        lambda: DeviceMemoryResource(0, 7),
        lambda: DeviceMemoryResource(0, {"max_sise": 1}),
        lambda: DeviceMemoryResource(0, {"max_size": "1"}),
        lambda: PinnedMemoryResource(7),
        lambda: PinnedMemoryResource({"numa": 1}),
    ],
)
def test_resources_refuse_wrong_types(device, make):
    with pytest.raises(TypeError):
        make()


def test_resources_refuse_wrong_values(device):
    with pytest.raises(ValueError, match="device_id"):
        DeviceMemoryResource(99)
    with pytest.raises(OverflowError):
        DeviceMemoryResource(0, {"max_size": -1})
    with pytest.raises(ValueError):
        PinnedMemoryResource({"numa_id": -1})


def test_closed_pools_allocate_nothing(device, stream):
    resource = DeviceMemoryResource(device, {"max_size": 1 << 20})
    buffer = resource.allocate(16, stream=stream)
    assert resource.is_handle_owned and resource.handle
    resource.close()
    resource.close()
    assert int(resource.handle) == 0
    with pytest.raises((ValueError, RuntimeError)):
        resource.allocate(16, stream=stream)
    buffer.fill(0, stream=stream)
    assert not DeviceMemoryResource(device).is_handle_owned


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def assign(device):
    before = device.memory_resource
    device.memory_resource = HostMemory()
    device.memory_resource = before


@pytest.mark.parametrize(
    "make, count",
    [
        (lambda device: DeviceMemoryResource(device), 10_000),
        (lambda device: DeviceMemoryResource(device, {"max_size": 1 << 20}), 10_000),
        (lambda device: PinnedMemoryResource(), 10_000),
        (lambda device: HostMemory().allocate(64), 10_000),
        (lambda device: MemoryResource(), 10_000),
        (lambda device: Counting(device).allocate(64, stream=device.default_stream), 10_000),
        (assign, 10_000),
    ],
    ids=["device", "own pool", "pinned", "python", "abstract", "derived", "assign"],
)
def test_nothing_is_left(device, make, count):
    for _ in range(1000):
        make(device)
    device.sync()
    before = resident_bytes()
    for _ in range(count):
        make(device)
    device.sync()
    assert resident_bytes() - before < 1 << 20


def run_python(code):
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100
    )
    assert output.returncode == 0, output.stderr
    return output.stdout, output.stderr


def test_objects_that_are_left_at_exit():
    code = """
        import ctypes, sys
        from cuprum import *

        class HostMemory(MemoryResource):
            is_device_accessible, is_host_accessible, device_id = False, True, -1

            def __init__(self):
                self.blocks = {}

            def allocate(self, size, *, stream=None):
                block = (ctypes.c_byte * size)()
                self.blocks[ctypes.addressof(block)] = block
                return Buffer.from_handle(ctypes.addressof(block), size, mr=self)

            def deallocate(self, ptr, size, *, stream=None):
                del self.blocks[ptr]

        device = Device()
        device.set_current()
        stream = device.create_stream()
        buffers = [device.allocate(1 << 20, stream=stream) for _ in range(4)]
        for buffer in buffers:
            buffer.fill(1, stream=stream)
        own = DeviceMemoryResource(device, {"max_size": 1 << 20})
        buffers += [own.allocate(64, stream=stream), ManagedMemoryResource().allocate(64, stream=stream)]
        buffers += [LegacyPinnedMemoryResource().allocate(64), VirtualMemoryResource(device).allocate(64)]
        view = memoryview(PinnedMemoryResource().allocate(64, stream=stream))
        device.memory_resource = HostMemory()
        buffers.append(device.allocate(64, stream=stream))
        sys.modules["kept"] = buffers, own, view  # ends late
        print("leaving")
    """
    assert run_python(code) == ("leaving\n", "")


def test_freeing_that_waits_lets_host_functions_run():
    code = """
        import time
        from cuprum import Device, LegacyPinnedMemoryResource

        device = Device()
        device.set_current()
        stream = device.create_stream()
        builder = device.create_graph_builder().begin_building()
        called = []
        builder.callback(lambda: (time.sleep(0.2), called.append(1)))
        graph = builder.end_building().complete()
        for free in (lambda buffer: buffer.close(), lambda buffer: None):
            graph.launch(stream)
            buffer = LegacyPinnedMemoryResource().allocate(64, stream=stream)
            free(buffer)
            del buffer
        stream.sync()
        print(len(called))
    """
    assert run_python(code) == ("2\n", "")
