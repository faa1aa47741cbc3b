"""The same random calls of NVIDIA's cuda.core and of cuprum in its place, both on softgpu: values, exceptions and reprs agree.

``CUPRUM_RANDOM_SEEDS=5000 python -m pytest python/tests/test_random_calls.py`` looks further, and names the seeds of what
differs: ``random_calls.py SEED 1`` prints that sequence.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import softgpu

import cuprum

pytest.importorskip("numpy")

HERE = Path(__file__).resolve().parent
PACKAGE = Path(cuprum.__file__).parents[1]

ODD = r"\d\.\d|float32|\d{10,}|-\d|tuple\(\)|list\(\)|None|text|object|dict|\{\}|True"
BAD = r"raises .*\b(TypeError|ValueError|OverflowError)\b.*"
RETURNS = r"(?!raises).*"
LAYOUT = r"_StridedLayout\(.*"

# Where both differ on purpose: what is called, what NVIDIA's gives, what cuprum gives, and why. Any row that fits will do.
INTENDED = [
    (r".*", r"raises .*", RETURNS, "cuprum takes more: lists for tuples, any integer, an ellipsis among slices, older names"),
    (r".*", r"raises .*", BAD, "a bad argument is a TypeError or a ValueError, found before the driver is called"),
    (rf".*\(.*({ODD}).*\)", RETURNS, BAD, "a float, a text or None is no number, and a number must fit what it is for"),
    (r"launch_configs: config\.\w+ = .*", r"None", r"raises .*", "what the constructor refuses can't be set either"),
    (r"launch_configs: config\.(grid|block|cluster)\(\)|.*config ==.*", r"tuple.*|.*", r"tuple.*|.*", "shapes that are set become three ints"),
    (r"launch_configs: LaunchConfig.*", r"LaunchConfig.*True.*", r"LaunchConfig.*", "True as an extent is 1"),
    (r"launch_configs: .*is_coop.*", r".*", r"raises TypeError", "whether a launch is cooperative is a bool"),
    (r"code: from_ptx.*", r"returns", BAD, "what is no code is refused before it is loaded"),
    (r"execution: (Stream|Event)Options.*", r"\w+Options.*", r"\w+Options.*", "options keep what they were given, and are read when they are used"),
    (r"options: \w+\.as_bytes.*", r"list.*", BAD, "options that a compiler would refuse are refused when they are read"),
    (r"options: LinkerOptions.as_bytes.*", r"list.*", r".*-no-cache.*", "what counts as true turns an option on"),
    (r"options: LinkerOptions.as_bytes.*", r"list.*=True.*", r"list.*", "True as a number is 1"),
    (r"graphs: memcpy.* 0\)", r"returns", BAD, "a copy of nothing is refused"),
    (r"layouts: (to_dense|reshaped|flattened|squeezed|__getitem__|sliced).*", LAYOUT, LAYOUT, "strides of axes with one element, or of no elements, say nothing"),
    (r"layouts: repacked.*", LAYOUT, r"raises .*TypeError.*", "a negative number is no address"),
    (r"layouts: max_compatible_itemsize.*", r"\d+", r"\d+", "the largest that fits, also when it is no power of two"),
    (r"views: from_cuda_array_interface.*", r"raises TypeError.*", r"raises AttributeError.*", "an array without the interface is told of first"),
    (r"views: view\.strides\(\)", r"None", r"tuple\(\)", "of no axes there are no strides"),
    (r"views: view\.device_id\(\)", r"-1", r"0", "another view of an array is on the same device"),
]  # fmt: skip


def outcomes(command, first, count, **environment):
    """By sequence, what became of each call: its text, the outcome, the message."""
    done = subprocess.run(
        [*command, sys.executable, str(HERE / "random_calls.py"), str(first), str(count)],
        check=False,
        env={**os.environ, "CUPRUM_DRIVER": "softgpu", **environment},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout)


def agree(theirs, ours):
    """Whether a program sees the same: a handler of NVIDIA's exception takes cuprum's."""
    if theirs.startswith("raises ") and ours.startswith("raises "):
        return theirs.split()[1] in ours.split()
    return theirs == ours


def is_intended(text, theirs, ours):
    return any(
        re.fullmatch(called, text, re.DOTALL) and re.fullmatch(one, theirs, re.DOTALL) and re.fullmatch(other, ours, re.DOTALL)
        for called, one, other, _ in INTENDED
    )


def first_difference(theirs, ours):
    """Where two sequences part; after that they need not be of the same calls."""
    for (text, one, why), (also, other, because) in zip(theirs, ours):
        if text != also:
            return f"{text}\n  cuprum is at {also}"
        if not agree(one, other):
            if is_intended(text, one, other):
                return None
            return f"{text}\n  cuda.core: {one} {why}\n  cuprum: {other} {because}"
    return None if len(theirs) == len(ours) else f"{len(theirs)} calls, cuprum made {len(ours)}"


def command():
    """The program `cuprum`, of this build or this installation."""
    beside = [PACKAGE.parent / "bin" / "cuprum", Path(cuprum.__file__).parent / "bin" / "cuprum"]
    return next((str(path) for path in beside if path.is_file()), None)


def has_cuda_core():
    try:
        return importlib.util.find_spec("cuda.core") is not None
    except ModuleNotFoundError:
        return False


@softgpu.needed
@pytest.mark.skipif(not has_cuda_core(), reason="NVIDIA's cuda.core is not installed")
@pytest.mark.skipif(command() is None, reason="the program cuprum, which runs cuda.core on softgpu, is not there")
def test_random_calls_do_what_nvidias_do():
    wanted = os.environ.get("CUPRUM_RANDOM_SEEDS", "")
    if wanted.startswith("seed:"):
        first, count = int(wanted.removeprefix("seed:")), 1
    else:
        first, count = (random.SystemRandom().randrange(2**31), int(wanted)) if wanted else (0, 400)
    theirs = outcomes([command(), "exec"], first, count, PYTHONPATH="")
    ours = outcomes([], first, count, PYTHONPATH=str(PACKAGE), CUPRUM_AS_CUDA_CORE="1")
    found = {first + index: first_difference(*both) for index, both in enumerate(zip(theirs, ours))}
    different = {seed: words for seed, words in found.items() if words}
    assert not different, "\n".join(f"seed {seed}: {words}" for seed, words in different.items())[:8000]
