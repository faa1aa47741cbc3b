"""Cycles of references through what the package holds of Python are collected."""

import gc
import threading
import weakref

import pytest

from cuprum import Buffer, DeviceMemoryResource, ManagedMemoryResource, MemoryResource, PinnedMemoryResource
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedMemoryView


class Holder:
    """Something that can be in a cycle."""


class Resource(MemoryResource):
    """Keeps the buffers that it gave out."""

    device_id = 0
    is_device_accessible = True
    is_host_accessible = False

    def __init__(self, device):
        self.device = device
        self.memory = {}
        self.buffers = []
        self.freed = []

    def allocate(self, size, *, stream):
        memory = self.device.allocate(size, stream=stream)
        buffer = Buffer.from_handle(int(memory.handle), size, mr=self, stream=stream)
        self.memory[int(memory.handle)] = memory
        self.buffers.append(buffer)
        return buffer

    def deallocate(self, ptr, size, *, stream):
        self.memory.pop(int(ptr)).close(stream)
        self.freed.append(size)


class Derived(DeviceMemoryResource):
    def __init__(self, device):
        super().__init__(device)
        self.buffers = []

    def allocate(self, size, *, stream):
        buffer = super().allocate(size, stream=stream)
        self.buffers.append(buffer)
        return buffer


@pytest.fixture(autouse=True)
def nothing_collected_by_itself():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def is_collected(make):
    reference = make()
    assert reference() is not None
    gc.collect()
    return reference() is None


def test_a_buffer_and_its_owner(device, stream):
    def make():
        owner = Holder()
        owner.memory = device.allocate(8, stream=stream)
        owner.buffer = Buffer.from_handle(int(owner.memory.handle), 8, owner=owner)
        return weakref.ref(owner)

    assert is_collected(make)


@pytest.mark.parametrize("count", [1, 3])
def test_a_resource_written_in_python_and_its_buffers(device, stream, count, capfd):
    freed = []

    def make():
        resource = Resource(device)
        resource.freed = freed
        for number in range(count):
            resource.allocate(16 + number, stream=stream)
        return weakref.ref(resource)

    assert is_collected(make)
    assert sorted(freed) == [16 + number for number in range(count)]  # by a resource that was still whole
    assert capfd.readouterr().err == ""


def test_a_resource_derived_in_python_and_its_buffers(device, stream):
    def make():
        resource = Derived(device)
        resource.allocate(16, stream=stream)
        assert resource.buffers[0].memory_resource is resource
        return weakref.ref(resource)

    assert is_collected(make)


def test_a_view_and_what_it_views(device, stream, numpy):
    def make():
        holder = Holder()
        holder.__array_interface__ = {"version": 3, "shape": (0,), "typestr": "<f4", "data": (0, False)}
        holder.view = StridedMemoryView.from_array_interface(holder)
        return weakref.ref(holder)

    assert is_collected(make)


class TestNothingElseIsCollected:
    """What somebody can still reach, in Python or through the library."""

    def owner_and_buffer(self, device, stream):
        owner = Holder()
        owner.memory = PinnedMemoryResource().allocate(8, stream=stream)
        owner.buffer = Buffer.from_handle(int(owner.memory.handle), 8, owner=owner)
        return owner

    def test_while_the_buffer_is_held(self, device, stream):
        buffer = self.owner_and_buffer(device, stream).buffer
        gc.collect()
        assert buffer.size == 8
        assert buffer.owner.buffer is buffer

    def test_while_an_export_holds_the_memory(self, device, stream):
        owner = self.owner_and_buffer(device, stream)
        reference = weakref.ref(owner)
        exported = memoryview(owner.buffer)
        del owner
        gc.collect()
        assert reference() is not None
        assert reference().memory.size == 8
        assert len(exported) > 0
        del exported
        gc.collect()
        assert reference() is None

    def test_while_a_graph_holds_the_memory(self, device, stream):
        owner = self.owner_and_buffer(device, stream)
        reference = weakref.ref(owner)
        graph = GraphDefinition()
        graph.memset(owner.buffer, 1, 8)
        del owner
        gc.collect()
        assert reference() is not None
        assert reference().memory.size == 8

    def test_while_threads_use_the_buffers(self, device, stream):
        """Calls that run keep the memory for moments, in the middle of collections."""
        gc.freeze()  # what other tests have left would only make the collections longer
        owners = [self.owner_and_buffer(device, stream) for _ in range(50)]
        buffers = [owner.buffer for owner in owners]
        del owners
        is_done = threading.Event()

        def use():
            device.set_current()
            own = device.create_stream()
            while not is_done.is_set():
                for buffer in buffers:
                    buffer.fill(1, stream=own)
            own.sync()

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(500):
            gc.collect()
        is_done.set()
        for thread in threads:
            thread.join()
        gc.unfreeze()
        assert all(buffer.owner.memory.size == 8 for buffer in buffers)


def test_what_python_says_of_references(device, stream):
    owner = Holder()
    buffer = Buffer.from_handle(4096, 8, owner=owner)
    assert gc.is_tracked(buffer)
    assert gc.is_tracked(ManagedMemoryResource().allocate(8, stream=stream))
    assert owner in gc.get_referents(buffer)
    buffer.close()
    assert owner not in gc.get_referents(buffer)
