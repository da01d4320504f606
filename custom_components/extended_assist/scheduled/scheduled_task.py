"""A task for later, as it is stored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any

import voluptuous as vol

from homeassistant.core import Context
from homeassistant.helpers import llm
from homeassistant.util import dt as dt_util, ulid as ulid_util

from ..calls.caller import Caller
from ..storage import NUMBER, TEXT_OR_NONE, shape

MAX_STANDING = 200
SEVERAL = ""
"""In place of an author: words of more than one, which are nobody's own."""
"""Tasks of a home that can stand at the same time, beside those for which each owner has room in any case."""
MAX_ENDED = 50
"""Tasks whose end is remembered, so that it can be told."""
MAX_WORDS = 500
"""Characters of what is said or asked: about half a minute of speech."""


class Hearer(StrEnum):
    """Who is told."""

    HERE = "here"
    """Whoever is at the device that asked, or the one who asked where that was none."""
    PERSON = "person"
    AREA = "area"
    EVERYONE = "everyone"


@dataclass(slots=True)
class Owner:
    """Who made a task, from where, and under which entry's options."""

    entry_id: str
    platform: str
    assistant: str
    language: str | None
    device_id: str | None
    user_id: str | None
    """None where nobody was logged in, as at a speaker: the task is the household's."""
    conversation_id: str | None = None
    author: str | None = None
    """The user who wrote the words of what is the household's, where one is known; SEVERAL for more than one."""

    def caller(self) -> Caller:
        """Return the speaker, in the conversation in which it was asked for."""
        return Caller(self.llm_context(), conversation_id=self.conversation_id)

    def llm_context(self) -> llm.LLMContext:
        """Return the context of the speaker."""
        return llm.LLMContext(
            platform=self.platform,
            context=Context(user_id=self.user_id),
            language=self.language,
            assistant=self.assistant,
            device_id=self.device_id,
        )


class Sighting(StrEnum):
    """What a watch came to."""

    OPEN = "open"
    """Nothing so far."""
    UNSEEN = "unseen"
    """It was looked, and not seen."""
    SEEN = "seen"
    BLIND = "blind"
    """The cameras gave no pictures, or no model can look at them."""
    HIDDEN = "hidden"
    """None of the cameras may be looked at any more."""


@dataclass(slots=True)
class Watch:
    """Looks at cameras at an interval, for what is to be seen; the moments of looks stand fast, so that none has to be counted."""

    see: str
    """What is looked for, in words."""
    entity_ids: list[str]
    begins: float
    """The moment of the first look, in seconds since the epoch."""
    every: float
    """Seconds from one look to the next."""
    looks: int
    """How many there are."""
    agent: str | None = None
    """The agent whose model looks, by its subentry; None for the first one of the entry."""
    sighting: Sighting = Sighting.OPEN
    answered: int = 0
    """How many of the looks were answered; stored with whatever else is, so that looks spare the disk."""


@dataclass(slots=True)
class When:
    """When a task comes due: at a moment, by a rule, or when something happens; the first of these that comes."""

    moment: float | None = None
    """Seconds since the epoch."""
    rule: str | None = None
    """An RRULE of iCalendar (RFC 5545) without DTSTART, in local time."""
    start: str | None = None
    """The local date and time from which the rule counts, in ISO format without an offset."""
    triggers: list[dict[str, Any]] = field(default_factory=list)
    """Triggers as in an automation."""
    wait: float = 0.0
    """Seconds between such a trigger and what is to happen."""
    watch: Watch | None = None
    """What is looked for until the moment; once it is seen, that is the moment."""


@dataclass(slots=True)
class What:
    """What is to happen: any of these, in this order."""

    actions: list[dict[str, Any]] = field(default_factory=list)
    """Steps of a sequence. A step {action, entity_ids, data, targeted} was resolved when the user agreed to it."""
    say: str | None = None
    """The message."""
    ask: str | None = None
    """The question for the agent, whose answer is the message."""
    things: dict[str, str] = field(default_factory=dict)
    """The identity of each entity when the user agreed; empty if an earlier version stored the task."""
    wait: float = 0.0
    """Seconds between the end of the previous part and this one."""
    takes_back: bool = False
    """True if the part only turns off, closes or locks what earlier parts acted on; it runs even if it is late."""
    then: What | None = None
    """The part that follows after a delay and becomes a task when this one has ended."""

    @property
    def parts(self) -> Iterator[What]:
        """Yield this part and all that follow."""
        part: What | None = self
        while part is not None:
            yield part
            part = part.then


