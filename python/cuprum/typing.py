"""The types that signatures of cuprum name: enumerations of strings, protocols and aliases.

Every enumeration here is of strings, and wherever cuprum takes a member it takes the plain string, too:

>>> from cuprum.typing import ObjectCodeFormatType
>>> ObjectCodeFormatType.CUBIN == "cubin"
True
>>> ObjectCodeFormatType("ptx")
<ObjectCodeFormatType.PTX: 'ptx'>
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if sys.version_info >= (3, 11):
    from enum import StrEnum as _StrEnum
else:
    from enum import Enum as _Enum

    class _StrEnum(str, _Enum):
        """What Python 3.11 calls enum.StrEnum: a member is a string, and prints and formats as that string."""

        def __str__(self) -> str:
            return str(self.value)

        def __format__(self, spec: str) -> str:
            return format(str(self.value), spec)


if TYPE_CHECKING:
    from typing import Any

    from cuprum._protocols import IsStreamType, ProcessStateType

__all__ = [
    "AddressModeType",
    "ArrayFormatType",
    "CompilerBackendType",
    "DevicePointerType",
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]

DevicePointerType = int | None
"""An address in device memory: an int, or whatever ``int()`` makes one of (NVIDIA's ``CUdeviceptr``); None is no memory."""

DeviceResourcesType = Sequence[object]
"""What a green context gets of a device: multiprocessors and work queues."""


class SourceCodeType(_StrEnum):
    """The language of a Program."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(_StrEnum):
    """What code is compiled or linked to."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(_StrEnum):
    """The library that compiles or links."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(_StrEnum):
    """What became of the precompiled header that a compilation was to make."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(_StrEnum):
    """The kinds of conditional nodes of a graph."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(_StrEnum):
    """Where an allocation node of a graph takes its memory."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(_StrEnum):
    """Where managed memory is preferred to live."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class VirtualMemoryHandleType(_StrEnum):
    """As what a virtual memory allocation can be handed to another process."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(_StrEnum):
    """Where the physical memory of a virtual memory allocation is."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(_StrEnum):
    """To which multiple sizes of virtual memory allocations are rounded: the least, or the fastest."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(_StrEnum):
    """What a device may do with a virtual memory allocation."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(_StrEnum):
    """Whether the physical memory of a virtual memory allocation stays where it is, or migrates."""

    PINNED = "pinned"
    MANAGED = "managed"


class ArrayFormatType(_StrEnum):
    """The elements of an array that textures and surfaces read."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(_StrEnum):
    """What a texture reads beyond its edge."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(_StrEnum):
    """Whether a texture reads the nearest element, or interpolates between those around."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(_StrEnum):
    """Whether a texture gives elements as they are, or integers as fractions of their largest value."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class WorkqueueSharingScopeType(_StrEnum):
    """Which contexts share the queues through which work reaches the device."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


class MemcpySrcAccessOrder(_StrEnum):
    """When a copy may read its source: in stream order, before the call returns, or at any time (also ``cuprum.utils``)."""

    STREAM = "stream"
    DURING_API_CALL = "during_api_call"
    ANY = "any"


class MemcpyOverlapMode(_StrEnum):
    """Whether a copy should rather run beside kernels (also ``cuprum.utils``)."""

    DEFAULT = "default"
    PREFER_OVERLAP_WITH_COMPUTE = "prefer_overlap_with_compute"


# The names of earlier versions of cuda.core.
_OLDER_NAMES = {"IsStreamT": "IsStreamType", "DevicePointerT": "DevicePointerType"}


def __getattr__(name: str) -> Any:
    if name in _OLDER_NAMES:
        return getattr(sys.modules[__name__], _OLDER_NAMES[name])
    if name in ("IsStreamType", "ProcessStateType"):
        from cuprum import _protocols

        globals()[name] = found = getattr(_protocols, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
