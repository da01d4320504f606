"""A fact to remember, and its stored form."""

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
"""The most valid facts of a home."""
MAX_OF_ONE: Final = 800
"""The most valid facts of one user, or of automations and guests together, so that others have room."""
MAX_WORDS: Final = 500
"""The most characters of a fact."""
MAX_PAST: Final = 200
PAST_DAYS: Final = 30
"""Days for which up to MAX_PAST forgotten or replaced facts are kept for undo."""


class Via(StrEnum):
    """The origin of a fact."""

    SAID = "said"
    """A user told it to an assistant."""
    AUTOMATION = "automation"
    """An automation or a task stored it."""
    WRITTEN = "written"
    """A user wrote it in the list, by an action or in a file."""


def now() -> float:
    """Return the current time in seconds since the epoch."""
    return dt_util.utcnow().timestamp()


def new_id() -> str:
    """Return an id short enough for a model to repeat without mistakes."""
    return ulid_util.ulid_now()[-6:].lower()


@dataclass(slots=True)
class Fact:
    """A fact to remember."""

    words: str
    """One line, as the user said it."""
    user_id: str | None = None
    """The user whose private fact it is; None for the household's."""
    said_by: str | None = None
    """The user who said it; None if nobody was logged in."""
    device_id: str | None = None
    """The device to which it was said."""
    via: Via = Via.SAID
    until: float | None = None
    """The end of its validity in seconds since the epoch."""
    entities: list[str] = field(default_factory=list)
    areas: list[str] = field(default_factory=list)
    """The ids of the areas that it is about."""
    said: float = field(default_factory=now)
    """When it was said, in seconds since the epoch."""
    ended: float | None = None
    """When it was forgotten or replaced; None while it is valid."""
    replaced_by: str | None = None
    """The id of its replacement; deleting that for good deletes this fact too."""
    id: str = field(default_factory=new_id)
    search_keys: Features | None = field(default=None, compare=False, repr=False)
    """The search keys of the words, computed on first use; not stored."""

    @property
    def author(self) -> str | None:
        """Return the user who worded it, None if unknown, or an empty text for an automation."""
        return "" if self.via is Via.AUTOMATION else self.said_by or self.user_id

    def holds(self, moment: float) -> bool:
        """Return whether it is valid at a time."""
        return self.ended is None and (self.until is None or self.until > moment)

    @property
    def of_whom(self) -> str | None:
        """Return the user whose limit it counts for; None for automations and guests."""
        return self.user_id or self.said_by

    def is_over(self, moment: float) -> bool:
        """Return whether it has been past for longer than it is kept."""
        past = min(filter(None, (self.ended, self.until)), default=None)
        return past is not None and moment - past > PAST_DAYS * 86400

    def stored(self) -> dict[str, Any]:
        """Return the stored form."""
        return {name: getattr(self, name) for name in _NAMES}


_NAMES = tuple(one.name for one in fields(Fact) if one.name != "search_keys")


def read_search_keys(facts: Collection[Fact]) -> list[Features]:
    """Return the search keys of facts and cache them; runs off the event loop."""
    for fact in facts:
        fact.search_keys = fact.search_keys or features(fact.words)
    return [fact.search_keys for fact in facts if fact.search_keys is not None]


def one_line(words: str) -> str:
    """Return words as one line, so that no part of them can look like another part of a prompt."""
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
    """Return the facts of stored data; raises vol.Invalid."""
    return [] if stored is None else [_read(valid) for valid in _STORED(stored)["facts"]]


def read_row(row: Any) -> Fact:
    """Return the fact of one stored row; raises vol.Invalid."""
    return _read(_FACT(row))


@dataclass(frozen=True)
class Gone:
    """Facts that are deleted for good."""

    wanted: Callable[[Fact], bool]
    """Returns true for a fact that must be removed."""
    words: Collection[str] = ()
    """The words of the removed facts."""
    names: Collection[str] = ()
    """The ids of the user and their person entity, if all their facts are deleted."""

    def has_row(self, row: Any) -> bool:
        """Return whether a row of a copy must be removed.

        An invalid row is removed if it holds any of the words or ids.
        """
        try:
            fact = read_row(row)
        except vol.Invalid:
            return self.is_in(json.dumps(row, ensure_ascii=False))
        return fact.words in self.words or self.wanted(fact)

    def is_in(self, text: str) -> bool:
        """Return whether a text holds any of the words or ids as a JSON value."""
        return any(json.dumps(one, ensure_ascii=False) in text for one in (*self.words, *self.names))


def _read(valid: Mapping[str, Any]) -> Fact:
    return Fact(**{key: value for key, value in valid.items() if key in _NAMES})
