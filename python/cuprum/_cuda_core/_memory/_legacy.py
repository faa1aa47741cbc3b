"""Memory of a device that is allocated and freed at once, for devices without memory pools."""

from __future__ import annotations

from typing import Any

from cuprum import Buffer, MemoryResource
from cuprum._core import _make_device_current
from cuprum._cuda_utils import _binding, handle_return


class _SynchronousMemoryResource(MemoryResource):
    """cuMemAlloc and cuMemFree of one device. Freeing waits for the stream, because cuMemFree knows of none."""

    def __init__(self, device_id: Any) -> None:
        self._device_id = getattr(device_id, "device_id", device_id)

    def allocate(self, size: int, stream: Any = None) -> Buffer:
        """Memory of the device; none, and no address, for size 0. It can be used at once, whatever the stream."""
        pointer = 0
        if size:
            _make_device_current(self._device_id)
            pointer = int(handle_return(_binding("driver").cuMemAlloc(size)))
        return Buffer.from_handle(pointer, size, mr=self)

    def deallocate(self, ptr: Any, size: int, stream: Any = None) -> None:
        """Free memory that allocate() gave, when the stream is done with it."""
        if stream is not None:
            stream.sync()
        if size:
            handle_return(_binding("driver").cuMemFree(int(ptr)))

    @property
    def is_device_accessible(self) -> bool:
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """False: the host can't use the memory."""
        return False

    @property
    def device_id(self) -> int:
        """The number of the device that the memory belongs to."""
        return int(self._device_id)
