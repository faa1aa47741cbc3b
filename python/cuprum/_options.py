"""The options of everything in cuprum that takes options.

Each is a class with fields and defaults. Whatever takes one takes a dict with the same keys, too, or None:

>>> from cuprum import EventOptions
>>> EventOptions(timing_enabled=True)
EventOptions(timing_enabled=True, blocking_sync=False, ipc_enabled=False)

Names that earlier versions of cuda.core had are still taken (`_older`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuprum._options_base import check_options, options
from cuprum.typing import (
    CompilerBackendType,
    DeviceResourcesType,
    GraphMemoryType,
    ManagedMemoryLocationType,
    MemcpyOverlapMode,
    MemcpySrcAccessOrder,
    ObjectCodeFormatType,
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
    WorkqueueSharingScopeType,
)

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

    from cuprum import Device, Host, Stream

# What the package itself has; options of graphs are in cuprum.graph.
__all__ = [
    "ContextOptions",
    "CopyOptions",
    "DeviceMemoryResourceOptions",
    "EventOptions",
    "LinkerOptions",
    "ManagedMemoryResourceOptions",
    "PinnedMemoryResourceOptions",
    "ProgramOptions",
    "SMResourceOptions",
    "StreamOptions",
    "VirtualMemoryResourceOptions",
    "WorkqueueResourceOptions",
]

Texts = str | list[str] | tuple[str, ...]
Numbers = int | list[int] | tuple[int, ...]
Macro = str | tuple[str, str]


@options
class StreamOptions:
    """Options of a Stream.

    nonblocking: whether the stream does not wait for the legacy default stream, nor that one for it.
    priority: lower numbers go first; None is the lowest priority.

    >>> StreamOptions(priority=-1)
    StreamOptions(nonblocking=True, priority=-1)
    """

    nonblocking: object = True
    priority: int | None = None


@options
class EventOptions:
    """Options of an Event.

    timing_enabled: the event takes the time, so that two of them can be subtracted.
    blocking_sync: a thread that waits for the event sleeps, in place of asking over and over.
    ipc_enabled: the event can be given to another process; it can't take the time then.

    >>> EventOptions(timing_enabled=True).timing_enabled
    True
    """

    timing_enabled: bool | None = False
    blocking_sync: bool | None = False
    ipc_enabled: bool | None = False

    _older = {
        "enable_timing": "timing_enabled",
        "busy_waited_sync": "blocking_sync",
        "support_ipc": "ipc_enabled",
    }


@options
class ContextOptions:
    """Options of a green context. resources: the multiprocessors and work queues that it gets."""

    resources: DeviceResourcesType


@options
class SMResourceOptions:
    """How SMResource.split cuts multiprocessors into groups; a sequence gives one value to each group.

    count: multiprocessors of each group; None lets the driver choose.
    coscheduled_sm_count: the least number of them that run blocks of one cluster together.
    preferred_coscheduled_sm_count: the number that is tried first.
    backfill: multiprocessors may be taken that are not scheduled together with the rest of their group.
    """

    count: int | Sequence[int] | None = None
    coscheduled_sm_count: int | Sequence[int] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int] | None = None
    backfill: bool | Sequence[bool] = False


@options
class WorkqueueResourceOptions:
    """Options of WorkqueueResource.configure.

    sharing_scope: who shares the queues, "device_ctx" or "green_ctx_balanced".
    concurrency_limit: how many streams are expected to have work at one time, at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        if self.sharing_scope is not None:
            self.sharing_scope = member(WorkqueueSharingScopeType, self.sharing_scope, "sharing_scope")
        limit = self.concurrency_limit
        if limit is None:
            return
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise TypeError(f"concurrency_limit must be an int or None, not {type(limit).__name__}")
        if limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, not {limit}")


@options
class DeviceMemoryResourceOptions:
    """Options of a DeviceMemoryResource.

    ipc_enabled: its buffers can be given to other processes.
    max_size: the most bytes that the pool holds; 0 leaves it to the driver.
    """

    ipc_enabled: bool = False
    max_size: int = 0


