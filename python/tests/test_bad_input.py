"""What is said of arguments that can't be: the nearest keyword, the argument's name, and all in Python's words."""

import ast
import re
from pathlib import Path

import pytest

import cuprum
from cuprum import Buffer, CUDAError, Device, LaunchConfig, Linker, ObjectCode, Program, Stream, _core, launch, system, utils
from cuprum._wording import in_python
from cuprum.graph import GraphDefinition
from cuprum.utils import StridedMemoryView

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n"
SOURCE = "__global__ void k() {}"
SOURCES = Path(__file__).resolve().parents[2] / "src"


def parameters_of(function):
    """The names of what a function of the extension takes, of its first signature."""
    signature = function.__nb_signature__[0][0]
    arguments = ast.parse(re.sub(r"\\\d+", "None", signature) + ": ...").body[0].args
    return [each.arg for each in arguments.args + arguments.kwonlyargs], arguments.vararg, arguments.kwarg


def functions_with_keywords():
    found = {name: each for name, each in vars(_core).items() if hasattr(each, "__nb_signature__")}
    for cls in [each for each in vars(_core).values() if isinstance(each, type)]:
        for name, each in vars(cls).items():
            if hasattr(each, "__nb_signature__") and (not name.startswith("__") or name == "__init__"):
                found[f"{cls.__name__}.{name}"] = each
    for name, function in found.items():
        parameters, _, takes_all = parameters_of(function)
        names = [each for each in parameters if each not in ("self", "cls", "arg") and len(each) > 3]
        if names and not takes_all:
            yield pytest.param(function, names[-1], id=name)


@pytest.mark.parametrize(("function", "keyword"), list(functions_with_keywords()))
def test_an_unknown_keyword_is_answered_with_the_nearest(function, keyword):
    """Of every function, method and constructor of the extension."""
    wrong = keyword[0] + keyword[2] + keyword[1] + keyword[3:] + "_"
    with pytest.raises(TypeError, match=rf"\(\) got an unexpected keyword argument '{wrong}'; did you mean '{keyword}'\?$"):
        function(object(), **{wrong: 1})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: launch(strem=1), "launch() got an unexpected keyword argument 'strem'; did you mean 'stream'?"),
        (lambda: Device(device=1), "Device() got an unexpected keyword argument 'device'; did you mean 'device_id'?"),
        (lambda: LaunchConfig(1, blok=1), "LaunchConfig() got an unexpected keyword argument 'blok'; did you mean 'block'?"),
        (lambda: Device().sync(now=1), "Device.sync() got an unexpected keyword argument 'now'; it takes none"),
        (
            lambda: utils.InMemoryProgramCache(max_size=1),
            "InMemoryProgramCache() got an unexpected keyword argument 'max_size'; did you mean 'max_size_bytes'?",
        ),
        (
            lambda: utils.view_as_cai(1, strem_ptr=1),
            "view_as_cai() got an unexpected keyword argument 'strem_ptr'; did you mean 'stream_ptr'?",
        ),
        (
            lambda: Device().allocate(1, colour="red"),
            "Device.allocate() got an unexpected keyword argument 'colour'; its arguments are: size, stream",
        ),
        (lambda: Device().allocate(), "Device.allocate() needs 'size', which is missing"),
        (lambda: Device().allocate(1, size=1), "Device.allocate() got multiple values for argument 'size'"),
        (lambda: Device().sync(1), "Device.sync() takes at most 0 arguments by position (none), but 1 were given"),
        (lambda: LaunchConfig(1, block=1, is_cooperative=3), "LaunchConfig(): 'is_cooperative' must be bool, not int"),
        (lambda: GraphDefinition().embed(3), "GraphDefinition.embed(): 'child' must be GraphDefinition, not int"),
        (lambda: Device().can_access_peer(None), "peer must be a Device or its number, not <class 'NoneType'>"),
        (lambda: StridedMemoryView.from_buffer(Device().allocate(8, stream=Device().default_stream), None, itemsize=1),
         "from_buffer(): 'shape' can't be None"),
        (lambda: setattr(LaunchConfig(1, block=1), "is_cooperative", "x"), "an attribute of LaunchConfig that is bool can't be set to a str"),
    ],
)
def test_calls_that_fit_no_signature_are_explained(device, call, said):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == said


