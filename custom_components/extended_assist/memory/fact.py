"""A fact that somebody wanted to be remembered, as it is stored."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
import json
from typing import Any, Final

import voluptuous as vol

from homeassistant.util import dt as dt_util, ulid as ulid_util

from ..storage import NUMBER, TEXT_OR_NONE, shape
from .search import Features, features

MAX_FACTS: Final = 1_000
"""Facts of a home that can hold at the same time."""
MAX_OF_ONE: Final = 800
"""Those of them that one user may have said; or automations and guests together. So the others have room."""
MAX_WORDS: Final = 500
"""Characters of a fact."""
MAX_PAST: Final = 200
PAST_DAYS: Final = 30
"""What was forgotten or replaced is kept in so many, for so many days, so that it can be brought back by undo."""


class Via(StrEnum):
    """How a fact came here."""

    SAID = "said"
    """It was told to an assistant."""
    AUTOMATION = "automation"
    """An automation or a task told it."""
    WRITTEN = "written"
    """Somebody wrote it: in the list, by an action or in a file."""


def now() -> float:
    """Return the moment that it is, in seconds since the epoch."""
    return dt_util.utcnow().timestamp()


def new_id() -> str:
    """Return an id short enough for a model to repeat without mistakes."""
    return ulid_util.ulid_now()[-6:].lower()


@dataclass(slots=True)
class Fact:
    """A fact."""

    words: str
    """One line, as it was said."""
    user_id: str | None = None
    """Whose it is, told to nobody else; None for the household's."""
    said_by: str | None = None
    """The user who said it; None where nobody was logged in."""
    device_id: str | None = None
    """Where it was said."""
    via: Via = Via.SAID
    until: float | None = None
    """When it ceases to hold, in seconds since the epoch."""
    entities: list[str] = field(default_factory=list)
    areas: list[str] = field(default_factory=list)
    """What it is about, by ids."""
    said: float = field(default_factory=now)
    """When, in seconds since the epoch."""
    ended: float | None = None
    """When it was forgotten or replaced; None while it holds."""
    replaced_by: str | None = None
    """The id of the fact in its place: where that is deleted for good, this one goes with it."""
    id: str = field(default_factory=new_id)
    search_keys: Features | None = field(default=None, compare=False, repr=False)
    """The search keys of the words, once they are read; not stored."""

    @property
    def author(self) -> str | None:
        """Return the user who worded it, None for nobody who is known, or an empty text for an automation."""
        return "" if self.via is Via.AUTOMATION else self.said_by or self.user_id

    def holds(self, moment: float) -> bool:
        """Return whether it holds at a moment."""
        return self.ended is None and (self.until is None or self.until > moment)

    @property
    def of_whom(self) -> str | None:
        """Return the user whose room it takes; None for automations and guests."""
        return self.user_id or self.said_by

    def is_over(self, moment: float) -> bool:
        """Return whether it has been past for so long that it is kept no more."""
        past = min(filter(None, (self.ended, self.until)), default=None)
        return past is not None and moment - past > PAST_DAYS * 86400

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return {name: getattr(self, name) for name in _NAMES}


_NAMES = tuple(one.name for one in fields(Fact) if one.name != "search_keys")


def read_search_keys(facts: Collection[Fact]) -> list[Features]:
    """Return the search keys of facts, and keep them with each; runs off the event loop."""
    for fact in facts:
        fact.search_keys = fact.search_keys or features(fact.words)
    return [fact.search_keys for fact in facts if fact.search_keys is not None]


def one_line(words: str) -> str:
    """Return words as they are kept: on one line, so that in a prompt nothing of them looks like anything else."""
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())


_NUMBER_OR_NONE = vol.Any(None, NUMBER)
_FACT = shape(
    {"words": vol.All(str, vol.Length(1, MAX_WORDS)), "id": str},
    {
        **dict.fromkeys(("user_id", "said_by", "device_id", "replaced_by"), TEXT_OR_NONE),
        "via": vol.Coerce(Via),
        **dict.fromkeys(("until", "ended"), _NUMBER_OR_NONE),
        "entities": [str],
        "areas": [str],
        "said": NUMBER,
    },
)
_STORED = shape({"facts": [_FACT]})


def read_stored(stored: Any) -> list[Fact]:
    """Return the facts in what was stored; raises vol.Invalid for anything else."""
    return [] if stored is None else [_read(valid) for valid in _STORED(stored)["facts"]]


def read_row(row: Any) -> Fact:
    """Return the fact in one stored row; raises vol.Invalid for anything else."""
    return _read(_FACT(row))


@dataclass(frozen=True)
class Gone:
    """The facts that are deleted for good."""

    wanted: Callable[[Fact], bool]
    """Returns true for a fact that is to be removed."""
    words: Collection[str] = ()
    """The words of those that were found."""
    names: Collection[str] = ()
    """The ids of the user and of their person, where all of theirs is deleted."""

    def has_row(self, row: Any) -> bool:
        """Return whether a row of a copy is to go; one that is no fact goes if it holds any of the words or ids."""
        try:
            fact = read_row(row)
        except vol.Invalid:
            return self.is_in(json.dumps(row, ensure_ascii=False))
        return fact.words in self.words or self.wanted(fact)

    def is_in(self, text: str) -> bool:
        """Return whether a text holds any of the words or ids as a JSON value."""
        return any(json.dumps(one, ensure_ascii=False) in text for one in (*self.words, *self.names))


def _read(valid: Mapping[str, Any]) -> Fact:
    """Return a fact from what was stored and is valid."""
    return Fact(**{key: value for key, value in valid.items() if key in _NAMES})
