"""How arrays, textures and surfaces are made: the options of cuprum.texture, and what is taken for a format."""

from __future__ import annotations

from cuprum._options_base import check_options, options
from cuprum.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def array_format(format: object) -> ArrayFormatType:
    """The member that `format` is, spells, or is a dtype of NumPy for; else a ValueError.

    >>> array_format("uint8")
    <ArrayFormatType.UINT8: 'uint8'>
    """
    if isinstance(format, ArrayFormatType):
        return format
    every = ", ".join(repr(str(one)) for one in ArrayFormatType)
    if isinstance(format, str):
        try:
            return ArrayFormatType(format)
        except ValueError:
            raise ValueError(f"format must be an ArrayFormatType or one of {every}, not {format!r}") from None
    try:
        import numpy

        dtype = numpy.dtype(format)  # type: ignore[call-overload]
    except (ImportError, TypeError):
        raise ValueError(
            f"format must be an ArrayFormatType, one of {every}, or a dtype of NumPy, not {format!r}"
        ) from None
    if not dtype.isnative or dtype.name not in list(ArrayFormatType):
        raise ValueError(f"{dtype!r} has no ArrayFormatType equivalent; there are {every}")
    return ArrayFormatType(dtype.name)


def channels(num_channels: Any) -> int:
    """`num_channels`, if that is what a texel can have; else a ValueError."""
    if isinstance(num_channels, bool) or num_channels not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2, or 4, not {num_channels!r}")
    return int(num_channels)


def array_shape(shape: Iterable[Any]) -> tuple[int, ...]:
    """`shape` as a tuple of one to three extents; else a TypeError or ValueError."""
    try:
        extents = tuple(int(extent) for extent in shape)
    except TypeError:
        raise TypeError(f"shape must be a tuple of ints, not {type(shape).__name__}") from None
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"shape rank must be 1, 2, or 3, not {len(extents)}: width, height, depth")
    for axis, extent in enumerate(extents):
        if extent < 1:
            raise ValueError(f"shape[{axis}] must be >= 1, not {extent}")
    return extents


def mode(name: str, value: object, enumeration: Any) -> Any:
    """The member of `enumeration` that `value` is or spells; else a ValueError that names the option."""
    try:
        return enumeration(value)
    except ValueError:
        every = ", ".join(repr(str(one)) for one in enumeration)
        raise ValueError(f"{name} must be a {enumeration.__name__} or one of {every}, not {value!r}") from None


def address_modes(address_mode: Any) -> tuple[AddressModeType, AddressModeType, AddressModeType]:
    """One mode for each axis: a single one is for all, and of several the last is for those that follow, too.

    >>> [str(mode) for mode in address_modes(("wrap", "clamp"))]
    ['wrap', 'clamp', 'clamp']
    """
    if isinstance(address_mode, str):
        all_axes = mode("address_mode", address_mode, AddressModeType)
        return (all_axes, all_axes, all_axes)
    try:
        given = tuple(address_mode)
    except TypeError:
        raise TypeError(
            f"address_mode must be an AddressModeType or a tuple of them, not {type(address_mode).__name__}"
        ) from None
    if not 1 <= len(given) <= 3:
        raise ValueError(f"address_mode tuple must have 1-3 entries, not {len(given)}")
    modes = [mode(f"address_mode[{axis}]", one, AddressModeType) for axis, one in enumerate(given)]
    x, y, z = modes + modes[-1:] * (3 - len(modes))
    return (x, y, z)


_normalize_address_modes = address_modes
_normalize_array_format = array_format


@options
class OpaqueArrayOptions:
    """Options of Device.create_opaque_array.

    shape: (width,), (width, height) or (width, height, depth), in texels.
    format: an ArrayFormatType, its name, or a dtype of NumPy, of each channel.
    num_channels: of each texel: 1, 2 or 4.
    is_surface_load_store: kernels can write the array through a SurfaceObject.

    >>> OpaqueArrayOptions(shape=(640, 480), format="uint8", num_channels=4).shape
    (640, 480)
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.format = array_format(self.format)
        self.num_channels = channels(self.num_channels)
        self.shape = array_shape(self.shape)


@options
class MipmappedArrayOptions:
    """Options of Device.create_mipmapped_array.

    shape: of level 0; each further level has half of it, but at least 1.
    format: an ArrayFormatType, its name, or a dtype of NumPy, of each channel.
    num_channels: of each texel: 1, 2 or 4.
    num_levels: level 0 included; as many as there are until a level is a single texel, if that is less.
    is_surface_load_store: kernels can write levels through a SurfaceObject.

    >>> MipmappedArrayOptions(shape=(64, 64), format="float32", num_channels=1, num_levels=7).num_levels
    7
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.format = array_format(self.format)
        self.num_channels = channels(self.num_channels)
        self.shape = array_shape(self.shape)
        if not hasattr(self.num_levels, "__int__") and not hasattr(self.num_levels, "__index__"):
            raise TypeError(f"num_levels must be an int, not {type(self.num_levels).__name__}")
        self.num_levels = int(self.num_levels)
        if self.num_levels < 1:
            raise ValueError(f"num_levels must be >= 1, not {self.num_levels}")


@options
class TextureObjectOptions:
    """How a texture is read. One of linear memory has neither filter nor address modes: those are ignored.

    address_mode: what is beyond the edges: an AddressModeType, or a tuple of one to three, one for each axis.
    filter_mode: how it is read between texels.
    read_mode: what kernels get of integers.
    normalized_coords: coordinates go from 0 to 1, not to the extent.
    srgb: 8-bit channels are sRGB, and are read as linear light.
    disable_trilinear_optimization: levels are blended however close the result would be.
    seamless_cubemap: filters across the edges of a cube; only for cubemaps.
    max_anisotropy: 1 to 16; 0 is 1.
    mipmap_filter_mode: how it is read between levels.
    mipmap_level_bias: is added to the level.
    min_mipmap_level_clamp: the lowest level, after the bias.
    max_mipmap_level_clamp: the highest level, after the bias.
    border_color: four floats, of the mode "border"; None is all zeros.

    >>> TextureObjectOptions(filter_mode="linear").filter_mode
    <FilterModeType.LINEAR: 'linear'>
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self.filter_mode = mode("filter_mode", self.filter_mode, FilterModeType)
        self.read_mode = mode("read_mode", self.read_mode, ReadModeType)
        self.mipmap_filter_mode = mode("mipmap_filter_mode", self.mipmap_filter_mode, FilterModeType)


def border(color: Any) -> tuple[float, ...]:
    """Four floats; else a TypeError or ValueError."""
    if color is None:
        return (0.0, 0.0, 0.0, 0.0)
    color = tuple(color)
    for channel in color:
        if isinstance(channel, (str, bytes, bytearray)):  # float() would read them
            raise TypeError(f"border_color must be four numbers, and one is {channel!r}")
    floats = tuple(float(channel) for channel in color)
    if len(floats) != 4:
        raise ValueError(f"border_color must have 4 elements, not {len(floats)}")
    return floats


def checked(name: str, given: object, what: str) -> Any:
    """An object of the class of options called `name`, of what a caller gave: that, a dict or None."""
    return check_options(globals()[name], given, what)
