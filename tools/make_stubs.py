#!/usr/bin/env python3
"""Writes the type stubs of the extension, python/cuprum/_core.pyi, or compares them with it.

    PYTHONPATH=build/release/python .deps/python/bin/python tools/make_stubs.py [--check]

nanobind says which classes, functions, parameters and defaults there are. Where a binding converts an argument or a result
by hand, it says `object`: the tables below say what is meant.
"""

import difflib
import re
import sys
from pathlib import Path

STUB = Path(__file__).parent.parent / "python" / "cuprum" / "_core.pyi"

HEAD = '''\
# Made by tools/make_stubs.py; a test compares it with the extension.
import os
import uuid as _uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from typing_extensions import Buffer as _SupportsBuffer
from typing_extensions import Self

from . import system
from ._memory_sets import AccessedBySetProxy, PeerAccessibleBySetProxy
from ._options import (
    ContextOptions,
    CopyOptions,
    DeviceMemoryResourceOptions,
    EventOptions,
    GraphCompleteOptions,
    GraphDebugPrintOptions,
    LinkerOptions,
    ManagedMemoryResourceOptions,
    PinnedMemoryResourceOptions,
    ProgramOptions,
    SMResourceOptions,
    StreamOptions,
    VirtualMemoryResourceOptions,
    WorkqueueResourceOptions,
)
from ._tensor_map import (
    TensorMapDescriptorOptions,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from ._texture_options import MipmappedArrayOptions, OpaqueArrayOptions, TextureObjectOptions
from ._types import ComputeCapability, MaxPotentialBlockSizeOccupancyResult
from .graph import AdjacencySetProxy
from .typing import (
    ArrayFormatType,
    GraphConditionalType,
    GraphMemoryType,
    IsStreamType,
    ObjectCodeFormatType,
    SourceCodeType,
    WorkqueueSharingScopeType,
)
from .utils import ProgramCacheResource

class _Array(Protocol):  # NumPy's arrays and scalars, which say that they are buffers since Python 3.12 only
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

HostMemory = _SupportsBuffer | _Array

'''

# What nanobind does not know of.
TAIL = '''
def launch(stream: Stream | GraphBuilder | IsStreamType, config: LaunchConfig, kernel: Kernel, *kernel_args: Any) -> None: ...
'''

QUEUE = "Stream | GraphBuilder"
OPTIONS = "{} | dict[str, Any] | None"

# What parameters of a name take, in every function.
PARAMETERS = {
    "args": "Iterable[Any] | None",
    "buffers": "Buffer | Sequence[Buffer]",
    "buf": "Buffer",
    "alloc_handle": "IPCAllocationHandle | int",
    "blocking": "bool | None",
    "cache": "ProgramCacheResource | None",
    "child": "GraphBuilder | GraphDefinition",
    "cluster": "int | Sequence[int] | None",
    "block": "int | Sequence[int] | None",
    "grid": "int | Sequence[int] | None",
    "condition": "GraphCondition",
    "config": "LaunchConfig | None",
    "ctx": "Context | None",
    "device": "Device | int | None",
    "device_id": "Device | int | None",
    "code": "str | bytes",
    "code_type": "SourceCodeType | str",
    "copy": "bool | None",
    "dl_device": "tuple[int, int] | None",
    "dptr": "AllocNode | int",
    "dsts": "Buffer | Sequence[Buffer]",
    "dst": "Buffer | int | None",
    "event": "Event | None",
    "flags": "str | tuple[str, ...] | list[str] | None",
    "event_or_stream": "Event | Stream | IsStreamType",
    "fn": "Callable[[], object]",
    "gl_buffer": "int",
    "image": "int",
    "ipc_descriptor": "Any",
    "kernel": "Kernel | None",
    "itemsize": "int | None",
    "location": "Device | Host",
    "locations": "Device | Host | Sequence[Device | Host]",
    "max_version": "tuple[int, int] | None",
    "memory_type": "GraphMemoryType | str | None",
    "mod": "ObjectCode | None",
    "module": "str | bytes",
    "milliseconds": "Mapping[GraphNode, float] | None",
    "mr": "MemoryResource | None",
    "name": "str | bytes",
    "name_expressions": "Iterable[str | bytes]",
    "new_size": "int",
    "numa_id": "int | None",
    "path": "str | os.PathLike[str]",
    "node": "GraphNode",
    "peer": "Device | int",
    "peer_access": "Iterable[Device | int] | None",
    "ptr": "int",
    "shape": "Sequence[int]",
    "shmem_size": "int | None",
    "size": "int",
    "srcs": "Buffer | Sequence[Buffer]",
    "stream_ptr": "int | None",
    "strides": "Sequence[int] | None",
    "target": "int",
    "target_type": "ObjectCodeFormatType | str",
    "source": "GraphBuilder | GraphDefinition",
    "src": "Buffer | int | None",
    "stream": QUEUE + " | None",
    "symbol_mapping": "Mapping[str, str] | None",
    "uuid": "_uuid.UUID",
    "value": "int | HostMemory",
}

