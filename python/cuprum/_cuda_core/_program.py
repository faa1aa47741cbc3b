"""How cuda.bindings' compilers are found, and what their options may look like."""

from __future__ import annotations

import importlib
import tempfile  # noqa: F401 # where the source goes that a debugger shows
from typing import TYPE_CHECKING, Any

from cuprum._cuda_core import programs as _programs
from cuprum._cuda_utils import _binding, binding_version, driver_version, handle_return

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_nvvm_module: Any = None
_nvvm_import_attempted = False


def _optional_cuda_import(modname: str, probe_function: Callable[[Any], object] | None = None) -> Any:
    """A module of cuda.bindings; None when it is not installed, or the library that it loads when probed is not."""
    try:
        module = importlib.import_module(modname)
        if probe_function is not None:
            probe_function(module)
    except ModuleNotFoundError as error:
        if error.name is None or not modname.startswith(error.name):
            raise  # something else is missing
        return None
    except Exception as error:
        if type(error).__name__ not in ("DynamicLibNotFoundError", "FunctionNotFoundError"):
            raise
        return None
    return module


def _get_nvvm_module() -> Any:
    """NVIDIA's cuda.bindings.nvvm; RuntimeError where that or libNVVM is missing."""
    global _nvvm_module, _nvvm_import_attempted
    if not _nvvm_import_attempted:
        _nvvm_import_attempted = True
        if binding_version() >= (12, 9, 0):
            _nvvm_module = _optional_cuda_import("cuda.bindings.nvvm", lambda nvvm: nvvm.version())
    if _nvvm_module is None:
        raise RuntimeError("NVVM needs cuda.bindings.nvvm of version 12.9 or newer, and libnvvm: install both")
    return _nvvm_module


def _assert_single_dashed_nvvm_options(options: Iterable[str]) -> None:
    """Raise RuntimeError for an option with two dashes, which libNVVM doesn't know."""
    for option in options:
        if option.startswith("--"):
            raise RuntimeError(f"{option} is double-dashed: libNVVM takes options with one dash only")


def _program_compile_uncached(program: Any, target_type: Any, name_expressions: Any = (), logs: Any = None) -> Any:
    """What Program.compile does where no cache is given, or has nothing."""
    return _programs.uncached(program, target_type, name_expressions, logs)


def _can_load_generated_ptx() -> bool:
    """Whether the driver knows the PTX that NVRTC makes: it must not be older."""
    major, minor = handle_return(_binding("nvrtc").nvrtcVersion())
    return (major, minor, 0) <= driver_version()
