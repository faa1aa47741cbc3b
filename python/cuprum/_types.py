"""Small types that the extension hands out."""

from __future__ import annotations

from collections import namedtuple

ComputeCapability = namedtuple("ComputeCapability", ["major", "minor"])
ComputeCapability.__doc__ = "What a device's multiprocessors can do, as two numbers: (9, 0) for an H100."
