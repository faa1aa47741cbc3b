"""NVIDIA's cuda.core links programs of several parts, and runs the machine code that comes out of it.

The parts are PTX, relocatable machine code, LTO-IR and NVIDIA's library of device code; nvJitLink is NVIDIA's own.
"""

import itertools

import numpy as np
from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ObjectCode, Program,
                       ProgramOptions, launch)
from cuda.pathfinder import find_static_lib

KERNEL = """
extern __device__ int shade(int x, int y);
extern __device__ int bias;
extern "C" __global__ void paint(int* out, int width) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = shade(x, y) + bias;
}
"""
SHADE = """
__device__ int bias = 7;
__device__ int shade(int x, int y) { return x * x + 3 * y; }
"""
GRID = """
extern "C" __global__ void reverse(int* data, int* out, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    for (int round = 0; round < 3; ++round) {
        data[i] = i + round;
        cudaCGSynchronize(cudaCGGetIntrinsicHandle(cudaCGScopeGrid), 0);
        out[i] = *(volatile int*)&data[n - 1 - i];
        cudaCGSynchronize(cudaCGGetIntrinsicHandle(cudaCGScopeGrid), 0);
    }
}
"""


def compiled(source, form, arch):
    options = ProgramOptions(arch=arch, relocatable_device_code=True, link_time_optimization=form == "ltoir")
    return Program(source, code_type="c++", options=options).compile(form)


def check(kernel, device, stream):
    width, height = 16, 8
    buffer = LegacyPinnedMemoryResource().allocate(width * height * 4, stream=stream)
    image = np.from_dlpack(buffer).view(np.int32).reshape(height, width)
    image[:] = 0
    launch(stream, LaunchConfig(grid=height, block=width), kernel, buffer, np.int32(width))
    stream.sync()
    y, x = np.mgrid[0:height, 0:width]
    np.testing.assert_array_equal(image, x * x + 3 * y + 7)
    del image
    buffer.close(stream)


def parts_of_all_kinds(device, stream, arch):
    # Of LTO-IR, a second link makes PTX; it drops functions that only the other parts use.
    pairs = [pair for pair in itertools.product(("ptx", "cubin", "ltoir"), repeat=2) if pair not in (("ptx", "ltoir"), ("cubin", "ltoir"))]
    for first, second in pairs:
        parts = (compiled(KERNEL, first, arch), compiled(SHADE, second, arch))
        options = LinkerOptions(arch=arch, link_time_optimization="ltoir" in (first, second))
        linked = Linker(*parts, options=options).link("cubin")
        check(linked.get_kernel("paint"), device, stream)
        # What was linked can be kept, and loaded as what it says it is.
        check(ObjectCode.from_cubin(bytes(linked.code)).get_kernel("paint"), device, stream)
        print(f"{first} and {second}: linked and run")


def a_library_of_machine_code(stream, arch):
    """The barrier of a grid is in libcudadevrt.a, as Numba uses it. softgpu has its own."""
    parts = (compiled(GRID, "ptx", arch), ObjectCode.from_library(find_static_lib("cudadevrt")))
    kernel = Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin").get_kernel("reverse")
    blocks, threads = 4, 64
    count = blocks * threads
    data, out = (LegacyPinnedMemoryResource().allocate(count * 4, stream=stream) for _ in range(2))
    launch(stream, LaunchConfig(grid=blocks, block=threads, is_cooperative=True), kernel, data, out, np.int32(count))
    stream.sync()
    np.testing.assert_array_equal(np.from_dlpack(out).view(np.int32), np.arange(count)[::-1] + 2)
    print("a grid's barrier: linked and run")


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    arch = f"sm_{device.arch}"
    parts_of_all_kinds(device, stream, arch)
    a_library_of_machine_code(stream, arch)
    stream.close()


if __name__ == "__main__":
    main()
