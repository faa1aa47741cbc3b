"""Names that earlier versions of cuda.core had."""

from __future__ import annotations

import pytest

from cuprum import LaunchConfig, Linker, _core
from cuprum._older import RENAMED


@pytest.mark.parametrize(
    ("cls", "older", "present"),
    [(cls, older, present) for cls, names in RENAMED.items() for older, present in names],
)
def test_each_older_name_is_there(cls, older, present):
    bound = getattr(_core, cls)
    if not hasattr(bound, present):
        pytest.skip(f"{cls} has no {present} yet")
    assert hasattr(bound, older)


def test_properties_read_the_same():
    config = LaunchConfig(grid=1, block=1, is_cooperative=True)
    assert config.cooperative_launch is config.is_cooperative is True
    assert LaunchConfig(grid=1, block=1, cooperative_launch=True) == config


def test_backend_of_a_linker_is_a_property():
    assert isinstance(Linker.backend, property)
