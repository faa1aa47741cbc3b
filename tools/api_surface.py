#!/usr/bin/env python3
"""Says which public names of cuda.core are missing in the Python package and in the C++ headers.

usage: api_surface.py SURFACE

SURFACE lists the names, a line each below the line of their class: `name(parameters) -> type`, `NAME = value`,
`properties: name: type; name: type`; `## cuda.core.graph` begins a module. The package is the one that `import cuprum` finds.
Exits with 1 if something is missing.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "cuprum"


@dataclass
class Member:
    name: str
    parameters: list[str] | None = None  # of a function


@dataclass
class Entry:
    """A class, a function or an alias of a module, as the list has it."""

    module: str
    name: str
    is_class: bool
    bases: str = ""
    parameters: list[str] | None = None
    members: list[Member] = field(default_factory=list)


# ---- The list -------------------------------------------------------------------------------------------------------


def split_outside_brackets(text: str, separator: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def function_of(line: str) -> Member | None:
    """What a line `[class|static] name(parameters) -> type` declares."""
    match = re.match(r"(?:class |static )?(\w+)\(", line)
    if not match:
        return None
    depth, end = 1, match.end()
    while depth:
        depth += (line[end] in "([{") - (line[end] in ")]}")
        end += 1
    names = [re.match(r"\**\w*", part).group() for part in split_outside_brackets(line[match.end() : end - 1], ",")]
    return Member(match.group(1), [name for name in names if name and not name.startswith("*")])


def members_of(line: str) -> list[Member]:
    if line.startswith("properties:"):
        names = [part.split(":")[0].removesuffix("(settable)").strip() for part in line[len("properties:") :].split(";")]
        return [Member(name) for name in dict.fromkeys(names) if name]
    function = function_of(line)
    if function:
        return [function]
    match = re.match(r"(\w+)\s*[:=]", line)
    return [Member(match.group(1))] if match else []


def read_surface(path: Path) -> list[Entry]:
    entries: list[Entry] = []
    module = ""
    for line in path.read_text().splitlines():
        if line.startswith("## "):
            module = line[3:].strip()
        elif match := re.match(r"class (\w+)\((.*)\)", line):
            entries.append(Entry(module, match.group(1), True, bases=match.group(2)))
        elif line.startswith("  "):
            entries[-1].members += members_of(line.strip())
        elif line and not line.startswith("#"):
            for member in members_of(line):
                entries.append(Entry(module, member.name, False, parameters=member.parameters))
    return entries


# ---- Python ---------------------------------------------------------------------------------------------------------


def parameters_of(function: object) -> set[str] | None:
    """Of all overloads; None where any are taken, or nothing can be told."""
    declared = getattr(function, "__nb_signature__", None)
    if declared:
        names: set[str] = set()
        for overload in declared:
            parsed = function_of(overload[0].removeprefix("def "))
            if parsed is None or "**" in overload[0]:
                return None
            names.update(parsed.parameters or ())
        return names
    try:
        signature = inspect.signature(function)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return None
    return set(signature.parameters)


def wrong_parameters(function: object, expected: list[str] | None) -> list[str]:
    known = parameters_of(function)
    if known is None or expected is None:
        return []
    return [f"parameter {name}" for name in expected if name not in known]


def places_of(name: str) -> Iterator[object]:
    """Where the package has it. The list names packages; classes may be in any of their modules, as in cuda.core itself."""
    import cuprum

    for found in pkgutil.walk_packages(cuprum.__path__, "cuprum."):
        if not found.name.endswith((".__main__", ".as_cuda_core", ".pytest_plugin")):
            module = importlib.import_module(found.name)
            if hasattr(module, name):
                yield getattr(module, name)


def find_in_python(entry: Entry) -> object | None:
    try:
        module = importlib.import_module("cuprum" + entry.module.removeprefix("cuda.core"))
    except ImportError:
        return None
    return getattr(module, entry.name, None) or next(places_of(entry.name), None)


def is_set_by_objects(found: object, name: str) -> bool:
    """Attributes that the class has not: fields without a default, and what __init__ sets."""
    if name in ("__buffer__", "__release_buffer__") and sys.version_info < (3, 12):
        return True  # the buffer protocol has no names in Python yet
    for base in inspect.getmro(found):  # type: ignore[arg-type]
        if name in getattr(base, "__annotations__", {}):
            return True
        try:
            if re.search(rf"self\.{name}\b", inspect.getsource(base)):
                return True
        except (OSError, TypeError):
            pass
    return False


def missing_in_python(entry: Entry) -> list[str]:
    found = find_in_python(entry)
    if found is None:
        return ["it itself"]
    if not entry.is_class:
        return wrong_parameters(found, entry.parameters)
    missing = []
    for member in entry.members:
        if hasattr(found, member.name) or is_set_by_objects(found, member.name):
            attribute = getattr(found, member.name, None)
            if not member.name.startswith("__"):
                missing += [f"{member.name}: {what}" for what in wrong_parameters(attribute, member.parameters)]
        else:
            missing.append(member.name)
    return missing


# ---- C++ ------------------------------------------------------------------------------------------------------------

# What only Python has: protocols of the language, and types that stand for others in annotations.
OF_PYTHON = re.compile(
    r"__\w+__|IsStreamType|.*Protocol|.*TypeT|DevicePointerT|LaunchConfigT|from_(?:any_interface|array_interface|cuda_array_interface)"
    r"|args_viewable_as_strided_memory"
)


class Headers:
    def __init__(self, files: list[Path]) -> None:
        text = "\n".join(path.read_text() for path in sorted(files))
        text = re.sub(r'#include [<"](cuprum/\S+\.def)[>"]', lambda found: self.table(found.group(1)), text)
        self.text = re.sub(r"//[^\n]*", "", text)
        self.bodies: dict[str, str] = {}
        self.bases: dict[str, list[str]] = {}
        for match in re.finditer(r"\b(?:class|struct|enum class|enum)\s+(?:[A-Z_]+\s+)?(\w+)\b([^;{}()]*)\{", self.text):
            name = match.group(1)
            self.bodies[name] = self.bodies.get(name, "") + self.body_at(match.end())
            self.bases.setdefault(name, []).extend(re.findall(r"(\w+)(?:<[^>]*>)?\s*(?=[,{]|$)", match.group(2)))

    @staticmethod
    def table(name: str) -> str:
        return (HEADERS.parent / name).read_text()

    def body_at(self, begin: int) -> str:
        depth, end = 1, begin
        while depth:
            depth += {"{": 1, "}": -1}.get(self.text[end], 0)
            end += 1
        return self.text[begin:end]

    def whole(self, name: str) -> str:
        """With the bodies of its bases."""
        return self.bodies.get(name, "") + "".join(self.whole(base) for base in self.bases.get(name, ()) if base != name)


def all_headers() -> dict[bool, Headers]:
    """Those of `cuda.core.system`, and the others: both have a Device."""
    files = list(HEADERS.rglob("*.hpp"))
    return {part: Headers([file for file in files if ("system" in (file.stem, file.parent.name)) == part]) for part in (False, True)}


def missing_in_cpp(entry: Entry, headers_of: dict[bool, Headers]) -> list[str]:
    headers = headers_of[entry.module == "cuda.core.system"]
    name = RENAMED.get(entry.name, entry.name)
    if OF_PYTHON.fullmatch(entry.name):
        return []
    if not entry.is_class or (entry.name in RENAMED and name not in headers.bodies):
        return [] if re.search(rf"\b{name}\b", headers.text) else ["it itself"]
    body = headers.whole(name)
    if not body:
        return ["it itself"]
    missing = []
    for member in entry.members:
        if f"{entry.name}.{member.name}" in ELSEWHERE or OF_PYTHON.fullmatch(member.name):
            continue
        cpp = RENAMED.get(f"{entry.name}.{member.name}", member.name)
        if not re.search(rf"\b(?:{cpp})_?\b", body, re.IGNORECASE):
            missing.append(member.name)
    return missing


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    entries = [entry for entry in read_surface(Path(sys.argv[1])) if entry.name not in INTERNALS]
    headers = all_headers()
    names = sum(1 + len(entry.members) for entry in entries)
    count = 0
    for language, look in (("Python", missing_in_python), ("C++", lambda entry: missing_in_cpp(entry, headers))):
        for entry in entries:
            missing = look(entry)
            count += len(missing)
            if missing:
                print(f"{language}: {entry.module}.{entry.name} lacks {', '.join(missing)}")
    print(f"{names} names of {len(entries)} classes and functions looked for in Python and C++, {count} missing")
    return 1 if count else 0


# What the list has of the inside of NVIDIA's package: helpers of its Cython modules, which its public modules don't have.
INTERNALS = frozenset(
    """
    BaseLayout DMR_mempool_get_access IPCDataForBuffer IPCDataForMR PyTypeObject Stream_accept _MemPool cyGraphMemoryResource
    view_as_array_interface view_as_cai
    """.split()
)

# What C++ calls otherwise: words that it keeps for itself, properties of Python that are functions of a class there, types that serve
# two of cuda.core's.
RENAMED = {
    "AccessedBySetProxy": "AccessedBySet",
    "Device.get_all_devices": "all|get_all_devices",
    "DeviceMemoryResource.register": "register_as",
    "PinnedMemoryResource.register": "register_as",
    "MemcpyOverlapMode.DEFAULT": "default_mode",
    "LinkerOptions.as_bytes": "as_arguments",
    "ProgramOptions.as_bytes": "as_arguments",
    "ObjectCodeFormatType": "Target",
    "VirtualMemoryLocationType": "LocationType",
    "StridedMemoryView.readonly": "is_readonly",
    "FieldValues": "FieldValues",
    "GpuDynamicPstatesInfo": "dynamic_pstates_info",
    "SystemEvents": "RegisteredSystemEvents",
    "ThermalSettings": "get_thermal_settings",
}

# Members that are functions beside their class in C++, or that do nothing.
ELSEWHERE = {
    "Device.to_system_device",  # system::Device::from_cuda_device, so that <cuprum/device.hpp> knows nothing of NVML
    "LinkerOptions.numba_debug",  # no linker has it; Python warns
    "StridedMemoryView.from_dlpack",  # from_dlpack() in <cuprum/dlpack.hpp>
}

if __name__ == "__main__":
    sys.exit(main())
