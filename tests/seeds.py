"""Seeds of random tests: the same few in every run of the tests, and others for as long as script/soak asks for."""

import os

VARIABLE = "SOAK_FIRST_SEED"


def seeds(count: int) -> range:
    """Return so many seeds; a soak says where they begin."""
    first = int(os.environ.get(VARIABLE, "0"))
    return range(first, first + count)