# All parameters of functions that programs override: those of cuda.core, where the extension's take more, so that mypy accepts
# the same classes.
ALLOCATE = "self, size: int, *, stream: Stream | GraphBuilder"
DEALLOCATE = "self, ptr: int, size: int, *, stream: Stream | GraphBuilder"
OVERRIDDEN = {
    **{
        f"{resource}.allocate": ALLOCATE
        for resource in ("MemoryResource", "_MemPool", "ManagedMemoryResource", "GraphMemoryResource")
    },
    "MemoryResource.deallocate": DEALLOCATE,
    **{
        f"{resource}.deallocate": f"{DEALLOCATE} | None = None"
        for resource in ("LegacyPinnedMemoryResource", "VirtualMemoryResource")
    },
}

# What can be assigned to a property, where that is more than it has.
SETTERS = {
    "ManagedBuffer.accessed_by": "Iterable[Device | Host]",
    "ManagedBuffer.preferred_location": "Device | Host | None",
    "DeviceMemoryResource.peer_accessible_by": "Iterable[Device | int]",
    "GraphNode.pred": "Iterable[GraphNode]",
    "GraphNode.succ": "Iterable[GraphNode]",
    "LaunchConfig.grid": "int | tuple[int, ...] | list[int]",
    "LaunchConfig.block": "int | tuple[int, ...] | list[int]",
    "LaunchConfig.cluster": "int | tuple[int, ...] | list[int] | None",
    "LaunchConfig.shmem_size": "int | None",
    **{
        f"GraphMemoryResourceAttributes.{name}_mem_{when}": "int"
        for name in ("reserved", "used")
        for when in ("current", "high")
    },
}

