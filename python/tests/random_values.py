"""Seeds of tests with random values: fixed ones, or as many fresh ones as CUPRUM_RANDOM_SEEDS says.

``CUPRUM_RANDOM_SEEDS=1000 python -m pytest python/tests -k random`` looks further; what fails names its seed, and
``CUPRUM_RANDOM_SEEDS=seed:12345`` runs that alone.
"""

import os
import random

import pytest


def seeds(count):
    """A decorator: the test runs with `count` seeds, in its argument `seed`."""
    wanted = os.environ.get("CUPRUM_RANDOM_SEEDS", "")
    if wanted.startswith("seed:"):
        values = [int(wanted.removeprefix("seed:"))]
    elif wanted:
        values = [random.SystemRandom().randrange(2**32) for _ in range(int(wanted))]
    else:
        values = range(count)
    return pytest.mark.parametrize("seed", values)
