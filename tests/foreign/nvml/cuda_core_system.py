"""NVIDIA's own cuda.core looks at softgpu."""

from cuda.core import Device, system

assert system.CUDA_BINDINGS_NVML_IS_COMPATIBLE
assert system.get_num_devices() == len(Device.get_all_devices())
for cuda_device in Device.get_all_devices():
    device = cuda_device.to_system_device()
    assert device.to_cuda_device().uuid == cuda_device.uuid
    assert device.name == cuda_device.name
    assert 0 <= device.utilization.gpu <= 100
    info = device.memory_info
    assert info.free + info.used + info.reserved == info.total
    try:
        device.serial  # noqa: B018
        raise AssertionError("there is no board, and so no number on it")
    except system.NotSupportedError:
        pass
