"""Caches of compiled programs: what ``Program.compile(cache=...)`` looks into before it compiles.

>>> from cuprum import Device, Program
>>> from cuprum.utils import InMemoryProgramCache
>>> Device().set_current()
>>> program = Program('extern "C" __global__ void f() {}', "c++")
>>> with InMemoryProgramCache() as cache:
...     first = program.compile("cubin", cache=cache)  # compiles
...     second = program.compile("cubin", cache=cache)  # doesn't
>>> first.code == second.code
True
"""

from __future__ import annotations

import abc
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from cuprum import _core
from cuprum._arguments import names_the_nearest_keyword, names_the_nearest_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from cuprum import ObjectCode, ProgramOptions
    from cuprum.typing import ObjectCodeFormatType, SourceCodeType

    Key = Union[bytes, str]
    Value = Union[bytes, bytearray, memoryview, ObjectCode]

__all__ = ["FileStreamProgramCache", "InMemoryProgramCache", "ProgramCacheResource", "make_program_cache_key"]


@names_the_nearest_keywords
class ProgramCacheResource(abc.ABC):
    """A cache: bytes under keys. Derive from it to keep them elsewhere; what is abstract here is all that is needed.

    A str is a key as its UTF-8 bytes are. Besides code, ``Program.compile`` stores what belongs to it and is no part of
    it (its names, its PTX, the compiler's log) under further keys. What a cache raises comes out of ``compile``.

    There is no ``in``: the answer could be wrong by the time the value is asked for. Use ``get``.

    >>> class InADict(ProgramCacheResource):
    ...     def __init__(self):
    ...         self.values = {}
    ...     def __getitem__(self, key):
    ...         return self.values[key]
    ...     def __setitem__(self, key, value):
    ...         self.values[key] = bytes(getattr(value, "code", value))
    ...     def __delitem__(self, key):
    ...         del self.values[key]
    ...     def __len__(self):
    ...         return len(self.values)
    ...     def clear(self):
    ...         self.values.clear()
    >>> cache = InADict()
    >>> cache.update({b"key": b"code"})
    >>> cache.get(b"key"), cache.get(b"other")
    (b'code', None)
    """

    @abc.abstractmethod
    def __getitem__(self, key: Key) -> bytes:
        """What was stored under the key last. KeyError when there is nothing."""

    @abc.abstractmethod
    def __setitem__(self, key: Key, value: Value) -> None:
        """Store bytes, or those of an ObjectCode, in place of what was there. They may be gone any time later."""

    @abc.abstractmethod
    def __delitem__(self, key: Key) -> None:
        """Remove what is under the key. KeyError when there is nothing."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """How many values there are."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove all values."""

    def get(self, key: Key, default: bytes | None = None) -> bytes | None:
        """What was stored under the key last, or `default` when there is nothing."""
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]], /) -> None:
        """Store all values of a mapping, or of pairs of a key and a value."""
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:  # noqa: B027
        """Give back what the cache holds open. Those of cuprum hold nothing open and stay usable."""

    def __enter__(self) -> ProgramCacheResource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


@names_the_nearest_keywords
class _NativeCache(ProgramCacheResource):
    """A cache of libcuprum."""

    _native: Any

    def __getitem__(self, key: Key) -> bytes:
        value = self._native.get(_key_bytes(key))
        if value is None:
            raise KeyError(key)
        return value  # type: ignore[no-any-return]

    def __setitem__(self, key: Key, value: Value) -> None:
        name = _key_bytes(key)
        if isinstance(value, _core.ObjectCode):
            self._store_code(name, value)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._native.set(name, bytes(value))
        else:
            raise TypeError(f"cache values must be bytes-like or ObjectCode, got {type(value).__name__}")

    def _store_code(self, name: bytes, code: ObjectCode) -> None:
        given = code.code
        if not code._is_given:
            self._native.set_code(name, code)
        elif isinstance(given, str):
            self._native.set(name, _read(given))
        else:
            self._native.set(name, given)

    def __delitem__(self, key: Key) -> None:
        if not self._native.erase(_key_bytes(key)):
            raise KeyError(key)

    def __len__(self) -> int:
        return self._native.size()  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Remove all values."""
        self._native.clear()

    def get_code(self, key: Key) -> ObjectCode | None:
        """The code that was stored under the key, with its PTX and its names where they are known; None without any."""
        return self._native.get_code(_key_bytes(key))  # type: ignore[no-any-return]


@names_the_nearest_keywords
class InMemoryProgramCache(_NativeCache):
    """Keeps values for as long as it lives. Threads may share it.

    max_size_bytes: when values take more than this, those that were used longest ago go; None is no limit.

    >>> cache = InMemoryProgramCache(max_size_bytes=1 << 20)
    >>> cache["key"] = b"code"
    >>> cache[b"key"], len(cache)
    (b'code', 1)
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._native = _core._InMemoryProgramCache(_limit(max_size_bytes))


