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

# What a user writes who asks for `mypy --strict`: every import is of a name that its module exports, and what functions
# and properties take is declared.
STRICT = """
import numpy as np

from cuprum import CompileError, CUDAError, Device, DeviceMemoryResource, Host, LaunchConfig, ManagedBuffer, Stream, checkpoint, system
from cuprum import LEGACY_DEFAULT_STREAM, Buffer, Kernel, LegacyPinnedMemoryResource, MemoryResource, PinnedMemoryResource, StreamOptions
from cuprum import TensorMapSwizzle, graph, launch, texture, typing, utils
from cuprum.checkpoint import Process
from cuprum.graph import GraphBuilder, GraphDefinition, GraphNode
from cuprum.system import Device as SystemDevice
from cuprum.texture import ResourceDescriptor
from cuprum.typing import ObjectCodeFormatType
from cuprum.utils import StridedMemoryView


def use(device: Device, stream: Stream, managed: ManagedBuffer, node: GraphNode, array: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    config = LaunchConfig(grid=1, block=(32, 1))
    config.grid = 4
    config.block = (1, 2)
    config.cluster = None
    config.shmem_size = 16
    buffer = device.allocate(64, stream=stream)
    buffer.copy_from(b"abcd", stream=stream)
    buffer.copy_from(array, stream=stream)
    buffer.copy_from(memoryview(b""), stream=stream)
    buffer.fill(1, stream=stream)
    buffer.fill(np.float32(1), stream=stream)
    capsule = buffer.__dlpack__(stream=1)
    capsule = StridedMemoryView.from_any_interface(buffer, stream_ptr=-1).__dlpack__(stream=2)
    pool = DeviceMemoryResource(device)
    pool.peer_accessible_by = [1]
    pool.peer_accessible_by = {device}
    managed.accessed_by = [device, Host()]
    managed.preferred_location = None
    node.pred = [node]
    node.succ.update([node])
    graph_: GraphDefinition = node.graph
    graph_.instantiate().launch(stream)
    buffer = LegacyPinnedMemoryResource().allocate(64)


class Pool(MemoryResource):
    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        return Buffer.from_handle(4096, size, mr=self, stream=stream)

    def deallocate(self, ptr: int, size: int, *, stream: Stream | GraphBuilder) -> None: ...


class Cached(DeviceMemoryResource):
    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        return super().allocate(size, stream=stream)


class View(StridedMemoryView): ...


def of_views(kernel: Kernel, buffer: Buffer) -> int:
    view: View = View.from_buffer(buffer, (4,), itemsize=4).view()
    found = kernel.occupancy.max_potential_block_size(0, 0)
    blocks: int = found.min_grid_size
    return blocks * view.size
"""

STRICT_MISTAKES = {
    "from cuprum import Devise": "attr-defined",
    'LaunchConfig(1, block=1).grid = "4"': "assignment",
    'Device().allocate(4).__dlpack__(stream="x")': "arg-type",
    "LEGACY_DEFAULT_STREAM.wait(5)": "arg-type",
    "PinnedMemoryResource().allocate(4, stream=5)": "arg-type",
}

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


@pytest.mark.parametrize(
    ("text_of_program", "mistakes", "options"),
    [(PROGRAM, MISTAKES, []), (STRICT, STRICT_MISTAKES, ["--strict", "--follow-imports=silent"])],
    ids=["usual", "strict"],
)
def test_programs_are_understood(mypy, tmp_path, text_of_program, mistakes, options):
    program = tmp_path / "program.py"
    program.write_text(text_of_program + "\n".join(mistakes))
    found = mypy(*options, program).stdout
    first_mistake = text_of_program.count("\n") + 1
    for line, (text, kind) in enumerate(mistakes.items(), first_mistake):
        assert any(f":{line}: error:" in said and f"[{kind}]" in said for said in found.splitlines()), text + "\n" + found
    errors = [said for said in found.splitlines() if ": error:" in said and "program.py" in said]
    assert {int(said.split(":")[1]) for said in errors} == set(range(first_mistake, first_mistake + len(mistakes))), found


def test_what_the_package_exports_is_what_it_has():
    has = {name for name, each in vars(cuprum).items() if not name.startswith("_") and type(each).__name__ != "module"}
    lazy = {name for name in has if name.startswith("TensorMap") and name != "TensorMapDescriptor"}
    assert set(cuprum.__all__) == (has - lazy - {"TYPE_CHECKING"}) | {"__version__"}
    assert cuprum.__all__ == sorted(cuprum.__all__)
