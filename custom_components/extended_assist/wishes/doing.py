"""What a wish does when it is due: everything is checked anew, then done, then said."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import voluptuous as vol

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import condition as condition_helper, config_validation as cv, entity_registry as er, llm

from ..actions.schedule import Performer
from ..actions.sequences import SequenceWalker
from ..const import CONF_FAMILIES, DOMAIN
from ..exposure import Exposure
from ..results import ToolError, format_time
from ..silence import QUIET, UnloggedText, log_unexpected
from ..toolbox.acts import Recording
from ..toolbox.audience import heard_by_others
from ..toolbox.call import ToolCall
from ..toolbox.options import ToolboxOptions
from ..toolbox.policy import Tier, async_check_speaker
from ..walk import texts_in
from .acting import NotDoneError, async_act
from .delivery import async_deliver
from .wish import Wish
from .words import said_time, say

MAX_LATE = 300.0
"""Seconds that an action may be late: a light that goes on hours too late is worse than one that does not."""
LATE_TOLD = 60.0
"""Seconds from which on it is told that something comes late."""
ANSWER_TIME = 120.0
"""Seconds that the assistant has for an answer."""
LONGEST = 900.0
"""Seconds after which what does not come to an end is given up."""
INTERRUPTED = "begun, and Home Assistant stopped before it was over"
UNTOLD = "could not be told to anybody yet"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of an occurrence."""

    result: str
    """In words for the model."""
    words: str
    """What is said of it; empty for nothing."""
    went_well: bool = True


async def async_do(
    hass: HomeAssistant,
    wish: Wish,
    moment: float,
    *,
    late: float,
    again: bool,
    missed: int = 0,
    repeated: bool = False,
    performers: Mapping[str, Performer] | None = None,
) -> str:
    """Do what is due, and return what became of it.

    `again` says that it was begun before and Home Assistant stopped meanwhile; `missed` how many earlier occurrences were
    left out; `repeated` that only what was said is said again.
    """
    try:
        async with asyncio.timeout(LONGEST):
            if again:
                outcome = await _async_after_stop(hass, wish)
            elif repeated:
                outcome = _Outcome("said again", wish.what.say or wish.name)
            else:
                outcome = await _async_do(hass, wish, moment, late, performers or {})
    except NotDoneError as err:
        outcome = await _async_not_done(hass, wish, moment, await _async_reason(hass, wish, err), err.key)
    except Exception:  # noqa: BLE001 - nobody waits for it
        log_unexpected("in a wish")
        outcome = await _async_not_done(hass, wish, moment, "it failed unexpectedly")
    if not outcome.words:
        return outcome.result
    words = outcome.words
    if outcome.went_well and not repeated:
        words = _as_it_comes(wish, words, moment, late=late, again=again, missed=missed)
    is_told = await _async_tell(hass, wish, words, answerable=wish.until.done and outcome.went_well)
    wish.progress.untold = None if is_told else f"{format_time(moment)}: {words}"
    return outcome.result if is_told else f"{outcome.result}; {UNTOLD}"


async def async_holds(hass: HomeAssistant, wish: Wish) -> bool:
    """Return whether the conditions of a wish hold; raises ToolError where they cannot be asked any more."""
    if not wish.conditions:
        return True
    call = await async_call(hass, wish)
    checker = None
    try:
        checked = await SequenceWalker(call, keep=True).async_conditions(wish.conditions)
        valid: list[Any] = await condition_helper.async_validate_conditions_config(hass, cv.CONDITIONS_SCHEMA(checked))
        checker = await condition_helper.async_conditions_from_config(hass, valid, QUIET, UnloggedText("a wish"))
        return checker.async_check()
    except (vol.Invalid, HomeAssistantError) as err:
        raise ToolError("its conditions cannot be checked any more.") from err
    finally:
        if checker is not None:
            checker.async_unload()


@callback
def is_ready(hass: HomeAssistant, wish: Wish) -> bool:
    """Return whether all that a wish acts on is there: integrations may load late, and devices be away for a moment."""
    registry = er.async_get(hass)
    for text, path in texts_in(wish.what.actions, keys=True):
        if path and path[-1] in ("action", "service"):
            if text.count(".") == 1 and not hass.services.has_service(*text.split(".")) and DOMAIN not in text:
                return False
        elif (state := hass.states.get(text)) is None:
            if text in registry.entities:
                return False
        elif state.state == STATE_UNAVAILABLE:
            return False
    return True


