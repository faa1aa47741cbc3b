"""The library's messages in the words of Python: they name what to call as C++ writes it."""

from __future__ import annotations

import re

_ENUMERATIONS = {"Target", "MemcpySrcAccessOrder", "MemcpyOverlapMode"}  # their plain strings are taken everywhere
_FIELD = r"\.\w+ = [^{},]+"
_OPTIONS = rf"\{{{_FIELD}(?:, {_FIELD})*\}}"
_QUOTED = re.compile(r"('[^'\n]*')")


def in_python(message: str) -> str:
    """What a message says, as Python writes it; what is quoted, such as names of kernels, stays.

    >>> in_python("was made without timing: pass {.timing_enabled = true}")
    "was made without timing: pass {'timing_enabled': True}"
    >>> in_python("'a::b<c>' is no kernel: ask ObjectCode::from_file")
    "'a::b<c>' is no kernel: ask ObjectCode.from_file"
    """
    parts = _QUOTED.split(message)  # what is quoted is at the odd places
    return "".join(part if place % 2 else _translated(part) for place, part in enumerate(parts))


def _translated(text: str) -> str:
    text = re.sub(r"compile\(target, \{\.name_expressions = \{(.*?)\}\}\)", r"compile(target_type, name_expressions=[\1])", text)
    text = re.sub(rf"(\w+)\(({_OPTIONS})\)", r"\1(options=\2)", text)
    text = re.sub(_OPTIONS, lambda found: _dict(found[0]), text)
    text = re.sub(r"(\w+) = (true|false)\b", lambda found: f"{found[1]}={found[2].title()}", text)
    text = text.replace("fill<std::uint8_t>", "an int as the value")
    return re.sub(r"\b([A-Z]\w*)::(\w+)", _member, text)


def _dict(options: str) -> str:
    fields = re.findall(r"\.(\w+) = ([^{},]+)", options)
    return "{" + ", ".join(f"{name!r}: {value.title() if value in ('true', 'false') else value}" for name, value in fields) + "}"


def _member(found: re.Match[str]) -> str:
    return repr(found[2]) if found[1] in _ENUMERATIONS else f"{found[1]}.{found[2]}"
