"""How the options of several copies become the runs of equal ones that the driver takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cuprum.utils import CopyOptions


def _attr_run_starts(options: Sequence[CopyOptions]) -> list[int]:
    """Where a run of equal options starts."""
    return [index for index, each in enumerate(options) if index == 0 or each != options[index - 1]]


def _reject_unsupported_during_api_call(order: str, requirement: str, index: int | None = None) -> None:
    """Raise RuntimeError for the one order that a plain copy can't keep: all reads done when the call returns."""
    if order != "during_api_call":
        return
    where = "" if index is None else f" at index {index}"
    raise RuntimeError(
        f"src_access_order=DURING_API_CALL{where} requires {requirement}: a plain copy may read its source later"
    )
