"""NVIDIA's cuda.core adds two vectors: a kernel template, compiled by NVRTC, named by its name expression.

It runs on whatever libcuda.so.1 the loader finds; the test puts softgpu there. Data is in NumPy arrays, which
reach the device through pinned buffers; the target is PTX, because a software device cannot run machine code.
"""

import numpy as np
from cuda.core import Device, LaunchConfig, PinnedMemoryResource, Program, ProgramOptions, launch

CODE = """
template <typename T>
__global__ void vector_add(const T* A, const T* B, T* C, size_t N) {
    const unsigned int tid = threadIdx.x + blockIdx.x * blockDim.x;
    for (size_t i = tid; i < N; i += gridDim.x * blockDim.x) C[i] = A[i] + B[i];
}
"""


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    print(f"{device.name}, sm_{device.arch}")

    program = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    module = program.compile("ptx", name_expressions=("vector_add<float>", "vector_add<double>"))

    for element, name in ((np.float32, "vector_add<float>"), (np.float64, "vector_add<double>")):
        check(device, stream, module.get_kernel(name), np.dtype(element))
        print(f"{name}: right")
    stream.close()


def check(device, stream, kernel, element, size=50_000):
    rng = np.random.default_rng(seed=1)
    pinned = PinnedMemoryResource()
    host = [pinned.allocate(size * element.itemsize, stream=stream) for _ in range(3)]
    views = [np.from_dlpack(buffer).view(element) for buffer in host]
    views[0][:] = rng.random(size, dtype=element)
    views[1][:] = rng.random(size, dtype=element)
    views[2][:] = -1

    data = [device.allocate(size * element.itemsize, stream=stream) for _ in range(3)]
    for on_device, on_host in zip(data[:2], host[:2]):
        on_device.copy_from(on_host, stream=stream)
    block = 256
    config = LaunchConfig(grid=(size + block - 1) // block, block=block)
    launch(stream, config, kernel, *data, np.uint64(size))
    data[2].copy_to(host[2], stream=stream)
    stream.sync()
    np.testing.assert_array_equal(views[2], views[0] + views[1])
    del views
    for buffer in host + data:
        buffer.close(stream)


if __name__ == "__main__":
    main()
