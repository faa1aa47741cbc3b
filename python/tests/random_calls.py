"""Random public calls of cuda.core, good and bad, the same for the same seed whoever serves it; prints what became of each.

usage: random_calls.py FIRST_SEED COUNT     (NVIDIA's cuda.core; with CUPRUM_AS_CUDA_CORE set, cuprum's)
"""

from __future__ import annotations

import json
import operator
import os
import random
import re
import sys
import warnings

if os.environ.get("CUPRUM_AS_CUDA_CORE"):
    import cuprum.as_cuda_core  # noqa: F401

import numpy as np
from cuda.core import (
    Device,
    EventOptions,
    Host,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    LinkerOptions,
    ObjectCode,
    ProgramOptions,
    StreamOptions,
)
from cuda.core._layout import _StridedLayout
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry none() { ret; }
.visible .entry three(.param .u64 a, .param .u32 b, .param .align 8 .b8 c[24]) { ret; }
"""
ADDRESS = re.compile(r"\bptr=(0x)?[0-9a-f]+|0x[0-9a-f]{6,}")
NUMBERS = [0, 1, -1, 2, 3, 7, 32, 255, 256, 1024, 2**31, 2**32 - 1, 2**32, 2**63, 2**64, -(2**63), True, 1.0, 2.5]
OTHERS = [None, "1", "text", b"1", [], (), (1,), (2, 3), (1, 2, 3), (1, 2, 3, 4), [2, 2], {}, np.int32(2), np.float32(2), object]


class Calls:
    """One sequence: makes calls and writes down what comes of them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.outcomes: list[tuple[str, str, str]] = []

    def any(self) -> object:
        return self.rng.choice(NUMBERS if self.rng.random() < 0.6 else OTHERS)

    def maybe(self, *good: object) -> object:
        """One of these, now and then anything."""
        return self.any() if self.rng.random() < 0.15 else self.rng.choice(good)

    def some(self, **choices: list[object]) -> dict[str, object]:
        """Some of the keywords, each with one of its values or anything."""
        return {name: self.maybe(*values) for name, values in choices.items() if self.rng.random() < 0.4}

    def call(self, text: str, function, *args, show=True, **kwargs):
        """The result, None where it raises."""
        given = ", ".join([*map(said, args), *(f"{name}={said(value)}" for name, value in kwargs.items())])
        text = f"{text}({given})"
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (Exception, BaseException, object)]
            self.outcomes.append((text, "raises " + " ".join(kinds), str(error)))
            return None
        self.outcomes.append((text, said(result) if show else "returns", ""))
        return result

    def read(self, text: str, value, *names: str) -> None:
        for name in names:
            self.call(f"{text}.{name}", lambda name=name: getattr(value, name))


