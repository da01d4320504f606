"""The subject of a simulation: a checked automation with the entities that it reads."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Any, Final

from homeassistant.components.recorder.const import ALL_DOMAIN_EXCLUDE_ATTRS
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.template import is_template_string
from homeassistant.util import dt as dt_util

from ..automations.check import CheckedAutomation, async_walk_part, walker_for
from ..calls.call import ToolCall
from ..calls.visible_text import name_shown
from ..exposure.fixed_values import free_texts, may_have_free_states
from ..exposure.safe_log import log_unexpected
from ..ha_compat.automations import async_validate_automation
from ..ha_compat.recorder import is_entity_recorded
from ..recorder import async_read
from ..results import ToolError, texts_in
from ..simulation.calendars import async_events, calendar_triggers
from ..simulation.historical_state import NotReplayableError, RehearsalOutcome
from ..simulation.report import remark_of
from ..simulation.run import Rehearsed, RehearsedSpan, rehearse
from ..templates.historical import NotOfThePastError

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


async def async_outcome(call: ToolCall, subject: Rehearsed, span: RehearsedSpan) -> RehearsalOutcome:
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
