"""The devices of the machine for those who look at them: who uses them, how busy, how hot. By NVML.

>>> from cuprum import system
>>> for device in system.Device.get_all_devices():
...     used = device.memory_info.used
"""

from cuprum.system import _device, typing
from cuprum.system._device import Device, NvlinkInfo, get_p2p_status, get_topology_common_ancestor
from cuprum.system._events import register_events
from cuprum.system._system import bindings_have_nvml as _bindings_have_nvml
from cuprum.system._system import (
    get_driver_branch,
    get_kernel_mode_driver_version,
    get_num_devices,
    get_nvml_version,
    get_process_name,
    get_user_mode_driver_version,
)
from cuprum.system.exceptions import *
from cuprum.system.exceptions import __all__ as _errors

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "Device",
    "NvlinkInfo",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_p2p_status",
    "get_process_name",
    "get_topology_common_ancestor",
    "get_user_mode_driver_version",
    "register_events",
    "typing",
    *_errors,
]


def __getattr__(name: str) -> object:
    """What takes a search to know, and hardly anybody asks for."""
    if name == "CUDA_BINDINGS_NVML_IS_COMPATIBLE":
        return _bindings_have_nvml()
    if name == "driver_version":  # as it was called before
        return get_user_mode_driver_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