@dataclass(slots=True)
class Audience:
    """Who gets the message, and where."""

    hearer: Hearer = Hearer.HERE
    target: str | None = None
    """The id of the person's entity or of the area."""


@dataclass(slots=True)
class Until:
    """The end of a task: the first of these that is reached."""

    moment: float | None = None
    """Seconds since the epoch."""
    times: int | None = None
    """The number of occurrences; None for no limit."""
    done: bool = False
    """Whether the message is repeated until the user says that it is done."""


@dataclass(slots=True)
class Progress:
    """The progress of a task."""

    due: float | None = None
    """The next due time in seconds since the epoch; None while the task waits for a trigger."""
    begun: float | None = None
    """The due time of an occurrence that started and is not known to have ended."""
    last: float | None = None
    """The latest due time that was executed; it and earlier ones are never executed again."""
    again: float | None = None
    """The time of the next repetition of the message, by a snooze or until it is done."""
    times: int = 0
    """The number of occurrences so far."""
    said: int = 0
    """The number of deliveries of the message since the latest occurrence."""
    result: str | None = None
    """The latest result in words for the model."""
    untold: str | None = None
    """Undelivered words, which the owner gets with their next message."""
    words: str | None = None
    """The words of the latest outcome of actions; empty for none, None if unknown."""
    answers: dict[str, str] = field(default_factory=dict)
    """The random part of the buttons sent with it last, and the user to whose phones it was sent."""
    in_vain: bool = False
    """Whether a trigger entity is removed or hidden; the owner is notified once."""
    ended: float | None = None
    """The end time; None while the task is pending."""


def _new_id() -> str:
    """Return an id short enough for a model to repeat without mistakes."""
    return ulid_util.ulid_now()[-6:].lower()