# The same for single functions: "Class.function.parameter".
SINGLE_PARAMETERS = {
    "Buffer.copy_from.src": "Buffer | HostMemory",
    "Buffer.__dlpack__.stream": "int | None",
    "StridedMemoryView.__dlpack__.stream": "int | None",
    "StridedMemoryView.copy_from.other": "StridedMemoryView",
    "StridedMemoryView.copy_to.other": "StridedMemoryView",
    "Graph.launch.stream": QUEUE + " | IsStreamType",
    "Graph.upload.stream": QUEUE + " | IsStreamType",
    "Buffer.copy_to.dst": "Buffer | None",
    "Buffer.copy_from.options": OPTIONS.format("CopyOptions"),
    "Buffer.copy_to.options": OPTIONS.format("CopyOptions"),
    "Context.create_stream.options": OPTIONS.format("StreamOptions"),
    "Device.create_context.options": OPTIONS.format("ContextOptions"),
    "Device.create_event.options": OPTIONS.format("EventOptions"),
    "Device.create_mipmapped_array.options": "MipmappedArrayOptions | dict[str, Any]",
    "Device.create_opaque_array.options": "OpaqueArrayOptions | dict[str, Any]",
    "Device.create_stream.obj": "IsStreamType | None",
    "Device.create_stream.options": OPTIONS.format("StreamOptions"),
    "Device.create_surface_object.resource": "ResourceDescriptor",
    "Device.create_texture_object.options": OPTIONS.format("TextureObjectOptions"),
    "Device.create_texture_object.resource": "ResourceDescriptor",
    "DeviceMemoryResource.__init__.options": OPTIONS.format("DeviceMemoryResourceOptions"),
    "GraphBuilder.complete.options": OPTIONS.format("GraphCompleteOptions"),
    "GraphBuilder.debug_dot_print.options": OPTIONS.format("GraphDebugPrintOptions"),
    "GraphDefinition.debug_dot_print.options": OPTIONS.format("GraphDebugPrintOptions"),
    "GraphDefinition.instantiate.options": OPTIONS.format("GraphCompleteOptions"),
    "Linker.__init__.options": OPTIONS.format("LinkerOptions"),
    "MipmappedArray.get_level.level": "int",
    "OpaqueArray.copy_from.src": "Any",
    "OpaqueArray.copy_to.dst": "Any",
    "ResourceDescriptor.from_opaque_array.array": "OpaqueArray",
    "ResourceDescriptor.from_mipmapped_array.mipmapped_array": "MipmappedArray",
    **{
        f"ResourceDescriptor.{function}.{name}": type_
        for function in ("from_linear", "from_pitch2d")
        for name, type_ in {
            "buffer": "Buffer",
            "num_channels": "int",
            "size_bytes": "int | None",
            "width": "int",
            "height": "int",
            "pitch_bytes": "int",
        }.items()
    },
    "ManagedMemoryResource.__init__.options": OPTIONS.format("ManagedMemoryResourceOptions"),
    "PinnedMemoryResource.__init__.options": OPTIONS.format("PinnedMemoryResourceOptions"),
    "Program.__init__.options": OPTIONS.format("ProgramOptions"),
    "SMResource.split.options": "SMResourceOptions | dict[str, Any]",
    "WorkqueueResource.configure.options": "WorkqueueResourceOptions | dict[str, Any]",
    "Event.from_ipc_descriptor.ipc_descriptor": "IPCEventDescriptor",
    "Buffer.from_ipc_descriptor.ipc_descriptor": "IPCBufferDescriptor",
    "_program_arguments.target_type": "str | None",
    "_program_cache_key.code": "str | bytes | bytearray",
    "Stream.record.options": OPTIONS.format("EventOptions"),
    "StridedMemoryView.as_tensor_map.box_dim": "Iterable[int] | None",
    "StridedMemoryView.as_tensor_map.element_strides": "Iterable[int] | None",
    "StridedMemoryView.as_tensor_map.interleave": "TensorMapInterleave | None",
    "StridedMemoryView.as_tensor_map.l2_promotion": "TensorMapL2Promotion | None",
    "StridedMemoryView.as_tensor_map.oob_fill": "TensorMapOOBFill | None",
    "StridedMemoryView.as_tensor_map.options": OPTIONS.format("TensorMapDescriptorOptions"),
    "StridedMemoryView.as_tensor_map.swizzle": "TensorMapSwizzle | None",
    "VirtualMemoryResource.__init__.config": OPTIONS.format("VirtualMemoryResourceOptions"),
    "VirtualMemoryResource.modify_allocation.config": OPTIONS.format("VirtualMemoryResourceOptions"),
    "copy_batch.options": "CopyOptions | dict[str, Any] | Sequence[CopyOptions] | None",
}

# What functions and properties of a name give, where nanobind says `object`, `tuple` or the like.
RESULTS = {
    "__eq__": "bool",
    "__isub__": "Any",
    "__rsub__": "Any",
    "__cuda_stream__": "tuple[int, int]",
    "__dlpack_device__": "tuple[int, int]",
    "__reduce__": "tuple[Any, ...]",
    "accessed_by": "AccessedBySetProxy",
    "allocate": "Buffer",
    "block": "tuple[int, int, int]",
    "branches": "tuple[GraphDefinition, ...]",
    "callback": "HostCallbackNode",
    "cluster": "tuple[int, int, int] | None",
    "compute_capability": "ComputeCapability",
    "context": "Context",
    "cond_type": "GraphConditionalType | None",
    "copy_to": "Buffer",
    "code_type": "ObjectCodeFormatType",
    "compile": "ObjectCode",
    "link": "ObjectCode",
    **{f"from_{kind}": "ObjectCode" for kind in ("cubin", "ptx", "ltoir", "fatbin", "object", "library", "file")},
    "deallocate": "FreeNode",
    "device": "Device",
    "device_id": "int",
    "edges": "set[tuple[GraphNode, GraphNode]]",
    "embed": "ChildGraphNode",
    "empty": "EmptyNode",
    "from_handle": "Buffer",
    "from_ipc_descriptor": "Buffer",
    "get_all_devices": "tuple[Device, ...]",
    "grid": "tuple[int, int, int]",
    "if_else": "IfElseNode",
    "if_then": "IfNode",
    "is_device_accessible": "bool",
    "is_host_accessible": "bool",
    "join": "EmptyNode",
    "launch": "KernelNode",
    "memcpy": "MemcpyNode",
    "memory_resource": "MemoryResource",
    "memory_type": "GraphMemoryType",
    "memset": "MemsetNode",
    "node": "GraphNode",
    "nodes": "set[GraphNode]",
    "numa_current": "Host",
    "peer_access": "tuple[int, ...]",
    "peer_accessible_by": "PeerAccessibleBySetProxy",
    "pred": "AdjacencySetProxy",
    "record": "EventRecordNode",
    "set_current": "Context | None",
    "shape": "tuple[int, ...]",
    "split": "tuple[GraphBuilder, ...]",
    "strides": "tuple[int, ...] | None",
    "succ": "AdjacencySetProxy",
    "switch": "SwitchNode",
    "uuid": "_uuid.UUID",
    "wait": "EventWaitNode",
    "while_loop": "WhileNode",
}

