"""Checkpoints of other processes."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import uuid

import pytest

from cuprum import CUDAError, Device, checkpoint
from cuprum._core import driver_info
from cuprum.checkpoint import Process

CHILD = """
    import sys
    from cuprum import Device, LegacyPinnedMemoryResource
    device = Device()
    device.set_current()
    stream = device.create_stream()
    host = LegacyPinnedMemoryResource().allocate(1 << 20, stream=stream)
    data = device.allocate(1 << 20, stream=stream)
    data.fill(7, stream=stream)
    stream.sync()
    print("ready", flush=True)
    for line in sys.stdin:
        data.copy_to(host, stream=stream)
        stream.sync()
        print(Device().uuid, bytes(memoryview(host).cast("B")) == bytes([7]) * (1 << 20), flush=True)
"""


@pytest.fixture
def child(request):
    environment = dict(os.environ, **getattr(request, "param", {}))
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def ask(child):
    child.stdin.write("\n")
    child.stdin.flush()
    return child.stdout.readline().split()


def cycle(process, gpu_mapping=None):
    process.lock(timeout_ms=20_000)
    process.checkpoint()
    process.restore(gpu_mapping)
    process.unlock()


def test_a_process_goes_through_its_states(child):
    process = Process(child.pid)
    assert process.state == "running"
    assert process.restore_thread_id > 0
    process.lock(timeout_ms=20_000)
    assert process.state == "locked"
    process.checkpoint()
    assert process.state == "checkpointed"
    process.restore()
    assert process.state == "locked"
    process.unlock()
    assert process.state == "running"
    assert ask(child)[1] == "True"


def test_a_locked_process_answers_when_it_is_unlocked(child):
    process = Process(child.pid)
    process.lock()
    child.stdin.write("\n")
    child.stdin.flush()
    process.checkpoint()
    process.restore()
    process.unlock()
    assert child.stdout.readline().split()[1] == "True"


def test_other_ways_are_refused(child):
    process = Process(child.pid)
    for way in (process.checkpoint, process.restore, process.unlock):
        with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_STATE"):
            way()
    process.lock()
    with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_STATE"):
        process.lock()
    process.unlock()
    assert ask(child)[1] == "True"


def test_devices_can_be_named_in_several_ways(child):
    process = Process(child.pid)
    text = ask(child)[0]
    for name in (text, text.replace("-", ""), f"GPU-{text}", uuid.UUID(text)):
        cycle(process, {name: name})
    cycle(process, {})
    process.lock()
    process.checkpoint()
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        process.restore({str(uuid.UUID(int=1)): text})
    assert process.state == "checkpointed"
    process.restore()
    process.unlock()
    assert ask(child)[1] == "True"


@pytest.mark.skipif(driver_info()[0] != "softgpu", reason="needs two GPUs of a kind")
@pytest.mark.parametrize("child", [{"SOFTGPU_DEVICES": "2"}], indirect=True)
def test_a_process_moves_to_another_device(child):
    first = ask(child)[0]
    second = first[:-2] + "01"
    cycle(Process(child.pid), {first: second, second: first})
    assert ask(child) == [second, "True"]
    cycle(Process(child.pid), {first: second, second: first})
    assert ask(child) == [first, "True"]


def test_a_process_that_has_ended_is_an_error(child):
    process = Process(child.pid)
    child.kill()
    child.communicate()
    with pytest.raises(CUDAError):
        process.state  # noqa: B018
    with pytest.raises(CUDAError):
        process.lock()


@pytest.mark.parametrize(
    ("pid", "error", "message"),
    [
        ("abc", TypeError, "pid must be an int, not str"),
        (True, TypeError, "pid must be an int, not bool"),
        (1.0, TypeError, "pid must be an int, not float"),
        (0, ValueError, "pid must be a positive int, not 0"),
        (-1, ValueError, "pid must be a positive int, not -1"),
    ],
)
def test_numbers_of_processes_are_checked(pid, error, message):
    with pytest.raises(error, match=message):
        Process(pid)


@pytest.mark.parametrize(
    ("timeout", "error", "message"),
    [
        (True, TypeError, "timeout_ms must be an int"),
        (1.5, TypeError, "timeout_ms must be an int"),
        (-1, ValueError, "timeout_ms must be >= 0"),
        (1 << 32, ValueError, "timeout_ms must be at most 4294967295"),
        (1 << 32, OverflowError, "timeout_ms must be at most 4294967295"),
        (1 << 80, OverflowError, "timeout_ms must be at most 4294967295"),
    ],
)
def test_timeouts_are_checked(timeout, error, message):
    with pytest.raises(error, match=message):
        Process(os.getpid()).lock(timeout)


@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ([("a", "b")], TypeError, "gpu_mapping must be a mapping"),
        ({"not hex": "00"}, ValueError, "32 hex characters"),
        ({12: 13}, TypeError, "CUDA UUID objects or UUID strings, not int"),
    ],
)
def test_mappings_are_checked(mapping, error, message):
    with pytest.raises(error, match=message):
        Process(os.getpid()).restore(mapping)


def test_processes_are_values():
    process = Process(7)
    assert repr(process) == "<Process 7>"
    assert process == Process(7) and process != Process(8) and process != 7
    assert len({process, Process(7)}) == 1
    with pytest.raises(AttributeError):
        process.pid = 8


def test_processes_can_be_copied_and_pickled():
    process = Process(4711)
    assert copy.copy(process) == process
    assert pickle.loads(pickle.dumps(process)) == process


def test_the_module_has_one_public_name():
    assert checkpoint.__all__ == ["Process"]


def test_the_state_of_this_process():
    Device().set_current()
    assert Process(os.getpid()).state == "running"
