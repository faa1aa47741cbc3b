"""Refuses to be imported in a subinterpreter, before the extension is: its objects belong to one interpreter."""

from __future__ import annotations

from importlib import import_module
TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any


def _interpreters() -> Any:
    for name in ("_interpreters", "_xxsubinterpreters"):  # the second before Python 3.13
        try:
            return import_module(name)
        except ImportError:
            pass
    return None  # so there are no others


_found = _interpreters()
if _found is not None and _found.get_current() != _found.get_main():
    raise ImportError(
        "cuprum can be used in the main interpreter of a process only, not in a subinterpreter: use threads or processes"
    )