SINGLE_RESULTS = {
    **{
        f"{pool}.{function}": pool
        for pool in ("DeviceMemoryResource", "PinnedMemoryResource")
        for function in ("register", "from_registry", "from_allocation_handle")
    },
    "Device.to_system_device": "system.Device",
    "Buffer.__enter__": "Buffer",
    **{
        f"{name}.__enter__": name for name in ("OpaqueArray", "MipmappedArray", "TextureObject", "SurfaceObject")
    },
    "OpaqueArray.copy_to": "Any",
    "OpaqueArray.format": "ArrayFormatType",
    "MipmappedArray.format": "ArrayFormatType",
    "ResourceDescriptor.format": "ArrayFormatType | None",
    "ResourceDescriptor.source": "OpaqueArray | MipmappedArray | Buffer",
    "TextureObject.options": "TextureObjectOptions",
    "TextureObject.resource": "ResourceDescriptor | None",
    "SurfaceObject.resource": "ResourceDescriptor | None",
    "Buffer.device_id": "int",
    "GraphBuilder.begin_building": "GraphBuilder",
    "GraphBuilder.end_building": "GraphBuilder",
    "GraphBuilder.join": "GraphBuilder",
    "GraphBuilder.if_else": "tuple[GraphBuilder, GraphBuilder]",
    "GraphBuilder.switch": "tuple[GraphBuilder, ...]",
    "GraphMemoryResource.allocate": "Buffer",
    "GraphNode.allocate": "AllocNode",
    "GraphDefinition.allocate": "AllocNode",
    "GraphicsResource.map": "Buffer",
    "MappedImage.__enter__": "MappedImage",
    "HostCallbackNode.callback": "Callable[[], object] | None",
    "KernelOccupancy.max_potential_block_size": "MaxPotentialBlockSizeOccupancyResult",
    "ManagedBuffer.from_handle": "Self",
    "ManagedBuffer.preferred_location": "Device | Host | None",
    "ManagedMemoryResource.allocate": "ManagedBuffer",
    "SMResource.split": "tuple[list[SMResource], SMResource]",
    "Stream.record": "Event",
    "StridedMemoryView.as_tensor_map": "TensorMapDescriptor",
    **{
        f"StridedMemoryView.{function}": "Self"
        for function in (
            "from_any_interface", "from_array_interface", "from_buffer", "from_cuda_array_interface", "from_dlpack", "view"
        )  # fmt: skip
    },
    "TensorMapDescriptor._from_im2col": "TensorMapDescriptor",
    "TensorMapDescriptor._from_im2col_wide": "TensorMapDescriptor",
    "TensorMapDescriptor._from_tiled": "TensorMapDescriptor",
    "WorkqueueResource.sharing_scope": "WorkqueueSharingScopeType",
}

# What mypy would say of cuda.core, too.
IGNORED = {"Event.__isub__": "misc", "HostCallbackNode.callback": "override"}

VAGUE = re.compile(r"^(object|tuple|list|set|dict)$")


def generated():
    """What nanobind says, for classes under the names that the extension has for them."""
    import cuprum._core as core
    import cuprum.graph
    import cuprum.utils  # noqa: F401
    from nanobind.stubgen import StubGen

    for member in vars(core).values():
        if isinstance(member, type) and member.__module__.startswith("cuprum"):
            member.__module__ = "cuprum._core"
    stub = StubGen(core, include_docstrings=False, include_private=True)
    stub.put(core)
    return stub.get()


