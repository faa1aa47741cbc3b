"""NVIDIA's cuda.core gives kernels of machine code, and the host's own functions, views of memory, and tells the device's properties."""

import ctypes

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

CODE = """
extern "C" __global__ void add_index(int* data, size_t n) {
    size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
    if (i < n) data[i] += i;
}
"""


def views_reach_the_kernel(device, stream):
    kernel = Program(CODE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("add_index")
    count = 1000
    host = LegacyPinnedMemoryResource().allocate(count * 4, stream=stream)
    values = np.from_dlpack(host).view(np.int32)
    values[:] = 1
    data = device.allocate(count * 4, stream=stream)
    data.copy_from(host, stream=stream)
    view = StridedMemoryView.from_buffer(data, shape=(count,), dtype=np.dtype(np.int32))
    assert view.is_device_accessible and (view.dtype, view.shape) == (np.int32, (count,))
    launch(stream, LaunchConfig(grid=4, block=256), kernel, view.ptr, np.uint64(count))
    data.copy_to(host, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(values, 1 + np.arange(count))


@args_viewable_as_strided_memory((0,))
def fill_on_host(array, byte):
    """Whoever calls it has an array of some library; it works on the memory."""
    view = array.view(-1)
    assert not view.is_device_accessible and (view.dtype, view.shape) == (np.int32, (100,))
    ctypes.memset(view.ptr, byte, view.shape[0] * view.dtype.itemsize)


def views_reach_the_host():
    array = np.zeros(100, dtype=np.int32)
    fill_on_host(array, 3)
    np.testing.assert_array_equal(array, np.full(100, 0x03030303))


def properties_can_be_told(device):
    properties = device.properties
    names = [name for name in dir(properties) if not name.startswith("_")]
    values = {name: getattr(properties, name) for name in names}
    assert values["warp_size"] == 32 and values["multiprocessor_count"] > 0
    assert (values["compute_capability_major"], values["compute_capability_minor"]) == device.compute_capability
    print(f"{device.name}: {len(values)} properties")


def the_runtime_is_refused(device):
    """These two are calls of NVIDIA's runtime, which asks for what softgpu doesn't have."""
    for call in (device.sync, lambda: device.pci_bus_id):
        try:
            call()
        except Exception as error:
            assert "cudaErrorSymbolNotFound" in str(error), error
        else:
            raise AssertionError("the CUDA runtime works on softgpu: mend docs/design/exec.md")


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    views_reach_the_kernel(device, stream)
    views_reach_the_host()
    properties_can_be_told(device)
    the_runtime_is_refused(device)
    stream.close()


if __name__ == "__main__":
    main()
