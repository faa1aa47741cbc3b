"""The type stubs say what the extension has, and mypy understands programs by them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).parents[2]

PROGRAM = """
import ctypes
from cuprum import Buffer, Device, Event, Kernel, LaunchConfig, ObjectCode, Program, Stream, launch
from cuprum.graph import Graph, GraphDefinition, KernelNode

device: Device = Device()
device.set_current()
stream: Stream = device.create_stream(options={"priority": 0})
code: ObjectCode = Program("", "c++").compile("cubin")
kernel: Kernel = code.get_kernel("k")
buffer: Buffer = device.allocate(4, stream=stream)
config = LaunchConfig(grid=(1, 2), block=32)
launch(stream, config, kernel, buffer, 1, ctypes.c_float(2))
start: Event = stream.record()
milliseconds: float = stream.record() - start
node: KernelNode = GraphDefinition().launch(config, kernel, buffer)
graph: Graph = node.graph.instantiate()
graph.launch(stream)
"""

MISTAKES = {
    'device.create_stream("fast")': "arg-type",
    "launch(stream, kernel, config)": "arg-type",
    "buffer.copy_from(3, stream=stream)": "arg-type",
    "device.naem": "attr-defined",
    "LaunchConfig(gird=1)": "call-arg",
}


def test_stubs_are_those_of_the_extension():
    script = ROOT / "tools" / "make_stubs.py"
    result = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy", reason="mypy is not installed")
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
        command = [sys.executable, "-m", "mypy", "--cache-dir", str(cache), "--check-untyped-defs", "--ignore-missing-imports", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cache)

    return run


def test_the_package_is_typed(mypy):
    assert (Path(cuprum.__file__).parent / "py.typed").exists()
    result = mypy("-p", "cuprum")
    assert result.returncode == 0, result.stdout


def test_programs_are_understood(mypy, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n".join(MISTAKES))
    found = mypy(program).stdout
    first_mistake = PROGRAM.count("\n") + 1
    for line, (text, kind) in enumerate(MISTAKES.items(), first_mistake):
        assert any(f":{line}: error:" in said and f"[{kind}]" in said for said in found.splitlines()), text + "\n" + found
    errors = [said for said in found.splitlines() if ": error:" in said]
    assert {int(said.split(":")[1]) for said in errors} == set(range(first_mistake, first_mistake + len(MISTAKES))), found
