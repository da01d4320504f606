"""A write-ahead log of changes to automation files, and the notice about changes that a restart interrupted."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
import json
from pathlib import Path
from time import time
from typing import Any

import voluptuous as vol

from homeassistant.core import HomeAssistant, callback

from ..calls.background_calls import tell_later
from ..calls.journal import CHANGE, Change, stored
from ..exposure.entities import Exposure
from ..repair_issues.entries import CHANGE_COMPLETED, CHANGE_NOT_MADE, CHANGE_UNCLEAR, async_raise_change_issue
from ..results import format_time
from ..storage import TEXT_OR_NONE, shape
from .config_file import ConfigFile
from .file import make_folder, remove_synced, write_synced

SETTINGS = "settings"
"""Among the details of a change: what the user had set of what was removed."""


class UnreadableError(Exception):
    """What is stored cannot be read; it was set aside."""


@dataclass(slots=True, kw_only=True)
class Intent:
    """A change that is about to be made, or whose traces in Home Assistant's own stores may not be on the disk yet."""

    change: Change
    before: str
    """The digest of the text of the file before it."""
    expose: bool | None = None
    """Whether what comes of it is exposed to the assistant that made it, or is not; None leaves that as it is."""
    undoes: str | None = None
    """The change in the journal that it takes back; such a change is not recorded itself."""
    may_be_off: bool = False
    may_be_broken: bool = False
    """Whether it stays when Home Assistant cannot load it."""
    is_done: bool = False
    told: str | None = None
    """What the user was told of it because it had been cut off."""


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
        _set_aside(path)
        raise UnreadableError from err
    return intents


def write_intents(path: Path, intents: Iterable[Intent]) -> None:
    """Store these and no others."""
    found = [_stored(intent) for intent in intents]
    if not found:
        remove_synced(path)
        return
    make_folder(path.parent)
    write_synced(path, json.dumps({"intents": found}).encode(), path.with_name(f"{path.name}.new"))


def _stored(intent: Intent) -> dict[str, Any]:
    """Return an intent as it is stored."""
    return {name: getattr(intent, name) for name in Intent.__slots__} | {"change": stored(intent.change)}


def _set_aside(path: Path) -> None:
    """Keep what cannot be read, for whoever wants to look, out of the way."""
    try:
        path.rename(path.with_name(f"{path.name}.unreadable.{time():.0f}"))
    except OSError:
        return


class ChangeOutcome(StrEnum):
    """What became of a change that was cut off, by the key of the notice that tells of it."""

    COMPLETED = CHANGE_COMPLETED
    NOT_MADE = CHANGE_NOT_MADE
    UNCLEAR = CHANGE_UNCLEAR


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a change."""

    outcome: ChangeOutcome
    entity_id: str = ""
    problem: str | None = None


_TOLD = {
    ChangeOutcome.COMPLETED: "was finished afterwards{}; it can be undone. Do not do it again.",
    ChangeOutcome.NOT_MADE: "was not done{}: everything is as it was before.",
    ChangeOutcome.UNCLEAR: "was neither finished nor taken back{}. Look at what there is before anything else is done about it.",
}


@callback
def tell_cut_off(hass: HomeAssistant, file: ConfigFile, change: Change, settled: Settled) -> None:
    """Tell what became of a change that was cut off."""
    name = settled.entity_id or change.details["id"]
    async_raise_change_issue(hass, settled.outcome, change.id, {"name": name, "file": file.name})

    def told(exposure: Exposure) -> str:
        which = f" ({settled.entity_id})" if exposure.is_exposed(settled.entity_id) else ""
        about = f"{change.what}{which}, begun at {format_time(change.time)}, was cut off and "
        return about + _TOLD[settled.outcome].format(f" ({settled.problem})" if settled.problem else "")

    tell_later(hass, change, told)


@callback
def tell_unreadable(hass: HomeAssistant, file: ConfigFile) -> None:
    """Tell that something was cut off of which nothing is known any more."""
    async_raise_change_issue(hass, CHANGE_UNCLEAR, file.domain, {"name": "?", "file": file.name})
