"""Forked processes, other interpreters, and many threads."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from cuprum import Device, LaunchConfig, ObjectCode, PinnedMemoryResource, launch
from cuprum.graph import GraphDefinition

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 target) {
  .reg .b64 %rd0;
  .reg .b32 %r0;
  ld.param.u64 %rd0, [target];
  atom.global.add.u32 %r0, [%rd0], 1;
  ret;
}
"""


def run(code):
    # Python 3.12 and later warn of every fork beside threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_forked_process_is_told_why_it_can_not():
    result = run("""
        import os
        from cuprum import Device, NotSupportedError
        device = Device()
        device.set_current()
        child = os.fork()
        if child == 0:
            try:
                device.create_stream()
            except NotSupportedError as error:
                os._exit(7 if "forked" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        device.create_stream().sync()
    """)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_process_that_is_forked_before_works():
    result = run("""
        import os
        from cuprum import Device
        child = os.fork()
        Device().set_current()
        Device().create_stream().sync()
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("first", ["import cuprum", "pass"])
def test_another_interpreter_is_refused(first):
    result = run(f"""
        {first}
        import sys
        try:
            import _interpreters as interpreters
            create = lambda: interpreters.create("legacy")
        except ImportError:
            import _xxsubinterpreters as interpreters
            create = interpreters.create
        code = '''
        try:
            import cuprum
        except ImportError as error:
            print("subinterpreter" in str(error))
        '''
        import textwrap
        other = create()
        interpreters.run_string(other, textwrap.dedent(code))
        interpreters.destroy(other)
        import cuprum
        print(cuprum.Device(0).device_id)
    """)
    assert (result.returncode, result.stdout, result.stderr) == (0, "True\n0\n", "")


def test_threads_work_at_the_same_time(device, stream):
    kernel = ObjectCode.from_ptx(PTX).get_kernel("count")
    counter = PinnedMemoryResource().allocate(4, stream=stream)
    stream.sync()
    view = memoryview(counter).cast("B").cast("i")
    view[0] = 0
    rounds, count = 100, 8
    failures = []

    def work():
        try:
            mine = Device(0)
            mine.set_current()
            own = mine.create_stream()
            config = LaunchConfig(grid=1, block=1)
            called = []
            for _ in range(rounds):
                launch(own, config, kernel, counter)
                with mine.allocate(64, stream=own) as scratch:
                    scratch.fill(1, stream=own)
                own.wait(stream.record())
                graph = GraphDefinition()
                graph.callback(lambda: called.append(1))
                graph.instantiate().launch(own)
            own.sync()
            assert len(called) == rounds
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert view[0] == rounds * count


def test_waiting_lets_other_threads_run(device, stream):
    """A thread that waits for a callback does not keep the GIL that the callback needs."""
    graph = GraphDefinition()
    graph.callback(lambda: os.getpid())
    executable = graph.instantiate()
    for _ in range(50):
        executable.launch(stream)
        stream.sync()
    executable.launch(stream)
    device.sync()
    executable.launch(stream)
    stream.record().sync()


@pytest.mark.parametrize(
    "first_use",
    ["stream.handle", "device.compute_capability", "GraphDefinition().empty()", "stream.record().handle"],
)
def test_threads_may_be_the_first_to_use_something(first_use):
    """What is made when it is first needed is made with the GIL given up in between."""
    result = run(f"""
        import sys, threading
        from cuprum import Device
        from cuprum.graph import GraphDefinition
        Device(0).set_current()
        sys.setswitchinterval(1e-6)
        together = threading.Barrier(6)
        def use():
            device = Device(0)
            device.set_current()
            stream = device.create_stream()
            together.wait()
            {first_use}
        threads = [threading.Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """)
    assert (result.returncode, result.stderr) == (0, "")