@options
class PinnedMemoryResourceOptions:
    """Options of a PinnedMemoryResource.

    ipc_enabled: its buffers can be given to other processes.
    max_size: the most bytes that the pool holds; 0 leaves it to the driver.
    numa_id: the NUMA node of the memory. None: wherever the system puts it, or with ipc_enabled the current device's node.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@options
class ManagedMemoryResourceOptions:
    """Options of a ManagedMemoryResource.

    preferred_location: the number of a device or of a NUMA node, as preferred_location_type says; without that type a
        device's number, -1 for the host, or None for no preference.
    preferred_location_type: "device", "host" (preferred_location is None then) or "host_numa".
    """

    preferred_location: int | None = None
    preferred_location_type: ManagedMemoryLocationType | str | None = None


@options
class VirtualMemoryResourceOptions:
    """Options of a VirtualMemoryResource.

    allocation_type: "pinned" or "managed" memory.
    location_type: where the physical memory is: "device", "host", "host_numa" or "host_numa_current".
    handle_type: as what allocations can be given to another process, or None.
    granularity: sizes are rounded up to the "minimum" or the "recommended" granularity.
    gpu_direct_rdma: network cards can reach the memory.
    addr_hint: the address that is wanted; 0 is any.
    addr_align: the alignment of the address; None is the granularity.
    peers: numbers of further devices that get access.
    self_access: what the own device may do: "rw", "r", or None for nothing.
    peer_access: what `peers` may do.
    """

    allocation_type: VirtualMemoryAllocationType | str = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType | str = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | str | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType | str = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE


@options(frozen=True)
class CopyOptions:
    """Hints for one copy.

    src_access_order: when the source may be read: "stream", "during_api_call" or "any".
    src_location_hint, dst_location_hint: where managed memory is at that time, a Device or a Host.
    overlap_mode: "default" or "prefer_overlap_with_compute".

    >>> CopyOptions(src_access_order="any").src_access_order
    <MemcpySrcAccessOrder.ANY: 'any'>
    """

    src_access_order: MemcpySrcAccessOrder | str = "stream"
    src_location_hint: Device | Host | None = None
    dst_location_hint: Device | Host | None = None
    overlap_mode: MemcpyOverlapMode | str = "default"

    def __post_init__(self) -> None:
        order = member(MemcpySrcAccessOrder, self.src_access_order, "src_access_order")
        mode = member(MemcpyOverlapMode, self.overlap_mode, "overlap_mode")
        self.__dict__.update(src_access_order=order, overlap_mode=mode)


@options
class ProgramOptions:
    """Options of a Program. None leaves an option to the compiler; what each means is in the guide to compiling.

    >>> ProgramOptions(std="c++17", arch="sm_90")
    ProgramOptions(name='default_program', arch='sm_90')
    """

    name: str | None = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = None
    extensible_whole_program: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: Texts | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    extra_device_vectorization: bool | None = None
    link_time_optimization: bool | None = None
    gen_opt_lto: bool | None = None
    define_macro: Macro | list[Macro] | tuple[Macro, ...] | None = None
    undefine_macro: Texts | None = None
    include_path: Texts | None = None
    pre_include: Texts | None = None
    no_source_include: bool | None = None
    std: str | None = None
    builtin_move_forward: bool | None = None
    builtin_initializer_list: bool | None = None
    disable_warnings: bool | None = None
    restrict: bool | None = None
    device_as_default_execution_space: bool | None = None
    device_int128: bool | None = None
    optimization_info: str | None = None
    no_display_error_number: bool | None = None
    diag_error: Numbers | None = None
    diag_suppress: Numbers | None = None
    diag_warn: Numbers | None = None
    brief_diagnostics: bool | None = None
    time: str | None = None
    split_compile: int | None = None
    fdevice_syntax_only: bool | None = None
    minimal: bool | None = None
    no_cache: bool | None = None
    fdevice_time_trace: str | None = None
    device_float128: bool | None = None
    frandom_seed: str | None = None
    ofast_compile: str | None = None
    pch: bool | None = None
    create_pch: str | None = None
    use_pch: str | None = None
    pch_dir: str | None = None
    pch_verbose: bool | None = None
    pch_messages: bool | None = None
    instantiate_templates_in_pch: bool | None = None
    extra_sources: (
        list[tuple[str, str | bytes | bytearray]] | tuple[tuple[str, str | bytes | bytearray], ...] | None
    ) = None
    use_libdevice: bool | None = None
    numba_debug: bool | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            self.name = "default_program"
        if self.arch is None:
            from cuprum import Device

            self.arch = f"sm_{Device().arch}"
        if self.extra_sources is not None:
            _check_extra_sources(self.extra_sources)

    def __repr__(self) -> str:
        return f"ProgramOptions(name={self.name!r}, arch={self.arch!r})"

    def as_bytes(
        self, backend: CompilerBackendType | str, target_type: ObjectCodeFormatType | str | None = None
    ) -> list[bytes]:
        """The options as `backend` ("nvrtc" or "nvvm") reads them, for a compilation to `target_type`.

        >>> ProgramOptions(arch="sm_90", std="c++20").as_bytes("nvrtc")
        [b'-arch=sm_90', b'--std=c++20']
        """
        name = str(backend).lower()
        if name not in ("nvrtc", "nvvm"):
            raise ValueError(f"Unknown backend {name!r}: it must be one of 'nvrtc', 'nvvm'")
        from cuprum import _core

        target = None if target_type is None else str(target_type)
        return [argument.encode() for argument in _core._program_arguments(self, name, target)]


def _check_extra_sources(sources: object) -> None:
    if not isinstance(sources, (list, tuple)):
        raise TypeError(f"extra_sources must be a sequence of 2-tuples (name, source), not {type(sources).__name__}")
    for index, source in enumerate(sources):
        if not isinstance(source, tuple) or len(source) != 2:
            raise TypeError(
                f"Each extra module must be a 2-tuple (name, source), got {type(source).__name__} at index {index}"
            )
        name, text = source
        if not isinstance(name, str):
            raise TypeError(f"Module name at index {index} must be a string, got {type(name).__name__}")
        if not isinstance(text, (str, bytes, bytearray)):
            raise TypeError(
                f"Module source at index {index} must be str (LLVM IR as text), bytes or bytearray "
                f"(LLVM IR as text or bitcode), got {type(text).__name__}"
            )
        if len(text) == 0:
            raise ValueError(f"Module source for {name!r} (index {index}) cannot be empty")


@options
class LinkerOptions:
    """Options of a Linker. None leaves an option to the linker; `arch` None is that of the current device."""

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: Texts | None = None
    variables_used: Texts | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: Texts | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None
    numba_debug: bool | None = None

    def __post_init__(self) -> None:
        if self.name is None:
            self.name = "<default linker>"
        if self.numba_debug is not None:
            import warnings

            warnings.warn(
                "numba_debug is not supported by any linking backend, and LinkerOptions will lose it: set "
                "ProgramOptions.numba_debug where the code is compiled from C++ or NVVM IR",
                DeprecationWarning,
                stacklevel=3,
            )

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """The options as nvJitLink reads them; the driver's linker has no such form, and raises ValueError."""
        name = str(backend).lower()
        if name != "nvjitlink":
            raise ValueError(f"as_bytes() only supports 'nvjitlink' backend, got {name!r}")
        from cuprum import _core

        return [argument.encode() for argument in _core._linker_arguments(self, name)]


