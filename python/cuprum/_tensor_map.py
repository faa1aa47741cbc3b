"""Tensor maps: descriptions of arrays for the copy engine of GPUs since compute capability 9.0.

``StridedMemoryView.as_tensor_map`` makes them; the C++ guide and ``<cuprum/tensor_map.hpp>`` say what they are for.

>>> TensorMapDescriptorOptions(box_dim=(64, 32), swizzle=TensorMapSwizzle.SWIZZLE_128B).box_dim
(64, 32)
"""

from __future__ import annotations

import functools
from enum import IntEnum

from ._core import (
    StridedMemoryView,
    TensorMapDescriptor,
    _encode_im2col,
    _encode_im2col_wide,
    _encode_tiled,
)
from ._options_base import check_options, options

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    Member = TypeVar("Member", bound=IntEnum)

__all__ = [
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
]


class TensorMapDataType(IntEnum):
    """The type of a tensor map's elements, numbered as CUtensorMapDataType."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


class TensorMapInterleave(IntEnum):
    """How channels lie in global memory: side by side, or in slices of 16 or 32 bytes."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """Within how many bytes of shared memory 16-byte chunks are exchanged, to spread columns over the banks."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """How many bytes the second-level cache fetches at least."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """What elements outside of the tensor are read as: 0, or a NaN that multiply-adds take for 0."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """What an im2col-wide map loads along the width: as many pixels as it is told, or 128."""

    W = 0
    W128 = 1


def _sequence(name: str, values: Any) -> tuple[int, ...]:
    try:
        numbers = tuple(values)
    except TypeError:
        raise TypeError(f"{name} must be a tuple of ints, got {type(values)}") from None
    for place, number in enumerate(numbers):
        if not isinstance(number, int):
            raise TypeError(f"{name}[{place}] must be an int, got {type(number)}")
        if number.bit_length() > 63:
            raise ValueError(f"{name}[{place}] must fit into 64 bits, got {number}")
    return numbers


def _member(name: str, value: object, enumeration: type[Member]) -> Member:
    if not isinstance(value, enumeration):
        raise TypeError(f"{name} must be a {enumeration.__name__}, got {type(value)}")
    return value


def _element_type(data_type: Any) -> Any:
    """What a caller gave as data_type: None, a TensorMapDataType, or a dtype of NumPy."""
    if data_type is None or isinstance(data_type, TensorMapDataType):
        return data_type
    import numpy

    try:
        return numpy.dtype(data_type)
    except TypeError:
        raise TypeError(
            f"data_type must be a TensorMapDataType or a dtype of NumPy or ml_dtypes, got {type(data_type)}"
        ) from None


@options
class TensorMapDescriptorOptions:
    """What a tensor map of tiles is like: the arguments of StridedMemoryView.as_tensor_map. Numbers are by axis, in the
    order of the view's shape."""

    box_dim: tuple[int, ...]
    """Elements of a tile: 1 to 256."""
    element_strides: tuple[int, ...] | None = None
    """Every how many elements of the tile one is taken: 1 to 8; None: all 1."""
    data_type: object = None
    """A dtype of NumPy or ml_dtypes, or a TensorMapDataType; None: that of the view."""
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    """How channels lie in global memory."""
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    """How chunks are exchanged in shared memory."""
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    """What the second-level cache fetches."""
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE
    """What is outside of the tensor."""

    def __post_init__(self) -> None:
        self.box_dim = _sequence("box_dim", self.box_dim)
        if self.element_strides is not None:
            self.element_strides = _sequence("element_strides", self.element_strides)
        self.data_type = _element_type(self.data_type)
        _member("interleave", self.interleave, TensorMapInterleave)
        _member("swizzle", self.swizzle, TensorMapSwizzle)
        _member("l2_promotion", self.l2_promotion, TensorMapL2Promotion)
        _member("oob_fill", self.oob_fill, TensorMapOOBFill)


