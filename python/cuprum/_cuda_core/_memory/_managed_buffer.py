"""What the driver knows of a range of managed memory."""

from __future__ import annotations

from typing import Any

from cuprum._cuda_utils import _binding, handle_return


def _get_int_attr(buf: Any, attribute: Any) -> int:
    """An attribute of a buffer's memory that is an int."""
    return int(handle_return(_binding("driver").cuMemRangeGetAttribute(4, attribute, buf.handle, buf.size)))