@dataclass(slots=True)
class ScheduledTask:
    """A reminder, timer, alarm, delayed action, question or camera watch."""

    name: str
    """A short title in the words of its author."""
    owner: Owner
    when: When
    what: What
    audience: Audience = field(default_factory=Audience)
    until: Until = field(default_factory=Until)
    conditions: list[dict[str, Any]] = field(default_factory=list)
    """Conditions as in an automation that must hold when the task is due."""
    agreed: bool = False
    """Whether the user agreed to its consequential actions."""
    agreed_to: list[str] | None = None
    """Its consequential actions, each with the entity, when it was made; None if the agreement covers any."""
    progress: Progress = field(default_factory=Progress)
    created: float = field(default_factory=lambda: dt_util.utcnow().timestamp())
    """Seconds since the epoch."""
    id: str = field(default_factory=_new_id)
    after: str | None = None
    """The id of the task of which it is a later part."""

    @property
    def is_standing(self) -> bool:
        """Return whether the task is pending."""
        return self.progress.ended is None

    @property
    def is_household(self) -> bool:
        """Return whether it belongs to the household rather than to a user."""
        return self.owner.user_id is None

    @property
    def author(self) -> str | None:
        """Return the user who wrote its words: SEVERAL for more than one, None if nobody was logged in."""
        return self.owner.user_id if self.owner.author is None else self.owner.author

    @property
    def next_moment(self) -> float | None:
        """Return the time of the next event of the task, or None if it is unknown."""
        return min(filter(None, (self.progress.due, self.progress.again)), default=None)

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored: apart from what is changed in its place, it shares what it holds."""
        return _named(self)


def _named(part: Any) -> dict[str, Any]:
    """Return the values of a part by their names; unlike `asdict`, at once, though there are hundreds."""
    values = {name: getattr(part, name) for name in part.__slots__}
    return {name: _named(value) if isinstance(value, _NESTED) else value for name, value in values.items()}


_NESTED = (Owner, When, Watch, What, Audience, Until, Progress)


_NUMBER_OR_NONE = vol.Any(None, NUMBER)
_LAST = 253_402_300_799
"""The last second that a date can have."""
_OWNER = shape(
    {
        "entry_id": str,
        "platform": str,
        "assistant": str,
        **dict.fromkeys(("language", "device_id", "user_id"), TEXT_OR_NONE),
    },
    dict.fromkeys(("conversation_id", "author"), TEXT_OR_NONE),
)
_WATCH = shape(
    {
        "see": str,
        "entity_ids": [str],
        "begins": vol.All(NUMBER, vol.Range(min=0, max=_LAST)),
        "every": vol.All(NUMBER, vol.Range(min=1, max=_LAST)),
        "looks": int,
    },
    {"agent": TEXT_OR_NONE, "sighting": vol.Coerce(Sighting), "answered": int},
)
_WHEN = shape(
    {},
    {
        "moment": _NUMBER_OR_NONE,
        "rule": TEXT_OR_NONE,
        "start": TEXT_OR_NONE,
        "triggers": [dict],
        "wait": NUMBER,
        "watch": vol.Any(None, vol.All(_WATCH, lambda valid: Watch(**valid))),
    },
)


def _what(value: Any) -> What:
    """Return a part that is stored within another one."""
    return What(**_WHAT(value))


_WHAT = shape(
    {},
    {
        "actions": [dict],
        **dict.fromkeys(("say", "ask"), TEXT_OR_NONE),
        "things": {str: str},
        "wait": NUMBER,
        "takes_back": bool,
        "then": vol.Any(None, _what),
    },
)
_AUDIENCE = shape({}, {"hearer": vol.Coerce(Hearer), "target": TEXT_OR_NONE})
_UNTIL = shape({}, {"moment": _NUMBER_OR_NONE, "times": vol.Any(None, int), "done": bool})
_PROGRESS = shape(
    {},
    {
        **dict.fromkeys(("due", "begun", "last", "again", "ended"), _NUMBER_OR_NONE),
        **dict.fromkeys(("result", "untold", "words"), TEXT_OR_NONE),
        **dict.fromkeys(("times", "said"), int),
        "answers": {str: str},
        "in_vain": bool,
    },
)
_WISH = shape(
    {"name": str, "owner": _OWNER, "when": _WHEN, "what": _WHAT, "id": str},
    {
        "audience": _AUDIENCE,
        "until": _UNTIL,
        "conditions": [dict],
        "agreed": bool,
        "agreed_to": vol.Any(None, [str]),
        "progress": _PROGRESS,
        "created": NUMBER,
        "after": TEXT_OR_NONE,
    },
)
_STORED = shape({"wishes": [_WISH]})
_PARTS: Mapping[str, type] = {
    "owner": Owner,
    "when": When,
    "what": What,
    "audience": Audience,
    "until": Until,
    "progress": Progress,
}


def read_task(valid: Mapping[str, Any]) -> ScheduledTask:
    """Return a task from what was stored and is valid."""
    known = {one.name for one in fields(ScheduledTask)}
    return ScheduledTask(
        **{key: _PARTS[key](**value) if key in _PARTS else value for key, value in valid.items() if key in known}
    )


def read_stored(stored: Any) -> list[ScheduledTask]:
    """Return the tasks in what was stored; raises vol.Invalid for anything else."""
    return [] if stored is None else [read_task(valid) for valid in _STORED(stored)["wishes"]]


def change_with_restore(task: ScheduledTask, change: Callable[[], None]) -> Callable[[], None]:
    """Change a task; return the function that reverts the change, except for values that were changed again since."""
    parts = [part for part in (task, task.owner, task.when, task.progress, task.when.watch) if part is not None]
    before = [*map(_values, parts)]
    change()
    after = [*map(_values, parts)]

    def restore() -> None:
        for part, old, new in zip(parts, before, after, strict=True):
            for name, value in old.items():
                if value != new[name] and getattr(part, name) == new[name]:
                    setattr(part, name, value)

    return restore


def _values(part: Any) -> dict[str, Any]:
    """Return the values of a part by their names, without its own parts."""
    values = {name: getattr(part, name) for name in part.__slots__}
    return {name: value for name, value in values.items() if not is_dataclass(value)}
