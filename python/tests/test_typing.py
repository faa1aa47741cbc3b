"""cuprum.typing: names, spellings and the behaviour of its enumerations."""

from __future__ import annotations

import enum
import pickle

import pytest

from cuprum import typing as types

ENUMERATIONS = [
    one for one in vars(types).values() if isinstance(one, type) and issubclass(one, enum.Enum) and len(one)
]


@pytest.mark.parametrize("enumeration", ENUMERATIONS, ids=lambda one: one.__name__)
def test_members_are_their_strings(enumeration):
    for member in enumeration:
        assert isinstance(member, str)
        assert member == member.value
        assert str(member) == member.value
        assert f"{member}" == member.value
        assert f"{member:>20}" == member.value.rjust(20)
        assert enumeration(member.value) is member
        assert {member: 1}[member.value] == 1
        assert pickle.loads(pickle.dumps(member)) is member


def test_unknown_strings_are_refused():
    with pytest.raises(ValueError, match="cubbin"):
        types.ObjectCodeFormatType("cubbin")


def test_every_public_name_exists():
    for name in types.__all__:
        assert hasattr(types, name), name
    assert len(set(types.__all__)) == len(types.__all__)


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("SourceCodeType", ["c++", "ptx", "nvvm"]),
        ("ObjectCodeFormatType", ["ptx", "cubin", "ltoir", "fatbin", "object", "library"]),
        ("CompilerBackendType", ["NVRTC", "NVVM", "nvJitLink", "driver"]),
        ("VirtualMemoryAccessType", ["rw", "r"]),
        ("MemcpySrcAccessOrder", ["stream", "during_api_call", "any"]),
        ("WorkqueueSharingScopeType", ["device_ctx", "green_ctx_balanced"]),
    ],
)
def test_spellings(name, spellings):
    assert [str(member) for member in getattr(types, name)] == spellings


def test_older_names():
    assert types.IsStreamT is types.IsStreamType
    assert types.DevicePointerT is types.DevicePointerType
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        types.Nothing  # noqa: B018
