"""What is said of calls whose arguments fit no signature: Python's words, and the nearest keyword for one that is unknown."""

from __future__ import annotations

import re
from difflib import get_close_matches

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NamedTuple, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])
    Class = TypeVar("Class", bound=type)

    class Parameter(NamedTuple):
        name: str  # "*args" and the like for any number of them
        type: str
        has_default: bool
        is_keyword_only: bool

else:
    from collections import namedtuple

    Parameter = namedtuple("Parameter", "name type has_default is_keyword_only")


OUT_OF_RANGE = "is negative or too large, or no whole number"


def unknown_keyword(function: str, keyword: str, known: Iterable[str]) -> str:
    """What to say of a keyword that a function doesn't have.

    >>> unknown_keyword("launch", "strem", ["stream", "config", "kernel"])
    "launch() got an unexpected keyword argument 'strem'; did you mean 'stream'?"
    """
    known = list(known)
    said = f"{function}() got an unexpected keyword argument {keyword!r}"
    near = get_close_matches(keyword, known, n=1, cutoff=0.5)
    if near:
        return f"{said}; did you mean {near[0]!r}?"
    if not known:
        return f"{said}; it takes none"
    return f"{said}; its arguments are: {', '.join(known)}"


def in_words(message: str, wanted: type | None = None) -> str:
    """What nanobind says of arguments that fit no signature, as Python says it of its own functions.

    nanobind lists all signatures and the types that were given, for whatever reason. That stays where none can be told.
    `wanted` is the class of the method, where that is known and `self` is no object of it.
    """
    try:
        return _said_of(message, wanted) or message
    except Exception:  # of a form that is not known: it says something, at any rate
        return message


def error(message: str, wanted: type | None = None) -> str | Exception:
    """What is raised for arguments that fit no signature: a TypeError with these words, or this exception."""
    words = in_words(message, wanted)
    if not words.endswith(OUT_OF_RANGE):
        return words
    from cuprum._errors import OutOfRangeError

    return OutOfRangeError(words)


def names_the_nearest_keyword(function: Function) -> Function:
    """A decorator for functions written in Python, which say so by themselves from Python 3.13 on only."""
    import functools

    code = function.__code__  # type: ignore[attr-defined]
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for keyword in kwargs:
            if keyword not in known:
                name = function.__qualname__.removesuffix(".__init__")
                raise TypeError(unknown_keyword(name, keyword, [each for each in known if each not in ("self", "cls")]))
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


