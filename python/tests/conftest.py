"""What the tests share: a current device and a stream, and that nothing of the library is left when a test ends."""

import threading

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


@pytest.fixture
def numpy():
    """For tests of what asks NumPy for its types; the package itself does without."""
    return pytest.importorskip("numpy", reason="NumPy is not installed")


@pytest.fixture
def results_of_threads():
    """What a function returns on each of several threads, on which the device is current; what it raises there is raised."""

    def run(function, count=4):
        results, raised = [], []

        def call():
            try:
                Device(0).set_current()
                results.append(function())
            except BaseException as error:
                raised.append(error)

        threads = [threading.Thread(target=call) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if raised:
            raise raised[0]
        return results

    return run