async def async_call(hass: HomeAssistant, wish: Wish) -> ToolCall:
    """Return the call of a wish that is due; raises ToolError where it may not be fulfilled any more."""
    owner = wish.owner
    entry = hass.config_entries.async_get_entry(owner.entry_id)
    if entry is None or entry.state is not ConfigEntryState.LOADED:
        raise ToolError("the assistant's entry is not loaded.")
    families = entry.options.get(CONF_FAMILIES)
    if families is not None and ("wishes" not in families or (wish.what.actions and "actions" not in families)):
        raise ToolError("it was turned off in the options.")
    caller = owner.caller()
    user = await caller.async_user(hass)
    if owner.user_id is not None and (user is None or not user.is_active):
        raise ToolError("the user who wanted it is gone.")
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    tier = Tier.CONTROL if wish.what.actions or wish.what.ask else Tier.READ
    await async_check_speaker(hass, options.policy, tier, caller)
    return ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, owner.assistant, options.external_statistics),
        caller=caller,
        options=options,
        tool_input=llm.ToolInput(f"{DOMAIN}__do_later", {}),
        tier=tier,
        recording=Recording("what was wanted for later"),
    )


async def _async_do(
    hass: HomeAssistant, wish: Wish, moment: float, late: float, performers: Mapping[str, Performer]
) -> _Outcome:
    """Check everything as of now, act, and return what is to be said; raises NotDoneError."""
    what = wish.what
    try:
        call = await async_call(hass, wish)
    except ToolError as err:
        raise NotDoneError(str(err)) from err
    try:
        walker = SequenceWalker(call, keep=True)
        if wish.when.triggers:
            await walker.async_triggers(wish.when.triggers)
        if wish.conditions:
            await walker.async_conditions(wish.conditions)
    except ToolError as err:
        raise NotDoneError(str(err), "not_done_hidden") from err
    results = []
    if what.actions:
        if late > MAX_LATE:
            minutes = round(late / 60)
            reason = f"Home Assistant was not running, and {minutes} minutes late is too late for an action"
            raise NotDoneError(reason, "not_done_late")
        results.append(await async_act(call, wish, performers))
    words = what.say or ""
    if what.ask:
        words = f"{words} {await _async_answer(hass, wish, what.ask)}".strip()
    if words:
        results.append("said")
    return _Outcome("; ".join(results) or f"due at {format_time(moment)}", words)


async def _async_after_stop(hass: HomeAssistant, wish: Wish) -> _Outcome:
    """Return what is said of what was begun before Home Assistant stopped: nothing of it is done again."""
    if not wish.what.actions and not wish.what.ask:
        return _Outcome("said, maybe twice: Home Assistant stopped meanwhile", wish.what.say or "")
    interrupted = say("interrupted", wish.owner.language, name=await _async_name(hass, wish))
    return _Outcome(INTERRUPTED, f"{interrupted} {wish.what.say or ''}".strip())


def _as_it_comes(wish: Wish, words: str, moment: float, *, late: float, again: bool, missed: int) -> str:
    """Return words with what is to be said about when they come."""
    language = wish.owner.language
    if late >= LATE_TOLD:
        words = say("late", language, time=said_time(moment), text=words)
    if missed:
        words = say("missed", language, text=words, count=missed)
    return say("again", language, text=words) if again else words


async def _async_answer(hass: HomeAssistant, wish: Wish, question: str) -> str:
    """Return what the entry's own agent, or else the default one, answers in a conversation of its own."""
    owner = wish.owner
    entries = er.async_entries_for_config_entry(er.async_get(hass), owner.entry_id)
    agents = [entry.entity_id for entry in entries if entry.domain == conversation.DOMAIN]
    try:
        # Whoever is there when it comes hears it.
        with heard_by_others(hass, Context(user_id=owner.user_id)) as context:
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
        raise NotDoneError("the assistant gave no answer.") from err
    speech: Mapping[str, Any] = answer.response.speech.get("plain", {})
    if answer.response.error_code is not None or not speech.get("speech"):
        raise NotDoneError("the assistant gave no answer.")
    return str(speech["speech"])


async def _async_not_done(
    hass: HomeAssistant, wish: Wish, moment: float, reason: str, key: str = "not_done_failed"
) -> _Outcome:
    """Return the outcome of what is not done."""
    words = say(key, wish.owner.language, name=await _async_name(hass, wish), time=said_time(moment))
    return _Outcome(f"not done: {reason}", words, went_well=False)


async def _async_name(hass: HomeAssistant, wish: Wish) -> str:
    """Return what a wish is about, unless that names what is hidden now."""
    exposure = Exposure(hass, wish.owner.assistant)
    await exposure.async_prepare()
    return say("unnamed", wish.owner.language) if exposure.names_hidden(wish.name) else wish.name


async def _async_reason(hass: HomeAssistant, wish: Wish, error: ToolError) -> str:
    """Return why something was not done, unless that names what is hidden now."""
    exposure = Exposure(hass, wish.owner.assistant)
    await exposure.async_prepare()
    return "something in it is not exposed any more." if exposure.names_hidden(str(error)) else str(error)


async def _async_tell(hass: HomeAssistant, wish: Wish, words: str, *, answerable: bool) -> bool:
    """Say words to those whom a wish is for; return whether somebody's device took them."""
    try:
        return await async_deliver(hass, wish, words, answerable=answerable)
    except Exception:  # noqa: BLE001 - nobody waits for it
        log_unexpected("while something was told")
        return False
