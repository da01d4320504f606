"""The write-ahead log of changes to the YAML files, and the notices about changes that were interrupted."""

from collections.abc import Iterable
import contextlib
from dataclasses import dataclass
from enum import StrEnum
import json
from pathlib import Path
from time import time

import voluptuous as vol

from homeassistant.core import HomeAssistant, callback

from ..calls.background_calls import tell_later
from ..calls.journal import CHANGE, Change, stored
from ..exposure.entities import Exposure
from ..repair_issues.entries import CHANGE_COMPLETED, CHANGE_NOT_MADE, CHANGE_UNCLEAR, async_raise_change_issue
from ..results import format_time
from ..storage import TEXT_OR_NONE, shape
from .file import make_folder, remove_synced, write_synced
from .loading import ConfigFile

SETTINGS = "settings"
"""Key in the details of a change: the settings that a removed item had in the entity registry."""


class UnreadableError(Exception):
    """The log cannot be read; it was renamed."""


@dataclass(slots=True, kw_only=True)
class Intent:
    """A change that is about to be made, or whose effects Home Assistant may not have stored on the disk yet."""

    change: Change
    before: str
    """The digest of the text of the file before the change; empty until the change is prepared."""
    expose: bool | None = None
    """Whether to expose the item to the assistant that makes the change; None leaves its exposure unchanged."""
    undoes: str | None = None
    """The id of the change in the journal that it undoes; an undo is not recorded itself."""
    may_be_off: bool = False
    may_be_broken: bool = False
    """Whether the change stays when Home Assistant cannot load the item."""
    is_done: bool = False
    told: str | None = None
    """The outcome that the user was notified of, because the change had been interrupted."""


_INTENT = shape(
    {"change": CHANGE, "before": str},
    {
        "expose": vol.Any(bool, None),
        **dict.fromkeys(("may_be_off", "may_be_broken", "is_done"), bool),
        **dict.fromkeys(("undoes", "told"), TEXT_OR_NONE),
    },
)
_DETAILS = shape(
    {"id": str, "copy": str, "digest": str, **dict.fromkeys(("before", "after", "previous"), TEXT_OR_NONE)}
)
_STORED = shape({"intents": [_INTENT]})


def read_intents(path: Path) -> list[Intent]:
    """Return the stored intents, none if there is no file; raises UnreadableError."""
    try:
        found = _STORED(json.loads(path.read_bytes()))["intents"]
        intents = [Intent(**{**one, "change": Change(**one["change"])}) for one in found]
        for intent in intents:
            _DETAILS(intent.change.details)
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError, vol.Invalid) as err:
        with contextlib.suppress(OSError):  # Rename it, so that somebody can look at it.
            path.rename(path.with_name(f"{path.name}.unreadable.{time():.0f}"))
        raise UnreadableError from err
    return intents


def write_intents(path: Path, intents: Iterable[Intent]) -> None:
    """Replace the log by one of these intents; without any, remove the log."""
    found = [
        {name: getattr(intent, name) for name in Intent.__slots__} | {"change": stored(intent.change)}
        for intent in intents
    ]
    if not found:
        remove_synced(path)
        return
    make_folder(path.parent)
    write_synced(path, json.dumps({"intents": found}).encode(), path.with_name(f"{path.name}.new"))


class ChangeOutcome(StrEnum):
    """The outcome of a change; each value is the translation key of the notice about an interrupted change."""

    COMPLETED = CHANGE_COMPLETED
    NOT_MADE = CHANGE_NOT_MADE
    UNCLEAR = CHANGE_UNCLEAR


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of a change, with the entity of its item and its problem."""

    outcome: ChangeOutcome
    entity_id: str = ""
    problem: str | None = None


_TOLD = {
    ChangeOutcome.COMPLETED: "was finished afterwards{}; it can be undone. Do not do it again.",
    ChangeOutcome.NOT_MADE: "was not done{}: everything is as it was before.",
    ChangeOutcome.UNCLEAR: "was neither finished nor taken back{}. Look at what there is before anything else is done about it.",
}


@callback
def notify_interrupted(hass: HomeAssistant, file: ConfigFile, change: Change, settled: Settled) -> None:
    """Notify the user of the outcome of an interrupted change: as a repair issue, and with the next answer."""
    name = settled.entity_id or change.details["id"]
    async_raise_change_issue(hass, settled.outcome, change.id, {"name": name, "file": file.name})

    def told(exposure: Exposure) -> str:
        which = f" ({settled.entity_id})" if exposure.is_exposed(settled.entity_id) else ""
        about = f"{change.what}{which}, begun at {format_time(change.time)}, was cut off and "
        return about + _TOLD[settled.outcome].format(f" ({settled.problem})" if settled.problem else "")

    tell_later(hass, change, told)


@callback
def notify_unreadable(hass: HomeAssistant, file: ConfigFile) -> None:
    """Notify the user that changes may have been interrupted, which the unreadable log would name."""
    async_raise_change_issue(hass, CHANGE_UNCLEAR, file.domain, {"name": "?", "file": file.name})
