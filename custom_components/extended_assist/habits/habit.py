"""A habit: what somebody does again and again, how sure that is, and the automation that would do it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from math import exp, lgamma, log, sqrt
from typing import Any, Final

from .changes import Series
from .days import clock, wanted_weekdays
from .kinds import action, raw_states, words

TIME: Final = "time"
AFTER: Final = "after"
LEFT_ON: Final = "left_on"
_LATE: Final = 180.0
"""Seconds after something from which on an automation waits as long as people do."""
_SHOWN: Final = 5
_DARK: Final = {
    "condition": "or",
    "conditions": [
        {"condition": "sun", "after": "sunset"},
        {"condition": "sun", "before": "sunrise"},
    ],
}


@dataclass(slots=True, kw_only=True)
class Habit:
    """What somebody does again and again."""

    what: str
    """TIME, AFTER or LEFT_ON."""
    does: Series
    """The entity, and the state that it is brought to."""
    right: int
    """On how many of its occasions it was followed."""
    of: int
    """How many occasions there were."""
    supports: list[float]
    """When it was followed."""
    exceptions: list[float]
    """The occasions on which it was not."""
    kind: str = "days"
    """The kind of day."""
    minute: float | None = None
    """The usual minute of the day, where there is one; after midnight more than a day has."""
    window: tuple[float, float] = (0.0, 0.0)
    """Of a time, its earliest and latest minute; of what comes after something, its shortest and longest seconds."""
    cause: Series | None = None
    """What comes before it."""
    delay: float = 0.0
    """The usual seconds after that."""
    dark: bool = False
    """Whether it is followed when it is dark only."""
    by: tuple[int, int] = (0, 0)
    """How often a user, and how often somebody at the device, did it."""
    id: str = field(init=False)

    def __post_init__(self) -> None:
        """Give it an id by which the same habit is known again."""
        near = "" if self.what == AFTER or self.minute is None else str(round(self.minute / 60))
        told = "|".join((self.what, *self.does, *(self.cause or ()), self.kind, near))
        self.id = sha256(told.encode()).hexdigest()[:8]

    @property
    def worth(self) -> float:
        """Return how good it is."""
        return surely(self.right, self.of)

    @property
    def reach(self) -> tuple[float, float]:
        """Return how many seconds before and after a run of the automation somebody does the same."""
        if self.what == TIME:
            first, last = self.window
            return (self.minute or 0) - first, last - (self.minute or 0)
        return self.window[1] + 5, self.window[1] + 5

    def told(self, name_of: Callable[[str], str]) -> str:
        """Return it in words."""
        entity_id, state = self.does
        done = words(name_of(entity_id), entity_id.partition(".")[0], state)
        if self.what == LEFT_ON:
            return (
                f"On {self.right} of {self.of} nights {name_of(entity_id)} stayed on while nobody did anything, mostly from "
                f"{clock(self.window[0])} to {clock(self.window[1])}, and was then turned off by hand"
            )
        if self.cause is None:
            first, last = map(clock, self.window)
            return f"On {self.right} of {self.of} {self.kind} you {done} between {first} and {last}"
        name, domain = name_of(self.cause[0]), self.cause[0].partition(".")[0]
        dark = " in the dark" if self.dark else ""
        when = "on" if domain == "media_player" and self.cause[1] == "on" else self.cause[1]
        after = _seconds(self.delay)
        usual = f", mostly near {clock(self.minute)}" if self.minute is not None else ""
        return (
            f"{self.right} of {self.of} times that {name} became {when}{dark}, you {done} within "
            f"{_seconds(self.window[1])}, mostly after {after}{usual}"
        )

    def automation(self, name_of: Callable[[str], str]) -> dict[str, Any]:
        """Return the configuration of the automation that would do it."""
        entity_id, state = self.does
        config: dict[str, Any] = {"alias": self._alias(name_of), "triggers": [self._trigger()]}
        if self.what == LEFT_ON:
            config["conditions"] = [
                {"condition": "not", "conditions": [{"condition": "state", "entity_id": entity_id, "state": "off"}]}
            ]
        elif self.dark:
            config["conditions"] = [_DARK]
        return config | {"actions": [action(entity_id, state)]}

    def _trigger(self) -> dict[str, Any]:
        """Return the trigger of its automation."""
        if self.cause is None:
            trigger: dict[str, Any] = {"trigger": "time", "at": f"{clock(self.minute or 0)}:00"}
            days = wanted_weekdays(self.kind, self.minute or 0)
            return trigger | ({"weekday": days} if days else {})
        entity_id, state = self.cause
        trigger = {"trigger": "state", "entity_id": entity_id, "to": raw_states(entity_id.partition(".")[0], state)}
        if entity_id.startswith("media_player.") and state != "off":
            trigger["from"] = raw_states("media_player", "off")
        return trigger | ({"for": {"seconds": round(self.delay)}} if self.delay >= _LATE else {})

    def _alias(self, name_of: Callable[[str], str]) -> str:
        """Return a name."""
        entity_id, state = self.does
        if self.cause is None:
            when = f"at {clock(self.minute or 0)}" + ("" if self.kind == "days" else f" on {self.kind}")
        else:
            when = f"after {name_of(self.cause[0])} {self.cause[1]}" + (" in the dark" if self.dark else "")
        return f"{name_of(entity_id)} {state} {when}"[:110]

    def is_right(self, moment: float, done: Callable[[float, float], bool]) -> bool:
        """Return whether a run of the automation does what somebody did; done tells that of a span."""
        before, after = self.reach
        if self.what == TIME:
            return done(moment - before * 60 - 60, moment + after * 60 + 60)
        return done(moment - (self.delay if self.delay >= _LATE else 0) - 5, moment + after)


def _seconds(seconds: float) -> str:
    """Return a short time in words."""
    if seconds < 90:
        return f"{round(seconds)} seconds"
    return f"{round(seconds / 60)} minutes"


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
