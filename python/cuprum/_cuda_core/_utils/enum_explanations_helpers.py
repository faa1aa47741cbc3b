"""What the error codes of cuda.bindings mean, as their documentation says it, in plain text."""

from __future__ import annotations

import re
from typing import Any

from cuprum._cuda_utils import binding_version as _binding_version

# One after the other: what Sphinx reads, and what stands for it. The first is a reference that bindings have broken.
_REPLACEMENTS = [
    (re.compile(r"\s*:py:obj:`~\.Interactions`\s*"), ' "Interactions '),
    (re.compile(r"(?::[a-z]+)+:`(?:~?\.)?([^`]+)`"), r"\1"),
    (re.compile(r"\*{1,2}([^*]+)\*{1,2}"), r"\1"),
    (re.compile(r"\s+"), " "),
    (re.compile(r"(?<=\w)(?:- | -)(?=\w)"), "-"),  # lines were broken there; a dash has blanks on both sides
]


def clean_enum_member_docstring(doc: str | None) -> str | None:
    """The documentation of an error code on one line, without markup; None stays None."""
    if doc is None:
        return None
    for pattern, replacement in _REPLACEMENTS:
        doc = pattern.sub(replacement, doc)
    return doc.strip()


def _binding_version_has_usable_enum_docstrings(version: tuple[int, int, int]) -> bool:
    """Whether a version of cuda.bindings documents each code: from 12.9.6 on in 12, and from 13.2 on."""
    return version >= (13, 2, 0) or (12, 9, 6) <= version < (13, 0, 0)


class DocstringBackedExplanations:
    """A table of explanations by number, read from the documentation of an enumeration's members."""

    def __init__(self, enum_type: Any) -> None:
        self._enum_type = enum_type

    def get(self, code: int, default: str | None = None) -> str | None:
        """The explanation of a code, or `default` for one that has none."""
        try:
            doc = self._enum_type(code).__doc__
        except ValueError:
            return default
        return default if doc is None else clean_enum_member_docstring(doc)


def get_best_available_explanations(enum_type: Any, fallback: Any) -> Any:
    """The documentation of `enum_type` where the installed bindings have it, else `fallback`, or what that returns."""
    if _binding_version_has_usable_enum_docstrings(_binding_version()):
        return DocstringBackedExplanations(enum_type)
    return fallback() if callable(fallback) else fallback