@options
class GraphCompleteOptions:
    """How a graph is made ready to launch.

    auto_free_on_launch: memory that the graph allocated and still holds is freed when it is launched again.
    upload_stream: the stream on which the graph is uploaded at once.
    device_launch: kernels can launch the graph; not together with auto_free_on_launch.
    use_node_priority: nodes have their own priorities in place of the launching stream's.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False


@options
class GraphAllocOptions:
    """The memory of an allocation node, as earlier versions of cuda.core took it: today these are keywords of allocate().

    device: the device that holds the memory, or its number; None is the current one.
    memory_type: "device", "host" or "managed".
    peer_access: further devices that get access.
    """

    device: Device | int | None = None
    memory_type: GraphMemoryType | str = "device"
    peer_access: list[Device | int] | None = None


@options
class GraphDebugPrintOptions:
    """What debug_dot_print writes about each node of a graph, besides its kind; `verbose` is everything."""

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False


def member(enumeration: Any, value: object, what: str) -> Any:
    """The member of `enumeration` that `value` is or spells; else a ValueError that lists the spellings."""
    try:
        return enumeration(value)
    except (ValueError, TypeError):
        spellings = ", ".join(repr(str(one)) for one in enumeration)
        kind = enumeration.__name__
        raise ValueError(f"invalid {what}: {value!r} is not a valid {kind}. Must be one of {spellings}") from None


def let_hints_be_resolved(**classes: type) -> None:
    """Have typing.get_type_hints() find the classes that options refer to, which are made after this module."""
    globals().update(classes)
