"""Fills, copies and nodes of graphs with random sizes and places against NumPy."""

import random

import pytest
from random_values import seeds

from cuprum import Buffer, DeviceMemoryResource, ManagedMemoryResource, PinnedMemoryResource
from cuprum.graph import GraphDefinition

numpy = pytest.importorskip("numpy")


class Memory:
    """Memory of some kind, and what must be in it."""

    def __init__(self, resource, size, stream, rng):
        self.whole = resource.allocate(size, stream=stream)
        self.stream = stream
        self.model = numpy.frombuffer(rng.randbytes(size), numpy.uint8).copy()
        self.whole.copy_from(self.model, stream=stream)

    def part(self, offset, size):
        return Buffer.from_handle(int(self.whole.handle) + offset, size, owner=self.whole)

    def contents(self):
        host = numpy.empty_like(self.model)
        buffer = PinnedMemoryResource().allocate(self.model.size, stream=self.stream)
        self.whole.copy_to(buffer, stream=self.stream)
        self.stream.sync()
        host[:] = numpy.frombuffer(buffer, numpy.uint8)
        return host


@pytest.fixture
def memories(device, stream):
    def make(rng, size):
        kinds = [DeviceMemoryResource(device), PinnedMemoryResource(), ManagedMemoryResource()]
        return [Memory(resource, size, stream, rng) for resource in kinds]

    return make


def fill(rng, memory, stream):
    width = rng.choice([1, 2, 4])
    count = rng.randint(1, memory.model.size // width // 2)
    offset = rng.randrange((memory.model.size - count * width) // width + 1) * width
    value = rng.randbytes(width)
    given = rng.choice([value, numpy.frombuffer(value, f"u{width}")[0]] + ([value[0]] if width == 1 else []))
    memory.part(offset, count * width).fill(given, stream=stream)
    memory.model[offset : offset + count * width] = numpy.frombuffer(value * count, numpy.uint8)


def copy(rng, memories, stream):
    source, target = rng.choice(memories), rng.choice(memories)
    size = rng.randint(1, source.model.size // 3)
    begin = rng.randrange(source.model.size - size + 1)
    end = rng.randrange(target.model.size - size + 1)
    if source is target and abs(begin - end) < size:
        return  # parts that overlap
    if rng.random() < 0.5:
        target.part(end, size).copy_from(source.part(begin, size), stream=stream)
    else:
        source.part(begin, size).copy_to(target.part(end, size), stream=stream)
    target.model[end : end + size] = source.model[begin : begin + size]


def from_host(rng, memory, stream):
    size = rng.randint(1, memory.model.size)
    data = rng.randbytes(size)
    memory.whole.copy_from(data, stream=stream)
    memory.model[:size] = numpy.frombuffer(data, numpy.uint8)


@seeds(15)
def test_random_fills_and_copies(memories, stream, seed):
    rng = random.Random(seed)
    held = memories(rng, rng.choice([16, 1000, 4096, 70_000]))
    for _ in range(30):
        kind = rng.randrange(5)
        if kind < 2:
            fill(rng, rng.choice(held), stream)
        elif kind < 4:
            copy(rng, held, stream)
        else:
            from_host(rng, rng.choice(held), stream)
    for memory in held:
        assert (memory.contents() == memory.model).all()


@seeds(15)
def test_random_graphs_of_memory(memories, stream, seed):
    """Nodes in a row: a memset in two dimensions, or a copy."""
    rng = random.Random(seed)
    held = memories(rng, 4096)
    graph = GraphDefinition()
    place = graph
    for _ in range(rng.randint(1, 8)):
        memory = rng.choice(held)
        if rng.random() < 0.5:
            element = rng.choice([1, 2, 4])
            width, height = rng.randint(1, 40), rng.randint(1, 12)
            pitch = width * element + element * rng.randint(0, 20)
            offset = element * rng.randrange((4096 - pitch * height) // element + 1)
            value = rng.randbytes(element)
            place = place.memset(int(memory.whole.handle) + offset, value, width, height, pitch, dst_owner=memory.whole)
            for row in range(height):
                begin = offset + row * pitch
                memory.model[begin : begin + width * element] = numpy.frombuffer(value * width, numpy.uint8)
        else:
            other = rng.choice([each for each in held if each is not memory])
            size = rng.randint(1, 4096)
            begin, end = rng.randrange(4096 - size + 1), rng.randrange(4096 - size + 1)
            place = place.memcpy(
                int(memory.whole.handle) + begin,
                int(other.whole.handle) + end,
                size,
                dst_owner=memory.whole,
                src_owner=other.whole,
            )
            memory.model[begin : begin + size] = other.model[end : end + size]
    graph.instantiate().launch(stream)
    stream.sync()
    for memory in held:
        assert (memory.contents() == memory.model).all()
