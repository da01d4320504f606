"""An action that is performed later, as it is stored."""

from dataclasses import dataclass, field
from typing import Any

from homeassistant.core import Context
from homeassistant.helpers import llm
from homeassistant.util import ulid as ulid_util

from ..exposure import Exposure
from ..storage import NUMBER, TEXT_OR_NONE, shape
from ..toolbox.caller import Caller
from ..toolbox.telling import describe


def _new_id() -> str:
    """Return an id short enough for a model to repeat without mistakes."""
    return ulid_util.ulid_now()[-6:].lower()


@dataclass(slots=True)
class ScheduledAction:
    """An action with concrete targets, when it is due, and for whom."""

    due: float
    """Seconds since the epoch."""
    action: str
    entity_ids: list[str]
    data: dict[str, Any]
    targeted: bool
    entry_id: str
    """The entry whose options allow it."""
    platform: str
    assistant: str
    language: str | None
    device_id: str | None
    user_id: str | None
    conversation_id: str | None = None
    id: str = field(default_factory=_new_id)

    def describe(self, exposure: Exposure) -> str:
        """Return what is to be done, in words."""
        return describe(exposure, self.action, self.entity_ids, exposure.visible_value(self.data))

    def is_visible(self, exposure: Exposure) -> bool:
        """Return whether it may be told of: something that it acts on is exposed, or it acts on nothing."""
        return not self.entity_ids or any(map(exposure.is_exposed, self.entity_ids))

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


@dataclass(slots=True)
class Outcome:
    """What became of a scheduled action."""

    scheduled: ScheduledAction
    result: str
    """What happened, in words, which may name entities that were exposed then."""


_SCHEDULED = shape(
    {
        "due": NUMBER,
        "action": str,
        "entity_ids": [str],
        "data": dict,
        "targeted": bool,
        "entry_id": str,
        "platform": str,
        "assistant": str,
        "id": str,
        **dict.fromkeys(("language", "device_id", "user_id"), TEXT_OR_NONE),
    },
    {"conversation_id": TEXT_OR_NONE},
)
_STORED = shape({"waiting": [_SCHEDULED], "outcomes": [shape({"scheduled": _SCHEDULED, "result": str})]})


def read_stored(stored: Any) -> tuple[list[ScheduledAction], list[Outcome]]:
    """Return what waits and what became of earlier actions, from what was stored."""
    if stored is None:
        return [], []
    valid = _STORED(stored)
    outcomes = [Outcome(ScheduledAction(**item["scheduled"]), item["result"]) for item in valid["outcomes"]]
    return [ScheduledAction(**item) for item in valid["waiting"]], outcomes
