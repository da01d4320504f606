"""Telling of changes that were cut off: the user under Repairs, and the model with the next answer."""

from dataclasses import dataclass
from enum import StrEnum

from homeassistant.core import HomeAssistant, callback

from ..calls.background_calls import tell_later
from ..calls.journal import Change
from ..exposure.entities import Exposure
from ..repair_issues.entries import CHANGE_COMPLETED, CHANGE_NOT_MADE, CHANGE_UNCLEAR, async_raise_change_issue
from ..results import format_time
from .config_file import ConfigFile


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
