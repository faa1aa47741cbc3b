"""NVIDIA's cuda.core and cuda.bindings compile to machine code, keep it, and run it: saxpy as a template, for two types."""

import tempfile
from pathlib import Path

import numpy as np
from cuda.bindings import driver, nvrtc
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, Program, ProgramOptions, launch

CODE = """
template <typename T>
__global__ void saxpy(const T a, const T* x, const T* y, T* out, size_t n) {
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
"""
PLAIN = b'extern "C" __global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x * threadIdx.x; }'


def run(kernel, stream, element):
    size = 5000
    resource = LegacyPinnedMemoryResource()
    buffers = [resource.allocate(size * np.dtype(element).itemsize, stream=stream) for _ in range(3)]
    x, y, out = (np.from_dlpack(buffer).view(element) for buffer in buffers)
    rng = np.random.default_rng(seed=4)
    x[:], y[:] = rng.random(size), rng.random(size)
    block = 64
    grid = max(1, kernel.occupancy.max_active_blocks_per_multiprocessor(block, 0))
    launch(stream, LaunchConfig(grid=grid, block=block), kernel, element(10), *buffers, np.uint64(size))
    stream.sync()
    np.testing.assert_allclose(out, element(10) * x + y, rtol=1e-6)


def compiled_kernels_run(device, stream):
    program = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{device.arch}"))
    names = ("saxpy<float>", "saxpy<double>")
    module = program.compile("cubin", name_expressions=names)
    assert module.code_type == "cubin"
    for name, element in zip(names, (np.float32, np.float64)):
        run(module.get_kernel(name), stream, element)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "saxpy.cubin")
        file.write_bytes(module.code)
        kept = ObjectCode.from_cubin(str(file), symbol_mapping=module.symbol_mapping)
        run(kept.get_kernel("saxpy<float>"), stream, np.float32)
    print("compiled by cuda.core: right")


def checked(result):
    assert int(result[0]) == 0, result[0]
    return result[1] if len(result) == 2 else result[1:]


def raw_calls_work(device):
    """The size is asked for first, as everybody does; the image is a module as it is."""
    program = checked(nvrtc.nvrtcCreateProgram(PLAIN, b"fill.cu", 0, [], []))
    checked(nvrtc.nvrtcCompileProgram(program, 1, [f"-arch=sm_{device.arch}".encode()]))
    image = bytes(checked(nvrtc.nvrtcGetCUBINSize(program)))
    checked(nvrtc.nvrtcGetCUBIN(program, image))
    function = checked(driver.cuModuleGetFunction(checked(driver.cuModuleLoadData(image)), b"fill"))
    count = 32
    data = np.zeros(count, dtype=np.int32)
    memory = checked(driver.cuMemAlloc(data.nbytes))
    argument = np.array([int(memory)], dtype=np.uint64)
    checked(driver.cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, 0, np.array([argument.ctypes.data], dtype=np.uint64), 0))
    checked(driver.cuMemcpyDtoH(data.ctypes.data, memory, data.nbytes))
    np.testing.assert_array_equal(data, np.arange(count) ** 2)
    checked(driver.cuMemFree(memory))
    checked(nvrtc.nvrtcDestroyProgram(program))
    print("compiled by raw calls: right")


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    compiled_kernels_run(device, stream)
    raw_calls_work(device)
    stream.close()


if __name__ == "__main__":
    main()
