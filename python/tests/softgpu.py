"""Whether softgpu is there: a package that was taken to a machine with a GPU may have come without it."""

import os
from pathlib import Path

import pytest

from cuprum import _core

is_here = Path(_core.softgpu_path()).is_file()
REASON = "softgpu is not beside this package"
needed = pytest.mark.skipif(not is_here, reason=REASON)


def or_own_driver():
    """The driver for processes that do on any: softgpu, which is there at once, else the one that the tests run on."""
    return "softgpu" if is_here else os.environ.get("CUPRUM_DRIVER", "auto")
