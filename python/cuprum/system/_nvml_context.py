"""The state of NVML, as cuda.core's private module of this name has it."""

from __future__ import annotations

import os

from cuprum import _core
from cuprum.system.exceptions import GpuNotFoundError, UninitializedError

UNINITIALIZED, INITIALIZED = 0, 1

_owner = 0


def initialize() -> None:
    """Find and initialise NVML, which everything in cuprum.system does by itself."""
    global _owner
    _core.SystemDevice.get_device_count()
    _owner = os.getpid()


def is_initialized() -> bool:
    """Whether initialize() was called in this process."""
    return _owner == os.getpid()


def _get_nvml_state() -> int:
    return INITIALIZED if is_initialized() else UNINITIALIZED


def validate() -> None:
    """Raise when NVML is not initialised, or shows no device."""
    if not is_initialized():
        raise UninitializedError()
    if _core.SystemDevice.get_device_count() == 0:
        raise GpuNotFoundError()
