"""The end of a process with live objects, work in flight and callbacks pending."""

import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import threading, time
from cuprum import *
from cuprum.graph import *
device = Device()
device.set_current()
stream = device.create_stream()
def launch_callback(function):
    definition = GraphDefinition()
    definition.callback(function)
    graph = definition.instantiate()
    graph.launch(stream)
    return definition, graph
"""

ENDS = {
    "everything alive": """
        event = stream.record()
        buffer = device.allocate(100, stream=stream)
        host = PinnedMemoryResource().allocate(100, stream=stream)
        builder = device.create_graph_builder().begin_building()
    """,
    "a callback that has not begun": """
        for _ in range(20):
            kept = launch_callback(lambda: time.sleep(0.01))
    """,
    "a callback that has begun": """
        begun = threading.Event()
        def function():
            begun.set()
            time.sleep(0.3)
            print("done")
        kept = launch_callback(function)
        begun.wait()
    """,
    "a resource written in Python": """
        class Resource(MemoryResource):
            def allocate(self, size, *, stream):
                return Buffer.from_handle(device.allocate(size, stream=stream).handle, size, self)
            def deallocate(self, ptr, size, *, stream):
                pass
            is_device_accessible = True
            is_host_accessible = False
            device_id = 0
        buffer = Resource().allocate(100, stream=stream)
    """,
    "threads that use devices": """
        def use():
            Device(0).set_current()
            for _ in range(1000):
                Device(0).create_stream()
        threading.Thread(target=use, daemon=True).start()
        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
    """,
}


@pytest.mark.parametrize("end", ENDS)
def test_is_clean(end):
    code = PRELUDE + textwrap.dedent(ENDS[end])
    for _ in range(3):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        assert (result.returncode, result.stderr) == (0, ""), end
        assert ("done" in result.stdout) == (end == "a callback that has begun")
