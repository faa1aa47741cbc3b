"""The options of a linker in the forms that nvJitLink and the driver's linker take through cuda.bindings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from cuprum._cuda_utils import _binding

if TYPE_CHECKING:
    from cuprum import LinkerOptions

LOG_SIZE = 8192

# Options of nvJitLink that the driver's linker does not have, and those that it has, but ignores.
NOT_OF_THE_DRIVER = ("time", "ptx", "ptxas_options", "split_compile", "split_compile_extended")
IGNORED_BY_THE_DRIVER = {
    "ftz": "ftz option is",
    "prec_div": "prec_div option is",
    "prec_sqrt": "prec_sqrt option is",
    "fma": "fma options is",
    "kernels_used": "kernels_used is",
    "variables_used": "variables_used is",
    "optimize_unused_variables": "optimize_unused_variables is",
}
FLAGS = {
    "verbose": "CU_JIT_LOG_VERBOSE",
    "link_time_optimization": "CU_JIT_LTO",
    "debug": "CU_JIT_GENERATE_DEBUG_INFO",
    "lineinfo": "CU_JIT_GENERATE_LINE_INFO",
}
NUMBERS = {"max_register_count": "CU_JIT_MAX_REGISTERS", "optimization_level": "CU_JIT_OPTIMIZATION_LEVEL"}


def for_nvjitlink(self: LinkerOptions, as_bytes: bool = False) -> list[Any]:
    """The options as nvJitLink reads them, as text or as bytes."""
    arguments = self.as_bytes("nvjitlink")
    return arguments if as_bytes else [argument.decode() for argument in arguments]  # type: ignore[return-value]


def for_driver(self: LinkerOptions) -> tuple[list[Any], list[Any]]:
    """Values and keys of cuLinkCreate. The first four are buffers for what the linker says, and their sizes."""
    for name in NOT_OF_THE_DRIVER:
        if getattr(self, name) is not None:
            raise ValueError(f"{name} option is not supported by the driver API: link with nvJitLink, or leave it out")
    for name, subject in IGNORED_BY_THE_DRIVER.items():
        if getattr(self, name) is not None:
            warnings.warn(f"{subject} deprecated in the driver API, which ignores it", DeprecationWarning, stacklevel=3)
    driver = _binding("driver")
    entries = _log_entries() + _option_entries(self, driver)
    return [value for _, value in entries], [getattr(driver.CUjit_option, key) for key, _ in entries]


def _log_entries() -> list[tuple[str, Any]]:
    return [
        entry
        for kind in ("INFO", "ERROR")
        for entry in (
            (f"CU_JIT_{kind}_LOG_BUFFER", bytearray(LOG_SIZE)),
            (f"CU_JIT_{kind}_LOG_BUFFER_SIZE_BYTES", LOG_SIZE),
        )
    ]


def _option_entries(options: LinkerOptions, driver: Any) -> list[tuple[str, Any]]:
    entries: list[tuple[str, Any]] = []
    if options.arch is not None:
        target = "CU_TARGET_COMPUTE_" + options.arch.rpartition("_")[2].upper()
        entries.append(("CU_JIT_TARGET", getattr(driver.CUjit_target, target)))
    entries += [(key, getattr(options, name)) for name, key in NUMBERS.items() if getattr(options, name) is not None]
    entries += [(key, 1) for name, key in FLAGS.items() if getattr(options, name)]
    if options.no_cache:
        entries.append(("CU_JIT_CACHE_MODE", driver.CUjit_cacheMode.CU_JIT_CACHE_OPTION_NONE))
    return entries
