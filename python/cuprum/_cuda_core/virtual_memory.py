"""What the words in VirtualMemoryResourceOptions are for the driver: tables, and functions that look them up."""

from __future__ import annotations

from typing import Any

from cuprum._cuda_utils import _binding
from cuprum.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)

# By table: the function that looks it up, what it says of a word that is not there, the driver's enumeration, and its
# members by word.
TABLES: dict[str, tuple[str, str, str, dict[Any, str]]] = {
    "_access_flags": (
        "_access_to_flags",
        "Unknown access spec",
        "CUmemAccess_flags",
        {
            VirtualMemoryAccessType.READ_WRITE: "CU_MEM_ACCESS_FLAGS_PROT_READWRITE",
            VirtualMemoryAccessType.READ: "CU_MEM_ACCESS_FLAGS_PROT_READ",
            None: "CU_MEM_ACCESS_FLAGS_PROT_NONE",
        },
    ),
    "_handle_types": (
        "_handle_type_to_driver",
        "Unsupported handle_type",
        "CUmemAllocationHandleType",
        {
            None: "CU_MEM_HANDLE_TYPE_NONE",
            VirtualMemoryHandleType.POSIX_FD: "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
            VirtualMemoryHandleType.WIN32_KMT: "CU_MEM_HANDLE_TYPE_WIN32_KMT",
            VirtualMemoryHandleType.FABRIC: "CU_MEM_HANDLE_TYPE_FABRIC",
        },
    ),
    "_granularity": (
        "_granularity_to_driver",
        "Unsupported granularity",
        "CUmemAllocationGranularity_flags",
        {
            VirtualMemoryGranularityType.MINIMUM: "CU_MEM_ALLOC_GRANULARITY_MINIMUM",
            VirtualMemoryGranularityType.RECOMMENDED: "CU_MEM_ALLOC_GRANULARITY_RECOMMENDED",
        },
    ),
    "_location_type": (
        "_location_type_to_driver",
        "Unsupported location_type",
        "CUmemLocationType",
        {
            VirtualMemoryLocationType.DEVICE: "CU_MEM_LOCATION_TYPE_DEVICE",
            VirtualMemoryLocationType.HOST: "CU_MEM_LOCATION_TYPE_HOST",
            VirtualMemoryLocationType.HOST_NUMA: "CU_MEM_LOCATION_TYPE_HOST_NUMA",
            VirtualMemoryLocationType.HOST_NUMA_CURRENT: "CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT",
        },
    ),
    "_allocation_type": (
        "_allocation_type_to_driver",
        "Unsupported allocation_type",
        "CUmemAllocationType",
        {
            VirtualMemoryAllocationType.PINNED: "CU_MEM_ALLOCATION_TYPE_PINNED",
            VirtualMemoryAllocationType.MANAGED: "CU_MEM_ALLOCATION_TYPE_MANAGED",
        },
    ),
}


class Table:
    """An attribute of a class that is made when it is first read, because it needs cuda.bindings."""

    def __init__(self, enumeration: str, members: dict[Any, str]) -> None:
        self._enumeration = enumeration
        self._members = members

    def __get__(self, instance: object, owner: type | None = None) -> dict[Any, Any]:
        enumeration = getattr(_binding("driver"), self._enumeration)
        return {word: getattr(enumeration, name) for word, name in self._members.items() if hasattr(enumeration, name)}


def add_tables(cls: Any) -> None:
    """Give the class its tables and the functions that look them up."""
    for table, (function, refusal, enumeration, members) in TABLES.items():
        setattr(cls, table, Table(enumeration, members))
        setattr(cls, function, staticmethod(_lookup(cls, table, refusal)))


def _lookup(cls: Any, table: str, refusal: str) -> Any:
    def look_up(spec: Any) -> Any:
        if spec == "win32":
            raise NotImplementedError("win32 is currently not supported: its handles need security attributes")
        try:
            return getattr(cls, table)[spec]
        except KeyError:
            known = ", ".join(repr(None if word is None else str(word)) for word in getattr(cls, table))
            raise ValueError(f"{refusal}: {spec!r} is none of {known}") from None

    return look_up
