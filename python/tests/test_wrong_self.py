"""Methods and properties that are called on what is no object of their class: `Stream.sync(5)`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum
from cuprum import Buffer, DeviceMemoryResource, Event, LegacyPinnedMemoryResource, MemoryResource, PinnedMemoryResource, Stream, _core

# Of whatever crashes there, the tests go on; what is called is written before.
IN_A_CHILD = """
from test_wrong_self import calls_on_wrong_objects
count = 0
for name, call in calls_on_wrong_objects():
    print(name, flush=True)
    try:
        returned = call()
    except TypeError as error:
        assert "incompatible function arguments" not in str(error), str(error)
    except RuntimeError as error:
        assert ".__init__ of " in name, repr(error)  # which says where objects of its class come from
    else:
        assert returned is NotImplemented or ".__init__ of " in name, returned  # where __new__ does all
    count += 1
print(count, "calls")
"""


def run_child(program):
    folders = [Path(cuprum.__file__).absolute().parents[1], Path(__file__).resolve().parent]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)


def methods_of(cls):
    """By name, with the arguments to try it with besides self."""
    for name, member in vars(cls).items():
        if isinstance(member, property) and type(member.fget).__name__ == "nb_method":  # others are written in Python
            yield name, member.fget, [()]
            if member.fset:
                yield f"{name}.fset", member.fset, [(1,)]
        elif type(member).__name__ == "nb_method":
            yield name, member, [(), (1,), (1, None), (None,), (None, None)]


def calls_on_wrong_objects():
    for cls in [each for each in vars(_core).values() if isinstance(each, type)]:
        for name, function, tries in methods_of(cls):
            for wrong in (5, "abc", object(), [], None, cls, cuprum.Host()):
                if isinstance(wrong, cls):
                    continue
                for arguments in tries:
                    described = f"{cls.__name__}.{name} of {type(wrong).__name__} with {arguments}"
                    yield described, lambda function=function, wrong=wrong, arguments=arguments: function(wrong, *arguments)


def test_every_method_and_property_refuses_what_is_no_object_of_its_class():
    result = run_child(IN_A_CHILD)
    called = result.stdout.splitlines()
    assert result.returncode == 0, f"{called[-1:]}: exit status {result.returncode}: {result.stderr[-2000:]}"
    assert int(called[-1].split()[0]) > 5000


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: DeviceMemoryResource.allocate(1024), "allocate() is a method of MemoryResource or Device, not of int"),
        (lambda: PinnedMemoryResource.allocate(5, 4096), "allocate() is a method of DeviceMemoryResource or PinnedMemoryResource or ManagedMemoryResource, not of int"),
        (
            lambda: PinnedMemoryResource.allocate(LegacyPinnedMemoryResource(), 4096),
            "allocate() is a method of DeviceMemoryResource or PinnedMemoryResource or ManagedMemoryResource, not of LegacyPinnedMemoryResource",
        ),
        (lambda: MemoryResource.allocate(5, 64), "allocate() is a method of MemoryResource, not of int"),
        (lambda: Buffer.is_device_accessible.fget(5), "this attribute is one of Buffer, not of int"),
        (lambda: Buffer.copy_to("a", stream=1), "copy_to() is a method of Buffer, not of str"),
        (lambda: Stream.sync(5), "sync() is a method of Event or Stream or Device, not of int"),
        (lambda: Stream.wait(Stream, 5), "wait() is a method of Stream, not of a class"),
        (lambda: Event.sync(), "sync() is a method of Event or Stream or Device, and needs an object of it"),
    ],
)  # fmt: skip
def test_a_wrong_self_is_told_what_the_method_is_for(device, call, said):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == said


def test_methods_of_base_classes_take_objects_of_derived_ones(device, stream):
    pool = DeviceMemoryResource(device)
    assert MemoryResource.allocate(pool, 64, stream=stream).memory_resource is pool
    assert MemoryResource.is_device_accessible.fget(pool) is True


NEW = """
from cuprum import _core
for cls in [each for each in vars(_core).values() if isinstance(each, type)]:
    print(cls, flush=True)
    try:
        object.__new__(cls)
        print("was made")
    except TypeError as error:
        assert "is not safe, use" in str(error), error
"""


def test_no_class_can_be_made_past_its_own_new():
    result = run_child(NEW)
    assert result.returncode == 0 and "was made" not in result.stdout, result.stdout[-200:] + result.stderr
