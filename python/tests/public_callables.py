"""Every function, constructor and method that users can call, with what each takes: found by looking, not listed."""

import ast
import inspect
import os
import re
import types
import uuid
from typing import NamedTuple

import cuprum
from cuprum import (
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    Host,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    VirtualMemoryResource,
    checkpoint,
    graph,
    system,
    texture,
    utils,
)
from cuprum.graph import GraphDefinition
from cuprum.texture import ResourceDescriptor

MODULES = [cuprum, graph, texture, utils, checkpoint, system]
PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 g;\n.visible .entry k() { ret; }\n"
IMAGE = {"shape": (4, 4), "format": "float32", "num_channels": 1, "is_surface_load_store": True}


class Exporter:
    """An array of another library, which has work on a stream."""

    def __init__(self, stream):
        data = {"shape": (1,), "typestr": "<f4", "data": (0, False), "stream": int(stream.handle)}
        self.__cuda_array_interface__ = {"version": 3, **data}


class Callable(NamedTuple):
    function: object
    parameters: list  # what has a name
    takes_all_keywords: bool


def nodes(device, stream, buffer, kernel):
    """One node of each kind, and those of an executable graph."""
    config, event = LaunchConfig(1, block=1), stream.record()
    definition = GraphDefinition()
    found = [
        definition.launch(config, kernel), definition.memset(buffer, 0, 4), definition.memcpy(buffer, buffer, 8),
        definition.embed(GraphDefinition()), definition.record(event), definition.wait(event), definition.callback(int),
    ]  # fmt: skip
    executable = definition.instantiate()
    found += [executable, *(executable[node] for node in found), definition.empty()]
    for make in ("if_then", "if_else", "while_loop"):
        conditional = GraphDefinition()
        found.append(getattr(conditional, make)(conditional.create_condition(0)))
    allocation = GraphDefinition().allocate(8)
    conditional = GraphDefinition()
    return [*found, conditional.switch(conditional.create_condition(0), 2), allocation, allocation.deallocate(allocation)]


def objects(device, stream):
    """An object of each public class that has methods."""
    code = ObjectCode.from_ptx(PTX)
    kernel = code.get_kernel("k")
    buffer = device.allocate(4096, stream=stream)
    definition = GraphDefinition()
    image, mipmaps = device.create_opaque_array(IMAGE), device.create_mipmapped_array({**IMAGE, "num_levels": 2})
    descriptor = ResourceDescriptor.from_opaque_array(image)
    view = utils.StridedMemoryView.from_buffer(buffer, (32, 32), itemsize=4)
    return [
        device, stream, stream.record(), buffer, ManagedMemoryResource().allocate(4096, stream=stream), device.context,
        device.resources, device.resources.sm, LaunchConfig(1, block=1), code, kernel, kernel.attributes, kernel.occupancy,
        definition, definition.create_condition(0), device.create_graph_builder(), image, mipmaps, descriptor,
        device.create_texture_object(resource=descriptor), device.create_surface_object(resource=descriptor),
        DeviceMemoryResource(device), PinnedMemoryResource(), ManagedMemoryResource(), GraphMemoryResource(device),
        VirtualMemoryResource(device), LegacyPinnedMemoryResource(), view, utils.StridedLayout.dense((2,), 4),
        utils.InMemoryProgramCache(), Program("__global__ void k() {}", "c++"), Host(), checkpoint.Process(os.getpid()),
        system.Device(index=0), *nodes(device, stream, buffer, kernel),
    ]  # fmt: skip


