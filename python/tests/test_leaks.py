"""Nothing is left of objects that are made and dropped."""

import gc
import os
import subprocess
import sys
import textwrap

import pytest

from cuprum import (
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    Stream,
    launch,
)
from cuprum.graph import GraphDefinition

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grows_by(make, count):
    """How many bytes the process grows by when `make` is called that often, after it was called as often before."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        make()
        return 0  # AddressSanitizer keeps what is freed for a while; it finds leaks by itself
    for _ in range(count):
        make()
    gc.collect()
    before = resident_bytes()
    for _ in range(count):
        make()
    gc.collect()
    return resident_bytes() - before


def captured(device):
    builder = device.create_graph_builder().begin_building()
    builder.callback(int)
    return builder.end_building().complete()


def put_together(_):
    definition = GraphDefinition()
    definition.callback(lambda: None).join().pred.clear()
    return definition.instantiate()


def refused(call, *arguments):
    try:
        call(*arguments)
    except Exception:
        return
    raise AssertionError("it was not refused")


STREAM = []

KINDS = {
    "streams": (lambda device: device.create_stream(), 10_000),
    "streams of others": (lambda device: Stream.from_handle(int(STREAM[0].handle)), 10_000),
    "events": (lambda device: STREAM[0].record(), 10_000),
    "contexts": (lambda device: device.context, 10_000),
    "configurations": (lambda device: LaunchConfig(grid=1, block=(1, 2)), 10_000),
    "buffers": (lambda device: device.allocate(1000, stream=STREAM[0]).close(), 10_000),
    "pinned buffers": (lambda device: PinnedMemoryResource().allocate(1000, stream=STREAM[0]), 2_000),
    "pools": (lambda device: DeviceMemoryResource(device, {"max_size": 2**21}), 1_000),
    "object code": (lambda device: ObjectCode.from_ptx(PTX), 10_000),
    "kernels": (lambda device: ObjectCode.from_ptx(PTX).get_kernel("k"), 1_000),
    "programs": (lambda device: Program("int x;", "c++"), 10_000),
    "launches": (lambda device: launch(STREAM[0], LaunchConfig(1, block=1), STREAM[1]), 10_000),
    "captured graphs": (captured, 1_000),
    "graphs": (put_together, 1_000),
    "views of memory": (lambda device: memoryview(STREAM[2]).cast("B"), 10_000),
    "refused devices": (lambda device: refused(Device, 1000), 10_000),
    "refused launches": (lambda device: refused(launch, STREAM[0], None, None), 10_000),
    "refused options": (lambda device: refused(device.create_stream, None, {"prio": 1}), 2_000),
}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_stays_flat(device, stream, kind):
    make, count = KINDS[kind]
    STREAM[:] = [stream, ObjectCode.from_ptx(PTX).get_kernel("k"), PinnedMemoryResource().allocate(64, stream=stream)]
    try:
        assert grows_by(lambda: make(device), count) < 40 * count + 2**20
    finally:
        stream.sync()
        STREAM.clear()


def test_nanobind_finds_no_leak():
    code = """
        from cuprum import *
        from cuprum.graph import *
        from cuprum.utils import StridedMemoryView
        device = Device()
        device.set_current()
        stream = device.create_stream()
        graph = GraphDefinition()
        graph.callback(lambda: None)
        graph.instantiate().launch(stream)
        stream.record().sync()
        buffer = device.allocate(4, stream=stream)
        buffer.fill(1, stream=stream)
        code = ObjectCode.from_ptx(b".version 7.0 .target sm_70 .address_size 64 .visible .entry k() { ret; }")
        launch(stream, LaunchConfig(1, block=1), code.get_kernel("k"))
        takes_one = ObjectCode.from_ptx(
            b".version 7.0 .target sm_70 .address_size 64 .visible .entry k(.param .u64 p) { ret; }"
        ).get_kernel("k")
        launch(stream, LaunchConfig(1, block=1), takes_one, buffer)
        view = StridedMemoryView.from_buffer(buffer, (1,), itemsize=4)
        launch(stream, LaunchConfig(1, block=1), takes_one, view)
        class Owner: pass
        owner = Owner()
        owner.buffer = Buffer.from_handle(4096, 4, owner=owner)
        try:
            Device(1000)
        except ValueError:
            pass
        stream.sync()
        del device, stream, graph, buffer, code, takes_one, view, owner
    """
    environment = {**os.environ, "CUPRUM_PYTHON_LEAK_WARNINGS": "1"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
