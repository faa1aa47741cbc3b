"""A pytest plug-in for tools/cuda-core-tests.sh: names of cuda.core that cuprum doesn't have can be imported, not used.

A file of NVIDIA's tests imports dozens of names at its head; without this one missing name would cost all of its tests.
Here it costs those that use it: calling the placeholder, or asking it for an attribute, raises.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cuprum import as_cuda_core


class Missing(type):
    """The class of placeholders, which are classes so that annotations and isinstance() may name them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(cls.refusal)

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(cls.__dict__.get("refusal", name))


def find_or_hold_place(self: as_cuda_core.ServedModule, name: str) -> Any:
    try:
        return original(self, name)
    except AttributeError as error:
        if name.startswith("__"):
            raise
        return Missing(name, (), {"refusal": str(error), "__module__": self.__name__})


original = as_cuda_core.ServedModule.__getattr__
as_cuda_core.ServedModule.__getattr__ = find_or_hold_place  # type: ignore[method-assign]
