"""What a key of a compiled program says of the compiler: one question each, which tests may answer otherwise."""

from __future__ import annotations

from typing import Any

from cuprum._cuda_utils import _binding, handle_return

_KEY_SCHEMA_VERSION = 1  # another number makes other keys: for when what goes into them changes


def _driver_version() -> int:
    return int(handle_return(_binding("driver").cuDriverGetVersion()))


def _nvrtc_version() -> tuple[int, int]:
    major, minor = handle_return(_binding("nvrtc").nvrtcVersion())
    return int(major), int(minor)


def _linker_backend_and_version(use_driver: bool) -> tuple[str, str]:
    if use_driver:
        return "driver", str(_driver_version())
    return "nvJitLink", ".".join(map(str, _binding("nvjitlink").version()))


def _nvvm_fingerprint() -> str:
    from cuda.core import _program

    nvvm = _program._get_nvvm_module()
    return f"libnvvm {nvvm.version()} of IR {nvvm.ir_version()}"


def _compiler_in_words(source: str, use_driver: bool) -> str:
    """The compiler of a kind of source. Where it can't be told, why not: then keys are none of a known compiler's."""
    said: Any
    try:
        if source == "ptx":
            said = _linker_backend_and_version(use_driver)
        else:
            said = _nvvm_fingerprint() if source == "nvvm" else _nvrtc_version()
    except Exception as error:
        said = f"unknown: {type(error).__name__}: {error}"
    return f"{_KEY_SCHEMA_VERSION}: {source} by {said}"
