"""The parser of a model's arguments: it returns the time, conditions, audience and end of a task.

Triggers and conditions are checked like those of an automation, because Home Assistant evaluates them without our
exposure checks.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from math import isfinite
import re
from typing import Any, Final

import voluptuous as vol

from homeassistant.const import ATTR_AREA_ID
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.condition import async_validate_conditions_config
from homeassistant.helpers.template import is_template_string
from homeassistant.helpers.trigger import async_validate_trigger_config
from homeassistant.util import dt as dt_util

from ..actions.targets import place_ids
from ..automations.check import async_walk_part, normalized, refuse_placeholders, walker_for
from ..automations.describe import AutomationDescriber
from ..automations.expansion import async_expand
from ..automations.rules import AUTOMATION_RULES
from ..automations.secret_values import exposed_places
from ..calls.call import ToolCall
from ..calls.visible_text import name_shown
from ..exposure.entities import Exposure
from ..results import ToolError, format_minute
from .due_times import local_time, moment_of, next_of, rule_of
from .phrases import duration_words, rule_words, weekday_and_time
from .recurrence import MINUTELY, Recurrence, recurrence
from .scheduled_task import Audience, Hearer, Until, Watch, When
from .time_parser import MAX_AHEAD, read_end, read_local

MAX_WAIT: Final = timedelta(days=7)
MAX_TIMES: Final = 1000
MAX_TRIGGERS: Final = 20

_WAYS: Final = (
    "'after' (seconds from now), 'at' (local time like 07:00 or 2026-03-01 17:30), 'repeat' (a rule like "
    "FREQ=WEEKLY;BYDAY=MO,TU with the time in 'at') or 'triggers' (as in an automation)"
)
_TRIGGER: Final = "{'trigger': 'state', 'entity_id': 'binary_sensor.door', 'to': 'on'}"
_HERE: Final = frozenset({"here", "me"})
_EVERYONE: Final = frozenset({"everyone", "everybody", "all"})
_UTC_END: Final = re.compile(r"UNTIL=(\d{8})T(\d{6})Z", re.ASCII | re.IGNORECASE)
_TIMES: Final = re.compile(r"(\d{1,6})(?: times?)?", re.ASCII)


async def async_read_when(call: ToolCall, given: Mapping[str, Any]) -> When:
    """Parse `after`, `at`, `repeat`, `triggers` and `wait` into the due times of a task; raises ToolError.

    Together with `repeat`, `at` gives the rule's time of day, or the time from which it counts.
    """
    now = dt_util.utcnow().timestamp()
    ways = {key for key in ("after", "at", "repeat", "triggers") if given.get(key) not in (None, "", [])}
    if not ways:
        raise ToolError(f"Say when: give {_WAYS}.")
    if "after" in ways and len(ways) > 1:
        hint = "for a time after a trigger, give 'wait'" if "triggers" in ways else "for a rule or a time, give 'at'"
        raise ToolError(f"after: these are seconds from now, and stand alone; {hint}.")
    if given.get("wait") and "triggers" not in ways:
        raise ToolError("wait: this is the time between a trigger and what happens. For a time from now, give 'after'.")
    when = When()
    if "after" in ways:
        when.moment = now + _seconds(given["after"], "after", MAX_AHEAD)
    if "repeat" in ways:
        at = str(given["at"]) if "at" in ways else None
        # A rule that matches rarely takes milliseconds to search, so this runs in the executor.
        when.rule, when.start = await call.hass.async_add_executor_job(_rule, str(given["repeat"]), at, now)
    elif "at" in ways:
        when.moment = moment_of(read_local(str(given["at"]), "at", now))
    if "triggers" in ways:
        when.triggers = await _async_triggers(call, given["triggers"])
        when.wait = _seconds(given["wait"], "wait", MAX_WAIT) if given.get("wait") else 0.0
    return when


async def async_read_conditions(call: ToolCall, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Parse `conditions`, which must hold when a task is due, in the syntax of automations; raises ToolError."""
    conditions = given.get("conditions") or []
    listed = conditions if isinstance(conditions, list) else [conditions]
    whole = [
        {"condition": "template", "value_template": item}
        if isinstance(item, str) and is_template_string(item)
        else item
        for item in listed
    ]
    return await _async_checked(call, "conditions", whole) if whole else []


