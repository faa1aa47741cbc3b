"""What callbacks of graphs may do with objects whose release needs CUDA, which they must not use."""

import threading
import time

import pytest
from test_leaks import grows_by
from test_leaks_of_every_class import EVERY, OF_CHANGING_SIZE, OF_NUMPY, Here, is_kept_by_driver

from cuprum import Buffer, DeviceMemoryResource, DeviceMemoryResourceOptions, MemoryResource
from cuprum.graph import GraphDefinition


def run_on(stream, function):
    definition = GraphDefinition()
    definition.callback(function)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    return graph


@pytest.mark.parametrize("let_go", [lambda held: held.clear(), lambda held: held[0].close()], ids=["dropped", "closed"])
def test_what_is_let_go_of_in_a_callback_is_released_by_who_waits(device, stream, let_go):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=2**21))
    held = [pool.allocate(1000, stream=stream)]
    stream.sync()
    assert pool.attributes.used_mem_current >= 1000
    run_on(stream, lambda: let_go(held))
    stream.sync()
    assert pool.attributes.used_mem_current == 0


def test_streams_events_and_graphs_can_be_dropped_in_a_callback(device, stream, capfd):
    held = [device.create_stream(), stream.record(), GraphDefinition(), GraphDefinition().instantiate()]
    run_on(stream, held.clear)
    assert not held
    assert capfd.readouterr().err == ""


def test_a_resource_written_in_python_gets_its_memory_back_outside_of_the_callback(device, stream):
    freed_by = []

    class Resource(MemoryResource):
        device_id = 0
        is_device_accessible = True
        is_host_accessible = False

        def allocate(self, size, *, stream):
            self.memory = device.allocate(size, stream=stream)
            return Buffer.from_handle(self.memory.handle, size, mr=self, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            freed_by.append(threading.current_thread())
            self.memory.close(stream)

    held = [Resource().allocate(100, stream=stream)]
    run_on(stream, held.clear)
    assert freed_by == [threading.current_thread()]


@pytest.mark.parametrize("kind", EVERY)
def test_objects_of_every_class_can_be_dropped_in_a_callback(device, stream, tmp_path, kind, capfd, request):
    """No message, no deadlock, and no memory that is left."""
    if kind in OF_NUMPY:
        request.getfixturevalue("numpy")
    here = Here(device, stream, str(tmp_path))

    def drop():
        held = [EVERY[kind][0](here)]
        run_on(stream, held.clear)
        assert not held

    drop()
    assert capfd.readouterr().err == ""
    if kind not in OF_CHANGING_SIZE and not is_kept_by_driver(kind):
        assert grows_by(drop, 50) < 2**20


def test_what_a_callback_let_go_of_is_released_without_another_call_of_the_library(device, stream):
    held = [device.create_stream()]
    events = []

    class Resource(MemoryResource):
        device_id = 0
        is_device_accessible = True
        is_host_accessible = True

        def allocate(self, size, stream=None):
            return Buffer.from_handle(4096, size, mr=self)

        def deallocate(self, ptr, size, stream=None):
            events.append("freed")

    held.append(Resource().allocate(8))
    done = threading.Event()

    def let_go():
        held.clear()
        done.set()

    definition = GraphDefinition()
    definition.callback(let_go)
    graph = definition.instantiate()
    graph.launch(stream)
    assert done.wait(20)
    end = time.monotonic() + 20
    while not events and time.monotonic() < end:
        time.sleep(0.001)
    assert events == ["freed"]
    stream.sync()
