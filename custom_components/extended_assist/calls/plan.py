"""What a call would do, resolved: what is told, asked about, and then done."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
import hashlib
import json
from typing import Any

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er

from .visible_text import one_line, seen

type Remark = Callable[[str | None], Awaitable[str]]
type Frame = tuple[tuple[str, str], ...]
"""What a line is framed with, outermost first: which words, and their value, such as when it would be done."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a step that has many, such as a step of an automation."""

    words: str
    acts: tuple[Step, ...] = ()
    """What it would do by itself."""
    says_when: bool = False
    """Whether it says when those after it are done, or whether they are."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that would be done."""

    action: str
    """The action, such as "lock.unlock"; what only a tool of ours does is named after it; empty where it cannot be known."""
    entity_ids: tuple[str, ...] = ()
    """The entities, groups included as they are moved."""
    data: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    """One complete line for a person, in English."""
    frame: Frame = ()
    title: str = ""
    """What it is in one short sentence, where it has parts."""
    parts: tuple[Part, ...] = ()
    """What its words say, one by one, so that they can be told in portions."""
    shown: str = ""
    """What is shown with its words where they can be read, such as the lines that change."""

    @property
    def written(self) -> str:
        """Return its words on one line, with what is shown."""
        return "\n".join(filter(None, (one_line(self.words), self.shown_lines)))

    @property
    def shown_lines(self) -> str:
        """Return the lines that are shown, each as far indented as it is."""
        return "\n".join(map(seen, self.shown.split("\n")))


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a call would do."""

    steps: tuple[Step, ...]
    sentence: str
    """What it would do in one sentence, in English, short enough to be heard."""
    is_whole: bool = True
    """Whether the steps are all there is; what cannot be read counts as consequential."""

    bound_to: str = ""
    """What else it is about, beside its steps, such as the very change that is undone."""
    things: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The identity of each entity when it was planned, as `identity.py` reads it."""
    remark: Remark | None = field(default=None, compare=False)
    """Returns one more sentence for a question, in a language; it is no part of what is agreed to."""
    has_free_text: bool = field(default=False, compare=False)
    """True if its words are in part those of somebody who is text from outside for the user who is asked."""

    @property
    def words(self) -> str:
        """Return all that is to be told: one sentence first, then each step that it does not say itself."""
        lines = [step.written for step in self.steps]
        sentence = one_line(self.sentence)
        if len(lines) == 1 and lines[0].startswith(sentence):
            return lines[0]
        return "\n".join([sentence, *(f"- {line}" for line in lines)])

    @property
    def size(self) -> int:
        """Return how many entities its steps name."""
        return sum(len(step.entity_ids) for step in self.steps)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the steps and of the things that they are about: what was told is what is done."""
        steps = [[step.action, step.entity_ids, step.data, step.written] for step in self.steps]
        return hashlib.sha256(
            json.dumps([self.bound_to, self.is_whole, self.things, steps], sort_keys=True, default=str).encode()
        ).hexdigest()


@callback
def identity_of(hass: HomeAssistant, entity_id: str) -> str:
    """Return the registry id, integration and unique id of an entity; an empty text for one that the registry does not have.

    Home Assistant knows nothing by which two entities without a unique id differ that have the same id one after the other.
    """
    entry = er.async_get(hass).async_get(entity_id)
    return f"{entry.id} {entry.platform} {entry.unique_id}" if entry else ""
