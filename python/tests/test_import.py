"""Importing cuprum is cheap: at most 60 ms, and none of the modules that would take most of that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import cuprum
import pytest

FOLDER = str(Path(cuprum.__file__).parents[1])


def run(source):
    """What `source` prints in a Python without site-packages, which may import anything on their own."""
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {FOLDER!r})\n{source}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_imports_little():
    loaded = set(run("import cuprum; print(*sys.modules)").split())
    dear = {"typing", "dataclasses", "inspect", "re", "numpy", "ctypes", "multiprocessing", "difflib", "asyncio"}
    assert not loaded & dear


def test_takes_at_most_60_ms_of_the_processor():
    source = "import time; before = time.process_time(); import cuprum; print(time.process_time() - before)"
    assert min(float(run(source)) for _ in range(5)) < 0.060


def test_touches_no_driver():
    # A driver that can't be opened is told when a device is first asked for, not before.
    run("import os; os.environ.update(CUPRUM_DRIVER='softgpu', CUPRUM_SOFTGPU_PATH='/no/such/file'); import cuprum")


@pytest.mark.skipif(not shutil.which("nm"), reason="nm (binutils) says what a library offers")
def test_offers_other_libraries_nothing():
    command = ["nm", "--dynamic", "--defined-only", cuprum._core.__file__]
    offered = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[2::3]
    assert offered == ["PyInit__core"]
