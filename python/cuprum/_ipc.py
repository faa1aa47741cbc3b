"""How memory and events travel to other processes.

``pickle`` alone carries descriptors, and buffers and events whose memory resource the other process has imported
already. What multiprocessing sends, by queues, pipes and as arguments of a process, may also hold memory resources and
allocation handles, because it knows how to send a file descriptor along. This module teaches it that, and is imported
as soon as something is made that can be shared.
"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.reduction
import platform
import warnings
import weakref
from typing import Any

from cuprum import _core

_is_fork_checked = False


def from_bytes(cls: Any, data: bytes) -> Any:
    """A descriptor of what its to_bytes() gave."""
    return cls.from_bytes(data)


def pool_from_registry(cls: Any, uuid: Any) -> Any:
    """The memory resource that this process has registered by `uuid`."""
    return cls.from_registry(uuid)


def buffer_from_descriptor(memory_resource: Any, descriptor: Any) -> Any:
    """A buffer of another process, which is unmapped in the order of the default stream: streams do not travel."""
    _core._make_device_current(memory_resource.device_id)
    buffer = _core.Buffer.from_ipc_descriptor(memory_resource, descriptor, stream=_core.default_stream())
    key = id(buffer)
    _imports[key] = (weakref.ref(buffer, lambda _: _imports.pop(key, None)), memory_resource, descriptor)
    return buffer


# By the id of the buffer: a reference to it, and what it was made of.
_imports: dict[int, tuple[Any, Any, Any]] = {}


def description_of_import(buffer: Any) -> Any:
    """How to make a buffer of another process once more; None for one that was made here."""
    known = _imports.get(id(buffer))
    return (buffer_from_descriptor, known[1:]) if known and known[0]() is buffer else None


def event_from_descriptor(descriptor: Any) -> Any:
    """An event of another process."""
    return _core.Event.from_ipc_descriptor(descriptor)


def device_pool(device_id: int, handle: Any) -> Any:
    """A DeviceMemoryResource of another process."""
    return _core.DeviceMemoryResource.from_allocation_handle(device_id, handle)


def pinned_pool(handle: Any) -> Any:
    """A PinnedMemoryResource of another process."""
    return _core.PinnedMemoryResource.from_allocation_handle(handle)


def allocation_handle(data: bytes, duplicate: Any) -> Any:
    """An IPCAllocationHandle with the file descriptor that multiprocessing has brought."""
    return _core.IPCAllocationHandle.from_bytes(data, duplicate.detach())


def _reduce_allocation_handle(handle: Any) -> tuple[Any, ...]:
    check_multiprocessing_start_method()
    return allocation_handle, (handle.to_bytes(), multiprocessing.reduction.DupFd(int(handle)))


def _deep_reduce_device_memory_resource(resource: Any) -> tuple[Any, ...]:
    check_multiprocessing_start_method()
    return device_pool, (resource.device_id, resource.allocation_handle)


def _deep_reduce_pinned_memory_resource(resource: Any) -> tuple[Any, ...]:
    check_multiprocessing_start_method()
    return pinned_pool, (resource.allocation_handle,)


def _reduce_event(event: Any) -> tuple[Any, ...]:
    check_multiprocessing_start_method()
    return event_from_descriptor, (event.ipc_descriptor,)


def check_multiprocessing_start_method() -> None:
    """Warn, once, when child processes are forked: CUDA does not work in those."""
    global _is_fork_checked
    if _is_fork_checked or _goes_to_spawned_processes():
        return
    _is_fork_checked = True
    try:
        if multiprocessing.get_start_method() != "fork":
            return
        start = "multiprocessing start method is 'fork'"
    except RuntimeError:
        if platform.system() != "Linux":
            return
        start = "multiprocessing start method is not set and defaults to 'fork' on Linux"
    warnings.warn(
        f"{start}: CUDA in forked processes has undefined behavior, and fails to initialize. Call "
        "multiprocessing.set_start_method('spawn') before processes are made that use CUDA",
        UserWarning,
        stacklevel=3,
    )


def _goes_to_spawned_processes() -> bool:
    """Whether processes are made by a context of their own, as ``get_context("spawn")``, whatever the usual method is.

    Queues and pipes don't say who reads them: then it is all that this process has started.
    """
    starting = multiprocessing.context.get_spawning_popen()
    if starting is not None:
        return getattr(starting, "method", "fork") != "fork"
    children = multiprocessing.active_children()
    return bool(children) and all(getattr(each, "_start_method", None) in ("spawn", "forkserver") for each in children)


def reset_fork_warning() -> None:
    """Let the next check warn again."""
    global _is_fork_checked
    _is_fork_checked = False


multiprocessing.reduction.register(_core.IPCAllocationHandle, _reduce_allocation_handle)
multiprocessing.reduction.register(_core.DeviceMemoryResource, _deep_reduce_device_memory_resource)
multiprocessing.reduction.register(_core.PinnedMemoryResource, _deep_reduce_pinned_memory_resource)
multiprocessing.reduction.register(_core.Event, _reduce_event)
