"""NVIDIA's cuda.core moves data between managed, pinned and device memory, in batches and in the order of streams, with
kernels of machine code between the copies; on every device that there is."""

import ctypes

import numpy as np
from cuda.core import (Device, DeviceMemoryResource, Host, LaunchConfig, LegacyPinnedMemoryResource, ManagedMemoryResource,
                       PinnedMemoryResource, Program, ProgramOptions, launch)
from cuda.core.utils import CopyOptions, MemcpySrcAccessOrder, copy_batch

CODE = """
extern "C" __global__ void scale_and_add(float* data, size_t n, float factor, float more) {
    size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
    if (i < n) data[i] = data[i] * factor + more;
}
"""
SIZE = 256
BYTES = SIZE * 4
CONFIG = LaunchConfig(grid=2, block=128)


def floats(buffer):
    return np.from_dlpack(buffer).view(np.float32)


def kinds_of_memory_mix(device, stream, kernel):
    managed = ManagedMemoryResource().allocate(BYTES, stream=stream)
    pinned = PinnedMemoryResource().allocate(BYTES, stream=stream)
    scratch = DeviceMemoryResource(device).allocate(BYTES, stream=stream)
    stream.sync()
    floats(managed)[:] = np.arange(SIZE)
    scratch.copy_from(managed, stream=stream)
    launch(stream, CONFIG, kernel, scratch, np.uint64(SIZE), np.float32(2), np.float32(1))
    pinned.copy_from(scratch, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(floats(pinned), np.arange(SIZE, dtype=np.float32) * 2 + 1)


def copies_come_in_batches(device, stream):
    """With one set of options for all copies, with one for each, and with where managed memory is and goes to."""
    in_order = CopyOptions(src_access_order=MemcpySrcAccessOrder.STREAM)
    at_any_time = CopyOptions(src_access_order=MemcpySrcAccessOrder.ANY)
    to_the_host = CopyOptions(src_access_order=MemcpySrcAccessOrder.STREAM, src_location_hint=device, dst_location_hint=Host())
    for resource, between, options in (
        (LegacyPinnedMemoryResource(), device.memory_resource, in_order),
        (LegacyPinnedMemoryResource(), device.memory_resource, [in_order, at_any_time] * 2),
        (ManagedMemoryResource(), ManagedMemoryResource(), to_the_host),
    ):
        sources, copies, results = ([each.allocate(64, stream=stream) for _ in range(4)] for each in (resource, between, resource))
        for number, source in enumerate(sources):
            source.fill(number + 1, stream=stream)
        copy_batch(stream, sources, copies, options=options)
        copy_batch(stream, copies, results, options=in_order)
        stream.sync()
        for number, result in enumerate(results):
            assert ctypes.string_at(int(result.handle), 64) == bytes([number + 1]) * 64


def memory_is_freed_where_it_was_last_used(device, stream, kernel):
    """Where it is said when the memory is handed on, or when it is freed."""
    other = device.create_stream()
    result = LegacyPinnedMemoryResource().allocate(BYTES, stream=stream)
    for handed_on in (True, False):
        buffer = device.allocate(BYTES, stream=stream)
        buffer.fill(0, stream=stream)
        other.wait(stream.record())
        if handed_on:
            buffer.set_deallocation_stream(other)
        launch(other, CONFIG, kernel, buffer, np.uint64(SIZE), np.float32(0), np.float32(1))
        buffer.copy_to(result, stream=other)
        buffer.close(*([] if handed_on else [other]))
        other.sync()
        np.testing.assert_array_equal(floats(result), np.ones(SIZE, dtype=np.float32))
    other.close()


def main():
    devices = Device.get_all_devices()
    for device in devices:
        device.set_current()
        stream = device.create_stream()
        program = Program(CODE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
        kernel = program.compile("cubin").get_kernel("scale_and_add")
        kinds_of_memory_mix(device, stream, kernel)
        copies_come_in_batches(device, stream)
        memory_is_freed_where_it_was_last_used(device, stream, kernel)
        stream.close()
    print(f"right on {len(devices)} devices")


if __name__ == "__main__":
    main()
