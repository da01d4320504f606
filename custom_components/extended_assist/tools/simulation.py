"""Simulate automations over the recorded past."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from operator import itemgetter
from time import monotonic
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.const import STATE_OFF
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..automations.change_check import newer
from ..automations.check import async_check, normalized, refuse_untold
from ..automations.expansion import async_written_out
from ..automations.query import Automation, async_exposed_automations, async_find_automation
from ..automations.rules import AUTOMATION_RULES
from ..calls.call import ToolCall
from ..calls.options import REHEARSAL
from ..calls.policy import Tier
from ..confirmation.untrusted_text import marked
from ..exposure.entities import NotExposedError
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.time_spans import END, START, time_span
from ..results import ToolError, format_minute, size
from ..simulation.historical_state import RehearsalOutcome
from ..simulation.report import MOST, told
from ..simulation.row_reader import switched_elsewhere
from ..simulation.run import Rehearsed, RehearsedSpan
from .simulation_subject import async_outcome, async_subject, name_of

_DAYS: Final = 7
_MARGIN: Final = 100
"""Characters that are reserved for keys and counts."""
_ONE: Final = 20.0
"""Seconds that the simulation of one automation may take."""
_ALL: Final = 40.0
"""Seconds that the simulations of all automations may take."""
_NO_TIME: Final = "It took too long. Ask for a shorter time."
_AS_IT_IS: Final = "What is recorded holds what it did as it is now: what it switched then was so already afterwards."
_LEAST: Final = ("by_weekday", "by_hour", "on_for", "not_replayed")
"""Keys that are left out if there is no room, first ones first."""
_HIDDEN: Final = (
    "'{}' uses something that is not exposed or cannot be checked, so it is not rehearsed. Tell the user to look at it in Home "
    "Assistant."
)


class RehearseAutomationTool(ExtendedTool):
    """Tell when an automation would have run in the recorded past."""

    name = "extended_assist__rehearse_automation"
    title = "Rehearse automation"
    description = (
        "What an automation would have done in the past, from what is recorded; nothing is done. One that is there, perhaps "
        "with changes, or a new one. Without either: how often each would have run, to find those that never do."
    )
    annotations = READ_ONLY
    family = REHEARSAL
    tier = Tier.READ
    deadline = _ALL + _ONE
    parameters = vol.Schema(
        {
            vol.Optional("automation", description="Id, entity id or name of one."): cv.string,
            vol.Optional("changes", description="Of that one: parts with new values, as in update_automation."): dict,
            vol.Optional("config", description="A new one, as in add_automation: triggers, conditions, actions."): dict,
            vol.Optional("start", description=f"{START} Default: {_DAYS} days before end."): cv.string,
            vol.Optional("end", description=END): cv.string,
        }
    )

    @override
    @classmethod
    async def async_available(cls, hass: HomeAssistant) -> bool:
        """Return whether automations are set up."""
        return AUTOMATION_DOMAIN in hass.config.components

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Simulate one automation or all."""
        arguments = call.arguments
        if "config" in arguments and {"automation", "changes"} & arguments.keys():
            raise ToolError("Give either automation, perhaps with changes, or config.")
        if "changes" in arguments and "automation" not in arguments:
            raise ToolError("changes: say which automation, or give a whole new one as config.")
        start, end = time_span({"hours": _DAYS * 24, **arguments}, dt_util.utcnow())
        span = RehearsedSpan(start.timestamp(), end.timestamp(), monotonic() + _ONE)
        await call.exposure.async_prepare()
        if "automation" in arguments:
            automation = await async_find_automation(call, arguments["automation"])
            subject = await _async_existing(call, automation, arguments.get("changes"))
        elif "config" in arguments:
            subject = await _async_new(call, arguments["config"])
        else:
            return await _async_all(call, span)
        outcome = await async_outcome(call, subject, span)
        answer = _heading(span, outcome) | told(
            outcome, partial(name_of, call), await _async_elsewhere(call, subject, span)
        )
        if arguments.get("changes"):
            answer["recorded_with"] = _AS_IT_IS
        while size(answer) > MOST and (key := next((key for key in _LEAST if key in answer), None)):
            del answer[key]
        return marked(answer, when=subject.has_free_text)


def _heading(span: RehearsedSpan, outcome: RehearsalOutcome) -> JsonObjectType:
    """Return the simulated span."""
    answer: JsonObjectType = {"start": format_minute(span.start), "end": format_minute(span.end)}
    if outcome.since is None:
        raise ToolError(_NO_TIME if not outcome.is_whole else "Nothing is recorded of that time. Ask for a later one.")
    if outcome.since > span.start + 60:
        answer["recorded_since"] = format_minute(outcome.since)
    if outcome.until < span.end - 60 and not outcome.is_whole:
        answer["only_until"] = f"{format_minute(outcome.until)}; it took too long. Ask for a shorter time."
    return answer


