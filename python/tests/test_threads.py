"""Threads that use the same objects at the same time: where Python has no GIL, nothing else keeps them apart."""

import itertools

from cuprum import Device, DeviceMemoryResource, LaunchConfig, ObjectCode, PinnedMemoryResource, launch
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedMemoryView

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry put(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
THREADS, ROUNDS = 8, 20


def test_launches_share_kernels_configurations_and_streams(device, results_of_threads):
    code = ObjectCode.from_ptx(PTX)
    config, common = LaunchConfig(1, block=1), device.create_stream()
    numbers = itertools.count()

    def work():
        own = Device(0).create_stream()
        for _ in range(ROUNDS):
            number = next(numbers)
            kernel = code.get_kernel("put")
            buffer = PinnedMemoryResource().allocate(4, stream=own)
            launch(own, config, kernel, buffer, number)
            own.wait(common.record())
            launch(common, LaunchConfig(1, block=1), kernel, buffer, number)
            own.sync()
            common.sync()
            assert memoryview(buffer).cast("B").cast("I")[0] == number
            assert kernel == code.get_kernel("put")
            assert kernel.arguments_info == code.get_kernel("put").arguments_info
        return True

    assert results_of_threads(work, THREADS) == [True] * THREADS


def test_what_is_made_when_first_asked_for_is_made_once(device, stream, results_of_threads):
    """The layout of a view, and the properties of a device."""
    pool = DeviceMemoryResource(device)
    buffer = pool.allocate(96, stream=stream)
    capsule_views = [StridedMemoryView.from_dlpack(buffer, -1) for _ in range(ROUNDS)]

    def work():
        seen = [(id(view._layout), view.shape, view.strides, id(view.exporting_obj)) for view in capsule_views]
        assert buffer.memory_resource is pool
        return seen, Device(0).properties.max_threads_per_block

    results = results_of_threads(work, THREADS)
    assert all(result == results[0] for result in results)


def test_buffers_are_closed_while_others_look_at_them(device, results_of_threads):
    pool = DeviceMemoryResource(device)
    places = [None] * THREADS
    turns = itertools.count()

    def work():
        own = Device(0).create_stream()
        me = next(turns)
        for number in range(ROUNDS * 5):
            places[me] = pool.allocate(100, stream=own)
            other = places[(me + 1) % THREADS]
            if other is None:
                continue
            if number % 3 == 0:
                other.close(own)
            else:
                assert other.size in (0, 100)
                assert repr(other)
        own.sync()
        return True

    assert results_of_threads(work, THREADS) == [True] * THREADS


def test_graphs_call_python_from_many_streams(device, results_of_threads):
    def work():
        own, seen = Device(0).create_stream(), []
        for number in range(ROUNDS):
            graph = GraphDefinition()
            node = graph.callback(lambda number=number: seen.append(number))
            assert set(graph.nodes()) == {node}
            graph.instantiate().launch(own)
            own.sync()
        return seen

    assert results_of_threads(work, THREADS) == [list(range(ROUNDS))] * THREADS
