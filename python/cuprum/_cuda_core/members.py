"""Members of public classes that are private in cuda.core: :mod:`cuprum.as_cuda_core` adds them when it serves that."""

from __future__ import annotations

from typing import Any

from cuprum import Device, LinkerOptions, Stream, VirtualMemoryResourceOptions
from cuprum._cuda_core import graph_entry, linker_options, virtual_memory
from cuprum._options import check_options
from cuprum._options import StreamOptions
from cuprum.graph import GraphDefinition


def add() -> None:
    """Give the classes their private members."""
    GraphDefinition._entry = property(graph_entry.entry_of)  # type: ignore[attr-defined]
    LinkerOptions._prepare_nvjitlink_options = linker_options.for_nvjitlink  # type: ignore[attr-defined]
    LinkerOptions._prepare_driver_options = linker_options.for_driver  # type: ignore[attr-defined]
    virtual_memory.add_tables(VirtualMemoryResourceOptions)
