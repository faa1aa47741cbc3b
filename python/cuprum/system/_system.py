"""What is not of one device."""

from __future__ import annotations

from cuprum import _core
from cuprum._arguments import names_the_nearest_keyword


def bindings_have_nvml() -> bool:
    """False where NVIDIA's cuda.bindings is installed and has no NVML, as before 13.2: what asks cuda.core for it then asks those."""
    from importlib.util import find_spec

    try:
        return find_spec("cuda.bindings") is None or find_spec("cuda.bindings.nvml") is not None
    except ModuleNotFoundError:  # not even a package `cuda`
        return True


def get_user_mode_driver_version() -> tuple[int, ...]:
    """The version of CUDA that the driver supports, as (13, 0)."""
    return tuple(_core.system_user_mode_driver_version())


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """The version of the driver, as (580, 82, 7)."""
    return tuple(_core.system_kernel_mode_driver_version())


def get_nvml_version() -> tuple[int, ...]:
    """The version of NVML, as (13, 580, 82, 7)."""
    return tuple(_core.system_nvml_version())


def get_driver_branch() -> str:
    """The branch of the driver, as 'r580_00'."""
    return _core.system_driver_branch()


def get_num_devices() -> int:
    """How many devices there are."""
    return _core.SystemDevice.get_device_count()


@names_the_nearest_keyword
def get_process_name(pid: int) -> str:
    """What a process is called."""
    if not isinstance(pid, int):
        raise TypeError(f"pid must be an int, not {type(pid).__name__}")
    return _core.system_process_name(pid)