def parameters_with_types(where, text):
    """The parameters of a function, each vague one with what the tables say."""

    def better(match):
        name, default = match[1], match[2] or ""
        found = SINGLE_PARAMETERS.get(f"{where}.{name}", PARAMETERS.get(name, "Any"))
        if not default and found.endswith(" | None") and f"{where}.{name}" not in SINGLE_PARAMETERS:
            found = found.removesuffix(" | None")
        if default == " = None" and "None" not in found and found != "Any":
            found += " | None"
        return f"{name}: {found}{default}"

    return re.sub(r"(\w+): object(?: \| None)?( = [^,)]+)?(?=[,)])", better, text)


def result_with_type(where, text):
    found = SINGLE_RESULTS.get(where, RESULTS.get(where.rpartition(".")[2]))
    return found if found and VAGUE.match(text) else ("Any" if text == "object" else text)


def with_types(stub):
    lines, class_name = [], ""
    for line in stub.splitlines():
        if match := re.match(r"class (\w+)", line):
            class_name = match[1]
        match = re.match(r"( *)def (\w+)\((.*)\) -> (.*?):( \.\.\.)?$", line)
        if match:
            indent, name, parameters, result, end = match.groups()
            where = f"{class_name}.{name}" if indent else name
            parameters = parameters_with_types(where, parameters + ")")[:-1]
            if where in OVERRIDDEN:
                parameters = OVERRIDDEN[where]
            elif name == "__eq__":
                parameters = "self, other: object, /"
            elif where in SETTERS:
                parameters = parameters.replace("self, arg: Any, /", f"self, arg: {SETTERS[where]}, /")
            elif re.fullmatch(r"self, arg: Any, /", parameters) and name in RESULTS and RESULTS[name] != "Any":
                parameters = f"self, arg: {RESULTS[name]}, /"  # the setter of a property
            note = f"  # type: ignore[{IGNORED[where]}]" if where in IGNORED else ""
            line = f"{indent}def {name}({parameters}) -> {result_with_type(where, result)}:{end or ''}{note}"
        lines.append(line)
    text = re.sub(r"^(import cuprum|from cuprum).*\n", "", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(r"^ +@property\n(?! +def)", "", text + "\n", flags=re.MULTILINE)  # one that Python files have added
    text = re.sub(r"\bPyCapsule\b", "Any", text)
    text = re.sub(r"(?<=[ (])(\*\*?\w+)(?=[,)])", r"\1: Any", text)
    text = re.sub(r"(: |-> )(list|set|frozenset)(?=[,):]| \|)", r"\1\2[Any]", text)
    text = re.sub(r"(: |-> )tuple(?=[,):]| \|)", r"\1tuple[Any, ...]", text)
    text = re.sub(r"(: |-> )dict(?=[,):]| \|)", r"\1dict[Any, Any]", text)
    # The buffer protocol has methods since Python 3.12; the stubs are the same for all.
    text = re.sub(r"^ +def __(release_)?buffer__\(.*\n\n", "", text, flags=re.MULTILINE)
    # What the collector calls is nobody else's to call.
    text = re.sub(r"^ +def __del__\(.*\n\n", "", text, flags=re.MULTILINE)
    text = text.replace("from typing import Any\n", "")
    text = text.replace("class Buffer:\n", "class Buffer:\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n\n")
    for resource in ("LegacyPinnedMemoryResource", "VirtualMemoryResource"):  # which need no stream
        head = f"class {resource}(MemoryResource):\n"
        text = text.replace(head, f"{head}    def allocate({ALLOCATE} | None = None) -> Buffer: ...\n\n")
    text = text.replace("(cls: Any, ", "(cls, ")
    return HEAD + text.strip() + "\n" + TAIL


def main():
    stub = with_types(generated())
    if "--check" not in sys.argv:
        STUB.write_text(stub, encoding="utf-8")
        return
    there = STUB.read_text(encoding="utf-8") if STUB.exists() else ""
    difference = list(difflib.unified_diff(there.splitlines(), stub.splitlines(), "there", "of the extension", lineterm=""))
    print("\n".join(difference[:60]))
    sys.exit("the stubs are not those of the extension: run tools/make_stubs.py" if difference else 0)


if __name__ == "__main__":
    main()