@pytest.mark.parametrize("cls", [each for each in vars(_core).values() if isinstance(each, type) and hasattr(each.__eq__, "__nb_signature__")])
def test_every_class_can_be_compared_with_none(cls):
    """By what its __eq__ declares: most objects take some making, but the words of nanobind are the same for all."""
    assert [each[0] for each in cls.__eq__.__nb_signature__] == ["def __eq__(self, arg: object | None, /) -> object"]


def test_nothing_is_none(device, stream):
    graph = GraphDefinition()
    node = graph.empty()
    objects = [device, stream, stream.record(), device.allocate(8, stream=stream), device.context, cuprum.Host()]
    objects += [graph, node, graph.callback(lambda: None), GraphDefinition().create_condition(), graph.instantiate()]
    objects += [LaunchConfig(1, block=1), ObjectCode.from_ptx(PTX).get_kernel("k"), utils.StridedLayout.dense((2,), 4)]
    for each in objects:
        assert (each == None) is False  # noqa: E711
        assert (each != None) is True  # noqa: E711
        assert each not in [None]
        assert each != "text"


def test_none_is_no_array():
    view = utils.args_viewable_as_strided_memory((0,))(lambda array: array)
    with pytest.raises(BufferError, match="does not support any data exchange protocol"):
        view(None)


OPTIONS = [
    (lambda: compiled(include_path=5), TypeError, "include_path"),
    (lambda: compiled(include_path=["a", 5]), TypeError, "include_path"),
    (lambda: compiled(max_register_count=10**12), ValueError, "the option max_register_count can't be 1000000000000"),
    (lambda: compiled(diag_suppress=[1, 10**12]), ValueError, "the option diag_suppress can't be 1000000000000"),
    (lambda: Program("// \udc80", "c++"), UnicodeEncodeError, "surrogates not allowed"),
    (lambda: compiled(define_macro="\udc80"), UnicodeEncodeError, "surrogates not allowed"),
    (lambda: ObjectCode.from_ptx(PTX).get_kernel("\udc80"), UnicodeEncodeError, "surrogates not allowed"),
    (lambda: cuprum.DeviceMemoryResource.from_allocation_handle(0, 10**12), ValueError, "alloc_handle can't be 1000000000000: no file"),
    (lambda: cuprum.DeviceMemoryResource.from_allocation_handle(0, "x"), TypeError, "alloc_handle must be an IPCAllocationHandle or"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "said"), OPTIONS)
def test_options_that_cannot_be_are_named(device, call, kind, said):
    with pytest.raises(kind) as caught:
        call()
    assert said in str(caught.value)


NUL = [
    (lambda: ObjectCode.from_ptx(PTX).get_kernel("k\0x"), "the name of a kernel has a NUL character after 'k'"),
    (lambda: ObjectCode.from_ptx(PTX).get_global("k\0x"), "the name of a variable has a NUL character after 'k'"),
    (lambda: ObjectCode.from_ptx(PTX).save("/tmp/k\0x"), "the path of a file has a NUL character after '/tmp/k'"),
    (lambda: compiled(define_macro=("V", "1\0+1")), "an option of the compiler has a NUL character after '--define-macro=V=1'"),
    (lambda: compiled(arch="sm_80\0x"), "an option of the compiler has a NUL character after '--gpu-architecture=compute_80'"),
    (lambda: compiled(name="a\0b"), "the name of a program has a NUL character after 'a'"),
    (lambda: compiled(include_path="/tmp\0"), "an option of the compiler has a NUL character after '--include-path=/tmp'"),
    (lambda: Program(SOURCE, "c++").compile("ptx", name_expressions=["k\0"]), "a name expression has a NUL character after 'k'"),
    (lambda: GraphDefinition().debug_dot_print("/tmp/k\0x"), "the path of a file has a NUL character after '/tmp/k'"),
    (lambda: Linker(ObjectCode.from_ptx(PTX, name="a\0b")).link("cubin"), "the name of object code has a NUL character after 'a'"),
    (lambda: system.Device(uuid="GPU-0\0"), "the UUID of a device has a NUL character after 'GPU-0'"),
]  # fmt: skip


