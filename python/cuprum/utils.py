"""Tools beside the main interface: views of other libraries' arrays, and memory operations on many buffers at once."""

from ._core import copy_batch, discard_batch, discard_prefetch_batch, prefetch_batch
from ._options import CopyOptions
from .typing import MemcpyOverlapMode, MemcpySrcAccessOrder

__all__ = [
    "CopyOptions",
    "MemcpyOverlapMode",
    "MemcpySrcAccessOrder",
    "copy_batch",
    "discard_batch",
    "discard_prefetch_batch",
    "prefetch_batch",
]
