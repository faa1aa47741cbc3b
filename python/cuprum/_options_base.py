"""What makes a class of options: fields with defaults, as ``dataclasses`` has it, without the price of importing that.

``@options`` reads the annotations of a class as ``@dataclass`` does, and the result passes for a dataclass: positional
and keyword arguments, repr, equality, ``dataclasses.fields``, ``replace``, ``asdict``, ``inspect.signature``. Importing
``dataclasses`` and generating its methods would be a good part of the time that ``import cuprum`` may take, so that is
put off until somebody asks for it. In exchange an unknown keyword is answered with the nearest one.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, without the time that importing typing takes

if TYPE_CHECKING:
    from dataclasses import dataclass as options
    from typing import Any, TypeVar

    T = TypeVar("T")
else:

    def options(cls: type | None = None, /, *, frozen: bool = False) -> Any:
        """Make a class of options of `cls`; with `frozen` its objects can't be changed, and have a hash."""
        if cls is None:
            return lambda real: options(real, frozen=frozen)
        fields = tuple(name for name in cls.__annotations__ if not name.startswith("_"))
        cls.__match_args__ = fields
        cls._fields = fields
        cls._defaults = {name: cls.__dict__[name] for name in fields if name in cls.__dict__}
        cls._older = cls.__dict__.get("_older", {})
        for name, method in _METHODS.items():
            if name not in cls.__dict__:
                setattr(cls, name, method)
        cls.__hash__ = _hash if frozen else None
        if frozen:
            cls.__setattr__ = _refuse_to_set
            cls.__delattr__ = _refuse_to_delete
        for attribute in ("__dataclass_fields__", "__dataclass_params__", "__signature__"):
            setattr(cls, attribute, _FromTwin(cls, attribute, frozen))
        return cls


def unknown_option(cls: type, name: object) -> TypeError:
    """The error for a keyword that `cls` doesn't have, with the nearest that it has."""
    import difflib

    known = [*cls._fields, *cls._older]  # type: ignore[attr-defined]
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    hint = f"; did you mean {cls._older.get(near[0], near[0])!r}?" if near else "."  # type: ignore[attr-defined]
    every = ", ".join(cls._fields)  # type: ignore[attr-defined]
    return TypeError(f"{cls.__name__} has no option {name!r}{hint} Its options are: {every}")


def check_options(cls: type[T], value: object, what: str = "") -> T:
    """`value` as an object of the options class `cls`: None is all defaults, a dict gives keywords, an object is itself.

    `what` says in errors whose options they are ("stream options"). Anything else raises TypeError, and so does a dict
    with a key that is no option:

    >>> from cuprum import StreamOptions
    >>> check_options(StreamOptions, {"priority": -1}, "stream options")
    StreamOptions(nonblocking=True, priority=-1)
    >>> check_options(StreamOptions, {"prioritty": -1}, "stream options")
    Traceback (most recent call last):
        ...
    TypeError: StreamOptions has no option 'prioritty'; did you mean 'priority'? Its options are: nonblocking, priority
    """
    if value is None:
        return cls()
    if isinstance(value, cls):
        return value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise unknown_option(cls, key)
        return cls(**value)
    what = what or f"{cls.__name__[: -len('Options')]} options"
    raise TypeError(
        f"The {what} must be provided as an object of type {cls.__name__}, as a dict with its options, or as None, "
        f"not as {f'the class {value.__name__} itself' if isinstance(value, type) else f'{type(value).__name__}: {value!r}'}"
    )


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    cls = type(self)
    values = self.__dict__
    values.update(cls._defaults)
    if args:
        _take_positional(self, args, kwargs)
    for name, value in kwargs.items():
        if name not in cls._fields:
            name = _from_older(cls, name, kwargs)
        values[name] = value
    if len(values) < len(cls._fields):
        missing = [name for name in cls._fields if name not in values]
        raise TypeError(f"{cls.__name__} needs {' and '.join(repr(name) for name in missing)}")
    check = getattr(self, "__post_init__", None)
    if check is not None:
        check()


def _take_positional(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    cls = type(self)
    if len(args) > len(cls._fields):
        raise TypeError(f"{cls.__name__} takes at most {len(cls._fields)} positional arguments, not {len(args)}")
    for name, value in zip(cls._fields, args, strict=False):
        if name in kwargs:
            raise TypeError(f"{cls.__name__} got {name!r} twice: by position and by name")
        self.__dict__[name] = value


def _from_older(cls: Any, name: str, kwargs: dict[str, Any]) -> str:
    """The present name of an option that an earlier version of cuda.core spelled `name`."""
    newer = cls._older.get(name)
    if newer is None:
        raise unknown_option(cls, name)
    if newer in kwargs:
        raise TypeError(f"{cls.__name__} got both {newer!r} and {name!r}, which is its older name: give one of them")
    return str(newer)


def _repr(self: Any) -> str:
    cls = type(self)
    return f"{cls.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in cls._fields)})"


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self._fields)


def _eq(self: Any, other: object) -> bool:
    if type(other) is not type(self):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _replace(self: T, /, **changes: Any) -> T:
    import dataclasses

    return dataclasses.replace(self, **changes)  # type: ignore[type-var]


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    import dataclasses

    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}: make a new {type(self).__name__}")


def _refuse_to_delete(self: Any, name: str) -> None:
    import dataclasses

    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_METHODS = {"__init__": _init, "__repr__": _repr, "__eq__": _eq, "__replace__": _replace}


class _FromTwin:
    """An attribute that a dataclass has, taken from a real one with the same fields that is made when first asked."""

    def __init__(self, cls: Any, attribute: str, frozen: bool) -> None:
        self.cls = cls
        self.attribute = attribute
        self.frozen = frozen

    def __get__(self, instance: object, owner: Any = None) -> Any:
        twin = self._twin()
        if self.attribute != "__signature__":
            return getattr(twin, self.attribute)
        if owner.__init__ is not _init:
            raise AttributeError("__signature__")  # a subclass with a constructor of its own, which inspect reads
        import inspect

        return inspect.signature(twin)

    def _twin(self) -> Any:
        cls = self.cls
        if "_twin" not in cls.__dict__:
            import dataclasses

            fields = [
                (name, cls.__annotations__[name], dataclasses.field(default=cls._defaults[name]))
                if name in cls._defaults
                else (name, cls.__annotations__[name])
                for name in cls._fields
            ]
            twin = dataclasses.make_dataclass(cls.__name__, fields, frozen=self.frozen)
            twin.__module__ = cls.__module__
            cls._twin = twin
        return cls._twin
