"""Recent changes for the same user at the same device, sent with the first message, so that "a bit warmer" is understood.

They come from the journal, which only has verified changes.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from homeassistant.components.conversation import UserContent
from homeassistant.core import HomeAssistant, callback

from ..calls.caller import Caller
from ..calls.journal import ASPECTS, STATES, Change, Journal
from ..confirmation.untrusted_text import repeats_free_name
from ..exposure.entities import Exposure
from ..exposure.fixed_values import has_free_text, is_fixed_name
from ..results import format_minute

MAX_RECAP_HOURS: Final = 24
_MAX_CHANGES: Final = 6
_MAX_ENTITIES: Final = 4
"""The most entities of one change."""
_MAX_WORDS: Final = 700
"""The most characters of all changes."""
_MAX_VALUE: Final = 30
_TOLD: Final = (
    "(Before this conversation, for the same user here, and only for you to understand what they mean: {done}.)"
)


@callback
def recap(hass: HomeAssistant, journal: Journal, caller: Caller, hours: float, now: float) -> str | None:
    """Return the changes of the last hours, newest last; None if there are none or they were sent before.

    If neither the user nor the device is known, there are none.
    """
    if not hours or caller.chat_log is None or (caller.user_id is None and caller.device_id is None):
        return None
    if sum(isinstance(content, UserContent) for content in caller.chat_log.content) != 1:
        return None
    exposure, told = Exposure(hass, caller.assistant), list[str]()
    for change in reversed(journal.changes):
        if now - change.time > hours * 3600 or len(told) == _MAX_CHANGES:
            break
        if _is_of(change, caller) and (words := _words(hass, exposure, change)):
            if sum(map(len, told)) + len(words) > _MAX_WORDS:
                break
            told.insert(0, words)
    return _TOLD.format(done="; ".join(told)) if told else None


def _is_of(change: Change, caller: Caller) -> bool:
    """Return whether a change was made for the caller, at the same device, in another conversation."""
    return (
        (change.assistant, change.user_id, change.device_id) == (caller.assistant, caller.user_id, caller.device_id)
        and change.conversation_id is not None
        and change.conversation_id != caller.conversation_id
    )


def _words(hass: HomeAssistant, exposure: Exposure, change: Change) -> str:
    """Return a change in words, without entities that are hidden now."""
    what = exposure.visible_value(change.what)
    if what is None:
        return ""
    undone = ", undone since" if change.undone else ""
    if change.kind not in (STATES, ASPECTS):
        return "" if repeats_free_name(hass, what) else f"{format_minute(change.time)} {what}{undone}"
    kept: Mapping[str, Any] = change.details.get(STATES, {})
    entities = [
        (entity, one)
        for entity_id, one in kept.items()
        if (entity := exposure.entity(entity_id)) and is_fixed_name(hass, entity.state)
    ]
    if not entities:
        return ""
    parts = [f"{entity.name} ({entity.entity_id}){_values(one)}" for entity, one in entities[:_MAX_ENTITIES]]
    more = f" and {len(entities) - _MAX_ENTITIES} more" if len(entities) > _MAX_ENTITIES else ""
    return f"{format_minute(change.time)} {what}: {', '.join(parts)}{more}{undone}"


def _values(kept: Mapping[str, Any]) -> str:
    told = list(_changed(kept))
    return f" {', '.join(told)}" if told else ""


def _changed(kept: Mapping[str, Any]) -> Iterator[str]:
    for aspect in kept.get("aspects", {}).values():
        before, after = aspect.get("before") or {}, aspect.get("after") or {}
        for name, value in after.items():
            old = before.get(name)
            if value != old and _is_plain(value) and (old is None or _is_plain(old)):
                yield f"{name} {value}" if old is None else f"{name} {old} → {value}"


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number or a word from a closed set."""
    if isinstance(value, bool | int | float):
        return True
    return isinstance(value, str) and 0 < len(value) <= _MAX_VALUE and not has_free_text(value)
