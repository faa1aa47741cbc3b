"""Threads that do everything at once with objects that they share, and a plain model of what must come out.

It lasts a moment here; CUPRUM_STRESS_SECONDS says how long instead. Where Python has no GIL, that is what it is for.
"""

import gc
import os
import random
import threading
import time

import pytest

from cuprum import CUDAError, Device, DeviceMemoryResource, LaunchConfig, ObjectCode, PinnedMemoryResource, Program, launch
from cuprum.graph import GraphDefinition
from cuprum.utils import InMemoryProgramCache, StridedMemoryView

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [value];
  red.global.add.u32 [%rd1], %r1;
  ret;
}
"""
THREADS = 8
SECONDS = float(os.environ.get("CUPRUM_STRESS_SECONDS", "1"))
SOURCES = [f'extern "C" __global__ void f(int* x) {{ *x = {number}; }}' for number in range(3)]


class Shared:
    """What all threads use."""

    def __init__(self, device):
        self.stream = device.create_stream()
        self.kernel = ObjectCode.from_ptx(PTX).get_kernel("add")
        self.config = LaunchConfig(1, block=1)
        self.pool = DeviceMemoryResource(device)
        self.total = PinnedMemoryResource().allocate(4, stream=self.stream)
        self.total.fill(0, stream=self.stream)
        self.graph = GraphDefinition()
        self.graph.launch(self.config, self.kernel, self.total, 1)
        self.executable = self.graph.instantiate()
        self.executable_lock = threading.Lock()  # CUDA wants one launch of an executable graph at a time
        self.cache = InMemoryProgramCache()
        self.compiled = {}
        # Buffers that any thread uses, and closes while another's work on them is queued, in no order: what that work
        # writes may lie in the next of them, so that no other memory may come from where theirs does.
        self.slots = [None] * THREADS
        self.pool_of_slots = DeviceMemoryResource(device, {"max_size": 1 << 26})


class Worker:
    """One thread: its own stream and memory, and the model: what it added to the total, and the bytes of its memory."""

    def __init__(self, shared, seed):
        self.shared = shared
        self.random = random.Random(seed)
        self.stream = Device(0).create_stream()
        self.memory = PinnedMemoryResource().allocate(64, stream=self.stream)
        self.memory.fill(0, stream=self.stream)
        self.bytes = bytes(64)
        self.added = 0
        self.calls = []
        self.expected_calls = []

    def add(self):
        number = self.random.randrange(1, 100)
        stream = self.random.choice([self.stream, self.shared.stream])
        config = self.random.choice([self.shared.config, LaunchConfig(1, block=1)])
        launch(stream, config, self.shared.kernel, self.shared.total, number)
        self.added += number

    def fill_own(self):
        value = self.random.randrange(256)
        self.memory.fill(value, stream=self.stream)
        self.bytes = bytes([value]) * 64

    def copy_through_the_pool(self):
        """There and back, with memory that goes while the copies are queued."""
        between = self.shared.pool.allocate(64, stream=self.stream)
        between.copy_from(self.memory, stream=self.stream)
        self.memory.fill(0, stream=self.stream)
        self.memory.copy_from(between, stream=self.stream)
        if self.random.random() < 0.5:
            between.close(self.stream)

    def wait_for_others(self):
        event = self.random.choice([self.stream, self.shared.stream]).record()
        self.stream.wait(event)
        if self.random.random() < 0.3:
            event.sync()
            assert event.is_done
        assert event == event and hash(event) == hash(event)

    def replace_in_a_slot(self):
        self.shared.slots[self.random.randrange(THREADS)] = self.shared.pool_of_slots.allocate(64, stream=self.stream)

    def use_a_slot(self):
        """Others may close the buffer at any moment; then it says so, and nothing else happens."""
        buffer = self.random.choice(self.shared.slots)
        if buffer is None:
            return
        try:
            choice = self.random.randrange(4)
            if choice == 0:
                buffer.close(self.stream)
            elif choice == 1:
                buffer.fill(1, stream=self.stream)
            elif choice == 2:
                StridedMemoryView.from_buffer(buffer, (16,), itemsize=4).shape
            else:
                assert buffer.size in (0, 64)
                repr(buffer)
        except (RuntimeError, ValueError) as error:
            assert "closed" in str(error), error

    def launch_a_graph(self):
        number = len(self.expected_calls)
        graph = GraphDefinition()
        node = graph.launch(self.shared.config, self.shared.kernel, self.shared.total, 2)
        node.callback(lambda: self.calls.append(number))
        assert len(graph.nodes()) == 2
        graph.instantiate().launch(self.stream)
        self.expected_calls.append(number)
        self.added += 2

    def launch_the_shared_graph(self):
        with self.shared.executable_lock:
            self.shared.executable.launch(self.shared.stream)
        self.added += 1

    def capture(self):
        builder = Device(0).create_graph_builder().begin_building("thread_local")
        launch(builder, self.shared.config, self.shared.kernel, self.shared.total, 3)
        builder.end_building().complete().launch(self.stream)
        self.added += 3

    def compile(self):
        source = self.random.choice(SOURCES)
        code = Program(source, "c++", {"arch": "sm_80"}).compile("ptx", cache=self.shared.cache)
        assert code.code == self.shared.compiled.setdefault(source, code.code)

    def look(self):
        """All that was queued for its own memory has happened, in order."""
        self.stream.sync()
        assert bytes(memoryview(self.memory)) == self.bytes
        assert self.calls == self.expected_calls
        view = StridedMemoryView.from_dlpack(self.memory, -1)
        assert (view.shape, view.ptr) == ((64,), int(self.memory.handle))

    def collect(self):
        gc.collect(0)

    def work(self, until):
        often = [self.add, self.fill_own, self.copy_through_the_pool, self.wait_for_others, self.use_a_slot]
        steps = often * 4 + [
            self.replace_in_a_slot, self.launch_a_graph, self.launch_the_shared_graph, self.capture, self.compile,
            self.look, self.collect,
        ]  # fmt: skip
        while time.monotonic() < until:
            self.random.choice(steps)()
        self.look()
        return self.added


@pytest.mark.parametrize("seed", range(2))
def test_everything_at_once(device, results_of_threads, seed):
    shared = Shared(device)
    shared.stream.sync()
    numbers = iter(range(seed * 100, seed * 100 + THREADS))
    try:
        Program(SOURCES[0], "c++", {"arch": "sm_80"}).compile("ptx")
    except CUDAError as error:
        pytest.skip(f"there is no compiler: {error}")
    until = time.monotonic() + SECONDS / 2
    added = results_of_threads(lambda: Worker(shared, next(numbers)).work(until), THREADS)
    shared.stream.sync()
    assert memoryview(shared.total).cast("B").cast("I")[0] == sum(added) % 2**32
