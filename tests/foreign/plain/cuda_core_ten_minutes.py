"""A tour of NVIDIA's cuda.core, from choosing a device to working with two streams: what examples/ten_minutes.cpp does."""

import numpy as np
from cuda.core import Device, LaunchConfig, PinnedMemoryResource, Program, ProgramOptions, launch

CODE = r"""
extern "C" __global__ void scale(float* data, float factor, size_t n) {
    size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
    if (i < n) data[i] *= factor;
}
"""
N = 1024
BYTES = N * np.dtype(np.float32).itemsize
CONFIG = LaunchConfig(grid=(N + 255) // 256, block=256)


def main():
    device = Device()
    device.set_current()
    print(f"{device.name}: {device.properties.multiprocessor_count} multiprocessors, {len(str(device.uuid))} characters of UUID")

    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    kernel = Program(CODE, code_type="c++", options=options).compile("ptx").get_kernel("scale")
    assert kernel.attributes.max_threads_per_block >= 256
    assert kernel.num_arguments == 3
    a_compile_error_has_the_log(options)

    stream = device.create_stream()
    host = PinnedMemoryResource().allocate(BYTES, stream=stream)
    assert host.is_host_accessible and host.size == BYTES
    values = np.from_dlpack(host).view(np.float32)
    copies_and_launches_keep_their_order(device, stream, kernel, host, values)
    events_measure_time(device, stream, kernel)
    one_stream_waits_for_another(device, kernel, host, values)
    a_fill_reaches_the_whole_buffer(device, stream, host, values)
    print("all checks passed")


def a_compile_error_has_the_log(options):
    try:
        Program('extern "C" __global__ void k() { not_a_real_symbol; }', code_type="c++", options=options).compile("ptx")
    except Exception as error:
        assert "not_a_real_symbol" in str(error)
    else:
        raise AssertionError("a wrong program was compiled")


def copies_and_launches_keep_their_order(device, stream, kernel, host, values):
    values[:] = np.arange(N, dtype=np.float32)
    data = device.allocate(BYTES, stream=stream)
    assert data.is_device_accessible
    data.copy_from(host, stream=stream)
    launch(stream, CONFIG, kernel, data, np.float32(3.0), np.uint64(N))
    data.copy_to(host, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(values, np.arange(N, dtype=np.float32) * 3)
    data.close(stream)


def events_measure_time(device, stream, kernel):
    data = device.allocate(BYTES, stream=stream)
    start = device.create_event({"timing_enabled": True})
    end = device.create_event({"timing_enabled": True})
    stream.record(start)
    for _ in range(100):
        launch(stream, CONFIG, kernel, data, np.float32(1.0), np.uint64(N))
    stream.record(end)
    end.sync()
    assert end.is_done and end - start > 0
    print(f"100 launches took {end - start:.4f} ms")
    data.close(stream)


def one_stream_waits_for_another(device, kernel, host, values):
    values[:] = np.arange(N, dtype=np.float32)
    a, b = device.create_stream(), device.create_stream()
    data_a, data_b = device.allocate(BYTES, stream=a), device.allocate(BYTES, stream=b)
    data_a.copy_from(host, stream=a)
    data_b.copy_from(host, stream=b)
    launch(a, CONFIG, kernel, data_a, np.float32(2.0), np.uint64(N))
    launch(b, CONFIG, kernel, data_b, np.float32(5.0), np.uint64(N))
    b.wait(a)
    data_b.copy_from(data_a, stream=b)
    data_b.copy_to(host, stream=b)
    b.sync()
    np.testing.assert_array_equal(values, np.arange(N, dtype=np.float32) * 2)


def a_fill_reaches_the_whole_buffer(device, stream, host, values):
    with device.allocate(BYTES, stream=stream) as data:
        data.fill(np.float32(1.5), stream=stream)
        data.copy_to(host, stream=stream)
        stream.sync()
    np.testing.assert_array_equal(values, np.full(N, 1.5, dtype=np.float32))


if __name__ == "__main__":
    main()
