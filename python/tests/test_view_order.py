"""Which streams wait when views are handed on by DLPack."""

import threading
import time

import pytest

from cuprum import LEGACY_DEFAULT_STREAM, Buffer, PinnedMemoryResource
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedMemoryView


@pytest.fixture
def blocked(device):
    """A stream on which work waits, and what lets it go on."""
    gate = threading.Event()
    definition = GraphDefinition()
    definition.callback(gate.wait)
    graph = definition.instantiate()
    stream = device.create_stream()
    buffer = device.allocate(64, stream=stream)
    stream.sync()
    graph.launch(stream)
    yield stream, buffer, gate
    gate.set()
    stream.sync()


def is_made_to_wait(other, gate):
    """Whether what is queued on another stream from now on waits for the gate."""
    event = other.record()
    time.sleep(0.05)
    waited = not event.is_done
    gate.set()
    event.sync()
    return waited


def number(stream):
    return int(stream.handle)


VIEWS = {
    "made for the stream": lambda stream, buffer: StridedMemoryView.from_any_interface(Wrapped(buffer), number(stream)),
    "of a buffer of the stream": lambda stream, buffer: StridedMemoryView.from_any_interface(buffer, -1),
    "of such a buffer's bytes": lambda stream, buffer: StridedMemoryView.from_buffer(buffer, (16,), dtype="int32"),
    "another layout of one": lambda stream, buffer: StridedMemoryView.from_any_interface(Wrapped(buffer), number(stream)).view(dtype="int8"),
}


class Wrapped:
    """An array of another library, which says no stream."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.__cuda_array_interface__ = {"version": 3, "shape": (64,), "typestr": "|i1", "data": (int(buffer.handle), False)}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_the_stream_of_who_takes_a_view_waits(device, numpy, blocked, make):
    stream, buffer, gate = blocked
    other = device.create_stream()
    view = make(stream, buffer)
    capsule = view.__dlpack__(stream=number(other))
    assert is_made_to_wait(other, gate)
    del capsule


def test_without_a_stream_to_wait_nothing_waits(device, numpy, blocked):
    stream, buffer, gate = blocked
    other = device.create_stream()
    view = StridedMemoryView.from_any_interface(buffer, number(stream))
    capsule = view.__dlpack__(stream=-1)
    assert not is_made_to_wait(other, gate)
    del capsule


def test_memory_that_is_only_wrapped_has_no_stream_to_wait_for(device, stream, numpy):
    buffer = device.allocate(64, stream=stream)
    wrapped = Buffer.from_handle(buffer.handle, 64, owner=buffer)
    assert StridedMemoryView.from_buffer(wrapped, (16,), dtype="int32").__dlpack__(stream=1) is not None


@pytest.mark.parametrize(
    ("number", "kind", "said"),
    [
        ("x", TypeError, "stream must be the number of a stream, or -1, not <class 'str'>"),
        (1.5, TypeError, "stream must be the number of a stream, or -1, not <class 'float'>"),
        (LEGACY_DEFAULT_STREAM, TypeError, "stream must be the number of a stream, or -1, not <class 'cuprum.Stream'>"),
        (2**70, OverflowError, "stream can't be larger than 64 bits: 1180591620717411303424"),
        (-2, ValueError, "stream can't be -2: only -1 is negative"),
    ],
)
def test_what_is_no_stream_is_refused_for_memory_of_the_host_too(device, stream, numpy, number, kind, said):
    pinned = PinnedMemoryResource().allocate(8, stream=stream)
    for exported in (
        pinned,
        device.allocate(8, stream=stream),
        StridedMemoryView.from_any_interface(pinned, -1),
        StridedMemoryView.from_any_interface(numpy.zeros(3), -1),
    ):
        with pytest.raises(kind) as caught:
            exported.__dlpack__(stream=number)
        assert str(caught.value) == said
