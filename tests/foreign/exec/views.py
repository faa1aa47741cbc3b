"""NVIDIA's cuda.core gives a kernel of machine code a view of memory, and tells the device's properties."""

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

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


def properties_can_be_told(device):
    properties = device.properties
    names = [name for name in dir(properties) if not name.startswith("_")]
    values = {name: getattr(properties, name) for name in names}
    assert values["warp_size"] == 32 and values["multiprocessor_count"] > 0
    assert (values["compute_capability_major"], values["compute_capability_minor"]) == device.compute_capability
    print(f"{device.name}: {len(values)} properties")


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    views_reach_the_kernel(device, stream)
    properties_can_be_told(device)
    stream.close()


if __name__ == "__main__":
    main()