def said(value: object) -> str:
    """A value in words that are the same in both processes."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(map(said, value)) + ")"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(map(said, value))) + ")"
    if isinstance(value, np.generic):
        return f"{type(value).__name__}({value})"
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)
    if callable(value):
        return "a function"
    if isinstance(value, str):
        return repr(str(value))
    if hasattr(value, "pred"):
        return "a node"
    return ADDRESS.sub("an address", repr(value))


def launch_configs(calls: Calls) -> None:
    shapes = [1, 2, (1,), (2, 3), (4, 2, 1), (0, 1, 1), (1, 2**31, 1), 2**31 - 1]
    config = calls.call(
        "LaunchConfig",
        LaunchConfig,
        **{"grid": calls.maybe(*shapes), "block": calls.maybe(*shapes)},
        **calls.some(cluster=[None, 1, (2, 1)], shmem_size=[0, 48, 2**20], is_cooperative=[True, False]),
    )
    if config is None:
        return
    names = ("grid", "block", "cluster", "shmem_size", "is_cooperative")
    calls.read("config", config, *names)
    name, value = calls.rng.choice(names), calls.maybe(*shapes)
    calls.call(f"config.{name} = ", setattr, config, name, value)
    other = calls.any()
    calls.call("config ==", lambda: config == other)


def layouts(calls: Calls) -> None:
    rng = calls.rng
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 6]) for _ in range(rng.randrange(5)))
    order = calls.maybe("C", "F", tuple(rng.sample(range(len(shape)), len(shape))))
    layout = calls.call("dense", _StridedLayout.dense, calls.maybe(shape), calls.maybe(1, 2, 4, 8), order)
    strides = calls.maybe(None, tuple(rng.choice([-2, -1, 0, 1, 3, 6]) for _ in shape))
    other = calls.call("layout", _StridedLayout, calls.maybe(shape), strides, calls.maybe(1, 2, 4, 8, 16))
    for one in (layout, other):
        for _ in range(4):
            if one is not None:
                one = change(calls, one)


def change(calls: Calls, layout):
    rng, ndim = calls.rng, layout.ndim
    calls.read(
        "layout", layout, "shape", "strides", "strides_in_bytes", "stride_order", "volume", "is_unique", "is_dense",
        "is_contiguous_c", "is_contiguous_f", "is_contiguous_any", "offset_bounds", "slice_offset_in_bytes", "itemsize",
    )  # fmt: skip
    calls.call("required_size_in_bytes", layout.required_size_in_bytes)
    calls.call("max_compatible_itemsize", layout.max_compatible_itemsize)
    axis = calls.maybe(*range(-ndim - 1, ndim + 2))
    numbers = [None, -3, -1, 0, 1, 2, 5]
    slices = [rng.choice([slice(*rng.choices(numbers, k=3)), rng.choice([-2, 0, 1]), ...]) for _ in range(rng.randrange(ndim + 2))]
    permutation = tuple(rng.sample(range(ndim), ndim))
    way, args = rng.choice(
        [
            ("permuted", (calls.maybe(permutation, permutation[::-1]),)),
            ("reshaped", (calls.maybe((-1,), (2, -1), (layout.volume,), (1, *layout.shape)),)),
            ("flattened", ()),
            ("squeezed", ()),
            ("unsqueezed", (axis,)),
            ("broadcast_to", (calls.maybe((3, *layout.shape), tuple(max(each, 2) for each in layout.shape)),)),
            ("repacked", (calls.maybe(1, 2, 4, 8), *([axis] if rng.random() < 0.3 else []))),
            ("to_dense", (calls.maybe("K", "C", "F"),)),
            ("sliced", (tuple(slices),)),
            ("__getitem__", (tuple(slices) if rng.random() < 0.7 else calls.any(),)),
        ]
    )
    return calls.call(way, getattr(layout, way), *args)


def views(calls: Calls) -> None:
    rng = calls.rng
    array = np.zeros([rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randrange(4))], rng.choice(["i1", "u2", "f4", "f8", "c8", "?"]))
    if array.ndim and rng.random() < 0.5:
        array = array[:: rng.choice([-1, 2])]
    if rng.random() < 0.2:
        array.flags.writeable = False
    way = rng.choice(["from_dlpack", "from_any_interface", "from_array_interface", "from_cuda_array_interface"])
    stream = () if way == "from_array_interface" else (calls.maybe(-1, None, 0),)
    view = calls.call(way, getattr(StridedMemoryView, way), calls.maybe(array, array, array), *stream, show=False)
    if rng.random() < 0.4:
        buffer = LegacyPinnedMemoryResource().allocate(rng.choice([0, 16, 64]))
        kwargs = calls.some(strides=[None, (1,), (4, 1)], itemsize=[1, 4], dtype=[np.float32, "i2"], is_readonly=[True])
        view = calls.call("from_buffer", StridedMemoryView.from_buffer, buffer, calls.maybe((4,), (2, 2), (64,)), show=False, **kwargs)
    for _ in range(2):
        if view is None:
            return
        calls.read("view", view, "shape", "strides", "dtype", "size", "readonly", "is_device_accessible", "device_id")
        if rng.random() < 0.5:
            calls.call("__dlpack_device__", view.__dlpack_device__)
        options = calls.some(dtype=["i1", np.float32, np.int16], layout=[_StridedLayout.dense((2, 2), 4)])
        view = calls.call("view", view.view, show=False, **options)


def buffers(calls: Calls) -> None:
    rng, resource = calls.rng, LegacyPinnedMemoryResource()
    stream = Device().create_stream()
    size = calls.maybe(0, 4, 16, 20)
    buffer = calls.call("allocate", resource.allocate, size, show=False)
    other = resource.allocate(rng.choice([4, 16]))
    if buffer is None:
        return
    calls.read("buffer", buffer, "size", "device_id", "is_device_accessible", "is_host_accessible", "is_mapped", "owner")
    values = [0, 7, 255, b"ab", b"abc", b"", bytearray(4), np.int8(-3), np.uint16(9), np.float32(1.5), np.float64(2), np.zeros(1)]
    calls.call("fill", buffer.fill, calls.maybe(*values), stream=calls.maybe(stream, stream, stream))
    calls.call("copy_from", buffer.copy_from, calls.maybe(other, other), stream=stream)
    calls.call("copy_to", buffer.copy_to, calls.maybe(other, other), stream=stream, show=False)
    stream.sync()
    if isinstance(size, int) and 0 < size <= 1024:
        calls.call("contents", lambda: np.from_dlpack(buffer).tobytes())
    calls.call("==", operator.eq, buffer, calls.maybe(buffer, other))
    for _ in range(2):
        calls.call("close", buffer.close, *([calls.maybe(stream, None)] if rng.random() < 0.5 else []))
    calls.read("closed", buffer, "size", "handle")


def execution(calls: Calls) -> None:
    device = Device()
    options = calls.some(nonblocking=[True, False, None], priority=[0, -1, -5, None])
    made = calls.call("StreamOptions", StreamOptions, **options)
    stream = calls.call("create_stream", device.create_stream, options=calls.maybe(made, options), show=False)
    kinds = calls.some(timing_enabled=[True, False], enable_timing=[True, False], blocking_sync=[True, False], ipc_enabled=[False])
    calls.call("EventOptions", EventOptions, **kinds)
    event = calls.call("create_event", device.create_event, options=calls.maybe(kinds, None), show=False)
    if stream is not None:
        calls.read("stream", stream, "is_nonblocking", "priority")
        recorded = calls.call("record", stream.record, calls.maybe(event, None), show=False)
        calls.call("wait", stream.wait, calls.maybe(recorded, stream, event))
        calls.call("sync", stream.sync)
        if recorded is not None:
            calls.read("event", recorded, "is_done", "is_timing_enabled", "is_blocking_sync", "is_ipc_enabled")
            calls.call("-", operator.sub, recorded, calls.maybe(event, recorded), show=False)


def devices(calls: Calls) -> None:
    calls.call("Device", Device, calls.maybe(0, None, 0))
    device, names = Device(), sorted(name for name in dir(Device().properties) if not name.startswith("_"))
    for name in calls.rng.sample(names, 12):
        calls.read("properties", device.properties, name)
    calls.read("device", device, "device_id", "name", "uuid", "compute_capability", "arch")
    calls.call("can_access_peer", device.can_access_peer, calls.maybe(0))
    calls.call("Host", Host, **calls.some(numa_id=[0, 1, None]))
    calls.call("device ==", operator.eq, device, calls.maybe(device, Device(0)))


def code(calls: Calls) -> None:
    made = calls.call("from_ptx", ObjectCode.from_ptx, calls.maybe(PTX, PTX.decode()), show=False, **calls.some(name=["mine"]))
    if made is None:
        return
    calls.read("code", made, "code_type", "name")
    kernel = calls.call("get_kernel", made.get_kernel, calls.maybe("none", "three", b"three", "four"), show=False)
    if kernel is None:
        return
    calls.read("kernel", kernel, "num_arguments", "arguments_info")
    names = ["max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "cluster_size_must_be_set"]
    calls.read("kernel.attributes", kernel.attributes, calls.rng.choice(names))
    occupancy = kernel.occupancy
    calls.call("max_active_blocks", occupancy.max_active_blocks_per_multiprocessor, calls.maybe(32, 128, 1024), calls.maybe(0, 1024))
    calls.call("available_dynamic", occupancy.available_dynamic_shared_memory_per_block, calls.maybe(1, 2), calls.maybe(32, 256))
    calls.call("max_potential", occupancy.max_potential_block_size, calls.maybe(0, 64), calls.maybe(0, 128), show=False)


def options(calls: Calls) -> None:
    flags = [True, False, None]
    wanted = calls.some(
        name=["a"], arch=["sm_80", "sm_90"], max_register_count=[32], ftz=flags, prec_div=flags, prec_sqrt=flags, fma=flags,
        debug=flags, lineinfo=flags, split_compile=[0, 2], no_cache=flags, ptxas_options=["-v", ["-v", "-O2"]],
    )  # fmt: skip
    linked = calls.call("LinkerOptions", LinkerOptions, show=False, **wanted)
    if linked is not None:
        calls.call("LinkerOptions.as_bytes", lambda: sorted(linked.as_bytes(calls.maybe("nvjitlink"))))
    more = calls.some(
        std=["c++17"], define_macro=["A", ("A", "1"), ["A", ("B", "2")]], undefine_macro=["A", ["A", "B"]], use_fast_math=flags,
        include_path=["/tmp", ["/tmp", "/usr"]], pre_include=["a.h"], relocatable_device_code=flags, diag_suppress=[1, [1, 2]],
    )  # fmt: skip
    compiled = calls.call("ProgramOptions", ProgramOptions, show=False, **wanted, **more)
    if compiled is not None:
        calls.call("ProgramOptions.as_bytes", lambda: sorted(compiled.as_bytes(calls.maybe("nvrtc"))))


def graphs(calls: Calls) -> None:
    rng, graph = calls.rng, GraphDefinition()
    buffer = LegacyPinnedMemoryResource().allocate(16)
    nodes = []
    for _ in range(rng.randint(1, 5)):
        place = rng.choice([graph, *nodes])
        node = calls.call("empty", graph.empty, show=False) if rng.random() < 0.2 else None
        nodes += [node] if node is not None else []
        way, args = rng.choice(
            [
                ("memset", (calls.maybe(buffer), calls.maybe(0, 255, b"ab", np.uint32(3)), calls.maybe(1, 4))),
                ("memcpy", (calls.maybe(buffer), calls.maybe(buffer), calls.maybe(4, 16))),
                ("callback", (calls.maybe(int),)),
                ("join", tuple(rng.sample(nodes, rng.randrange(len(nodes) + 1)))),
            ]
        )
        node = calls.call(way, getattr(place, way), *args, show=False)
        if hasattr(node, "pred"):  # of a node that is a callback, `callback` is the function
            nodes.append(node)
    for node in nodes:
        calls.call("pred", lambda node=node: len(node.pred))
        calls.call("succ", lambda node=node: len(node.succ))
        calls.call("type", lambda node=node: str(node.type).rpartition("_TYPE_")[2])
    if nodes:
        one, two = rng.choice(nodes), rng.choice(nodes)
        calls.call("add", lambda other: one.succ.add(other), calls.maybe(two, two), show=False)
        calls.call("discard", lambda other: one.succ.discard(other), calls.maybe(two, two), show=False)
        calls.call("==", operator.eq, one, calls.maybe(one, two))
    calls.call("nodes", lambda: len(graph.nodes()))
    calls.call("edges", lambda: len(graph.edges()))
    calls.call("instantiate", graph.instantiate, show=False)


GROUPS = [launch_configs, layouts, layouts, views, buffers, execution, devices, code, options, graphs]


def outcomes_of(seed: int) -> list[tuple[str, str, str]]:
    calls = Calls(seed)
    group = calls.rng.choice(GROUPS)
    group(calls)
    return [(f"{group.__name__}: {text}", outcome, why) for text, outcome, why in calls.outcomes]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    Device().set_current()
    first, count = map(int, sys.argv[1:])
    print(json.dumps([outcomes_of(seed) for seed in range(first, first + count)]))