def compiled(**options):
    return Program(SOURCE, "c++", options).compile("ptx")


@pytest.mark.parametrize(("call", "said"), NUL)
def test_strings_are_not_cut_at_a_nul(device, call, said):
    with pytest.raises(ValueError) as caught:
        call()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda d, s: d.allocate(-1, stream=s), OverflowError, "size can't be negative: -1"),
        (lambda d, s: d.allocate(1 << 64, stream=s), OverflowError, "size can't be larger than 64 bits: 18446744073709551616"),
        (lambda d, s: d.allocate("4", stream=s), TypeError, "size must be an int, not <class 'str'>"),
        (lambda d, s: Buffer.from_handle(-1, 4), OverflowError, "ptr can't be negative: -1"),
        (lambda d, s: Buffer.from_handle(1, -4), OverflowError, "size can't be negative: -4"),
        (lambda d, s: Stream.from_handle(-1), OverflowError, "handle can't be negative: -1"),
        (lambda d, s: GraphDefinition().allocate(-1), OverflowError, "'size' is negative or too large"),
        (lambda d, s: cuprum.DeviceMemoryResource(d, {"max_size": -1}), OverflowError, "max_size can't be negative: -1"),
        (lambda d, s: StridedMemoryView.from_buffer(d.allocate(8, stream=s), (2,), itemsize="a"), TypeError, "itemsize must be an int, not 'a'"),
        (lambda d, s: d.create_graph_builder().begin_building().embed(3), TypeError, "child must be a GraphBuilder or a GraphDefinition, not <class 'int'>"),
        (lambda d, s: utils.StridedLayout.dense_like(3, "K"), TypeError, "other must be a StridedLayout, not <class 'int'>"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_are_named(device, stream, call, kind, said):
    with pytest.raises(kind) as caught:
        call(device, stream)
    assert said in str(caught.value)


def test_what_other_objects_say_wrongly_is_named(device):
    class Producer:
        def __init__(self, version=(0, 1)):
            self.said = version

        def __cuda_stream__(self):
            return self.said

        def __dlpack_device__(self):
            return ("cuda", 0)

        def __dlpack__(self, **_):
            raise AssertionError("asked for before the device was understood")

        __cuda_array_interface__ = {"version": "three"}

    with pytest.raises(TypeError, match="the version that __cuda_stream__ gives must be an int, not 'x'"):
        device.create_stream(Producer(("x", 1)))
    with pytest.raises(TypeError, match="what __dlpack_device__ says first must be an int, not 'cuda'"):
        StridedMemoryView.from_dlpack(Producer(), -1)
    with pytest.raises(TypeError, match="the version of an array interface must be an int, not 'three'"):
        StridedMemoryView.from_cuda_array_interface(Producer(), -1)


@pytest.fixture
def kernel(device):
    return ObjectCode.from_ptx(
        b".version 7.0 .target sm_70 .address_size 64 .visible .entry f(.param .u64 x) { ret; }"
    ).get_kernel("f")


def test_what_an_array_or_a_stream_says_of_itself_comes_out(device, stream, kernel):
    class Deleted:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("the array has been deleted")

        @property
        def __cuda_stream__(self):
            raise RuntimeError("the stream has been destroyed")

    with pytest.raises(RuntimeError, match="the array has been deleted"):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, Deleted())
    with pytest.raises(RuntimeError, match="the array has been deleted"):
        StridedMemoryView.from_any_interface(Deleted(), -1)
    with pytest.raises(RuntimeError, match="the stream has been destroyed"):
        device.create_stream(Deleted())
    with pytest.raises(ValueError, match="can be waited") as refused:
        stream.wait(Deleted())
    assert "the stream has been destroyed" in str(refused.value.__cause__)