async def async_read_until(given: Mapping[str, Any]) -> Until:
    """Parse `until` into the end of a task: a local time, a number of times, or "done"; raises ToolError."""
    until = given.get("until")
    if until is None or until == "":
        return Until()
    text = str(until).strip().casefold()
    if text == "done":
        return Until(done=True)
    if found := _TIMES.fullmatch(text):
        if not 1 <= int(found[1]) <= MAX_TIMES:
            raise ToolError(f"until: {text} times; give a number from 1 to {MAX_TIMES}, or a local time.")
        return Until(times=int(found[1]))
    try:
        return Until(moment=read_end(str(until), "until", dt_util.utcnow().timestamp()))
    except ToolError as err:
        raise ToolError(f"{err} Or give a number of times, or 'done' for until somebody says that it is done.") from err


async def async_read_audience(call: ToolCall, given: Mapping[str, Any]) -> Audience:
    """Parse `for` into the audience: "here", "everyone", an exposed person or an area; raises ToolError."""
    wanted = str(given.get("for") or "here").strip()
    if wanted.casefold() in _HERE:
        return Audience()
    if wanted.casefold() in _EVERYONE:
        return Audience(Hearer.EVERYONE)
    named = call.exposure.entity(wanted.lower())
    people = [named] if named and named.domain == "person" else call.exposure.search(wanted, domain="person")
    if len(people) == 1:
        return Audience(Hearer.PERSON, people[0].entity_id)
    if people:
        several = ", ".join(person.entity_id for person in people)
        raise ToolError(f"for: '{wanted}' means several people: {several}. Give one of these.")
    areas = _areas(call, wanted)
    if len(areas) == 1:
        return Audience(Hearer.AREA, areas[0])
    known = [
        person.name for person in map(call.exposure.entity, call.exposure.ids) if person and person.domain == "person"
    ]
    raise ToolError(
        f"for: no person or area named '{wanted}' was found or is exposed. Give 'here', 'everyone', an area"
        + (f", or a person: {', '.join(sorted(known))}." if known else ".")
    )


@callback
def describe_when(hass: HomeAssistant, exposure: Exposure, when: When) -> str:
    """Return the due times of a task in words; triggers name only exposed entities.

    If there are triggers, await `exposure.async_prepare` first.
    """
    ways = []
    if when.watch is not None and when.moment is not None:
        return _told_watch(exposure, when.watch, when.moment)
    if when.moment is not None:
        ways.append(f"on {weekday_and_time(when.moment)}")
    if rule := rule_of(when):
        ways.append(rule_words(rule))
    if when.triggers:
        (words, *_), _, _ = AutomationDescriber(hass, exposure).pieces({"triggers": when.triggers})
        ways.append(words[0].lower() + words[1:] + (f", {duration_words(when.wait)} later" if when.wait else ""))
    return " or ".join(ways) or "never"


def _told_watch(exposure: Exposure, watch: Watch, until: float) -> str:
    """Return a camera watch in words: its exposed cameras, interval, end and the thing to look for."""
    names = ", ".join(name_shown(entity) for entity in filter(None, map(exposure.entity, watch.entity_ids)))
    looks = f"a look at {names or 'what is hidden'} every {duration_words(watch.every)}"
    see = exposure.visible_value(watch.see) or "something that is hidden now"
    return f"{looks} until {weekday_and_time(until)}, for: {see}"


def _seconds(value: Any, name: str, most: timedelta) -> float:
    """Return a length of time in seconds; raises ToolError if it is not positive or longer than `most`."""
    try:
        seconds = -1.0 if isinstance(value, bool) else float(value)
    except TypeError, ValueError:
        seconds = -1.0
    if not isfinite(seconds) or not 0 < seconds <= most.total_seconds():
        limit = f"{most.total_seconds():.0f} ({most.days} days)"
        raise ToolError(f"{name}: a number of seconds up to {limit}, such as 1200 for twenty minutes.")
    return seconds


def _rule(text: str, at: str | None, now: float) -> tuple[str, str]:
    """Check a rule and return it for the store with its start, the local time from which it counts; raises ToolError.

    The start is one of the rule's times, except for rules within a day that count from now.
    """
    written = _UTC_END.sub(_local_end, "".join(text.upper().split()).removeprefix("RRULE:").strip(";"))
    start = _start(written, at, now)
    rule = recurrence(written, start)
    if at is not None and not rule.is_by_the_clock and (start.hour, start.minute) not in _clock_times(rule):
        raise ToolError("repeat: BYHOUR and BYMINUTE say another time of day than 'at'. Give one of the two.")
    # The rule starts at its next match without the interval: "every other day" starts on the next day.
    is_counted_from_now = rule.is_by_the_clock and at is None and not rule.hours and "BYMINUTE" not in written
    if not is_counted_from_now:
        every = replace(rule, interval=rule.interval if rule.frequency == MINUTELY else 1, until=None, count=None)
        after = local_time(now) if at is None else start - timedelta(seconds=1)
        start = next(every.times(after), start)
        rule = recurrence(written, start)
    first = next_of(rule, now)
    if first is None:
        raise ToolError(
            "repeat: this never comes: there is no such day, or it is over. Check BYMONTH, BYMONTHDAY, BYSETPOS and UNTIL."
        )
    if first > now + MAX_AHEAD.total_seconds():
        raise ToolError(f"repeat: this comes on {format_minute(first)} for the first time, more than a year ahead.")
    if rule.until is None and next_of(rule, first) is None:
        raise ToolError(f"repeat: this comes only once. Give 'at': '{format_minute(first)}' instead of a rule.")
    return written, start.isoformat(timespec="minutes")


