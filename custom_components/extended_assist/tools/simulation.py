"""Simulate automations over the recorded past: the tool, and the automations that it accepts."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from functools import partial
from operator import itemgetter
from time import monotonic
from typing import Any, Final, override

import voluptuous as vol

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.recorder.const import ALL_DOMAIN_EXCLUDE_ATTRS
from homeassistant.const import STATE_OFF
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import is_template_string
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..automations.change_check import newer
from ..automations.check import (
    CheckedAutomation,
    async_check,
    async_walk_part,
    normalized,
    refuse_placeholders,
    walker_for,
)
from ..automations.expansion import async_expand
from ..automations.query import Automation, async_exposed_automations, async_find_automation
from ..automations.rules import AUTOMATION_RULES
from ..calls.call import ToolCall
from ..calls.options import REHEARSAL
from ..calls.policy import Tier
from ..calls.visible_text import name_shown
from ..confirmation.untrusted_text import marked
from ..exposure.entities import NotExposedError
from ..exposure.fixed_values import free_texts, may_have_free_states
from ..exposure.safe_log import log_unexpected
from ..ha_compat.automations import async_validate_automation
from ..ha_compat.recorder import is_entity_recorded
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool
from ..recorder import async_read
from ..recorder.periods import END, START, time_span
from ..results import ToolError, format_minute, size, texts_in
from ..simulation.calendars import async_events, calendar_triggers
from ..simulation.historical_state import NotReplayableError, SimulationOutcome
from ..simulation.report import MOST, remark_of, told
from ..simulation.row_reader import switched_elsewhere
from ..simulation.run import Rehearsed, RehearsedSpan, rehearse
from ..templates.historical import NotOfThePastError

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


def _heading(span: RehearsedSpan, outcome: SimulationOutcome) -> JsonObjectType:
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
    refuse_placeholders(config)
    config.setdefault("alias", "Rehearsal")
    return await async_subject(call, "rehearsal", await async_check(call, "rehearsal", config))


async def _async_existing(call: ToolCall, automation: Automation, changes: Mapping[str, Any] | None) -> Rehearsed:
    """Return an existing automation with some parts changed, checked as if it were written."""
    parts = normalized(changes or {})
    refuse_placeholders(parts)
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
    whole, _ = await async_expand(call, checked.whole, AUTOMATION_RULES.blueprints(call.hass))
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


REMARKED_DAYS: Final = 7
REMARK_TIME: Final = 2.0
"""Seconds that a question waits for the summary of the simulation."""
_SLACK: Final = 3600.0
"""Seconds by which the records may start later than the reported span."""
_READS: Final = ("trigger_variables", "variables", "triggers", "conditions")


def name_of(call: ToolCall, entity_id: str) -> str:
    """Return the name of an entity."""
    entity = call.exposure.entity(entity_id)
    return name_shown(entity) if entity else entity_id


async def async_subject(call: ToolCall, item_id: str, checked: CheckedAutomation, entity_id: str = "") -> Rehearsed:
    """Return the subject of a simulation, with the entities that it reads."""
    hass, whole = call.hass, deepcopy(checked.whole)
    validated = await async_validate_automation(hass, item_id, {"id": item_id, **whole})
    if validated is None:
        raise ToolError("Home Assistant does not accept this automation. Give all of its parts in full.")
    walker = walker_for(call, checked.whole)
    for key in _READS:
        await async_walk_part(walker, key, checked.whole.get(key))
    reads = frozenset(walker.entity_ids) - _only_asked(validated, checked.whole)
    unrecorded = sorted(one for one in reads if not is_entity_recorded(hass, one))
    if unrecorded:
        names = ", ".join(name_of(call, one) for one in unrecorded)
        raise ToolError(f"{names}: excluded from the recorder, so what this automation would have done is not known.")
    uses = {one: _unkept(hass, one) for one in checked.entity_ids | reads}
    _check_attributes(checked.whole, uses)
    has_free_text = _has_free_text(call, whole, reads) or any(calendar_triggers(validated))
    return Rehearsed(config=validated, reads=reads, uses=uses, entity_id=entity_id, has_free_text=has_free_text)


@callback
def _has_free_text(call: ToolCall, whole: Mapping[str, Any], reads: frozenset[str]) -> bool:
    """Return whether free text can decide when an automation runs: a state that it reads, or what a template or trigger reads."""
    is_read_closely = any("attribute" in path or is_template_string(text) for text, path in texts_in(whole))
    return any(
        state is None
        or may_have_free_states(call.hass, state)
        or (is_read_closely and any(free_texts(call.hass, state)))
        for state in map(call.exposure.state, reads)
    )


def _only_asked(validated: Mapping[str, Any], whole: Mapping[str, Any]) -> frozenset[str]:
    """Return the calendars that are only read for their events, which need no recorded states."""
    asked = Counter(options["entity_id"] for options in calendar_triggers(validated))
    texts = [text for text, _ in texts_in(whole)]
    return frozenset(one for one, count in asked.items() if sum(one in text for text in texts) <= count)


def _unkept(hass: HomeAssistant, entity_id: str) -> frozenset[str]:
    """Return the attributes of an entity that the recorder does not store."""
    state = hass.states.get(entity_id)
    info = state.state_info if state else None
    unrecorded = frozenset(info["unrecorded_attributes"]) if info else frozenset()
    if "*" in unrecorded and state:
        unrecorded = frozenset(state.attributes) - {
            "device_class",
            "state_class",
            "unit_of_measurement",
            "friendly_name",
        }
    return unrecorded | ALL_DOMAIN_EXCLUDE_ATTRS


def _check_attributes(config: Any, uses: Mapping[str, frozenset[str]]) -> None:
    """Refuse triggers and conditions on an attribute that the recorder does not store."""
    if isinstance(config, Mapping):
        named = config.get("entity_id")
        for entity_id in [named] if isinstance(named, str) else named or ():
            if config.get("attribute") in uses.get(entity_id, ()):
                raise ToolError(
                    f"The attribute '{config['attribute']}' of {entity_id} is not recorded, so nothing is known."
                )
    for item in config.values() if isinstance(config, Mapping) else config if isinstance(config, list) else ():
        _check_attributes(item, uses)


async def async_outcome(call: ToolCall, subject: Rehearsed, span: RehearsedSpan) -> SimulationOutcome:
    """Return the result of a simulation; raises ToolError with the parts that cannot be simulated."""
    start, end = span.start, span.end
    events = await async_events(call.hass, call.exposure, subject.config, start, end)
    try:
        return await async_read(call.hass, rehearse, call.exposure, replace(subject, events=events), span)
    except (NotReplayableError, NotOfThePastError) as err:
        raise ToolError(
            f"This cannot be told from what is recorded: {err}. Nothing is known of the rest without it."
        ) from err


async def async_remark(
    call: ToolCall, checked: CheckedAutomation, item_id: str, entity_id: str, language: str | None
) -> str:
    """Return in one sentence what an automation would have done in the last days, for a question before it is written.

    Empty where this is not to be told: it takes too long, not all of it can be replayed, or the records do not go back that far.
    """
    end = dt_util.utcnow()
    start = end - timedelta(days=REMARKED_DAYS)
    span = RehearsedSpan(start.timestamp(), end.timestamp(), monotonic() + REMARK_TIME)
    try:
        async with asyncio.timeout(REMARK_TIME):
            outcome = await async_outcome(call, await async_subject(call, item_id, checked, entity_id), span)
    except ToolError, TimeoutError:
        return ""
    except Exception:  # noqa: BLE001 - the question is asked without it
        log_unexpected("while an automation was rehearsed for a question")
        return ""
    is_known = outcome.since is not None and outcome.since <= span.start + _SLACK and outcome.is_whole
    is_all = not outcome.not_replayed and not outcome.later and (not outcome.events or any(outcome.events.values()))
    if not (is_known and is_all):
        return ""
    return remark_of(outcome, {one: name_of(call, one) for one in outcome.on_time}, language)
