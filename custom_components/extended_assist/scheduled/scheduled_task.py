"""The scheduled task: its data classes, their stored form and its validator."""

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
"""The most pending tasks of all owners together, apart from the few that each owner may always have."""
SEVERAL = ""
"""The author of a task whose words come from more than one user."""
MAX_ENDED = 50
"""The number of ended tasks that stay stored, so that their results can be reported."""
MAX_WORDS = 500
"""The longest message or question, in characters: about half a minute of speech."""


class Hearer(StrEnum):
    """The audience of a message."""

    HERE = "here"
    """People at the device from which the task was made; the user who made it, if there was no device."""
    PERSON = "person"
    AREA = "area"
    EVERYONE = "everyone"


@dataclass(slots=True)
class Owner:
    """The user who made a task, with the device and conversation, and the config entry whose options apply."""

    entry_id: str
    platform: str
    assistant: str
    language: str | None
    device_id: str | None
    user_id: str | None
    """None if nobody was logged in, as at a satellite: the task belongs to the household."""
    conversation_id: str | None = None
    author: str | None = None
    """The user who wrote the words of a household's task, if known; SEVERAL for more than one user."""

    def caller(self) -> Caller:
        """Return the caller who made the task, with its conversation."""
        return Caller(self.llm_context(), conversation_id=self.conversation_id)

    def llm_context(self) -> llm.LLMContext:
        """Return the LLM context of the owner."""
        return llm.LLMContext(
            platform=self.platform,
            context=Context(user_id=self.user_id),
            language=self.language,
            assistant=self.assistant,
            device_id=self.device_id,
        )


class Sighting(StrEnum):
    """The result of a camera watch."""

    OPEN = "open"
    """No check was answered yet."""
    UNSEEN = "unseen"
    """At least one check was answered, and the thing was not seen."""
    SEEN = "seen"
    BLIND = "blind"
    """The cameras gave no pictures, or no model can read pictures."""
    HIDDEN = "hidden"
    """The owner may no longer see any of the cameras."""


@dataclass(slots=True)
class Watch:
    """A camera check repeated at fixed times: `begins` and `every` give them, so past checks need not be counted."""

    see: str
    """The thing to look for, in words."""
    entity_ids: list[str]
    begins: float
    """The time of the first check, in seconds since the epoch."""
    every: float
    """Seconds from one check to the next."""
    looks: int
    """The number of checks."""
    agent: str | None = None
    """The subentry of the agent whose model looks at the pictures; None for the first agent of the entry."""
    sighting: Sighting = Sighting.OPEN
    answered: int = 0
    """The number of answered checks. A change of it alone is not saved at once, to spare the disk."""


@dataclass(slots=True)
class When:
    """The times at which a task is due: a fixed time, a recurrence rule or triggers, whichever comes first."""

    moment: float | None = None
    """Seconds since the epoch."""
    rule: str | None = None
    """An RRULE of iCalendar (RFC 5545) without DTSTART, in local time."""
    start: str | None = None
    """The local date and time from which the rule counts, in ISO format without an offset."""
    triggers: list[dict[str, Any]] = field(default_factory=list)
    """Triggers in the syntax of automations."""
    wait: float = 0.0
    """Seconds from a trigger until the task is due."""
    watch: Watch | None = None
    """A camera watch that runs until `moment`; a sighting sets `moment` to its time."""


@dataclass(slots=True)
class What:
    """The content of one part of a task: actions, a message and a question, in this order, each optional."""

    actions: list[dict[str, Any]] = field(default_factory=list)
    """Steps of a script sequence. A step {action, entity_ids, data, targeted} was resolved when the user agreed."""
    say: str | None = None
    """The message to say."""
    ask: str | None = None
    """The question to the assistant, whose answer is said."""
    things: dict[str, str] = field(default_factory=dict)
    """The identity of each target entity when the user agreed, by entity id; empty in tasks of an earlier version."""
    wait: float = 0.0
    """Seconds from the end of the previous part."""
    takes_back: bool = False
    """True if it only turns off, closes or locks targets of earlier parts: running late is better than never."""
    then: What | None = None
    """The part that follows after a delay; it becomes a separate task when this part is over."""

    @property
    def parts(self) -> Iterator[What]:
        """Yield this part and all that follow it."""
        part: What | None = self
        while part is not None:
            yield part
            part = part.then


@dataclass(slots=True)
class Audience:
    """The people or the area that a task's message is for."""

    hearer: Hearer = Hearer.HERE
    target: str | None = None
    """The entity id of the person, or the area id."""


