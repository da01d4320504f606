"""A habit: what users repeat, how certain it is, and the automation for it."""

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
"""Seconds after an event from which the automation has the users' delay."""
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
    """An action that users repeat."""

    what: str
    """TIME, AFTER or LEFT_ON."""
    does: Series
    """The entity and the state that users set."""
    right: int
    """The number of occasions with the action."""
    of: int
    """The number of occasions."""
    supports: list[float]
    """The times of the action."""
    exceptions: list[float]
    """The occasions without the action."""
    kind: str = "days"
    """The kind of day."""
    minute: float | None = None
    """The usual minute of the day, if there is one; after midnight it is more than a day has."""
    window: tuple[float, float] = (0.0, 0.0)
    """At a time: the earliest and latest minute. After an event: the shortest and longest delay in seconds."""
    cause: Series | None = None
    """The event before it."""
    delay: float = 0.0
    """The usual delay after the event, in seconds."""
    dark: bool = False
    """True if it only happens in the dark."""
    by: tuple[int, int] = (0, 0)
    """How often a user, and how often a person at the device, did it."""
    id: str = field(init=False)

    def __post_init__(self) -> None:
        """Compute an id that is the same for the same habit."""
        near = "" if self.what == AFTER or self.minute is None else str(round(self.minute / 60))
        told = "|".join((self.what, *self.does, *(self.cause or ()), self.kind, near))
        self.id = sha256(told.encode()).hexdigest()[:8]

    @property
    def worth(self) -> float:
        """Return the quality of the habit."""
        return surely(self.right, self.of)

    @property
    def reach(self) -> tuple[float, float]:
        """Return the seconds before and after a run of the automation in which users do the same."""
        if self.what == TIME:
            first, last = self.window
            return (self.minute or 0) - first, last - (self.minute or 0)
        return self.window[1] + 5, self.window[1] + 5

    def told(self, name_of: Callable[[str], str]) -> str:
        """Return the habit in words."""
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
        """Return the config of the automation for it."""
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
        """Return whether users did the same as a run of the automation; `done` tells whether they did it in a span."""
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
"""The number of false habits that may be found in a home without any."""
LEAST: Final = 5
"""The fewest times, and days, of a habit."""
SHARE: Final = 0.7
"""The least share of occasions with the action."""
_SURE: Final = 1.64


def at_least(count: int, of: int, chance: float) -> float:
    """Return the probability of at least so many successes by chance."""
    if count <= 0:
        return 1.0
    chance = min(max(chance, 1e-9), 1 - 1e-9)
    total, hit, miss = 0.0, log(chance), log(1 - chance)
    for found in range(count, of + 1):
        ways = lgamma(of + 1) - lgamma(found + 1) - lgamma(of - found + 1)
        total += exp(ways + found * hit + (of - found) * miss)
    return min(total, 1.0)


def surely(count: int, of: int) -> float:
    """Return the lower bound of a share at high confidence (Wilson's score interval)."""
    share, square = count / of, _SURE * _SURE
    middle = share + square / (2 * of)
    spread = _SURE * sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (middle - spread) / (1 + square / of)
