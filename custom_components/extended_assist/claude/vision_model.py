"""Which model looks for a watch: that of an agent of ours, where it can see, or else the AI Task of the options."""

from typing import Any

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback

from ..calls.call import ToolCall
from ..cameras.description import async_glance_by_task
from ..cameras.snapshot import TakenPicture
from ..const import SUBENTRY_CONVERSATION
from ..results import ToolError
from ..scheduled.camera_check import Eyes
from .errors import TurnError
from .image_question import async_glance, sees, thought_tokens
from .token_limit import is_used_up
from .usage import async_get_meters

NO_EYES = (
    "The model of this agent cannot see pictures. Tell the user that an administrator can choose an AI Task that looks, under "
    "Configure in Extended Assist's settings."
)


async def async_find_eyes(call: ToolCall, agent: str | None) -> Eyes | None:
    """Return a function that asks the model of an agent, or else the AI Task; None where neither can look.

    Raises ToolError where the agent has used all tokens of this month.
    """

    async def ask_task(taken: list[TakenPicture], see: str) -> bool:
        return await async_glance_by_task(call, taken, see)

    if (found := _eyes(call.hass, call.options.entry_id, agent)) is None:
        if not call.options.look_task and _lists_nothing(call.hass, call.options.entry_id):
            raise ToolError("The server does not tell now what its models can do.")
        return ask_task if call.options.look_task else None
    entry, eyes = found
    meter = (await async_get_meters(call.hass)).of(eyes.subentry_id)
    if is_used_up(eyes, meter):
        raise ToolError("The agent has used all tokens of this month.")

    async def ask_model(taken: list[TakenPicture], see: str) -> bool:
        try:
            return await async_glance(entry, eyes, meter, [(one.entity.name, one.picture) for one in taken], see)
        except TurnError as err:
            raise ToolError(f"The model did not answer: {err.key}") from err

    return ask_model


@callback
def check_eyes(call: ToolCall) -> None:
    """Raise ToolError where there is no model that could look."""
    if call.options.look_task is None and _eyes(call.hass, call.options.entry_id, call.agent) is None:
        raise ToolError(NO_EYES)


@callback
def thought_of_look(call: ToolCall) -> int:
    """Return the tokens of one look that the model may think beside its answer, as far as that is known."""
    found = _eyes(call.hass, call.options.entry_id, call.agent)
    return thought_tokens(*found) if found else 0


def _lists_nothing(hass: HomeAssistant, entry_id: str | None) -> bool:
    """Return whether the server of an entry lists no models, as one may that cannot be reached or has too much to do."""
    entry = hass.config_entries.async_get_entry(entry_id) if entry_id else None
    return entry is not None and hasattr(entry, "runtime_data") and not entry.runtime_data.models


def _eyes(
    hass: HomeAssistant, entry_id: str | None, agent: str | None
) -> tuple[ConfigEntry[Any], ConfigSubentry] | None:
    """Return an entry and the agent of it whose model looks: the given one, or else the first; None where it cannot see."""
    entry = hass.config_entries.async_get_entry(entry_id) if entry_id else None
    agents = [*entry.get_subentries_of_type(SUBENTRY_CONVERSATION)] if entry else []
    eyes = next((one for one in agents if one.subentry_id == agent), agents[0] if agents else None)
    return (entry, eyes) if entry and eyes and sees(entry, eyes) else None
