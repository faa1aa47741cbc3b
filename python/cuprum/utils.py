"""Tools beside the main interface: views of other libraries' arrays, memory operations on many buffers at once, and
caches of compiled programs."""

from ._core import copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch
from ._options import CopyOptions
from ._program_cache import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)
from .typing import MemcpyOverlapMode, MemcpySrcAccessOrder

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCacheResource",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
]
