"""NVIDIA's cuda.core links programs of several parts, and runs the machine code that comes out of it.

The parts are PTX, relocatable machine code and LTO-IR; nvJitLink is NVIDIA's own.
"""

import itertools

import numpy as np
from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ObjectCode, Program,
                       ProgramOptions, launch)

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


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    arch = f"sm_{device.arch}"
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
    stream.close()


if __name__ == "__main__":
    main()
