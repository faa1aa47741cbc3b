"""Members of public classes that are private in cuda.core, or that do otherwise there: :mod:`cuprum.as_cuda_core` adds
them when it serves that."""

from __future__ import annotations

from typing import Any

from cuprum import (
    Buffer,
    Event,
    Linker,
    LinkerOptions,
    Program,
    ProgramOptions,
    Stream,
    VirtualMemoryResourceOptions,
)
from cuprum._core import IPCBufferDescriptor, IPCEventDescriptor
from cuprum._cuda_core import (
    graph_entry,
    ipc_descriptors,
    linker_backend,
    linker_options,
    program_options,
    programs,
    streams,
    virtual_memory,
)
from cuprum.graph import GraphDefinition


def add() -> None:
    """Give the classes their private members."""
    members: dict[type, dict[str, Any]] = {
        Buffer: {"from_ipc_descriptor": staticmethod(ipc_descriptors.buffer_from_ipc_descriptor)},
        Event: {"from_ipc_descriptor": staticmethod(ipc_descriptors.event_from_ipc_descriptor)},
        IPCBufferDescriptor: {
            "_init": staticmethod(ipc_descriptors.raw_buffer),
            "__reduce__": ipc_descriptors.reduce_buffer,
        },
        IPCEventDescriptor: {"_init": staticmethod(ipc_descriptors.raw_event)},
        GraphDefinition: {"_entry": property(graph_entry.entry_of)},
        Linker: {"which_backend": classmethod(linker_backend.which_backend)},
        LinkerOptions: {
            "as_bytes": linker_backend.as_bytes,
            "_prepare_nvjitlink_options": linker_options.for_nvjitlink,
            "_prepare_driver_options": linker_options.for_driver,
        },
        Program: {"compile": programs.compile},
        ProgramOptions: {
            "_name": property(program_options.name),
            "_prepare_extra_sources_bytes": program_options.extra_sources,
        },
        Stream: {
            "_init": classmethod(streams.make),
            "_legacy_default": classmethod(streams.legacy_default),
            "_per_thread_default": classmethod(streams.per_thread_default),
        },
    }
    for cls, added in members.items():
        for name, value in added.items():
            setattr(cls, name, value)
    virtual_memory.add_tables(VirtualMemoryResourceOptions)
