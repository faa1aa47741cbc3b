"""The pytest plug-in, each test in a run of pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import softgpu

import cuprum


@pytest.fixture
def run(tmp_path):
    """Runs pytest on the given tests; returns its output."""

    def run_tests(text, *options, **settings):
        if "--softgpu" in options and not softgpu.is_here:
            pytest.skip(softgpu.REASON)
        (tmp_path / "test_it.py").write_text(text)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("SOFTGPU_", "CUPRUM_"))
        }
        environment["PYTHONPATH"] = str(Path(cuprum.__file__).parents[1])
        plugin = [] if installed() else ["-p", "cuprum.pytest_plugin"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-rs", *plugin, "-p", "no:cacheprovider", *options, "test_it.py"],
            check=False,
            cwd=tmp_path,
            env={**environment, **settings},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout + done.stderr

    return run_tests


def installed():
    """Whether the plug-in is registered by an installed package."""
    from importlib.metadata import entry_points

    return any(entry.value == "cuprum.pytest_plugin" for entry in entry_points(group="pytest11"))


DRIVER = "from cuprum._core import driver_info\n"


def test_softgpu_is_chosen(run):
    output = run(DRIVER + "def test(device): assert driver_info()[0] == 'softgpu'", "--softgpu", CUPRUM_DRIVER="nvidia")
    assert "1 passed" in output
    assert "cuprum: on softgpu" in output


def test_softgpu_is_chosen_before_conftest(run, tmp_path):
    (tmp_path / "conftest.py").write_text(DRIVER + "assert driver_info()[0] == 'softgpu'\n")
    assert "1 passed" in run("def test(): pass", "--softgpu", CUPRUM_DRIVER="nvidia")


def test_fixtures(run):
    output = run(
        """
from cuprum import Device, Stream
def test_device(device):
    assert device is Device(0)
    assert int(device.context.handle) != 0
def test_stream(device, stream):
    assert isinstance(stream, Stream)
    assert stream.device is device
def test_devices(devices):
    assert len(devices) == 1
""",
        "--softgpu",
    )
    assert "3 passed" in output


def test_as_many_devices_as_needed(run):
    output = run(
        """
import pytest
@pytest.mark.n_devices(3)
def test_three(devices): assert len(devices) == 3
@pytest.mark.n_devices(2)
def test_two(devices): assert len(devices) == 3
def test_one(device): pass
""",
        "--softgpu",
        "--strict-markers",
    )
    assert "3 passed" in output


def test_a_test_that_needs_more_than_softgpu_has_is_skipped_alone(run):
    output = run(
        "import pytest\n@pytest.mark.n_devices(65)\ndef test_many(devices): pass\ndef test_one(device): pass", "--softgpu"
    )
    assert "1 passed, 1 skipped" in output
    assert "needs 65 devices, and there are 64: softgpu has at most 64" in output


def test_skipped_where_there_are_fewer(run):
    text = "import pytest\n@pytest.mark.n_devices(3)\ndef test(devices): pass"
    output = run(text, "--softgpu", "--softgpu-devices=2")
    assert "1 skipped" in output
    assert "needs 3 devices, and there are 2: pytest --softgpu --softgpu-devices=3" in output


def test_number_of_devices(run):
    text = "def test(devices): assert len(devices) == 4"
    assert "1 passed" in run(text, "--softgpu", "--softgpu-devices=4")
    assert "1 passed" in run(text, "--softgpu", SOFTGPU_DEVICES="4")


@pytest.mark.parametrize("number", ["0", "65", "two"])
def test_wrong_number_of_devices(run, number):
    output = run("def test(): pass", f"--softgpu-devices={number}")
    assert f"argument --softgpu-devices: softgpu has 1 to 64 devices, not '{number}'" in output


def test_wrong_marker(run):
    text = "import pytest\n@pytest.mark.n_devices('two')\ndef test(devices): pass"
    assert "the marker n_devices takes a number" in run(text, "--softgpu")


def test_together_with_cuda_core(run):
    text = (
        "from cuda.core import Device\nimport cuprum\ndef test(device): assert type(device) is Device is cuprum.Device"
    )
    assert "1 passed" in run(text, "--softgpu", "-p", "cuprum.as_cuda_core")
