"""What the tests share: a current device and a stream, and that nothing of the library is left when a test ends."""

import pytest

from cuprum import Device


@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    return device.create_stream()
