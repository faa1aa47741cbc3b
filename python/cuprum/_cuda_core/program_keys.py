"""Keys of compiled programs by the rules of cuda.core.

cuprum reads the files that a program includes and makes them part of its key. cuda.core doesn't, and refuses such a
program unless the caller gives a digest of its own; a program written for cuda.core may rely on that.
"""

from __future__ import annotations

import dataclasses as _dataclasses
import hashlib as _hashlib
from typing import Any as _Any

from cuprum import _program_cache as _ours
from cuprum._cuda_core.linker_options import NOT_OF_THE_DRIVER as _NOT_OF_THE_DRIVER

__all__ = ["make_program_cache_key"]

_TARGETS = {"c++": ("ptx", "cubin", "ltoir"), "ptx": ("cubin", "ptx"), "nvvm": ("ptx", "ltoir")}
# NVRTC reads these files as soon as the option is set, be it to nothing.
_READ_WHEN_SET = ("use_pch", "pch_dir")
_READ_WHEN_FILLED = ("include_path", "pre_include")
_IGNORED_BY_THE_DRIVER = ("ftz", "prec_div", "prec_sqrt", "fma")


def make_program_cache_key(
    *,
    code: _Any,
    code_type: _Any,
    options: _Any,
    target_type: _Any,
    name_expressions: _Any = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """A key that is the same as long as the compilation gives the same.

    ValueError where files matter that can't be seen, unless `extra_digest` stands for them: included files, those
    beside a program whose name has a directory, precompiled headers, libdevice.
    """
    source = str(code_type).lower()
    if isinstance(code, (bytes, bytearray)) and source in ("c++", "ptx"):
        raise TypeError(f"code must be str for code_type {source!r}, not {type(code).__name__}: only NVVM IR is bytes")
    target = str(target_type).lower()
    known = {target for targets in _TARGETS.values() for target in targets}
    if source in _TARGETS and target in known - set(_TARGETS[source]):
        raise ValueError(f"target_type {target!r} is not valid for code_type {source!r}, only {_TARGETS[source]}")
    if source == "c++" and any(isinstance(name, bytearray) for name in name_expressions):
        raise TypeError("name_expressions must be str or bytes, not bytearray: they become keys of a dict")
    unseen = _unseen(source, options)
    if unseen and extra_digest is None:
        raise ValueError(f"{unseen}: give extra_digest, which changes when that does")
    is_drivers = source == "ptx" and _driver_links()
    ours = _ours.make_program_cache_key(
        code=code,
        code_type=code_type,
        options=_for_driver(options) if is_drivers else options,
        target_type=target_type,
        name_expressions=name_expressions,
        extra_digest=extra_digest,
    )
    return _with_rules_of_cuda_core(ours, source, is_drivers, name_expressions if source == "c++" else ())


def _with_rules_of_cuda_core(key: bytes, source: str, is_drivers: bool, names: _Any) -> bytes:
    """The key with what cuda.core's functions say of the compiler, and with the types of names: there code knows a name
    as the object that it was given as."""
    from cuda.core.utils._program_cache import _keys

    typed = sorted((type(name).__name__, name if isinstance(name, str) else bytes(name).decode()) for name in names)
    said = f"{_keys._compiler_in_words(source, is_drivers)} {typed}"
    return _hashlib.blake2b(key + said.encode(), digest_size=16).hexdigest().encode()


def _driver_links() -> bool:
    import cuda.core._linker

    return bool(cuda.core._linker._decide_nvjitlink_or_driver())


def _for_driver(options: _Any) -> _Any:
    """The options without those that the driver's linker ignores; ValueError for those that it doesn't have."""
    unknown = [name for name in _NOT_OF_THE_DRIVER if getattr(options, name, None) is not None]
    if unknown:
        raise ValueError(f"the driver linker, which links here, does not have {' and '.join(unknown)}")
    return _dataclasses.replace(options, **dict.fromkeys(_IGNORED_BY_THE_DRIVER))


def _unseen(source: str, options: _Any) -> str | None:
    """What the compiler reads besides the code, in words."""
    if source == "nvvm":
        return "libdevice is linked with use_libdevice, and is no part of the key" if options.use_libdevice else None
    if source != "c++":
        return None
    read = [name for name in _READ_WHEN_SET if getattr(options, name) is not None]
    read += [name for name in _READ_WHEN_FILLED if _names_a_file(getattr(options, name))]
    read += ["pch"] if options.pch else []
    if read:
        return f"files that {' and '.join(read)} stand for are no part of the key"
    if any(mark in str(options.name) for mark in "/\\"):
        return f"the name {options.name!r} has a directory component, from which NVRTC includes files"
    return None


def _names_a_file(value: _Any) -> bool:
    return isinstance(value, str) or (isinstance(value, (list, tuple)) and bool(value))