def _start(written: str, at: str | None, now: float) -> datetime:
    """Return the local time from which to search the rule's first time; raises ToolError without a time of day."""
    if at is not None:
        return read_local(at, "at", now).replace(second=0, microsecond=0, fold=0)
    start = local_time(now).replace(second=0, microsecond=0, fold=0)
    is_by_the_clock = "FREQ=HOURLY" in written or "FREQ=MINUTELY" in written
    if "BYHOUR" in written:
        return start.replace(minute=0)
    if not is_by_the_clock:
        recurrence(written, start)  # Other errors in the rule are raised first.
        raise ToolError("repeat: at what time of day? Give it in 'at', such as 07:00, or with BYHOUR and BYMINUTE.")
    return start


def _clock_times(rule: Recurrence) -> set[tuple[int, int]]:
    return {(hour, minute) for hour in rule.hours for minute in rule.minutes}


def _local_end(found: re.Match[str]) -> str:
    """Return the UNTIL part of a rule, given in UTC, in local time; unchanged if it is no valid time."""
    end = dt_util.parse_datetime(f"{found[1]}T{found[2]}Z")
    return f"UNTIL={dt_util.as_local(end):%Y%m%dT%H%M%S}" if end else found[0]


async def _async_triggers(call: ToolCall, given: Any) -> list[dict[str, Any]]:
    """Check triggers like those of an automation; raises ToolError, also for plain times, which `at` must give."""
    triggers = given if isinstance(given, list) else [given]
    if len(triggers) > MAX_TRIGGERS:
        raise ToolError(f"triggers: at most {MAX_TRIGGERS}. Give fewer.")
    for index, trigger in enumerate(triggers):
        if not isinstance(trigger, dict):
            raise ToolError(f"triggers[{index}]: a trigger must be an object, such as {_TRIGGER}.")
        kind, at = trigger.get("trigger", trigger.get("platform")), str(trigger.get("at", ""))
        if kind == "time_pattern" or (kind == "time" and "." not in at):
            raise ToolError(
                f"triggers[{index}]: give a time in 'at' or 'repeat' instead, which are kept over a restart."
            )
    return await _async_checked(call, "triggers", triggers)


async def _async_checked(call: ToolCall, key: str, parts: list[Any]) -> list[dict[str, Any]]:
    """Check triggers or conditions and return them in an automation's current syntax; raises ToolError."""
    await call.exposure.async_prepare()
    config = normalized({key: parts})
    refuse_placeholders(config)
    config, _ = await async_expand(call, config, AUTOMATION_RULES.blueprints(call.hass))
    await async_walk_part(walker_for(call, config), key, config[key])
    try:
        await _async_validate(call.hass, key, config[key])
    except (vol.Invalid, HomeAssistantError) as err:
        reason = "write them in full, in current syntax" if call.exposure.names_hidden(str(err)) else str(err)
        raise ToolError(f"{key}: Home Assistant does not accept this: {reason}") from err
    checked: list[dict[str, Any]] = config[key]
    return checked


async def _async_validate(hass: HomeAssistant, key: str, parts: list[Any]) -> None:
    """Validate triggers or conditions with Home Assistant's validators."""
    if key == "triggers":
        await async_validate_trigger_config(hass, cv.TRIGGER_SCHEMA(parts))
    else:
        await async_validate_conditions_config(hass, cv.CONDITIONS_SCHEMA(parts))


@callback
def _areas(call: ToolCall, wanted: str) -> list[str]:
    """Return the ids of the areas that a text names and that contain an exposed entity."""
    exposed = exposed_places(call.hass, call.exposure)[ATTR_AREA_ID]
    return [area_id for area_id in place_ids(call.hass, ATTR_AREA_ID, wanted) if area_id in exposed]
