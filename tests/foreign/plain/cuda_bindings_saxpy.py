"""NVIDIA's cuda.bindings computes a*x + y with nothing but the driver API and NVRTC."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc

CODE = rb"""
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t tid = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (tid < n) out[tid] = a * x[tid] + y[tid];
}
"""


def ok(result):
    """Unpacks what a binding returned, and raises if its first element is not a success."""
    code, *values = result
    if code != type(code)(0):
        if isinstance(code, driver.CUresult):
            _, name = driver.cuGetErrorName(code)
            raise RuntimeError(f"the driver says {name.decode()}")
        raise RuntimeError(f"NVRTC says {code.name}")
    return values[0] if len(values) == 1 else tuple(values)


def compile_to_ptx(major, minor):
    program = ok(nvrtc.nvrtcCreateProgram(CODE, b"saxpy.cu", 0, [], []))
    options = [b"--fmad=false", f"--gpu-architecture=compute_{major}{minor}".encode()]
    ok(nvrtc.nvrtcCompileProgram(program, len(options), options))
    ptx = b" " * ok(nvrtc.nvrtcGetPTXSize(program))
    ok(nvrtc.nvrtcGetPTX(program, ptx))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return ptx


def main():
    ok(driver.cuInit(0))
    assert ok(driver.cuDeviceGetCount()) >= 1
    device = ok(driver.cuDeviceGet(0))
    print(ok(driver.cuDeviceGetName(128, device)).split(b"\0")[0].decode())
    attribute = driver.CUdevice_attribute
    major = ok(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = ok(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(device))))

    module = ok(driver.cuModuleLoadData(np.char.array(compile_to_ptx(major, minor))))
    kernel = ok(driver.cuModuleGetFunction(module, b"saxpy"))

    n = 512 * 100 - 3
    a = np.float32(2.0)
    rng = np.random.default_rng(seed=3)
    x = rng.normal(size=n).astype(np.float32)
    y = rng.normal(size=n).astype(np.float32)
    out = np.zeros_like(x)
    device_x, device_y, device_out = (ok(driver.cuMemAlloc(x.nbytes)) for _ in range(3))

    stream = ok(driver.cuStreamCreate(0))
    ok(driver.cuMemcpyHtoDAsync(device_x, x, x.nbytes, stream))
    ok(driver.cuMemcpyHtoDAsync(device_y, y, y.nbytes, stream))
    values = (a, device_x, device_y, device_out, np.uint64(n))
    types = (ctypes.c_float, None, None, None, ctypes.c_size_t)
    ok(driver.cuLaunchKernel(kernel, 100, 1, 1, 512, 1, 1, 0, stream, (values, types), 0))
    ok(driver.cuMemcpyDtoHAsync(out, device_out, out.nbytes, stream))
    ok(driver.cuStreamSynchronize(stream))
    np.testing.assert_array_equal(out, a * x + y)
    print(f"saxpy of {n} floats: right")

    ok(driver.cuStreamDestroy(stream))
    for pointer in (device_x, device_y, device_out):
        ok(driver.cuMemFree(pointer))
    ok(driver.cuModuleUnload(module))
    ok(driver.cuCtxSetCurrent(driver.CUcontext(0)))
    ok(driver.cuDevicePrimaryCtxRelease(device))


if __name__ == "__main__":
    main()
