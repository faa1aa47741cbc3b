"""The file that debuggers show the source of a program from."""

from __future__ import annotations

import os
import re
import sys
import tempfile


def write(source: str) -> str | None:
    """Write `source` to a new file that is named by the caller's file and the first kernel, and return its path.

    None where no file can be written: the program is compiled all the same, and debuggers show no source.
    """
    kernel = re.search(r"__global__.*?(\w+)\s*\(", source, re.DOTALL)
    parts = [_caller(), kernel.group(1) if kernel else "kernel", ""]
    try:
        descriptor, path = tempfile.mkstemp(prefix=re.sub(r"\W", "_", "_".join(parts)), suffix=".cu")
    except OSError:
        return None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(source)
    except OSError:
        os.unlink(path)
        return None
    return path


def _caller() -> str:
    frame = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "cuprum":
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return "program"
    return os.path.splitext(os.path.basename(frame.f_code.co_filename))[0]
