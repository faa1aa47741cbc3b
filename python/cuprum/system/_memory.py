"""Memory, processes and how busy a device is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum.system.exceptions import error_of

if TYPE_CHECKING:
    from cuprum.system._device import Device


class MemoryInfo:
    """A device's memory, in bytes."""

    def __init__(self, free: int, total: int, used: int, reserved: int = 0) -> None:
        self.free = free
        self.total = total
        self.used = used
        self.reserved = reserved

    def __repr__(self) -> str:
        return f"<{type(self).__name__} free={self.free} total={self.total} used={self.used}>"


class BAR1MemoryInfo(MemoryInfo):
    """The window through which the host and other devices reach a device's memory, in bytes."""


class Utilization:
    """How busy a device was in the last sample period, in percent: with kernels, and with its memory."""

    def __init__(self, gpu: int, memory: int) -> None:
        self.gpu = gpu
        self.memory = memory

    def __repr__(self) -> str:
        return f"<Utilization gpu={self.gpu} memory={self.memory}>"


class DeviceAttributes:
    """What a device, or a part of one, is made of."""

    def __init__(
        self,
        multiprocessor_count: int,
        shared_copy_engine_count: int,
        shared_decoder_count: int,
        shared_encoder_count: int,
        shared_jpeg_count: int,
        shared_ofa_count: int,
        gpu_instance_slice_count: int,
        compute_instance_slice_count: int,
        memory_size_mb: int,
    ) -> None:
        self.multiprocessor_count = multiprocessor_count
        self.shared_copy_engine_count = shared_copy_engine_count
        self.shared_decoder_count = shared_decoder_count
        self.shared_encoder_count = shared_encoder_count
        self.shared_jpeg_count = shared_jpeg_count
        self.shared_ofa_count = shared_ofa_count
        self.gpu_instance_slice_count = gpu_instance_slice_count
        self.compute_instance_slice_count = compute_instance_slice_count
        self.memory_size_mb = memory_size_mb


class ProcessInfo:
    """A process that uses a device."""

    def __init__(
        self, device: Device, pid: int, used_gpu_memory: int | None, gpu_instance: int | None, compute_instance: int | None
    ) -> None:
        self._device = device
        self.pid = pid
        self.used_gpu_memory = used_gpu_memory if used_gpu_memory is not None else 2**64 - 1  # as NVML says "unknown"
        self._instances = (gpu_instance, compute_instance)

    def _instance(self, which: int) -> int:
        found = self._instances[which]
        if found is None or not self._device.mig.is_mig_device:
            raise error_of(3, "the device is not divided (MIG), so the process is in no part of it")
        return found

    @property
    def gpu_instance_id(self) -> int:
        """Of a GPU that is divided (MIG)."""
        return self._instance(0)

    @property
    def compute_instance_id(self) -> int:
        """The same, of the part of that."""
        return self._instance(1)

    def __repr__(self) -> str:
        return f"<ProcessInfo pid={self.pid} used_gpu_memory={self.used_gpu_memory}>"