@pytest.mark.parametrize("interface", [{}, {"shape": (1,)}, {"data": None}, "an interface", 3])
def test_an_array_interface_without_an_address_is_refused(stream, kernel, interface):
    class Array:
        __cuda_array_interface__ = interface

    with pytest.raises(TypeError, match="argument 1 has a __cuda_array_interface__ that is no dict with 'data'"):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, Array())


def test_a_stream_of_a_view_that_is_no_number_is_refused(device, stream, numpy):
    class Array:
        __cuda_array_interface__ = {
            "version": 3, "shape": (1,), "typestr": "<f4", "data": (0, False), "stream": int(stream.handle),
        }  # fmt: skip

    for text in ("first", "1", b"1"):
        with pytest.raises(TypeError, match="stream_ptr must be the number of a stream"):
            StridedMemoryView.from_cuda_array_interface(Array(), text)


def test_messages_of_the_library_speak_python(device, stream):
    with pytest.raises(RuntimeError) as caught:
        stream.record() - stream.record()
    assert "{'timing_enabled': True}" in str(caught.value)
    with pytest.raises(CUDAError) as caught:
        ObjectCode.from_ptx(PTX).get_kernel("f<float>")
    assert 'compile(target_type, name_expressions=["f<float>"])' in str(caught.value)


def messages_in_words_of_cpp():
    for file in sorted(SOURCES.rglob("*.cpp")):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', file.read_text(encoding="utf-8")):
            if re.search(r"\{\.\w|\b[A-Z]\w+::\w| = (true|false)\b", text):
                yield text.replace('\\"', '"')


def test_every_message_of_the_library_can_be_said_in_python():
    messages = set(messages_in_words_of_cpp())
    assert len(messages) > 10
    incomplete = ("{.name_expressions", "{.ipc_enabled = ")  # go on in the next line
    for message in messages:
        if not message.endswith(tuple(incomplete)) and "{.name_expressions" not in message:
            assert not re.search(r"\{\.|[A-Z]\w+::| = (true|false)", in_python(message)), message


CLASSES = [
    (lambda s, g: g.if_else(Stream), "condition must be a GraphCondition object (from create_condition() of a graph or a builder), got the class Stream itself"),
    (lambda s, g: g.embed(Stream), "GraphDefinition.embed(): 'child' must be GraphDefinition, not type"),
    (lambda s, g: g.launch(LaunchConfig, 5), "config must be a LaunchConfig, got the class LaunchConfig itself"),
    (lambda s, g: Stream.__cuda_stream__(Stream), "__cuda_stream__() is a method of Stream or GraphBuilder, not of a class"),
    (lambda s, g: s.record(Stream), "event must be an Event, not the class Stream itself"),
    (lambda s, g: Device().create_stream(Stream), "stream must be a Stream, a GraphBuilder or an object with __cuda_stream__, not the class Stream itself"),
    (lambda s, g: Device().create_stream(options=Stream), "not as the class Stream itself"),
    (lambda s, g: Device().allocate(4, stream=Stream), "Stream or GraphBuilder expected as the stream, not the class Stream itself"),
    (lambda s, g: ObjectCode.from_ptx(Stream), "not the class Stream itself"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "said"), CLASSES)
def test_a_class_in_the_place_of_an_object_is_told_from_one(device, stream, call, said):
    with pytest.raises(TypeError) as caught:
        call(stream, GraphDefinition())
    assert said in str(caught.value)
    assert "nb_type" not in str(caught.value)


def test_a_bool_of_numpy_is_refused_for_an_int(device, stream, numpy):
    """It has a width of its own, unlike Python's."""
    code = ObjectCode.from_ptx(PTX.replace(b"k()", b"k(.param .u32 p)"))
    launch(stream, LaunchConfig(1, block=1), code.get_kernel("k"), True)
    with pytest.raises(TypeError, match="argument 1 of 1 has 1 bytes, but the kernel's parameter has 4"):
        launch(stream, LaunchConfig(1, block=1), code.get_kernel("k"), numpy.bool_(True))
