"""How likely something is by chance."""

from math import exp, lgamma, log, sqrt
from typing import Final

MAY_BE_CHANCE: Final = 0.01
"""How many habits may be found in a whole home in which there are none."""
LEAST: Final = 5
"""Times, and days, from which on something may be a habit."""
SHARE: Final = 0.7
"""The part of its occasions on which a habit is followed at least."""
_SURE: Final = 1.64


def at_least(count: int, of: int, chance: float) -> float:
    """Return how likely something that happens with a chance happens so often."""
    if count <= 0:
        return 1.0
    chance = min(max(chance, 1e-9), 1 - 1e-9)
    total, hit, miss = 0.0, log(chance), log(1 - chance)
    for found in range(count, of + 1):
        ways = lgamma(of + 1) - lgamma(found + 1) - lgamma(of - found + 1)
        total += exp(ways + found * hit + (of - found) * miss)
    return min(total, 1.0)


def surely(count: int, of: int) -> float:
    """Return the share that is reached all but surely, where it was seen so often (Wilson's lower bound)."""
    share, square = count / of, _SURE * _SURE
    middle = share + square / (2 * of)
    spread = _SURE * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (middle - spread) / (1 + square / of)