@names_the_nearest_keywords
class FileStreamProgramCache(_NativeCache):
    """Keeps values as files in a folder, which any number of threads and processes may share.

    path: the folder, which is made when the first value is stored; None is the user's cache folder.
    max_size_bytes: when files take more than this, those that were used longest ago go; None is no limit.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FileStreamProgramCache(folder) as cache:
    ...         cache["key"] = b"code"
    ...     FileStreamProgramCache(folder)["key"]
    b'code'
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None) -> None:
        if path is not None and not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError(f"path must be a str, bytes or os.PathLike, or None, not {type(path).__name__}")
        folder = "" if path is None else os.fsdecode(path)
        if path is not None and not folder:
            raise ValueError("the path of a cache is empty: give a folder, or None for the user's own")
        self._native = _core._FileStreamProgramCache(folder, _limit(max_size_bytes))

    @property
    def path(self) -> str:
        """The folder, which need not be there yet."""
        return self._native.path()  # type: ignore[no-any-return]


@names_the_nearest_keyword
def make_program_cache_key(
    *,
    code: str | bytes | bytearray,
    code_type: SourceCodeType | str,
    options: ProgramOptions,
    target_type: ObjectCodeFormatType | str,
    name_expressions: Sequence[str | bytes | bytearray] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """A key that is the same as long as the compilation gives the same; the one that ``Program.compile`` uses.

    It is made of the source, the files that it includes, the options, the target and the compiler. `extra_digest` stands
    for what can't be seen: with it a program whose included files can't all be told has a key, too. ValueError for what
    can't be cached: options whose point is what the compiler does besides, such as `time` and precompiled headers.

    >>> from cuprum import ProgramOptions
    >>> key = make_program_cache_key(
    ...     code="__global__ void f() {}", code_type="c++", options=ProgramOptions(arch="sm_90"), target_type="cubin"
    ... )
    >>> isinstance(key, bytes)
    True
    """
    if extra_digest is not None and not isinstance(extra_digest, (bytes, bytearray)):
        raise TypeError(f"extra_digest must be bytes or None, not {type(extra_digest).__name__}")
    if not isinstance(name_expressions, Iterable):
        raise TypeError(f"name_expressions must be a sequence of names, not {type(name_expressions).__name__}")
    names = [bytes(name) if isinstance(name, bytearray) else name for name in name_expressions]
    digest = b"" if extra_digest is None else bytes(extra_digest)
    return _core._program_cache_key(code, code_type, options, target_type, names, digest)  # type: ignore[no-any-return]


def _key_bytes(key: object) -> bytes:
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    if isinstance(key, str):
        return key.encode()
    raise TypeError(f"cache keys must be bytes or str, got {type(key).__name__}")


def _limit(max_size_bytes: int | None) -> int | None:
    if max_size_bytes is not None and not isinstance(max_size_bytes, int):
        raise TypeError(f"max_size_bytes must be an int or None, not {type(max_size_bytes).__name__}")
    if max_size_bytes is not None and max_size_bytes <= 0:
        raise ValueError(f"max_size_bytes must be positive, or None for no limit, not {max_size_bytes}")
    return max_size_bytes


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        message = f"a path-backed ObjectCode can't be stored in a cache: {path} is not there any more"
        raise FileNotFoundError(error.errno, message) from None
