"""Of every function, constructor and method: what is said of a keyword that it doesn't have, and of a wrong type in each place."""

import re
import warnings
from collections.abc import Iterator

import pytest

from public_callables import public_callables, values, values_for


class Strange:
    """Nothing takes one."""


CPP = re.compile(r"std::|\bnb::|nanobind|\{\.\w|incompatible function arguments|Invoked with|\w::\w|object at 0x[0-9a-f]+>::")
# Arguments of which any object will do, or whose object is asked for what it has.
ANYTHING = {"owner", "default", "user_data", "dst_owner", "src_owner", "allocator"}
# Where a message has another word for an argument than its name.
ALSO_CALLED = {
    "fn": "callback", "config": "VirtualMemoryResource options", "obj": "input object|__array_interface__|__dlpack__|__cuda_array",
    "memory_type": "GraphMemoryType", "clock_type": "clock type", "scope": "affinity scope", "level": "topology level",
    "index": "P2P caps index", "event_or_stream": "only an Event, Stream", "events": "EventType", "srcs": "buffers",
    "dsts": "buffers", "axis": "axis", "mr": "mr", "locations": "location", "logs": "logs", "symbol_mapping": "symbol_mapping",
}  # fmt: skip


def is_looked_at(name):
    """Classes of options take what they are given, and who uses them looks at it; test_options.py is for that. Nobody
    makes an NvlinkInfo but devices, or a ProgramCacheResource but classes that derive from it. Descriptors for other
    processes are those of test_ipc.py."""
    return not name.endswith(("Options", ".NvlinkInfo", ".ProgramCacheResource", ".from_ipc_descriptor"))


@pytest.fixture
def everything(device, stream):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield {name: each for name, each in public_callables(device, stream).items() if is_looked_at(name)}


def said_of(call, *args, **kwargs):
    try:
        found = call(*args, **kwargs)
        if isinstance(found, Iterator):  # it looks at its arguments when somebody asks for the first
            next(found, None)
    except Exception as error:
        return error
    return None


def test_an_unknown_keyword_is_answered_with_the_nearest(everything):
    wrong = {}
    for name, each in everything.items():
        if each.takes_all_keywords:
            continue
        known = each.parameters[-1] if each.parameters else None
        misspelt = f"{known or 'anything'}q"
        error = said_of(each.function, **{misspelt: 1})
        hint = f"did you mean '{known}'?" if known else ""
        if not isinstance(error, TypeError) or f"'{misspelt}'" not in str(error) or hint not in str(error):
            wrong[name] = repr(error)
    assert len(everything) > 300
    assert wrong == {}


def test_a_wrong_type_is_named_with_its_argument(device, stream, everything, numpy):
    right, wrong = values(device, stream), {}
    for name, each in everything.items():
        for place in each.parameters:
            if place in ANYTHING or each.takes_all_keywords:
                continue
            others = {key: value for key, value in values_for(name, right, place).items() if key in each.parameters}
            error = said_of(each.function, **others, **{place: Strange()})
            message = str(error)
            is_named = re.search(f"{place}|{ALSO_CALLED.get(place, place)}", message)
            if error is None or CPP.search(message) or not is_named or "strange" not in message.lower():
                wrong[f"{name}({place})"] = repr(error)
    assert wrong == {}
