"""The plan of a call: the resolved steps that are described, confirmed and then run."""

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
"""The texts around a line, outermost first: each a key in words.json and its value, such as a time."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a step that has many, such as a step of an automation."""

    words: str
    acts: tuple[Step, ...] = ()
    """The actions of this part alone."""
    says_when: bool = False
    """True if it says when or whether the following parts run."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a plan."""

    action: str
    """The action, such as "lock.unlock"; the tool's name for effects that only our tool has; empty if unknown."""
    entity_ids: tuple[str, ...] = ()
    """The entities, including groups that the action moves."""
    data: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    """One complete line for a person, in English."""
    frame: Frame = ()
    title: str = ""
    """A short title for a step with parts."""
    parts: tuple[Part, ...] = ()
    """The parts of its words, so that a question can ask about them in portions."""
    shown: str = ""
    """Further lines for a written question, such as a diff."""

    @property
    def written(self) -> str:
        """Return its words on one line, followed by the shown lines."""
        return "\n".join(filter(None, (one_line(self.words), self.shown_lines)))

    @property
    def shown_lines(self) -> str:
        """Return the shown lines without invisible characters, with their indentation."""
        return "\n".join(map(seen, self.shown.split("\n")))


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a call."""

    steps: tuple[Step, ...]
    sentence: str
    """The plan in one sentence, in English, short enough to be spoken."""
    is_whole: bool = True
    """True if the steps are complete; otherwise further unknown effects may count as consequential."""

    bound_to: str = ""
    """A further object of the plan, such as the change that is undone."""
    things: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The identity of each entity when it was planned, as `identity_of` returns it."""
    remark: Remark | None = field(default=None, compare=False)
    """Returns one more sentence for a question, in a language; it is no part of the plan that the user confirms."""
    has_free_text: bool = field(default=False, compare=False)
    """True if a part of its words comes from somebody whose words are untrusted for the user who is asked."""

    @property
    def words(self) -> str:
        """Return the whole description: the sentence, then each step that the sentence does not cover."""
        lines = [step.written for step in self.steps]
        sentence = one_line(self.sentence)
        if len(lines) == 1 and lines[0].startswith(sentence):
            return lines[0]
        return "\n".join([sentence, *(f"- {line}" for line in lines)])

    @property
    def size(self) -> int:
        """Return the number of entities in its steps."""
        return sum(len(step.entity_ids) for step in self.steps)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the steps and their objects, so that only the confirmed plan can run."""
        steps = [[step.action, step.entity_ids, step.data, step.written] for step in self.steps]
        return hashlib.sha256(
            json.dumps([self.bound_to, self.is_whole, self.things, steps], sort_keys=True, default=str).encode()
        ).hexdigest()


@callback
def identity_of(hass: HomeAssistant, entity_id: str) -> str:
    """Return an entity's registry id, integration and unique id; an empty text if the registry does not have it.

    Two entities without a unique id that use the same entity id one after the other cannot be told apart.
    """
    entry = er.async_get(hass).async_get(entity_id)
    return f"{entry.id} {entry.platform} {entry.unique_id}" if entry else ""
