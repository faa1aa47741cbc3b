"""How it is decided whether nvJitLink or the driver links.

libcuprum looks for nvJitLink by itself and needs no package of NVIDIA's for it, so what the questions here are answered
with is what libcuprum found. ``_use_nvjitlink_backend`` holds the answer; set, it is what Linker goes by.
"""

from __future__ import annotations

import warnings
from typing import Any

from cuprum import _core
from cuprum._cuda_core import linker_backend as _backend

_driver: Any = None  # cuda.bindings.driver once the driver was chosen
_inited = False
_use_nvjitlink_backend: bool | None = None


def _optional_cuda_import(modname: str, probe_function: Any = None) -> Any:
    """The module that nvJitLink is reached through, which is cuprum's own; None where libcuprum found none."""
    return _core if str(_backend.of_library()) == "nvJitLink" else None


def _nvjitlink_has_version_symbol(nvjitlink: Any) -> bool:
    """Whether nvJitLink is of 12.3 or later, which can tell its version: libcuprum takes no other."""
    return nvjitlink is not None


def _decide_nvjitlink_or_driver() -> bool:
    """Whether the driver links, because there is no nvJitLink that could. Warns of that once."""
    global _driver, _inited, _use_nvjitlink_backend
    if _use_nvjitlink_backend is None:
        objection = _objection_to_nvjitlink()
        _use_nvjitlink_backend = objection is None
        if objection is not None:
            _driver = _bindings_of_driver()
            warnings.warn(
                f"{objection}: the driver's linker is used, which knows neither LTO-IR nor code newer than the driver",
                RuntimeWarning,
                stacklevel=2,
            )
    _inited = True
    return not _use_nvjitlink_backend


def _objection_to_nvjitlink() -> str | None:
    module = _optional_cuda_import("cuda.bindings.nvjitlink")
    try:
        if module is not None:
            return None if _nvjitlink_has_version_symbol(module) else "nvJitLink is too old (<12.3)"
    except Exception as error:
        if type(error).__name__ != "DynamicLibNotFoundError":
            raise
    return "cuda.bindings.nvjitlink is not available"


def _bindings_of_driver() -> Any:
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    return driver
