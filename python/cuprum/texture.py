"""Arrays of texels, and the textures and surfaces by which kernels use them.

>>> import array
>>> from cuprum import Device
>>> from cuprum.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
>>> device = Device(); device.set_current()
>>> stream = device.create_stream()
>>> image = device.create_opaque_array(OpaqueArrayOptions(shape=(4, 2), format="float32", num_channels=1))
>>> image.copy_from(array.array("f", range(8)), stream=stream)
>>> texture = device.create_texture_object(
...     resource=ResourceDescriptor.from_opaque_array(image), options=TextureObjectOptions(filter_mode="linear"))
>>> texture.handle != 0
True
"""

from __future__ import annotations

from ._core import MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject
from ._texture_options import MipmappedArrayOptions, OpaqueArrayOptions, TextureObjectOptions
from ._types import show_as_members_of

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]

show_as_members_of(__name__, [MipmappedArray, OpaqueArray, ResourceDescriptor, SurfaceObject, TextureObject])
for _options in (MipmappedArrayOptions, OpaqueArrayOptions, TextureObjectOptions):
    _options.__module__ = __name__
del _options, show_as_members_of
