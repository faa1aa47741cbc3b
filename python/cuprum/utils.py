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
from ._views import (
    StridedLayout,
    StridedMemoryView,
    args_viewable_as_strided_memory,
    view_as_array_interface,
    view_as_cai,
)
from .typing import MemcpyOverlapMode, MemcpySrcAccessOrder

__all__ = [
    "CopyOptions",
    "FileStreamProgramCache",
    "InMemoryProgramCache",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "ProgramCacheResource",
    "StridedLayout",
    "StridedMemoryView",
    "args_viewable_as_strided_memory",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "make_program_cache_key",
    "prefetch_batch",
    "view_as_array_interface",
    "view_as_cai",
]
