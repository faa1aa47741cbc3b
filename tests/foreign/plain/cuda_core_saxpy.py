"""NVIDIA's cuda.core computes a*x + y on two streams' worth of work, timed with events.

The kernels read and write pinned host memory directly, so a NumPy array is the kernel's own data: what a CuPy
array's pointer is on a GPU.
"""

import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

CODE = """
template <typename T>
__global__ void saxpy(const T a, const T* x, const T* y, T* out, size_t N) {
    const unsigned int tid = threadIdx.x + blockIdx.x * blockDim.x;
    for (size_t i = tid; i < N; i += gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
"""


def pinned_array(resource, stream, size, element):
    """A NumPy array over pinned memory, and the buffer that owns the memory."""
    buffer = resource.allocate(size * np.dtype(element).itemsize, stream=stream)
    return np.from_dlpack(buffer).view(element), buffer


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()

    options = ProgramOptions(std="c++11", arch=f"sm_{device.arch}")
    program = Program(CODE, code_type="c++", options=options)
    module = program.compile("ptx", name_expressions=("saxpy<float>", "saxpy<double>"))

    run(device, stream, module.get_kernel("saxpy<float>"), np.float32, size=64, grid=32)
    run(device, stream, module.get_kernel("saxpy<double>"), np.float64, size=128 * 1024, grid=None)
    stream.close()


def run(device, stream, kernel, element, size, grid):
    block = 64
    if grid is None:
        occupancy = kernel.occupancy.max_active_blocks_per_multiprocessor(block, 0)
        grid = max(1, occupancy) * device.properties.multiprocessor_count
    rng = np.random.default_rng(seed=2)
    resource = LegacyPinnedMemoryResource()
    (x, bx), (y, by), (out, bout) = (pinned_array(resource, stream, size, element) for _ in range(3))
    x[:] = rng.random(size, dtype=element)
    y[:] = rng.random(size, dtype=element)
    out[:] = 0
    a = element(10)

    start = stream.record(options=EventOptions(timing_enabled=True))
    launch(stream, LaunchConfig(grid=grid, block=block), kernel, a, bx, by, bout, np.uint64(size))
    end = stream.record(options=EventOptions(timing_enabled=True))
    end.sync()
    assert end - start >= 0
    np.testing.assert_allclose(out, a * x + y, rtol=1e-6)
    print(f"saxpy of {size} {np.dtype(element).name}: right, {end - start:.3f} ms")
    del x, y, out
    for buffer in (bx, by, bout):
        buffer.close(stream)


if __name__ == "__main__":
    main()
