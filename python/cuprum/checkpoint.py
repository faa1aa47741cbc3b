"""Checkpoints: taking the devices from a process that runs, and giving them back, with everything as it was.

.. code-block:: python

    process = Process(pid)  # another process of this user
    process.lock(timeout_ms=5000)  # its work is done, and its calls of CUDA wait
    process.checkpoint()  # its device memory is free for others
    process.restore()
    process.unlock()  # it goes on and has noticed nothing

A process can ask for this itself. From then on until it is unlocked its own calls of CUDA wait as well, those of the
garbage collector included.

>>> import os
>>> from cuprum import Device
>>> from cuprum.checkpoint import Process
>>> Device().set_current()
>>> Process(os.getpid()).state
'running'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cuprum import _core
from cuprum._arguments import names_the_nearest_keywords
from cuprum._errors import BoundsError

if TYPE_CHECKING:
    from cuprum._protocols import ProcessStateType as _ProcessStateType

__all__ = ["Process"]

_MOST_MS = 0xFFFF_FFFF


@names_the_nearest_keywords
class Process:
    """A process that uses CUDA, by its number: it can be locked, checkpointed, restored and unlocked.

    It holds nothing of the process, which may end meanwhile. Everything but :attr:`pid` raises
    :class:`cuprum.CUDAError` when there is no such process, when it belongs to another user, when it has not
    initialised CUDA, and when it is in another state than needed.
    """

    __slots__ = ("_process",)

    def __init__(self, pid: int) -> None:
        self._process = _core.CheckpointProcess(_check_pid(pid))

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def state(self) -> _ProcessStateType:
        """Its state at this moment: "running", "locked", "checkpointed" or "failed"."""
        return self._process.state  # type: ignore[return-value]

    @property
    def restore_thread_id(self) -> int:
        """The number of the thread in it that checkpoints and restores it."""
        return self._process.restore_thread_id

    def lock(self, timeout_ms: int = 0) -> None:
        """From running to locked: hold back its further calls of CUDA and wait for those under way and for its work.

        Raises CUDAError with ``CUDA_ERROR_NOT_READY`` when that takes longer than `timeout_ms` milliseconds, and the
        process runs on; 0 waits for as long as it takes. It stays locked until somebody unlocks it, also when the one
        who locked it has ended. Ctrl-C is heard when the driver returns: give a timeout.
        """
        self._process.lock(_check_timeout_ms(timeout_ms))

    def checkpoint(self) -> None:
        """From locked to checkpointed: its device memory is free, and its contents are with the host."""
        self._process.checkpoint()

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """From checkpointed to locked: bring the contents back, to the same addresses.

        `gpu_mapping` says for each device that the process has, by :attr:`cuprum.Device.uuid` or
        :attr:`cuprum.system.Device.uuid`, on which it goes on; without it that is where it was. Such a device must be of the same kind and have memory enough.
        """
        pairs = [(_uuid_bytes(old), _uuid_bytes(new)) for old, new in _check_mapping(gpu_mapping).items()]
        self._process.restore(pairs)

    def unlock(self) -> None:
        """From locked to running: the calls that were held back go on."""
        self._process.unlock()

    def __reduce__(self) -> tuple[type[Process], tuple[int]]:
        return Process, (self.pid,)

    def __repr__(self) -> str:
        return f"<Process {self.pid}>"

    def __eq__(self, other: object) -> bool:
        return self.pid == other.pid if isinstance(other, Process) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.pid)


def _check_number(name: str, value: int, least: int, expected: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be {expected}, not {value}")
    return value


def _check_pid(pid: int) -> int:
    return _check_number("pid", pid, 1, "a positive int")


def _check_timeout_ms(timeout_ms: int) -> int:
    if _check_number("timeout_ms", timeout_ms, 0, ">= 0") > _MOST_MS:
        raise BoundsError(f"timeout_ms must be at most {_MOST_MS}, which is 49 days, not {timeout_ms}")
    return timeout_ms


def _check_mapping(gpu_mapping: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    if gpu_mapping is None:
        return {}
    if not isinstance(gpu_mapping, Mapping):
        raise TypeError(
            "gpu_mapping must be a mapping of the UUIDs of devices to those of others, "
            f"not {type(gpu_mapping).__name__}"
        )
    return gpu_mapping


def _uuid_bytes(value: Any) -> bytes:
    """The 16 bytes of a string, as each Device.uuid is one, or of an object that has them: CUuuid, uuid.UUID."""
    if not isinstance(value, str):
        raw = getattr(value, "bytes", None)
        if not isinstance(raw, bytes) or len(raw) != 16:
            raise TypeError(f"GPU UUID values must be CUDA UUID objects or UUID strings, not {type(value).__name__}")
        return raw
    try:
        raw = bytes.fromhex(value.removeprefix("GPU-").replace("-", ""))
    except ValueError:
        raw = b""
    if len(raw) != 16:
        raise ValueError(f"a GPU UUID string has 32 hex characters (with optional hyphens), unlike {value!r}")
    return raw
