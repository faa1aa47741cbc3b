"""Small types that the extension hands out."""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

ComputeCapability = namedtuple("ComputeCapability", ["major", "minor"])
ComputeCapability.__doc__ = "What a device's multiprocessors can do, as two numbers: (9, 0) for an H100."

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", ["min_grid_size", "max_block_size"]
)
MaxPotentialBlockSizeOccupancyResult.__doc__ = (
    "The block size with the best occupancy, and the blocks that fill the device."
)

ParamInfo = namedtuple("ParamInfo", ["offset", "size"])
ParamInfo.__doc__ = "Where a parameter of a kernel lies among its arguments, in bytes."


class KernelAttributeValue(int):
    """An attribute of a kernel: an int that can be called, too, as earlier versions of cuda.core wanted it.

    >>> from cuprum import Device, ObjectCode
    >>> Device().set_current()
    >>> code = ObjectCode.from_ptx(b".version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }")
    >>> attributes = code.get_kernel("f").attributes
    >>> attributes.max_threads_per_block == attributes.max_threads_per_block(0) == attributes[0].max_threads_per_block
    True
    """

    _attributes: Any
    _name: str

    def __new__(cls, value: int, attributes: Any, name: str) -> KernelAttributeValue:
        self = super().__new__(cls, value)
        self._attributes = attributes
        self._name = name
        return self

    def __call__(self, device_id: Any = None) -> int:
        """The attribute on a device, a Device or its number; None is the device that it was read of."""
        if device_id is None:
            return int(self)
        return int(getattr(self._attributes[device_id], self._name))

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)


def show_as_members_of(module: str, members: Iterable[object]) -> None:
    """Has classes of the extension say that they are of the module under which users know them."""
    for member in members:
        if isinstance(member, type) and member.__module__ == "cuprum._core":
            member.__module__ = module
