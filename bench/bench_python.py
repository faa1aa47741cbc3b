#!/usr/bin/env python3
"""Measures the Python package against NVIDIA's cuda.core, where that is installed.

    PYTHONPATH=build/release/python python bench/bench_python.py [--seconds S]

Prints, for each operation, the time of cuprum, that of cuda.core in the same run, and their ratio. Each library has a process
of its own, and the two take turns. What bare calls of the driver take, bench_api says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SOURCE = """
extern "C" __global__ void none() {}
extern "C" __global__ void five(float* a, float* b, int c, double d, unsigned long long e) {}
extern "C" __global__ void sixteen(int a, int b, int c, int d, int e, int f, int g, int h,
                                   int i, int j, int k, int l, int m, int n, int o, int p) {}
"""


def operations(core):
    """Name -> (function, how often it is called before the device is waited for)."""
    import numpy as np

    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    code = core.Program(SOURCE, code_type="c++", options=core.ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    none, five, sixteen = (code.get_kernel(name) for name in ("none", "five", "sixteen"))
    config = core.LaunchConfig(grid=1, block=1)
    buffer = device.allocate(1024, stream=stream)
    arguments = (buffer, buffer, np.int32(3), np.float64(4), np.uint64(5))
    many = tuple(np.int32(i) for i in range(16))
    event = device.create_event()
    builder = stream.create_graph_builder().begin_building()
    core.launch(builder, config, none)
    graph = builder.end_building().complete()
    launch, launch_config, make_device = core.launch, core.LaunchConfig, core.Device
    return stream, {
        "launch, no argument": (lambda: launch(stream, config, none), 500),
        "launch, 5 arguments": (lambda: launch(stream, config, five, *arguments), 500),
        "launch, 16 arguments": (lambda: launch(stream, config, sixteen, *many), 500),
        "launch of a graph": (lambda: graph.launch(stream), 500),
        "record an event": (lambda: stream.record(event), 500),
        "allocate and close": (lambda: device.allocate(1024, stream=stream).close(), 500),
        "LaunchConfig()": (lambda: launch_config(grid=4, block=256), 2000),
        "Device()": (lambda: make_device(), 2000),
        "create and close a stream": (lambda: device.create_stream().close(), 100),
        "create an event": (lambda: device.create_event(), 500),
        **views(core, stream),
    }


def views(core, stream):
    """Views of arrays of other libraries, where they are installed and have a device."""
    view = sys.modules[core.__name__ + ".utils"].StridedMemoryView
    found = {}
    try:
        import cupy

        array = cupy.ones(16)
        found["view of a CuPy array"] = (lambda: view.from_any_interface(array, stream_ptr=-1), 500)
    except Exception:
        pass
    try:
        import torch

        tensor = torch.ones(16, device="cuda")
        found["view of a PyTorch tensor"] = (lambda: view.from_any_interface(tensor, stream_ptr=-1), 500)
    except Exception:
        pass
    return found


def measure(name, seconds):
    """In a process of its own: nanoseconds of each operation, the best of several rounds."""
    began = time.perf_counter()
    if name == "cuprum":
        import cuprum as core
        import cuprum.utils
    else:
        import cuda.core as core
        import cuda.core.utils  # noqa: F401
    results = {"import": (time.perf_counter() - began) * 1e9}
    stream, todo = operations(core)
    for what, (function, count) in todo.items():
        best = float("inf")
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            start = time.perf_counter_ns()
            for _ in range(count):
                function()
            best = min(best, (time.perf_counter_ns() - start) / count)
            stream.sync()
        results[what] = best
    print(json.dumps(results))


def run(name, seconds):
    child = subprocess.run(
        [sys.executable, __file__, "--measure", name, "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True
    )
    return json.loads(child.stdout) if child.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each operation and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.seconds)
    rounds = [(run("cuprum", options.seconds), run("cuda.core", options.seconds)) for _ in range(options.rounds)]
    ours = [mine for mine, _ in rounds if mine]
    theirs = [other for _, other in rounds if other]
    if not ours:
        sys.exit("cuprum could not be measured (see above)")
    print(f"{'':28}{'cuprum':>12}{'cuda.core':>12}{'ratio':>8}   (nanoseconds; driver: {os.environ.get('CUPRUM_DRIVER', 'auto')})")
    for what in ours[0]:
        mine = statistics.median(result[what] for result in ours)
        other = statistics.median(result[what] for result in theirs) if theirs and what in theirs[0] else None
        beside = f"{other:12.0f}{mine / other:8.2f}" if other else f"{'-':>12}{'-':>8}"
        print(f"{what:28}{mine:12.0f}{beside}")


if __name__ == "__main__":
    main()
