#!/usr/bin/env python3
"""Measures the Python package against NVIDIA's cuda.core, where that is installed.

    PYTHONPATH=build/release/python python bench/bench_python.py [--bare build/release/bin/bench_bare_calls]

Prints, for each operation, the time of cuprum, that of cuda.core in the same run, and their ratio. With --bare, also what the
driver's calls take by themselves, and how the times above that compare. Each has a process of its own, and they take turns.
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
    }


def views(core):
    """Views of arrays of other libraries, where they are installed and have a device. In a process of their own: the driver's
    calls take longer beside them."""
    device = core.Device()
    device.set_current()
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
    return device.create_stream(), found


def measure(name, what, seconds):
    """In a process of its own: nanoseconds of each operation, the best of several rounds."""
    began = time.perf_counter()
    if name == "cuprum":
        import cuprum as core
        import cuprum.utils
    else:
        import cuda.core as core
        import cuda.core.utils  # noqa: F401
    results = {"import": (time.perf_counter() - began) * 1e9} if what == "operations" else {}
    stream, todo = operations(core) if what == "operations" else views(core)
    passes = 5  # so that what the machine does meanwhile hits all of them alike
    for _ in range(passes):
        for name, (function, count) in todo.items():
            best = best_time(function, count, stream, seconds / passes)
            results[name] = min(best, results.get(name, best))
    print(json.dumps(results))


def best_time(function, count, stream, seconds):
    best = float("inf")
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter_ns()
        for _ in range(count):
            function()
        best = min(best, (time.perf_counter_ns() - start) / count)
        stream.sync()
    return best


def run(command):
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(child.stdout) if child.returncode == 0 else None


def python_run(name, seconds):
    results = {}
    for what in ("operations", "views"):
        found = run([sys.executable, __file__, "--measure", name, what, "--seconds", str(seconds)])
        if found is None:
            return None
        results.update(found)
    return results


def median_of(results, what):
    values = [result[what] for result in results if result and what in result]
    return statistics.median(values) if values else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each operation and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", metavar="PROGRAM", help="bench_bare_calls, for the times of the driver itself")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure, options.seconds)
    ours, theirs, bare = [], [], []
    for _ in range(options.rounds):
        ours.append(python_run("cuprum", options.seconds))
        theirs.append(python_run("cuda.core", options.seconds))
        bare.append(run([options.bare, str(options.seconds)]) if options.bare else None)
    if not any(ours):
        sys.exit("cuprum could not be measured (see above)")
    print_table(ours, theirs, bare)


def print_table(ours, theirs, bare):
    print(f"nanoseconds; driver: {os.environ.get('CUPRUM_DRIVER', 'auto')}")
    print(f"{'':28}{'cuprum':>12}{'cuda.core':>12}{'ratio':>8}{'bare':>10}{'above it':>18}{'ratio':>8}")
    for what in next(result for result in ours if result):
        mine, other, least = (median_of(results, what) for results in (ours, theirs, bare))
        line = f"{what:28}{mine:12.0f}"
        line += f"{other:12.0f}{mine / other:8.2f}" if other else f"{'-':>12}{'-':>8}"
        if least and other:
            line += f"{least:10.0f}{mine - least:9.0f}{other - least:9.0f}{(mine - least) / (other - least):8.2f}"
        print(line)


if __name__ == "__main__":
    main()
