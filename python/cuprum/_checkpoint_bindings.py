"""Checkpoints by NVIDIA's cuda.bindings: functions that cuda.core.checkpoint has beside its class, for the drop-in.

cuprum.checkpoint needs none of them. Programs that reach for them, and NVIDIA's tests, which do, find them here.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from cuprum import _core
from cuprum.checkpoint import _check_mapping, _uuid_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FUNCTIONS = ("Checkpoint", "GetRestoreThreadId", "GetState", "Lock", "Restore", "Unlock")
_REQUIRED_BINDING_ATTRS = (
    *(f"cuCheckpointProcess{name}" for name in _FUNCTIONS),
    *(f"CUcheckpoint{name}" for name in ("GpuPair", "LockArgs", "RestoreArgs")),
    "CUprocessState",
)
_FIRST_DRIVER = 12080
_NOT_SUPPORTED = (
    "CUDA checkpointing is not supported by the installed NVIDIA driver. It needs one for CUDA 12.8 or later: update it."
)


def __getattr__(name: str) -> Any:
    """cuda.bindings takes its time, and need not be there."""
    if name == "_driver":
        from cuda.bindings import driver

        return driver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _binding_version() -> tuple[int, ...]:
    from cuda.bindings import __version__

    return tuple(int(part) for part in __version__.split(".")[:3] if part.isdigit())


def _get_driver() -> Any:
    """cuda.bindings.driver, which has checkpoints, as does the driver; else RuntimeError says which of them has none."""
    driver = __getattr__("_driver")
    missing = [name for name in _REQUIRED_BINDING_ATTRS if not hasattr(driver, name)]
    if missing:
        raise RuntimeError(
            f"CUDA checkpointing requires cuda.bindings with CUDA checkpoint API support. Missing: {', '.join(missing)}"
        )
    if _core.driver_info()[2] < _FIRST_DRIVER:
        raise RuntimeError(_NOT_SUPPORTED)
    return driver


def _call_driver(driver: Any, function: Callable[..., Any], *args: Any) -> Any:
    """What a function of cuda.bindings returns behind its code; RuntimeError for a driver that does not have it."""
    from cuprum._cuda_utils import handle_return

    try:
        result = function(*args)
    except RuntimeError as error:
        if "cuCheckpointProcess" in str(error) and "not found" in str(error):
            raise RuntimeError(_NOT_SUPPORTED) from error
        raise
    if result[0] in (driver.CUresult.CUDA_ERROR_NOT_FOUND, driver.CUresult.CUDA_ERROR_NOT_SUPPORTED):
        raise RuntimeError(_NOT_SUPPORTED)
    return handle_return(result)


def _as_cuuuid(driver: Any, value: Any, buffers: list[Any]) -> Any:
    """`value` as CUuuid. That refers to bytes elsewhere, which `buffers` keeps."""
    if isinstance(value, driver.CUuuid):
        return value
    buffers.append(ctypes.create_string_buffer(_uuid_bytes(value), 16))
    return driver.CUuuid(ctypes.addressof(buffers[-1]))


def _make_restore_args(driver: Any, gpu_mapping: Mapping[Any, Any] | None) -> Any:
    """The arguments of cuCheckpointProcessRestore; None where there is nothing to say."""
    if not _check_mapping(gpu_mapping):
        return None
    buffers: list[Any] = []
    pairs = []
    for old, new in gpu_mapping.items():  # type: ignore[union-attr]
        pair = driver.CUcheckpointGpuPair()
        pair.oldUuid, pair.newUuid = _as_cuuuid(driver, old, buffers), _as_cuuuid(driver, new, buffers)
        pairs.append(pair)
    args = driver.CUcheckpointRestoreArgs()
    args.gpuPairs = pairs
    args.gpuPairsCount = len(pairs)
    return args