def _coerce_tensor_map_descriptor_options(
    box_dim: Any,
    options: Any,
    *,
    element_strides: Any = None,
    data_type: Any = None,
    interleave: Any = TensorMapInterleave.NONE,
    swizzle: Any = TensorMapSwizzle.NONE,
    l2_promotion: Any = TensorMapL2Promotion.NONE,
    oob_fill: Any = TensorMapOOBFill.NONE,
) -> TensorMapDescriptorOptions:
    """One object of what may be given as one or as single arguments."""
    if options is None:
        if box_dim is None:
            raise TypeError("box_dim is required unless options is provided")
        return TensorMapDescriptorOptions(
            box_dim, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
        )
    members = (interleave, swizzle, l2_promotion, oob_fill)
    if box_dim is not None or element_strides is not None or data_type is not None or any(members):
        raise TypeError("Specify either options or the individual tensor map arguments, not both")
    return check_options(TensorMapDescriptorOptions, options, "Tensor map descriptor options")


@functools.cache
def _types_by_dtype() -> dict[Any, TensorMapDataType]:
    import numpy

    names = "uint8 uint16 uint32 int32 uint64 int64 float16 float32 float64".split()
    types = {numpy.dtype(name): TensorMapDataType[name.upper()] for name in names}
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return types  # then there are no arrays of it, either
    types[numpy.dtype(bfloat16)] = TensorMapDataType.BFLOAT16
    return types


def __getattr__(name: str) -> object:
    if name == "_NUMPY_DTYPE_TO_TMA":  # made when asked for: it takes NumPy
        return _types_by_dtype()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _resolve_data_type(view: Any, data_type: Any) -> int:
    """The number of the elements' type, as the caller gave it or as the view says."""
    given = _element_type(data_type)
    if isinstance(given, TensorMapDataType):
        return int(given)
    dtype = view.dtype if given is None else given
    if dtype is None:
        raise ValueError("Cannot infer TMA data type from the tensor; please specify data_type explicitly")
    known = _types_by_dtype()
    if dtype not in known:
        raise ValueError(
            f"Unsupported dtype {dtype} for TMA: tensor maps have {', '.join(map(str, known))}; "
            "specify data_type explicitly, such as TensorMapDataType.UINT8 for other types of a byte"
        )
    return int(known[dtype])


def _require_view_device(view: Any, expected_device_id: int, operation: str) -> None:
    """Refuse memory of another device. Pinned and managed memory, of which DLPack says device 0, is for all of them."""
    kind, device_id = view.__dlpack_device__()
    if kind == 2 and device_id != expected_device_id:  # kDLCUDA
        raise ValueError(f"{operation} expects tensor on device {expected_device_id}, got {device_id}")


def _view_for(tensor: Any, device_id: int, operation: str) -> StridedMemoryView:
    """The tensor as a view that a map on this device can be of. No stream has to wait: no element is read."""
    view = tensor if isinstance(tensor, StridedMemoryView) else StridedMemoryView.from_any_interface(tensor, -1)
    if not view.is_device_accessible:
        raise ValueError("The tensor must be device-accessible: copy it to a Buffer, and take a view of that")
    if view.ptr % 16 != 0:
        raise ValueError(f"Global memory address must be 16-byte aligned, got address {view.ptr:#x}")
    _require_view_device(view, device_id, operation)
    return view


def _checked_view(view: Any, operation: str) -> StridedMemoryView:
    from . import Device

    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"view must be a StridedMemoryView, got {type(view)}")
    if not view.is_device_accessible:  # without asking for a device
        return _view_for(view, -1, operation)
    return _view_for(view, Device().device_id, f"TensorMapDescriptor._{operation}")


def as_tensor_map(
    view: StridedMemoryView,
    box_dim: Any,
    options: Any,
    element_strides: Any,
    data_type: Any,
    interleave: Any,
    swizzle: Any,
    l2_promotion: Any,
    oob_fill: Any,
) -> TensorMapDescriptor:
    """StridedMemoryView.as_tensor_map, to which None is what was not given."""
    given = {
        "interleave": interleave,
        "swizzle": swizzle,
        "l2_promotion": l2_promotion,
        "oob_fill": oob_fill,
    }
    members = {name: value for name, value in given.items() if value is not None}
    return from_tiled(
        view, box_dim, options=options, element_strides=element_strides, data_type=data_type, **members
    )