@dataclass(slots=True)
class Until:
    """The conditions that end a task; the first one that is met counts."""

    moment: float | None = None
    """Seconds since the epoch."""
    times: int | None = None
    """The most occurrences; None for no limit."""
    done: bool = False
    """True if the message is repeated until somebody says that it is done."""


@dataclass(slots=True)
class Progress:
    """The progress of a task."""

    due: float | None = None
    """The next due time, in seconds since the epoch; None while the task waits for a trigger."""
    begun: float | None = None
    """The due time of the occurrence that was started and has not ended."""
    last: float | None = None
    """The due time of the last occurrence; this time and earlier ones do not come due again."""
    again: float | None = None
    """The time at which the message is repeated, because nobody said that it is done or because of a snooze."""
    times: int = 0
    """The number of occurrences so far."""
    said: int = 0
    """How often the message was said since the task was last due."""
    result: str | None = None
    """The result of the last occurrence, in words for the model."""
    untold: str | None = None
    """Undelivered messages, one per line; the owner gets them with the next conversation."""
    words: str | None = None
    """The message that reported the last outcome of the actions: empty if there was none, None if it is not known."""
    answers: dict[str, str] = field(default_factory=dict)
    """The random token of the buttons sent last, with the user to whose phones they were sent."""
    in_vain: bool = False
    """True if a trigger entity is gone or no longer exposed; the owner is notified once."""
    ended: float | None = None
    """The time of its end; None while it is pending."""


def _new_id() -> str:
    """Return an id short enough for a model to repeat without mistakes."""
    return ulid_util.ulid_now()[-6:].lower()


@dataclass(slots=True)
class ScheduledTask:
    """A reminder, timer, alarm, delayed action, question or camera watch."""

    name: str
    """The subject, in a few words of the user who made it."""
    owner: Owner
    when: When
    what: What
    audience: Audience = field(default_factory=Audience)
    until: Until = field(default_factory=Until)
    conditions: list[dict[str, Any]] = field(default_factory=list)
    """Conditions in the syntax of automations, which must hold when the task is due."""
    agreed: bool = False
    """True if the user agreed to its consequential actions."""
    agreed_to: list[str] | None = None
    """The consequential actions that the user agreed to, each with its entity; None if the agreement covers all."""
    progress: Progress = field(default_factory=Progress)
    created: float = field(default_factory=lambda: dt_util.utcnow().timestamp())
    """Seconds since the epoch."""
    id: str = field(default_factory=_new_id)
    after: str | None = None
    """The id of the first part, if this task is a later part."""

    @property
    def is_standing(self) -> bool:
        """Return whether the task is pending, which means that it has not ended."""
        return self.progress.ended is None

    @property
    def is_household(self) -> bool:
        """Return whether the task belongs to the household, not to a user."""
        return self.owner.user_id is None

    @property
    def author(self) -> str | None:
        """Return the user who wrote its words: SEVERAL for more than one, None if nobody was logged in."""
        return self.owner.user_id if self.owner.author is None else self.owner.author

    @property
    def next_moment(self) -> float | None:
        """Return the time of the next occurrence or repetition; None if it is not known."""
        return min(filter(None, (self.progress.due, self.progress.again)), default=None)

    def stored(self) -> dict[str, Any]:
        """Return the task as a dict for the store; lists and dicts of the task are shared, not copied."""
        return _named(self)


def _named(part: Any) -> dict[str, Any]:
    """Return a dataclass as a dict; faster than `asdict`, which copies every value, for hundreds of tasks."""
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
    """Return the task in a validated dict; unknown keys are ignored."""
    known = {one.name for one in fields(ScheduledTask)}
    return ScheduledTask(
        **{key: _PARTS[key](**value) if key in _PARTS else value for key, value in valid.items() if key in known}
    )


def read_stored(stored: Any) -> list[ScheduledTask]:
    """Validate stored data and return its tasks; raises vol.Invalid."""
    return [] if stored is None else [read_task(valid) for valid in _STORED(stored)["wishes"]]


def change_with_restore(task: ScheduledTask, change: Callable[[], None]) -> Callable[[], None]:
    """Change a task; return a function that reverts each changed value, except values that were changed again since."""
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
    """Return the values of a dataclass by name, without nested dataclasses."""
    values = {name: getattr(part, name) for name in part.__slots__}
    return {name: value for name, value in values.items() if not is_dataclass(value)}
