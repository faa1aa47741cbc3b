"""Options: fields, defaults, older spellings, conversion from dicts, and that they pass for dataclasses."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing

import pytest

from cuprum import _options
from cuprum._options import (
    ContextOptions,
    CopyOptions,
    EventOptions,
    GraphCompleteOptions,
    LinkerOptions,
    ProgramOptions,
    StreamOptions,
    VirtualMemoryResourceOptions,
    WorkqueueResourceOptions,
    check_options,
)
from cuprum.typing import MemcpySrcAccessOrder

CLASSES = [cls for name, cls in vars(_options).items() if name.endswith("Options") and isinstance(cls, type)]


def make(cls):
    """An object of `cls` with nothing but what it can't do without."""
    if cls is ContextOptions:
        return cls(resources=[])
    if cls is ProgramOptions:
        return cls(arch="sm_90")
    return cls()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
class TestEveryClass:
    def test_passes_for_a_dataclass(self, cls):
        value = make(cls)
        assert dataclasses.is_dataclass(cls)
        assert dataclasses.is_dataclass(value)
        names = [field.name for field in dataclasses.fields(cls)]
        assert names == list(inspect.signature(cls).parameters)
        assert names == list(cls.__match_args__)
        assert list(vars(value))[: len(names)] == names
        assert set(dataclasses.asdict(value)) == set(names)
        assert dataclasses.replace(value) == value

    def test_type_hints_can_be_resolved(self, cls):
        assert set(cls.__match_args__) <= set(typing.get_type_hints(cls))

    def test_equality(self, cls):
        assert make(cls) == make(cls)
        assert make(cls) != 3
        assert make(cls) != object()

    def test_copies_and_pickles(self, cls):
        value = make(cls)
        assert copy.copy(value) == value
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value

    def test_says_its_name(self, cls):
        assert repr(make(cls)).startswith(cls.__name__ + "(")

    def test_unknown_keyword_names_the_nearest(self, cls):
        first = cls.__match_args__[0]
        with pytest.raises(TypeError, match=f"has no option '{first}x'; did you mean '{first}'"):
            cls(**{first + "x": None})

    def test_too_many_arguments(self, cls):
        with pytest.raises(TypeError, match="positional"):
            cls(*range(len(cls.__match_args__) + 1))

    def test_default_is_that_of_the_signature(self, cls):
        value = make(cls)
        for name, parameter in inspect.signature(cls).parameters.items():
            given = name == "resources" or (name == "arch" and cls is ProgramOptions)
            if not given:
                assert getattr(value, name) == parameter.default


def test_positional_and_keyword():
    assert StreamOptions(False, -1) == StreamOptions(priority=-1, nonblocking=False)
    with pytest.raises(TypeError, match="'nonblocking' twice"):
        StreamOptions(False, nonblocking=True)


def test_missing_field():
    with pytest.raises(TypeError, match="ContextOptions needs 'resources'"):
        ContextOptions()


def test_repr():
    assert repr(StreamOptions()) == "StreamOptions(nonblocking=True, priority=None)"
    assert repr(ProgramOptions(arch="sm_90")) == "ProgramOptions(name='default_program', arch='sm_90')"


def test_older_spellings_of_events():
    options = EventOptions(enable_timing=True, busy_waited_sync=True, support_ipc=False)
    assert options == EventOptions(timing_enabled=True, blocking_sync=True, ipc_enabled=False)
    with pytest.raises(TypeError, match="both 'timing_enabled' and 'enable_timing'"):
        EventOptions(enable_timing=True, timing_enabled=False)


def test_options_can_be_changed_and_have_no_hash():
    options = StreamOptions()
    options.priority = 3
    assert options != StreamOptions()
    with pytest.raises(TypeError):
        hash(options)


def test_subclass_may_be_a_dataclass():
    @dataclasses.dataclass
    class Labelled(StreamOptions):
        label: str = ""

    value = Labelled(priority=2, label="copies")
    assert (value.nonblocking, value.priority, value.label) == (True, 2, "copies")
    assert [field.name for field in dataclasses.fields(value)] == ["nonblocking", "priority", "label"]
    assert check_options(StreamOptions, value) is value


