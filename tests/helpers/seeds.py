"""Seeds of random tests: the same few in every run of the tests, and others for as long as script/soak asks for."""

import os

VARIABLE = "SOAK_FIRST_SEED"
COUNT = "SOAK_SEEDS"


def seeds(count: int) -> range:
    """Return so many seeds; a soak says where they begin, and may say how many they are."""
    first = int(os.environ.get(VARIABLE, "0"))
    return range(first, first + int(os.environ.get(COUNT, count)))
