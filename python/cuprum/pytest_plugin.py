"""A pytest plug-in: GPU tests that run with and without a GPU.

It is there wherever cuprum is installed:

.. code-block:: console

    $ pytest --softgpu                       # on softgpu, also when there is a GPU
    $ pytest --softgpu --softgpu-devices=4   # and that many devices

Tests get a device that is current, and a stream on it, by asking for them; those that need several devices say so, and
are skipped where there are fewer. With ``--softgpu`` there are as many as the most demanding of them needs:

.. code-block:: python

    import pytest

    def test_scale(device, stream):
        buffer = device.allocate(1024, stream=stream)
        ...

    @pytest.mark.n_devices(2)
    def test_exchange(devices):
        first, second = devices[:2]
        ...

``pytest -p cuprum.as_cuda_core`` serves cuda.core from cuprum, so that tests written for that run, too.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cuprum import Device, Stream

_DEVICES = "SOFTGPU_DEVICES"
_MOST_DEVICES = 64  # that softgpu can have


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cuprum", "GPU tests without a GPU")
    group.addoption("--softgpu", action="store_true", help="run on softgpu, also when there is a GPU")
    group.addoption(
        "--softgpu-devices",
        type=_count,
        metavar="N",
        help="how many devices softgpu has; as many as the tests need unless given",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_DEVICES:
        raise argparse.ArgumentTypeError(f"softgpu has 1 to {_MOST_DEVICES} devices, not {text!r}")
    return int(text)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    _choose_driver(early_config)  # a conftest.py may use a device when it is imported


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    _choose_driver(config)
    config.addinivalue_line("markers", "n_devices(n): the test needs n devices, and is skipped where there are fewer")


def _choose_driver(config: pytest.Config) -> None:
    options = config.known_args_namespace
    wanted = getattr(options, "softgpu_devices", None)
    if getattr(options, "softgpu", False):
        os.environ["CUPRUM_DRIVER"] = "softgpu"
    if wanted is not None:
        os.environ[_DEVICES] = str(wanted)


def pytest_report_header(config: pytest.Config) -> str | None:
    return "cuprum: on softgpu" if config.getoption("softgpu") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give softgpu, which has not started yet, as many devices as the tests need."""
    if not config.getoption("softgpu") or _DEVICES in os.environ:
        return
    needed = max((_devices_needed(item) for item in items), default=1)
    if needed > 1:
        os.environ[_DEVICES] = str(min(needed, _MOST_DEVICES))  # a test that needs more is skipped


def _devices_needed(item: pytest.Item) -> int:
    marker = item.get_closest_marker("n_devices")
    if marker is None:
        return 1
    needed = marker.args[0] if len(marker.args) == 1 else marker.kwargs.get("n")
    if not isinstance(needed, int):
        raise pytest.UsageError(f"{item.nodeid}: the marker n_devices takes a number, as in n_devices(2)")
    return needed


def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = _devices_needed(item)
    if needed > 1:
        there = len(_all_devices())
        if there < needed:
            pytest.skip(f"needs {needed} devices, and there are {there}: {_how_to_have(needed)}")


def _how_to_have(needed: int) -> str:
    if needed > _MOST_DEVICES:
        return f"softgpu has at most {_MOST_DEVICES}"
    return f"pytest --softgpu --softgpu-devices={needed}"


def _all_devices() -> tuple[Device, ...]:
    from cuprum import Device

    return Device.get_all_devices()


@pytest.fixture
def devices() -> tuple[Device, ...]:
    """All devices; the first is current."""
    found = _all_devices()
    found[0].set_current()
    return found


@pytest.fixture
def device() -> Device:
    """The first device, which is current."""
    from cuprum import Device

    first = Device(0)
    first.set_current()
    return first


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    """A stream on `device`. When the test ends its work is waited for, and what went wrong in it fails the test."""
    made = device.create_stream()
    yield made
    made.sync()
    made.close()
