"""Arguments of functions as views of memory, whatever library they come from."""

from __future__ import annotations

import functools
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from ._arguments import names_the_nearest_keyword
from ._core import StridedMemoryView, _has_dlpack, _StridedLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

StridedLayout = _StridedLayout


class DLDeviceType(IntEnum):
    """Where DLPack says that memory is."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13


class _StridedMemoryViewProxy:
    """An argument that can be viewed as soon as it is known on which stream it will be used."""

    __slots__ = ("has_dlpack", "obj")

    def __init__(self, obj: object) -> None:
        self.obj = obj
        self.has_dlpack = _has_dlpack(obj)

    @names_the_nearest_keyword
    def view(self, stream_ptr: Any = None) -> StridedMemoryView:
        """A StridedMemoryView for work on the stream at `stream_ptr`; -1 asks for no order."""
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


@names_the_nearest_keyword
def args_viewable_as_strided_memory(arg_indices: Iterable[int]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: positional arguments at these places arrive as objects whose view() makes a StridedMemoryView.

    >>> import numpy
    >>> @args_viewable_as_strided_memory((0,))
    ... def shape_of(array):
    ...     return array.view(-1).shape
    >>> shape_of(numpy.zeros((2, 3)))
    (2, 3)
    """
    if not hasattr(arg_indices, "__iter__"):
        raise TypeError(f"arg_indices must be a sequence of ints, not {type(arg_indices).__name__}")
    indices = tuple(arg_indices)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            arguments = list(args)
            for index in indices:
                try:
                    arguments[index] = _StridedMemoryViewProxy(arguments[index])
                except IndexError:
                    raise TypeError(_missing(function, index, len(args), kwargs)) from None
            return function(*arguments, **kwargs)

        return call

    return decorate


def _missing(function: Callable[..., Any], index: int, given: int, keywords: dict[str, Any]) -> str:
    """What to say of a call that has no positional argument at a place that is to be viewed."""
    import inspect

    try:
        name: str | int = list(inspect.signature(function).parameters)[index]
    except (IndexError, TypeError, ValueError):  # it has none of that number, or doesn't say
        name = index
    said = f"{getattr(function, '__name__', 'the function')}() needs the argument {name!r} by position, to view it as strided memory"
    return f"{said}: it was given by keyword" if name in keywords else f"{said}, but {given} were given"


@names_the_nearest_keyword
def view_as_cai(obj: object, stream_ptr: Any) -> StridedMemoryView:
    """StridedMemoryView.from_cuda_array_interface, as cuda.core also calls it."""
    return StridedMemoryView.from_cuda_array_interface(obj, stream_ptr)


@names_the_nearest_keyword
def view_as_array_interface(obj: object) -> StridedMemoryView:
    """StridedMemoryView.from_array_interface, as cuda.core also calls it."""
    return StridedMemoryView.from_array_interface(obj)
