"""How long a soak may go on, and what came of it."""

from dataclasses import dataclass, field
from itertools import count
from time import monotonic


@dataclass
class Budget:
    """Seconds, or a number of rounds, and the seed that the first of them takes."""

    seconds: float
    rounds: int | None = None
    seed: int = 0
    done: int = 0
    begun: float = field(default_factory=monotonic)

    def __iter__(self) -> Budget:
        """Go on for as long as there is time."""
        self._seeds = count(self.seed)
        return self

    def __next__(self) -> int:
        """Return the seed of another round; at least one is made."""
        if self.done and (
            monotonic() - self.begun >= self.seconds if self.rounds is None else self.done >= self.rounds
        ):
            raise StopIteration
        self.done += 1
        return next(self._seeds)


@dataclass(frozen=True)
class Found:
    """What a soak did and found: `wrong` is what must not be."""

    did: str
    notes: str = ""
    wrong: tuple[str, ...] = ()