def names_the_nearest_keywords(cls: Class) -> Class:
    """The same for the constructor and all methods of a class that is written in Python."""
    from types import FunctionType

    for name, each in list(vars(cls).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(each, FunctionType) and each.__code__.co_argcount + each.__code__.co_kwonlyargcount > 1:
            setattr(cls, name, names_the_nearest_keyword(each))
        elif isinstance(each, (classmethod, staticmethod)):
            setattr(cls, name, type(each)(names_the_nearest_keyword(each.__func__)))
    return cls


def _said_of_self(name: str, signatures: list[str], types: list[str], wanted: type | None, is_all_else_right: bool = False) -> str | None:
    """Of a method, or a property without a name, that was called on what is no object of its class: `Stream.sync(5)`."""
    from . import _core

    if types and "." in types[0] and not _may_pass_for(types[0]):
        return None  # a class in a function: whatever it derives from
    owners = [wanted] if wanted else _owners(name, signatures)
    known = {name: each for name, each in vars(_core).items() if isinstance(each, type)}
    given_names = [_short(types[0]), *_may_pass_for(types[0])] if types else []
    right = [each for each in owners or known.values() if each.__name__ in given_names]
    if right and not is_all_else_right:
        return None
    owners = [each for each in owners if each not in right]
    names = _public_names(owners)
    of = " or ".join(names) if 0 < len(names) <= 4 else "another class"
    if not types:
        return f"{name}() is a method of {of}, and needs an object of it"
    given = "a class" if types[0] == "type" else _short(types[0])
    what = f"{name}() is a method" if name else "this attribute is one"
    return f"{what} of {of}, not of {given}"


def _owners(name: str, signatures: list[str]) -> list[type]:
    """The classes of the extension that have such a method; those of a property, whose name isn't known, only if they are few."""
    from . import _core

    def documentation(each: Any) -> str:
        return getattr(each.fget if isinstance(each, property) else each, "__doc__", None) or ""

    found = []
    for cls in vars(_core).values():
        if isinstance(cls, type):
            members = [vars(cls)[name]] if name in vars(cls) else [each for each in vars(cls).values() if isinstance(each, property) and not name]
            if any(documentation(each).startswith(signatures[0]) for each in members):
                found.append(cls)
    if not name and len(found) > 1:
        return []
    return [cls for cls in dict.fromkeys(found) if not any(base in found for base in cls.__mro__[1:])]


def _public_names(classes: list[type]) -> list[str]:
    """Of classes as users know them: some derive from one that has no name for them."""
    public = [each for cls in classes for each in (cls.__subclasses__() if cls.__name__.startswith("_") else [cls])]
    return list(dict.fromkeys(each.__name__ for each in public if not each.__name__.startswith("_"))) or [
        each.__name__.lstrip("_") for each in classes
    ]


def _said_of(message: str, wanted: type | None) -> str | None:
    signatures = re.findall(r"^    \d+\. (.*)$", message, re.MULTILINE)
    types, keywords = _given(message)
    functions = [_parameters(signature) for signature in signatures]
    bound = bool(functions[0]) and functions[0][0].name in ("self", "cls")
    if bound and signatures[0].startswith("("):
        if len(functions[0]) == 1:
            return _said_of_self("", signatures, types, wanted, is_all_else_right=True)
        return _said_of_self("", signatures, types, wanted) or _said_of_value(functions[0][1].type, types)
    name = _name_of(signatures[0], types if bound and functions[0][0].name == "self" else [])
    every = [each.name for each in dict.fromkeys(sum(functions, [])) if each.name not in ("self", "cls")]
    known = [each for each in every if not each.startswith("*")]
    for keyword in keywords:
        if keyword not in known and not any(each.startswith("**") for each in every):
            return unknown_keyword(name, keyword, known)
    if functions[0] and functions[0][0].name == "self":
        said = _said_of_self(signatures[0].partition("(")[0], signatures, types, wanted)
        if said:
            return said
    if len(functions) > 1 or len(known) < len(every):
        return None
    parameters = functions[0][bound:]
    given = {**dict(zip((each.name for each in parameters), types[bound:], strict=False)), **keywords}
    said = _said_of_count(name, parameters, len(types) - bound, keywords) or _said_of_types(name, parameters, given)
    if said or not bound:
        return said
    return _said_of_self(signatures[0].partition("(")[0], signatures, types, wanted, is_all_else_right=True)


def _said_of_count(name: str, parameters: list[Parameter], positional: int, keywords: Iterable[str]) -> str | None:
    by_position = [each.name for each in parameters if not each.is_keyword_only]
    if positional > len(by_position):
        takes = f"{len(by_position)} argument{'s' if len(by_position) != 1 else ''} by position"
        return f"{name}() takes at most {takes} ({', '.join(by_position) or 'none'}), but {positional} were given"
    for twice in set(by_position[:positional]) & set(keywords):
        return f"{name}() got multiple values for argument {twice!r}"
    given = {*by_position[:positional], *keywords}
    missing = [each for each in parameters if not each.has_default and each.name not in given]
    if missing:
        names = " and ".join(repr(each.name) for each in missing)
        kind = f"the keyword-only argument{'s' if len(missing) > 1 else ''} " if missing[0].is_keyword_only else ""
        return f"{name}() needs {kind}{names}, which {'is' if len(missing) == 1 else 'are'} missing"
    return None


def _said_of_types(name: str, parameters: list[Parameter], given: dict[str, str]) -> str | None:
    """The first argument whose type is wrong; if all may be right, the ints, of which one doesn't fit."""
    known = [each for each in parameters if each.name in given]
    wrong = [each for each in known if _is_wrong(each.type, given[each.name])]
    if wrong:
        each = wrong[0]
        if each.type == "object":  # of which None is one: a type that the function itself looks at
            return f"{name}(): {each.name!r} can't be None"
        return f"{name}(): {each.name!r} must be {_short(each.type)}, not {_short(given[each.name])}"
    numbers = [each.name for each in known if each.type.split(" | ")[0] == "int"]
    if not numbers:
        return None
    return f"{name}(): {' or '.join(map(repr, numbers))} {OUT_OF_RANGE}"


def _said_of_value(wanted: str, types: list[str]) -> str:
    """Of what was assigned to an attribute; nanobind doesn't say which."""
    cls, given = map(_short, types)
    if wanted == "object" or not _is_wrong(wanted, types[1]):
        return f"an attribute of {cls} can't be set to {'None' if given == 'None' else f'this {given}'}"
    return f"an attribute of {cls} that is {_short(wanted)} can't be set to {'None' if given == 'None' else f'a {given}'}"


def _is_wrong(wanted: str, given: str) -> bool:
    """Whether an object of the given type can't be what is wanted."""
    if given == "NoneType":
        return "None" not in wanted
    accepted = [_short(each) for each in wanted.split(" | ")]
    if "object" in accepted or _short(given) in accepted or "[" in wanted:
        return False
    if "." not in given:
        return (given, wanted) != ("bool", "int")
    return not any(each in accepted for each in _may_pass_for(given))


def _may_pass_for(type_name: str) -> list[str]:
    """What an object of somebody's class may be taken for: one of a class that it derives from, or a number."""
    import sys

    module, _, name = type_name.partition(".")
    found: Any = sys.modules.get(module)
    for each in name.split("."):
        found = getattr(found, each, None)
    names = [each.__name__ for each in getattr(found, "__mro__", ())]
    return [*names, "int"] if hasattr(found, "__index__") else names


def _short(type_name: str) -> str:
    return "None" if type_name == "NoneType" else " | ".join(each.rpartition(".")[2] for each in type_name.split(" | "))


def _given(message: str) -> tuple[list[str], dict[str, str]]:
    """The types of the arguments by position, and by keyword."""
    given = message.split("\nInvoked with types: ", 1)[1].replace("nanobind.nb_type", "type")
    by_position, _, by_keyword = given.partition("kwargs = { ")
    types = [each for each in by_position.split(", ") if each]
    return types, dict(re.findall(r"(\w+): ([^,}\s]+)", by_keyword))


def _parameters(signature: str) -> list[Parameter]:
    """Of "name(self, a: int, b: tuple[int, int] = (1, 2), *, c: object | None = None) -> None"."""
    parts, depth, part = [], 0, ""
    for letter in signature[signature.index("(") + 1 :]:
        if depth == 0 and letter in ",)":
            parts.append(part.strip())
            part = ""
            if letter == ")":
                break
            continue
        depth += (letter in "([{") - (letter in ")]}")
        part += letter
    parameters, keyword_only = [], False
    for each in filter(None, parts):
        keyword_only = keyword_only or each.startswith("*")
        if each not in ("*", "/"):
            declared, _, default = each.partition(" = ")
            name, _, declared_type = declared.partition(": ")
            parameters.append(Parameter(name, declared_type or "object", bool(default), keyword_only))
    return parameters


def _name_of(signature: str, types: list[str]) -> str:
    name = signature[: signature.index("(")]
    if name == "__new__":
        from . import _core

        makers = [each for each in vars(_core).values() if isinstance(each, type) and "__new__" in vars(each)]
        return next((each.__name__ for each in makers if signature in (each.__new__.__doc__ or "")), name)
    if not types:
        return name
    cls = types[0].rpartition(".")[2].lstrip("_")  # users know _StridedLayout without the underscore
    return cls if name == "__init__" else f"{cls}.{name}"
