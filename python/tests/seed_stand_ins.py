"""What the documents' snippets leave open, and where they contradict each other or have lost text.

Each entry names the document by the first digits of its file, and the snippet by its number in it.
"""

from __future__ import annotations

import os
import tempfile
from types import SimpleNamespace
from typing import Any

# Text that saving the page has lost: what was between < and >, and what the page itself leaves out.
LOST = {
    ("001", 4): [
        ('""" template __global__', '""" template <typename T> __global__'),
        ('("vector_add", "vector_add")', '("vector_add<float>", "vector_add<double>")'),
        (
            "e-p:64:64:64-i1:8:8-...",
            "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64"
            "-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64",
        ),
        ("{ ret void }", "{ ret void } !nvvmir.version = !{!0} !0 = !{i32 2, i32 0, i32 3, i32 1}"),
    ],
}

# Where a snippet contradicts another, or the interface of cuda.core 1.2: its text, what takes its place, and why.
CONTRADICTIONS = {
    ("000", 15): [("", "stream = dev.create_stream()\n", "the snippet before it closes the stream that it uses")],
    ("001", 3): [
        (
            "host_data = np.array([1.0, 2.0, 3.0, 4.0], dtype=np.float32)",
            "host_data = pinned_mr.allocate(1024, stream=stream)",
            "copy_from takes a Buffer of the same size",
        ),
        ("descriptor = buf.get_ipc_descriptor()", "", "memory of others can't be shared: the buffer has no resource"),
        ("imported_buf = Buffer.from_ipc_descriptor(device_mr, descriptor, stream)", "", "it is for another process"),
    ],
    ("001", 4): [('ptx_prog.link("cubin")', 'ptx_prog.compile("cubin")', "a Program compiles, a Linker links")],
    ("001", 5): [
        (
            "kernel = obj.get_kernel",
            "obj = ObjectCode.from_ptx(ptx_source)\nkernel = obj.get_kernel",
            "the last object code is a library, whose kernels are there once it is linked (and softgpu runs PTX)",
        )
    ],
    ("001", 7): [
        (
            "graph_def.complete()",
            'graph_def.complete({"auto_free_on_launch": True})',
            "the graph allocates and never frees, so that it can be launched once only",
        ),
        (
            "graph_def.debug_print(options=debug_opts)",
            "graph_def.debug_dot_print(dot_file, options=debug_opts)",
            "it is called debug_dot_print, and takes a file",
        ),
    ],
    ("004", 3): [
        ("dev.allocate(1024)", "dev.allocate(1024, stream=s)", "the first document says that it takes a stream")
    ],
}

# Snippets that are not about cuda.core.
NOT_OURS = {
    ("001", 9): "it is about NVIDIA's cuda.bindings alone, with the signatures of CUDA 12 and the CUDA runtime, "
    "which accepts NVIDIA's driver only",
}


def prepared(document: str, index: int, code: str, names: dict[str, Any]) -> str:
    """`code` with its gaps filled; stand-ins for what it doesn't define are put into `names`."""
    key = (document[:3], index)
    if key in NOT_OURS:
        return ""
    for lost, text in LOST.get(key, []):
        assert lost in code, f"{key}: {lost!r} is not in the snippet"
        code = code.replace(lost, text)
    for wrong, right, _ in CONTRADICTIONS.get(key, []):
        assert wrong in code, f"{key}: {wrong!r} is not in the snippet"
        code = code.replace(wrong, right) if wrong else right + code
    fill = FILL.get(key)
    if fill is not None:
        code = fill(code, names)
    return code


def foreign_stream(code: str, names: dict[str, Any]) -> str:
    from cuda.core import Device, Stream

    device = Device(0)
    device.set_current()
    names["Stream"] = Stream  # the snippet doesn't import it
    names["kept"] = device.create_stream()
    names["cupy_stream"] = SimpleNamespace(ptr=int(names["kept"].handle))
    return code


def foreign_pointer(code: str, names: dict[str, Any]) -> str:
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    names["kept"] = device.allocate(4096, stream=device.default_stream)
    names["some_library"] = SimpleNamespace(get_gpu_pointer=lambda: int(names["kept"].handle))
    return code


def code_files(code: str, names: dict[str, Any]) -> str:
    """A cubin in a file, and code in the other formats."""
    from cuda.core import Program, ProgramOptions

    source = 'extern "C" __global__ void vector_add(const float* a, const float* b, float* c, size_t n) {}'
    program = Program(source, "c++", ProgramOptions(relocatable_device_code=True))
    cubin = program.compile("cubin").code
    names["ptx_source"] = program.compile("ptx").code
    names["ltoir_data"] = program.compile("ltoir").code
    names["fatbin_data"] = names["library_data"] = cubin
    path = os.path.join(tempfile.mkdtemp(), "kernel.cubin")
    with open(path, "wb") as file:
        file.write(cubin)
    return code.replace("/path/to/kernel.cubin", path)


def dot_file(code: str, names: dict[str, Any]) -> str:
    names["dot_file"] = os.path.join(tempfile.mkdtemp(), "graph.dot")
    return code


FILL = {
    ("001", 1): foreign_stream,
    ("001", 3): foreign_pointer,
    ("001", 5): code_files,
    ("001", 7): dot_file,
}
