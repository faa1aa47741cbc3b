"""NVIDIA's cuda.core captures work into graphs: one is given new arguments after it was instantiated, one allocates memory of its own."""

import numpy as np
from cuda.core import (Device, GraphMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, ManagedMemoryResource,
                       ManagedMemoryResourceOptions, PinnedMemoryResource, PinnedMemoryResourceOptions, Program, ProgramOptions,
                       launch)

CODE = """
extern "C" __global__ void add_one(int* value) { ++*value; }
extern "C" __global__ void scale_and_add(float* data, size_t n, float factor, float more) {
    size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
    if (i < n) data[i] = data[i] * factor + more;
}
"""
SIZE = 256
BYTES = SIZE * 4


def captured_twice(device, kernel, address):
    """A graph of two launches, one after the other."""
    builder = device.create_graph_builder().begin_building()
    for _ in range(2):
        launch(builder, LaunchConfig(grid=1, block=1), kernel, address)
    return builder.end_building()


def a_graph_gets_new_arguments(device, stream, kernel):
    buffer = LegacyPinnedMemoryResource().allocate(2 * 4, stream=stream)
    values = np.from_dlpack(buffer).view(np.int32)
    values[:] = 0
    first, second = (captured_twice(device, kernel, values[i:].ctypes.data) for i in range(2))
    assert tuple(values) == (0, 0), "capturing ran something"
    graph = first.complete()
    for update, expected in ((None, (2, 0)), (None, (4, 0)), (second, (4, 2))):
        if update is not None:
            graph.update(update)
        graph.upload(stream)
        graph.launch(stream)
        stream.sync()
        assert tuple(values) == expected, values
    for each in (graph, first, second):
        each.close()


def a_graph_has_memory_of_its_own(device, stream, kernel):
    managed = ManagedMemoryResource(options=ManagedMemoryResourceOptions(preferred_location=device.device_id,
                                                                         preferred_location_type="device"))
    pinned = PinnedMemoryResource(options=PinnedMemoryResourceOptions(ipc_enabled=False))
    data, result = managed.allocate(BYTES, stream=stream), pinned.allocate(BYTES, stream=stream)
    stream.sync()
    values = np.from_dlpack(data).view(np.float32)
    values[:] = np.arange(SIZE)
    own = GraphMemoryResource(device)

    builder = device.create_graph_builder().begin_building("relaxed")
    scratch = own.allocate(BYTES, stream=builder)
    scratch.copy_from(data, stream=builder)
    launch(builder, LaunchConfig(grid=2, block=128), kernel, scratch, np.uint64(SIZE), np.float32(2), np.float32(1))
    data.copy_from(scratch, stream=builder)
    scratch.close()
    graph = builder.end_building().complete()

    for _ in range(2):
        graph.launch(stream)
    result.copy_from(data, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(np.from_dlpack(result).view(np.float32), np.arange(SIZE, dtype=np.float32) * 4 + 3)
    assert own.attributes.reserved_mem_high >= BYTES
    assert managed.preferred_location is not None
    graph.close()


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}")).compile("cubin")
    a_graph_gets_new_arguments(device, stream, program.get_kernel("add_one"))
    a_graph_has_memory_of_its_own(device, stream, program.get_kernel("scale_and_add"))
    stream.close()
    print("graphs: right")


if __name__ == "__main__":
    main()