async def _async_new(call: ToolCall, given: Mapping[str, Any]) -> Rehearsed:
    """Return a new automation, checked as if it were added."""
    config = normalized(given)
    refuse_untold(config)
    config.setdefault("alias", "Rehearsal")
    return await async_subject(call, "rehearsal", await async_check(call, "rehearsal", config))


async def _async_existing(call: ToolCall, automation: Automation, changes: Mapping[str, Any] | None) -> Rehearsed:
    """Return an existing automation with some parts changed, checked as if it were written."""
    parts = normalized(changes or {})
    refuse_untold(parts)
    config = {key: value for key, value in newer(automation.config).items() if key != "id"}
    config = {key: value for key, value in (config | parts).items() if value is not None}
    item_id = automation.id or "rehearsal"
    try:
        checked = await async_check(call, item_id, deepcopy(config), given=parts.keys())
    except ToolError as err:
        if parts:
            raise
        raise ToolError(_HIDDEN.format(automation.name)) from err
    # Places are taken to be what they are today, as in what is written anew.
    whole, _ = await async_written_out(call, checked.whole, AUTOMATION_RULES.blueprints(call.hass))
    return await async_subject(call, item_id, replace(checked, whole=whole), automation.entity_id)


async def _async_elsewhere(call: ToolCall, subject: Rehearsed, span: RehearsedSpan) -> list[float]:
    """Return when something automated switched on what a new automation only sets; of one that is there it was itself."""
    only_set = subject.uses.keys() - subject.reads
    if subject.entity_id or not only_set:
        return []
    return await async_read(call.hass, switched_elsewhere, only_set, span.start, span.end)


async def _async_all(call: ToolCall, span: RehearsedSpan) -> JsonObjectType:
    """Return how often each exposed automation would have run, those that never would first."""
    ends_at = monotonic() + _ALL
    counts: list[tuple[int, str]] = []
    unknown: list[str] = []
    unseen, has_free_text = 0, False
    found = await async_exposed_automations(call)
    answer: JsonObjectType = {}
    for automation in found:
        if monotonic() >= ends_at:
            unseen += 1
            continue
        try:
            subject = await _async_existing(call, automation, None)
            one = RehearsedSpan(span.start, span.end, min(ends_at, monotonic() + _ONE))
            outcome = await async_outcome(call, subject, one)
            has_free_text = has_free_text or subject.has_free_text
        except NotExposedError, ToolError:
            unknown.append(automation.name)
            continue
        if not outcome.is_whole:  # What comes first says nothing of the rest.
            unseen += 1
            continue
        is_empty = outcome.events and not any(outcome.events.values())  # Calendars may keep nothing of what is over.
        if not outcome.count and (is_empty or outcome.not_replayed or outcome.later):
            unknown.append(automation.name)
            continue
        answer = _heading(span, outcome) | answer
        name = automation.name if automation.state.state != STATE_OFF else f"{automation.name} (is turned off)"
        counts.append((-1 if not outcome.count and outcome.refused else outcome.count, name))
    if unseen:
        answer["note"] = f"{unseen} more were not looked at. Ask for a shorter time."
    if not found:
        raise ToolError("No automation is exposed. Tell the user to expose those that are meant.")
    return marked(_listed(answer, counts, unknown), when=has_free_text)


def _listed(answer: JsonObjectType, counts: list[tuple[int, str]], unknown: list[str]) -> JsonObjectType:
    """Return the answer about all automations."""
    never = sorted(
        f"{name} (a condition was always false)" if count < 0 else name for count, name in counts if count <= 0
    )
    runs = [f"{name}: {count}" for count, name in sorted(counts, key=itemgetter(0)) if count > 0]
    if unknown:
        note = f"{len(unknown)}, for what they use, or what cannot be replayed"
        named = _fitting(unknown[:5], MOST // 5, "")
        answer["not_rehearsed"] = f"{note}: {named}" if named else note
    if never:
        left = MOST - _MARGIN - size(answer)
        answer["never"] = _fitting(never, left // 2 if runs else left, "more")
    if runs:
        answer["runs"] = _fitting(runs, MOST - _MARGIN - size(answer), "more, which run more often")
    order = ("start", "end", "recorded_since", "never", "runs", "not_rehearsed", "note")
    return {key: answer[key] for key in order if key in answer}


def _fitting(names: list[str], room: int, more: str) -> str:
    """Return names in so many characters, with how many more there are, as far as these words say that."""
    kept: list[str] = []
    for number, name in enumerate(names):
        if size(", ".join([*kept, name])) > room:
            if more:
                kept.append(f"{len(names) - number} {more}")
            break
        kept.append(name)
    return ", ".join(kept)