class TestCheckOptions:
    def test_none_is_defaults(self):
        assert check_options(StreamOptions, None, "stream options") == StreamOptions()

    def test_object_is_itself(self):
        options = StreamOptions()
        assert check_options(StreamOptions, options, "stream options") is options

    def test_dict_gives_keywords(self):
        assert check_options(EventOptions, {"enable_timing": True}) == EventOptions(timing_enabled=True)

    @pytest.mark.parametrize("value", [3, "nonblocking", [], EventOptions()])
    def test_other_types_are_refused(self, value):
        with pytest.raises(TypeError, match=r"stream options must be .* StreamOptions, as a dict"):
            check_options(StreamOptions, value, "stream options")

    def test_unknown_key(self):
        with pytest.raises(TypeError, match="did you mean 'auto_free_on_launch'"):
            check_options(GraphCompleteOptions, {"auto_free": True})
        with pytest.raises(TypeError, match="no option 3"):
            check_options(GraphCompleteOptions, {3: True})


class TestCopyOptions:
    def test_strings_become_members(self):
        assert CopyOptions(src_access_order="any").src_access_order is MemcpySrcAccessOrder.ANY
        assert CopyOptions().src_access_order is MemcpySrcAccessOrder.STREAM

    @pytest.mark.parametrize("field", ["src_access_order", "overlap_mode"])
    def test_unknown_strings(self, field):
        with pytest.raises(ValueError, match=f"invalid {field}: 'sometimes' is not a valid .* Must be one of"):
            CopyOptions(**{field: "sometimes"})

    def test_frozen(self):
        options = CopyOptions()
        with pytest.raises(dataclasses.FrozenInstanceError):
            options.overlap_mode = "default"
        with pytest.raises(dataclasses.FrozenInstanceError):
            del options.overlap_mode
        assert hash(options) == hash(CopyOptions())


class TestProgramOptions:
    def test_name_is_never_none(self):
        assert ProgramOptions(name=None, arch="sm_90").name == "default_program"

    @pytest.mark.parametrize(
        ("sources", "error", "message"),
        [
            ("text", TypeError, "must be a sequence"),
            ([("name",)], TypeError, "2-tuple"),
            ([(1, "x")], TypeError, "name at index 0 must be a string"),
            ([("a", 1)], TypeError, "source at index 0 must be str"),
            ([("a", "x"), ("b", "")], ValueError, "'b'.*cannot be empty"),
        ],
    )
    def test_extra_sources_are_checked(self, sources, error, message):
        with pytest.raises(error, match=message):
            ProgramOptions(arch="sm_90", extra_sources=sources)

    def test_as_bytes_of_an_unknown_compiler(self):
        with pytest.raises(ValueError, match="Unknown backend 'gcc'"):
            ProgramOptions(arch="sm_90").as_bytes("gcc")


class TestLinkerOptions:
    def test_numba_debug_is_deprecated(self):
        with pytest.warns(DeprecationWarning, match="numba_debug"):
            LinkerOptions(numba_debug=False)

    def test_as_bytes_of_another_linker(self):
        with pytest.raises(ValueError, match="only supports 'nvjitlink'"):
            LinkerOptions().as_bytes("driver")


def test_workqueue_options_are_checked():
    assert WorkqueueResourceOptions("device_ctx").sharing_scope == "device_ctx"
    with pytest.raises(ValueError, match="invalid sharing_scope"):
        WorkqueueResourceOptions("everyone")
    with pytest.raises(TypeError, match="concurrency_limit must be an int"):
        WorkqueueResourceOptions(concurrency_limit=1.5)
    with pytest.raises(ValueError, match=">= 1, not 0"):
        WorkqueueResourceOptions(concurrency_limit=0)


def test_virtual_memory_defaults():
    options = VirtualMemoryResourceOptions()
    assert (options.allocation_type, options.handle_type, options.self_access) == ("pinned", "posix_fd", "rw")
    assert options.peers == ()
