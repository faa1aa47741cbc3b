"""CUDA from Python, with and without a GPU: the interface of NVIDIA's cuda.core over libcuprum.

>>> from cuprum import Device
>>> device = Device()
>>> device.set_current()
>>> stream = device.create_stream()
>>> stream.sync()
"""

from . import _interpreter  # isort: split # refuses to go on in a subinterpreter

from ._core import (  # noqa: E402
    Buffer,
    Context,
    Device,
    DeviceMemoryResource,
    DeviceProperties,
    DeviceResources,
    Event,
    GraphMemoryResource,
    GraphicsResource,
    Host,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    ManagedBuffer,
    ManagedMemoryResource,
    MappedImage,
    MemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    SMResource,
    Stream,
    TensorMapDescriptor,
    VirtualMemoryResource,
    WorkqueueResource,
    default_stream,
    launch,
)
from . import _older, _options  # _older gives classes their older names, too
from ._errors import CompileError, CUDAError, LibraryError, LinkError, NotSupportedError, NVRTCError, OutOfMemoryError
from ._options import *
from ._types import ComputeCapability, show_as_members_of

__all__ = [
    "Buffer",
    "CUDAError",
    "CompileError",
    "ComputeCapability",
    "Context",
    "ContextOptions",
    "CopyOptions",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "DeviceProperties",
    "DeviceResources",
    "Event",
    "EventOptions",
    "GraphMemoryResource",
    "GraphicsResource",
    "Host",
    "Kernel",
    "LEGACY_DEFAULT_STREAM",
    "LaunchConfig",
    "LegacyPinnedMemoryResource",
    "LibraryError",
    "LinkError",
    "Linker",
    "LinkerOptions",
    "ManagedBuffer",
    "ManagedMemoryResource",
    "ManagedMemoryResourceOptions",
    "MappedImage",
    "MemoryResource",
    "NVRTCError",
    "NotSupportedError",
    "ObjectCode",
    "OutOfMemoryError",
    "PER_THREAD_DEFAULT_STREAM",
    "PinnedMemoryResource",
    "PinnedMemoryResourceOptions",
    "Program",
    "ProgramOptions",
    "SMResource",
    "SMResourceOptions",
    "Stream",
    "StreamOptions",
    "TensorMapDescriptor",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "WorkqueueResource",
    "WorkqueueResourceOptions",
    "__version__",
    "default_stream",
    "launch",
]

LEGACY_DEFAULT_STREAM = Stream.legacy_default()
PER_THREAD_DEFAULT_STREAM = Stream.per_thread_default()

__version__ = "0.1.0"

_options.let_hints_be_resolved(Device=Device, Host=Host, Stream=Stream)
show_as_members_of(__name__, list(globals().values()))
del show_as_members_of


TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from . import graph as graph
    from . import system as system
    from . import texture as texture
    from . import typing as typing
    from . import utils as utils
    from ._tensor_map import (
        TensorMapDataType as TensorMapDataType,
        TensorMapDescriptorOptions as TensorMapDescriptorOptions,
        TensorMapIm2ColWideMode as TensorMapIm2ColWideMode,
        TensorMapInterleave as TensorMapInterleave,
        TensorMapL2Promotion as TensorMapL2Promotion,
        TensorMapOOBFill as TensorMapOOBFill,
        TensorMapSwizzle as TensorMapSwizzle,
    )

else:  # what is unknown stays an error to type checkers

    def __getattr__(name: str) -> object:
        """Modules of the package, and types of tensor maps, that are imported when somebody asks for them."""
        if name in ("checkpoint", "graph", "system", "texture", "typing", "utils"):
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        if name.startswith("TensorMap"):
            from . import _tensor_map

            if name in _tensor_map.__all__:
                return getattr(_tensor_map, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
