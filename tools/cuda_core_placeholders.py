"""A pytest plug-in for tools/cuda-core-tests.sh: names of cuda.core that cuprum doesn't have can be imported, not used.

A file of NVIDIA's tests imports dozens of names at its head; without this one missing name would cost all of its tests.
Here it costs those that use it: calling the placeholder, or asking it for an attribute, raises.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cuprum import as_cuda_core

# Modules that tests import for what is inside of NVIDIA's package, and those that cuprum does not have.
MODULES = frozenset(
    """
    _utils._wsl_locale _utils.validators
    """.split()
)

# Those of which cuprum has all: what is not in them is not there.
COMPLETE = frozenset(("cuda.core.checkpoint",))


class NotServed(Exception):
    """Raised by a placeholder: no exception that a test may expect, so that none passes for want of what it tests."""


class Missing(type):
    """The class of placeholders, which are classes so that annotations and isinstance() may name them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotServed(cls.refusal)

    def __getattr__(cls, name: str) -> NoReturn:
        raise NotServed(cls.__dict__.get("refusal", name))


def find_or_hold_place(self: as_cuda_core.ServedModule, name: str) -> Any:
    try:
        return original(self, name)
    except AttributeError as error:
        hidden = as_cuda_core.ONLY_IN_CUPRUM.get(self.__name__, ())
        if name.startswith("__") or self.__name__ in COMPLETE or name in hidden:
            raise
        return Missing(name, (), {"refusal": str(error), "__module__": self.__name__})


def sources_of(fullname: str) -> tuple[str, ...] | None:
    found = original_sources_of(fullname)
    if found is None and fullname[len(as_cuda_core.ROOT) + 1 :] in MODULES:
        return ("cuprum._cuda_utils",)
    return found


original_sources_of = as_cuda_core.sources_of
as_cuda_core.sources_of = sources_of
original = as_cuda_core.ServedModule.__getattr__
as_cuda_core.ServedModule.__getattr__ = find_or_hold_place  # type: ignore[method-assign]
