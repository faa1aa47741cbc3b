"""Programs that are compiled with a cache by the rules of cuda.core.

What cuprum stores of a program is more than its code, and under keys that know the files it includes. A cache that was
written for cuda.core is asked for one key, that of make_program_cache_key, and is given the code under it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from cuprum import ObjectCode, Program
from cuprum._cuda_core import program_keys
from cuprum._program_cache import ProgramCacheResource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

uncached: Callable[..., ObjectCode] = Program.compile  # which compile() below takes the place of


def compile(
    self: Program,
    target_type: Any,
    name_expressions: Sequence[str | bytes] = (),
    logs: Any = None,
    *,
    cache: ProgramCacheResource | None = None,
) -> ObjectCode:
    """Compiles to "cubin", "ptx" or "ltoir", or takes what `cache` has of it.

    ValueError for name_expressions with a cache, which keeps code and no names, and for files that no key stands for.
    """
    from cuda.core import _program as served

    if cache is None:
        return served._program_compile_uncached(self, target_type, name_expressions, logs)
    if not isinstance(cache, ProgramCacheResource):
        raise TypeError(f"cache must be a ProgramCacheResource or None, not {type(cache).__name__}")
    if name_expressions:
        raise ValueError("name_expressions can't be compiled with a cache: it keeps code, not the names in it")
    code, code_type, options = self._parts
    key = program_keys.make_program_cache_key(
        code=code, code_type=code_type, options=options, target_type=target_type
    )
    found = cache.get(key)
    if found is None:
        made = served._program_compile_uncached(self, target_type, name_expressions, logs)
        cache[key] = made
        return made
    target = str(target_type).lower()
    if code_type == "c++" and target == "ptx" and not served._can_load_generated_ptx():
        warnings.warn(
            "the driver is older than the NVRTC that made this PTX, and may not load it", RuntimeWarning, stacklevel=2
        )
    return getattr(ObjectCode, f"from_{target}")(bytes(found), name=options.name)
