"""The tool call of a due task: it uses the owner's identity with the current exposure, user and options."""

import asyncio
from collections.abc import Container, Mapping
from typing import Any, Final

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import ATTR_AREA_ID
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, llm

from ..automations.secret_values import exposed_places
from ..calls.call import ToolCall
from ..calls.caller import ASKED_LATER
from ..calls.change_recorder import Recording
from ..calls.options import WISHES, ToolboxOptions
from ..calls.policy import Tier, async_check_speaker
from ..const import CONF_FAMILIES, DOMAIN
from ..exposure.entities import Exposure
from ..results import ToolError
from .scheduled_task import Hearer, ScheduledTask

HIDDEN = "not_done_hidden"
"""The key of the message that something was not done because a part of it is not exposed."""


class NotDoneError(ToolError):
    """A due task was not done; `key` is the key of the message about it, empty for no message."""

    def __init__(self, reason: str, key: str = "not_done_failed") -> None:
        """Store the reason, in words for the model, and the key of the message."""
        super().__init__(reason)
        self.key = key


@callback
def check_standing(task: ScheduledTask) -> None:
    """Raise NotDoneError without a message if the task has ended."""
    if not task.is_standing:
        raise NotDoneError("it was ended meanwhile", "")


async def async_call(hass: HomeAssistant, task: ScheduledTask, performers: Container[str] = ()) -> ToolCall:
    """Return the tool call of a due task; raises ToolError if the task may not run any more.

    Performers, such as those of functions, check options and permissions themselves.
    """
    owner = task.owner
    entry = hass.config_entries.async_get_entry(owner.entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        raise ToolError("the assistant's entry is not loaded.")
    actions, families = task.what.actions, entry.options.get(CONF_FAMILIES)
    is_own = bool(actions) and all(step.get("action") in performers for step in actions)
    if not is_own and families is not None and (WISHES not in families or (actions and "actions" not in families)):
        raise ToolError("it was turned off in the options.")
    caller = owner.caller()
    user = await caller.async_user(hass)
    if owner.user_id is not None and (user is None or not user.is_active):
        raise ToolError("the user who wanted it is gone.")
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    tier = Tier.CONTROL if actions or task.what.ask else Tier.READ
    if not is_own:
        await async_check_speaker(hass, options.policy, tier, caller)
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, owner.assistant, options.external_statistics),
        caller=caller,
        options=options,
        tool_input=llm.ToolInput(f"{DOMAIN}__do_later", {}),
        tier=tier,
        recording=Recording("what was wanted for later", is_told=task.is_household),
    )


async def async_valid_call(hass: HomeAssistant, task: ScheduledTask, performers: Container[str] = ()) -> ToolCall:
    """Return the tool call of a due task; raises NotDoneError if it ended, may not run, or its audience is hidden."""
    check_standing(task)
    try:
        call = await async_call(hass, task, performers)
    except ToolError as err:
        raise NotDoneError(str(err)) from err
    target = task.audience.target or ""
    match task.audience.hearer:
        case Hearer.PERSON if not call.exposure.is_exposed(target):
            raise NotDoneError("the person for whom it is is not exposed any more.", HIDDEN)
        case Hearer.AREA if target not in exposed_places(hass, call.exposure)[ATTR_AREA_ID]:
            raise NotDoneError("nothing in the area where it is to be said is exposed any more.", HIDDEN)
    return call


ANSWER_TIME: Final = 120.0
"""The timeout for an answer of the assistant, in seconds."""

_NO_ANSWER: Final = "the assistant gave no answer."


async def async_answer(hass: HomeAssistant, task: ScheduledTask, question: str) -> str:
    """Ask the entry's own agent, or else the default agent, and return its answer; raises NotDoneError."""
    owner = task.owner
    entries = er.async_entries_for_config_entry(er.async_get(hass), owner.entry_id)
    agents = [entry.entity_id for entry in entries if entry.domain == conversation.DOMAIN]
    context, asked = Context(user_id=owner.user_id), hass.data.setdefault(ASKED_LATER, set())
    asked.add(context.id)
    try:
        async with asyncio.timeout(ANSWER_TIME):
            answer = await conversation.async_converse(
                hass,
                question,
                None,
                context,
                language=owner.language,
                agent_id=next(filter(hass.states.get, agents), None),
                device_id=owner.device_id,
            )
    except (HomeAssistantError, TimeoutError) as err:
        raise NotDoneError(_NO_ANSWER) from err
    finally:
        asked.discard(context.id)
    speech: Mapping[str, Any] = answer.response.speech.get("plain", {})
    if answer.response.error_code is not None or not speech.get("speech"):
        raise NotDoneError(_NO_ANSWER)
    return str(speech["speech"])
