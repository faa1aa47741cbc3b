"""Small helpers that programs and tests import from ``cuda.core._program`` and ``cuda.core._linker``.

Nothing here is needed to use cuprum; :mod:`cuprum.as_cuda_core` serves it.
"""

from __future__ import annotations

from typing import Any

from cuprum import Linker

__all__: list[str] = []


def _decide_nvjitlink_or_driver() -> bool:
    """Whether the driver links, because there is no nvJitLink."""
    return Linker.which_backend() == "driver"


def _can_load_generated_ptx() -> bool:
    """Whether the driver is as new as NVRTC, and so loads the PTX that NVRTC makes."""
    from cuprum._cuda_utils import driver_version

    return (*_nvrtc_version(), 0) <= tuple(driver_version())


def _nvrtc_version() -> tuple[int, int]:
    from cuda.bindings import nvrtc

    from cuprum._cuda_utils import handle_return

    major, minor = handle_return(nvrtc.nvrtcVersion())
    return int(major), int(minor)


def _get_nvvm_module() -> Any:
    """NVIDIA's cuda.bindings.nvvm; RuntimeError where there is none, or no libNVVM that it could load."""
    try:
        from cuda.bindings import nvvm

        nvvm.version()
    except Exception as error:
        raise RuntimeError(f"NVVM support is unavailable: {error}") from error
    return nvvm


def _find_libdevice_path() -> str:
    """Where NVIDIA's library of mathematical functions is, by cuda.pathfinder."""
    import cuda.pathfinder

    return str(cuda.pathfinder.find_bitcode_lib("device"))
