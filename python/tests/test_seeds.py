"""Every Python snippet of the documents that describe cuda.core runs on cuprum, as the documents have it.

The documents are read from the folder that CUPRUM_SEEDS names, or ../shared/seeds beside the repository; without them
there is nothing to run. `seed_stand_ins` lists what takes the place of what a snippet leaves open, and which contradict
another.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import seed_stand_ins
import softgpu
from seed_text import snippets_of

import cuprum

HERE = Path(__file__).resolve().parent


def folder() -> Path | None:
    named = os.environ.get("CUPRUM_SEEDS")
    if named:
        return Path(named)
    for parent in HERE.parents:
        if (parent / "shared" / "seeds").is_dir():
            return parent / "shared" / "seeds"
    return None


def documents() -> list[Path]:
    return sorted(folder().glob("*.txt")) if folder() else []


def cases() -> list[object]:
    found: list[object] = [
        pytest.param(path, index, id=f"{path.stem[:3]}-{index}-{snippet.heading.replace(' ', '-')}")
        for path in documents()
        for index, snippet in enumerate(snippets_of(path.read_text()))
    ]
    reason = "the documents are not here: CUPRUM_SEEDS names their folder"
    return found or [pytest.param(None, 0, marks=pytest.mark.skip(reason=reason))]


@functools.cache
def results(path: Path) -> list[dict[str, str]]:
    """What became of the snippets of a document, run in a process of its own."""
    if not softgpu.is_here:
        pytest.skip(softgpu.REASON)  # stand-ins for other libraries read the device's memory from the host
    package = str(Path(cuprum.__file__).parents[1])
    environment = {**os.environ, "CUPRUM_DRIVER": "softgpu", "SOFTGPU_DEVICES": "2", "PYTHONPATH": package}
    done = subprocess.run(
        [sys.executable, str(HERE / "run_seed.py"), str(path)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("path", "index"), cases())
def test_snippet_runs(path, index):
    pytest.importorskip("numpy")
    not_ours = seed_stand_ins.NOT_OURS.get((path.stem[:3], index))
    if not_ours:
        pytest.skip(not_ours)
    result = results(path)[index]
    missing = [line for line in result["error"].splitlines() if line.startswith("ImportError: cuda.core is served by")]
    if "get_ipc_descriptor" in result["error"] and not hasattr(cuprum.Event, "ipc_descriptor"):
        missing = ["cuprum's events can't be given to other processes yet"]
    if missing:
        pytest.skip(missing[0])
    assert not result["error"], result["error"]


@pytest.mark.parametrize(
    "path", [path for path in documents() if path.stem.startswith("000")], ids=lambda path: path.stem
)
def test_outputs_that_the_text_promises(path):
    """What comments in the snippets say that they print."""
    pytest.importorskip("numpy", reason="NumPy is not installed")
    printed = "".join(result["output"] for result in results(path))
    assert "4096 True\n" in printed
    assert "ComputeCapability(major=9, minor=0)" in printed
    assert 'identifier "not_a_real_symbol" is undefined' in printed
    assert "100 launches took" in printed
