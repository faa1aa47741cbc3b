"""The options of copy_batch(), one per copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuprum.utils import CopyOptions

if TYPE_CHECKING:
    from collections.abc import Sequence


def _normalize_copy_options(options: CopyOptions | Sequence[CopyOptions] | None, count: int) -> tuple[CopyOptions, ...]:
    """Options for each of `count` copies: None and a single one stand for all of them, a sequence has one for each."""
    if options is None:
        options = CopyOptions()
    if isinstance(options, CopyOptions):
        return (options,) * count
    if len(options) != count:
        raise ValueError(f"options length is {len(options)}, but there are {count} copies: give one for each or all")
    return tuple(options)