def from_tiled(
    view: StridedMemoryView,
    box_dim: Iterable[int] | None = None,
    *,
    options: TensorMapDescriptorOptions | dict[str, Any] | None = None,
    element_strides: Iterable[int] | None = None,
    data_type: Any = None,
    interleave: TensorMapInterleave = TensorMapInterleave.NONE,
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE,
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE,
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE,
) -> TensorMapDescriptor:
    """A map for copies of tiles."""
    wanted = _coerce_tensor_map_descriptor_options(
        box_dim,
        options,
        element_strides=element_strides,
        data_type=data_type,
        interleave=interleave,
        swizzle=swizzle,
        l2_promotion=l2_promotion,
        oob_fill=oob_fill,
    )
    view = _checked_view(view, "from_tiled")
    members = (wanted.interleave, wanted.swizzle, wanted.l2_promotion, wanted.oob_fill)
    numbers = (_resolve_data_type(view, wanted.data_type), *map(int, members))
    return _encode_tiled(view, wanted.box_dim, wanted.element_strides, numbers)


def from_im2col(
    view: StridedMemoryView,
    pixel_box_lower_corner: Iterable[int],
    pixel_box_upper_corner: Iterable[int],
    channels_per_pixel: int,
    pixels_per_column: int,
    *,
    element_strides: Iterable[int] | None = None,
    data_type: Any = None,
    interleave: TensorMapInterleave = TensorMapInterleave.NONE,
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE,
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE,
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE,
) -> TensorMapDescriptor:
    """A map of a view with the axes N, D, H, W, C (or N, H, W, C, or N, W, C) for columns of a convolution."""
    view = _checked_view(view, "from_im2col")
    return _encode_im2col(
        view,
        _sequence("pixel_box_lower_corner", pixel_box_lower_corner),
        _sequence("pixel_box_upper_corner", pixel_box_upper_corner),
        channels_per_pixel,
        pixels_per_column,
        None if element_strides is None else _sequence("element_strides", element_strides),
        _numbers(view, data_type, interleave, swizzle, l2_promotion, oob_fill),
    )


def from_im2col_wide(
    view: StridedMemoryView,
    pixel_box_lower_corner_width: int,
    pixel_box_upper_corner_width: int,
    channels_per_pixel: int,
    pixels_per_column: int,
    *,
    element_strides: Iterable[int] | None = None,
    data_type: Any = None,
    interleave: TensorMapInterleave = TensorMapInterleave.NONE,
    mode: TensorMapIm2ColWideMode = TensorMapIm2ColWideMode.W,
    swizzle: TensorMapSwizzle = TensorMapSwizzle.SWIZZLE_128B,
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE,
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE,
) -> TensorMapDescriptor:
    """The same along the width alone, on GPUs since compute capability 10.0."""
    view = _checked_view(view, "from_im2col_wide")
    return _encode_im2col_wide(
        view,
        pixel_box_lower_corner_width,
        pixel_box_upper_corner_width,
        channels_per_pixel,
        pixels_per_column,
        int(_member("mode", mode, TensorMapIm2ColWideMode)),
        None if element_strides is None else _sequence("element_strides", element_strides),
        _numbers(view, data_type, interleave, swizzle, l2_promotion, oob_fill),
    )


def _numbers(
    view: StridedMemoryView, data_type: Any, interleave: Any, swizzle: Any, l2_promotion: Any, oob_fill: Any
) -> tuple[int, ...]:
    return (
        _resolve_data_type(view, data_type),
        int(_member("interleave", interleave, TensorMapInterleave)),
        int(_member("swizzle", swizzle, TensorMapSwizzle)),
        int(_member("l2_promotion", l2_promotion, TensorMapL2Promotion)),
        int(_member("oob_fill", oob_fill, TensorMapOOBFill)),
    )
