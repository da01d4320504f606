"""Plans: the resolved steps of a call, which are described, asked about and then run."""

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
"""The conditions of a line, outermost first: a kind such as a delay, and its value."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a step that has many, such as a step of an automation."""

    words: str
    acts: tuple[Step, ...] = ()
    """The steps that this part runs by itself."""
    says_when: bool = False
    """Whether the part says when, or whether, the parts after it run."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a plan."""

    action: str
    """The action, such as "lock.unlock"; our tool's own name for what only it does; empty if it cannot be determined.
    """
    entity_ids: tuple[str, ...] = ()
    """The entities; groups are not expanded."""
    data: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""
    """One complete line for a person, in English."""
    frame: Frame = ()
    title: str = ""
    """A short sentence for a step that has parts."""
    parts: tuple[Part, ...] = ()
    """The parts of the words, so that a long question can be split."""
    shown: str = ""
    """Text that is shown where the question can be read, such as changed lines."""

    @property
    def written(self) -> str:
        """Return the words on one line, with the shown text."""
        return "\n".join(filter(None, (one_line(self.words), self.shown_lines)))

    @property
    def shown_lines(self) -> str:
        """Return the lines of the shown text with their indentation."""
        return "\n".join(map(seen, self.shown.split("\n")))


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of a call before it runs."""

    steps: tuple[Step, ...]
    sentence: str
    """The plan in one English sentence, short enough to be spoken."""
    is_whole: bool = True
    """Whether the steps are complete; an incomplete plan counts as consequential."""

    bound_to: str = ""
    """What the plan concerns beside its steps, such as the id of the change that it undoes."""
    things: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """The identity of each entity when the plan was made, as `identity_of` returns it."""
    remark: Remark | None = field(default=None, compare=False)
    """Returns one more sentence for the question, in a language; the user does not agree to it."""
    has_free_text: bool = field(default=False, compare=False)
    """True if another user, whose words are untrusted for the user who is asked, wrote a part of the words."""

    @property
    def words(self) -> str:
        """Return the whole question: the sentence, then each step that the sentence does not name."""
        lines = [step.written for step in self.steps]
        sentence = one_line(self.sentence)
        if len(lines) == 1 and lines[0].startswith(sentence):
            return lines[0]
        return "\n".join([sentence, *(f"- {line}" for line in lines)])

    @property
    def size(self) -> int:
        """Return the number of entities in the steps."""
        return sum(len(step.entity_ids) for step in self.steps)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the steps and entities.

        It proves that the plan that runs is the one that was asked about.
        """
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
