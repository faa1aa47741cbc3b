"""The command ``cuprum``, which the package brings as a program of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def path() -> Path:
    """Where the program is in an installed package."""
    return Path(__file__).parent / "bin" / "cuprum"


def main() -> None:
    """Become that program."""
    program = path()
    if not program.exists():
        raise SystemExit(f"cuprum: {program} is not there: this is no installed package of cuprum")
    os.execv(program, ["cuprum", *sys.argv[1:]])