def values(device, stream):
    """Something right for each name of a parameter, so that only one argument of a call is wrong."""
    pinned = PinnedMemoryResource().allocate(4096, stream=stream)
    definition, image = GraphDefinition(), device.create_opaque_array(IMAGE)
    view = utils.StridedMemoryView.from_buffer(pinned, (32, 32), itemsize=4)
    return {
        "stream": stream, "size": 64, "config": LaunchConfig(1, block=1), "kernel": ObjectCode.from_ptx(PTX).get_kernel("k"),
        "device_id": 0, "event": stream.record(), "dst": pinned, "src": pinned, "value": 0, "width": 4, "height": 1, "pitch": 256,
        "child": GraphDefinition(), "fn": int, "count": 2, "ptr": 4096, "name": "k", "module": PTX, "handle": stream.handle,
        "peer": 0, "path": "/tmp/x.dot", "shape": (4,), "itemsize": 4, "buffer": pinned, "array": image, "buf": pinned,
        "new_size": 512, "resource": ResourceDescriptor.from_opaque_array(image), "format": "float32", "num_channels": 1,
        "block_size": 32, "dynamic_shared_memory_size": 0, "dynamic_shared_memory_needed": 0, "block_size_limit": 32,
        "num_blocks_per_multiprocessor": 1, "code": "int x;", "code_type": "c++", "target_type": "ptx", "uuid": uuid.uuid4(),
        "pid": os.getpid(), "location": device, "buffers": [pinned], "locations": device, "srcs": [pinned], "dsts": [pinned],
        "key": "k", "num_levels": 2, "major": 9, "minor": 0, "pitch_bytes": 256, "condition": definition.create_condition(0),
        "device1": system.Device(index=0), "device2": system.Device(index=0), "args": [], "link": 0, "other": view,
        "event_or_stream": stream, "alloc_handle": 0, "dptr": 4096, "strides": (1,), "block": 1, "grid": 1,
        "box_dim": (4,), "stream_ptr": -1, "source": GraphDefinition(), "mipmapped_array": image, "index": "read",
    }  # fmt: skip


def values_for(name, right, wrong):
    """What to give a function besides its argument `wrong`; some arguments exclude each other, or mean something else."""
    method, others = name.rpartition(".")[2], {key: value for key, value in right.items() if key != wrong}
    leave_out = {"record": ["event"], "from_handle": ["stream"], "as_tensor_map": ["box_dim"] if wrong == "options" else []}
    if name == "cuprum.system.Device":
        leave_out[method] = ["index", "uuid", "pci_bus_id"]
    for key in leave_out.get(method, []):
        others.pop(key, None)
    if method == "from_handle" and wrong == "stream":
        others["mr"] = PinnedMemoryResource()
    if method in ("from_dlpack", "from_any_interface", "StridedMemoryView"):
        others["obj"] = right["buffer"]
    if method in ("from_cuda_array_interface", "view_as_cai"):
        others["obj"] = Exporter(right["stream"])
    if method == "dense_like":
        others["other"] = utils.StridedLayout.dense((2,), 4)
    if method == "make_program_cache_key":
        others["options"] = cuprum.ProgramOptions(arch="sm_80")
    if method == "split":
        others["options"] = {"count": 1}
    return {key: value for key, value in others.items() if key != wrong}


def of_extension(function):
    """What the first signature of a function of the extension has, without its self."""
    signature = function.__nb_signature__[0][0].replace("def (", "def _(")
    arguments = ast.parse(re.sub(r"\\\d+", "None", signature) + ": ...").body[0].args
    names = [each.arg for each in arguments.args + arguments.kwonlyargs if each.arg not in ("self", "cls")]
    return Callable(function, names, arguments.kwarg is not None)


def described(function):
    maker = function
    if isinstance(function, type):
        maker = next((each for each in (function.__init__, function.__new__) if hasattr(each, "__nb_signature__")), function)
    if hasattr(maker, "__nb_signature__"):
        return of_extension(maker)._replace(function=function)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a class that nobody can make objects of, or that takes nothing
        return None
    named = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    return Callable(function, named, any(each.kind == each.VAR_KEYWORD for each in parameters))


def is_public(thing):
    if isinstance(thing, types.ModuleType) or not callable(thing) or not str(getattr(thing, "__module__", "")).startswith("cuprum"):
        return False
    # Enumerations are str, and ComputeCapability is a tuple: what they say is Python's own.
    return not (isinstance(thing, type) and issubclass(thing, (BaseException, str, tuple)))


def public_callables(device, stream):
    """By name; methods are bound to an object."""
    found = {}
    for module in MODULES:
        for name in getattr(module, "__all__", None) or [each for each in dir(module) if not each.startswith("_")]:
            thing = getattr(module, name)
            if is_public(thing):
                found[f"{module.__name__}.{name}"] = thing
                for member in dir(thing) if isinstance(thing, type) else ():
                    if isinstance(inspect.getattr_static(thing, member), (staticmethod, classmethod)) and member[0] != "_":
                        found[f"{module.__name__}.{name}.{member}"] = getattr(thing, member)
    for each in objects(device, stream):
        for name in dir(type(each)):
            if name[0] != "_" and callable(getattr(type(each), name)) and not isinstance(inspect.getattr_static(type(each), name), type):
                found[f"{type(each).__module__}.{type(each).__name__}.{name}"] = getattr(each, name)
    described_ones = {name: described(function) for name, function in found.items()}
    return {name: each for name, each in described_ones.items() if each is not None}
