"""A checked change of an automation, script or scene, and its description for the question."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from homeassistant.core import callback
from homeassistant.util.json import JsonObjectType

from ..automations.check import CheckedAutomation
from ..automations.config_file import ConfigFile, UsedBlueprint
from ..automations.describe_scripts import parts_of, shown
from ..automations.edit import Edit
from ..automations.loading import AUTOMATIONS
from ..calls.call import ToolCall
from ..calls.plan import Step
from ..confirmation.consequential import is_consequential

_WHO = {
    "automation": "turn it on and off, and set it off",
    "script": "run it",
    "scene": "turn it on",
}
_EXPOSED = (
    "It will be exposed to Assist: everyone who may talk to Assist, speakers included, can then {}. If they are not to, say "
    "that it is not to be exposed."
)
_NOT_EXPOSED = "It will not be exposed to Assist: nobody can {} by talking, and it cannot be changed from here."
_ASKS = (
    "It does what you are asked about elsewhere: {}. Extended Assist asks before it does that, but Assist's own sentences, "
    "dashboards and other automations do not."
)
_LOADED = "It is loaded, and exposed to you so that you can change it later."
_LOADED_UNSEEN = (
    "It is loaded, and not exposed to Assist, so that only the user can run or change it, in Home Assistant."
)
_NEXT = {
    "script": "From the next conversation on it is a tool of its own; until then run it with perform_action "
    "(script.turn_on) or execute_script.",
    "scene": "Turn it on with perform_action (scene.turn_on).",
}


@dataclass(slots=True)
class PlannedChange:
    """A checked change."""

    automation_id: str
    title: str
    """A short title."""
    account: str
    """A full description."""
    difference: str
    make: Callable[[str], Edit]
    whole: Mapping[str, Any]
    """The resulting or removed configuration."""
    notes: list[str] = field(default_factory=list)
    file: ConfigFile = AUTOMATIONS
    asks: list[str] = field(default_factory=list)
    """Sentences for the question only."""
    told: Mapping[str, Any] | None = None
    """The configuration without secrets, if it may have some."""
    blueprint: UsedBlueprint | None = None
    """The blueprint at the time of the check."""
    rehearsed: CheckedAutomation | None = None
    """The automation to simulate for the question."""
    entity_id: str = ""
    """The entity of an existing automation."""
    is_removal: bool = False
    is_broken: bool = False
    """Whether Home Assistant could not load it before, so that it need not load afterwards."""

    def step(self, call: ToolCall, action: str) -> Step:
        """Return the step to ask about before an action makes the change."""
        notes = [*self.asks, *self.notes]
        known = frozenset[str]() if self.is_removal else call.options.targetless_actions
        parts = parts_of(
            call, self.file.domain, self.whole, notes, told=self.told, runs=not self.is_removal, known=known
        )
        words = "\n".join([self.account, *notes])
        return Step(action, (), {}, words, title=self.title, parts=parts, shown=shown(self.difference))


def exposing(kind: str, *, expose: bool) -> str:
    """Return a sentence on what will be exposed and what that means."""
    return (_EXPOSED if expose else _NOT_EXPOSED).format(_WHO[kind])


def loaded(kind: str, *, expose: bool) -> list[str]:
    """Return remarks on the added part for the model."""
    return [_LOADED if expose else _LOADED_UNSEEN, *([_NEXT[kind]] if expose and kind in _NEXT else [])]


@callback
def asking(call: ToolCall, steps: Iterable[Step]) -> list[str]:
    """Return the sentences on steps of which some are consequential."""
    later = (("maybe", ""),)  # What the entities are now says nothing of then.
    told = [step.words for step in steps if is_consequential(call.hass, replace(step, frame=later))]
    return [_ASKS.format("; ".join(dict.fromkeys(told)))] if told else []


def noted(notes: list[str]) -> JsonObjectType:
    """Return notes, if there are any."""
    return {"notes": list(notes)} if notes else {}
