"""Small helpers that programs import from ``cuda.core._utils``, for use with NVIDIA's ``cuda.bindings``.

Nothing here is needed to use cuprum; :mod:`cuprum.as_cuda_core` serves it. ``cuda.bindings`` is imported when a name
that needs it is used.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from cuprum import CUDAError, NVRTCError
from cuprum._options import check_options

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["binding_version", "check_or_create_options", "driver_version", "handle_return"]

_BINDINGS = ("driver", "runtime", "nvrtc")


def handle_return(result: tuple[Any, ...], handle: object = None) -> Any:
    """What a function of cuda.bindings returned besides its error code, which raises CUDAError when it is one.

    `handle` is the NVRTC program whose log goes into the error.

    >>> handle_return(driver.cuDriverGetVersion())  # doctest: +SKIP
    13000
    """
    code, *values = result
    if int(code) != 0:
        raise _error(code, handle)
    if len(values) > 1:
        return tuple(values)
    return values[0] if values else None


def _error(code: Any, handle: object) -> CUDAError:
    kind = type(code).__name__
    if kind == "CUresult":
        return CUDAError(_explained(code, "DRIVER_CU_RESULT_EXPLANATIONS", _binding("driver").cuGetErrorString))
    if kind == "cudaError_t":
        return CUDAError(_explained(code, "RUNTIME_CUDA_ERROR_EXPLANATIONS", _binding("runtime").cudaGetErrorString))
    if kind == "nvrtcResult":
        return NVRTCError(_described(code, _binding("nvrtc").nvrtcGetErrorString) + _log(handle))
    raise RuntimeError(f"Unknown error type: {code!r} is no error code of cuda.bindings' driver, runtime or nvrtc")


def _explained(code: Any, table: str, describe: Any) -> str:
    explanation = _explanations(table).get(int(code))
    return f"{code.name}: {explanation}" if explanation else _described(code, describe)


def _described(code: Any, describe: Any) -> str:
    failed, text = describe(code)
    if int(failed) != 0 or not text:
        return str(code.name)
    return f"{code.name}: {text.decode()}"


def _log(handle: object) -> str:
    if handle is None:
        return ""
    nvrtc = _binding("nvrtc")
    log = b" " * nvrtc.nvrtcGetProgramLogSize(handle)[1]
    nvrtc.nvrtcGetProgramLog(handle, log)
    return f", compilation log:\n\n{log.decode(errors='backslashreplace')}"


def _check_error(code: Any) -> int:
    handle_return((code,))
    return 0


_check_driver_error = _check_error
_check_runtime_error = _check_error


def _check_nvrtc_error(code: Any, handle: object = None) -> int:
    handle_return((code,), handle)
    return 0


def check_or_create_options(cls: type, options: object, options_description: str = "", keep_none: bool = False) -> Any:
    """`options` as an object of `cls`, made from a dict or None; with `keep_none` None stays None."""
    if options is None and keep_none:
        return None
    return check_options(cls, options, options_description)


def binding_version() -> tuple[int, int, int]:
    """The version of the installed package cuda-bindings."""
    import importlib.metadata
    import re

    numbers = [int(digits) for digits in re.findall(r"\d+", importlib.metadata.version("cuda-bindings"))]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    return (major, minor, patch)


def driver_version() -> tuple[int, int, int]:
    """The CUDA version of the driver."""
    version = handle_return(_binding("driver").cuDriverGetVersion())
    return (version // 1000, version // 10 % 100, version % 10)


def _decide_nvjitlink_or_driver() -> bool:
    """Whether the driver links, because there is no nvJitLink."""
    from cuprum import Linker

    return str(Linker.which_backend()) == "driver"


def _can_load_generated_ptx() -> bool:
    """Whether the driver knows the PTX that NVRTC makes: it must not be older."""
    major, minor = handle_return(_binding("nvrtc").nvrtcVersion())
    return (major, minor, 0) <= driver_version()


def _get_nvvm_module() -> Any:
    """NVIDIA's cuda.bindings.nvvm; RuntimeError when that or libNVVM is not installed."""
    try:
        nvvm = _binding("nvvm")
        nvvm.version()  # loads the library
    except Exception as error:
        raise RuntimeError(f"libNVVM can't be used through cuda.bindings: {error}") from error
    return nvvm


def cast_to_3_tuple(label: str, cfg: object) -> tuple[int, int, int]:
    """The extents of a grid or a block, filled up with ones: an int is the first of them."""
    extents = cfg if isinstance(cfg, tuple) else (cfg,)
    expected = f"{label} must be an int, or a tuple with up to 3 ints"
    if len(extents) > 3:
        raise ValueError(f"{expected} (got tuple with length {len(extents)})")
    if not all(isinstance(extent, int) for extent in extents):
        raise ValueError(f"{expected} (got {cfg})")
    if any(extent < 1 for extent in extents):
        raise ValueError(f"{label} value must be >= 1 (got {cfg})")
    return (*extents, 1, 1, 1)[:3]  # type: ignore[return-value]


def precondition(checker: Callable[..., None], what: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that calls ``checker(*args, what=what, **kwargs)`` before the function; the checker raises."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            checker(*args, **kwargs, what=what)
            return function(*args, **kwargs)

        return checked

    return decorate


def is_sequence(value: object) -> bool:
    """Whether `value` is a list or a tuple."""
    return isinstance(value, (list, tuple))


def is_nested_sequence(value: object) -> bool:
    """Whether `value` is a list or a tuple with a list or a tuple in it."""
    return isinstance(value, (list, tuple)) and any(is_sequence(one) for one in value)


def _binding(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"cuda.bindings.{name}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"this needs NVIDIA's cuda.bindings.{name}, which is not installed: pip install cuda-bindings",
            name=error.name,
        ) from error


# Tables of what error codes mean, and the enumerations whose documentation they are.
_EXPLANATIONS = {
    "DRIVER_CU_RESULT_EXPLANATIONS": ("driver", "CUresult"),
    "RUNTIME_CUDA_ERROR_EXPLANATIONS": ("runtime", "cudaError_t"),
}


@functools.cache
def _explanations(table: str) -> Any:
    from cuprum._cuda_core._utils.enum_explanations_helpers import get_best_available_explanations

    binding, enumeration = _EXPLANATIONS[table]
    return get_best_available_explanations(getattr(_binding(binding), enumeration), {})


def __getattr__(name: str) -> Any:
    if name in _EXPLANATIONS:
        return _explanations(name)
    if name in _BINDINGS:
        return _binding(name)
    if name == "StrEnum":
        from cuprum.typing import _StrEnum

        return _StrEnum
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*vars(sys.modules[__name__]), *_BINDINGS})
