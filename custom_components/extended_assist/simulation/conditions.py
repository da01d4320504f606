"""Simulated conditions; each has the result of Home Assistant's condition of the same name."""

from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from typing import Any, Final

from homeassistant.const import STATE_UNAVAILABLE, STATE_UNKNOWN, WEEKDAYS
from homeassistant.exceptions import ConditionError, ConditionErrorMessage, TemplateError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.sun import get_astral_event_date
from homeassistant.helpers.template import Template
from homeassistant.util import dt as dt_util

from ..ha_compat.automations import is_in_zone
from .historical_state import NotReplayableError, Past
from .replay import Replay

type Variables = Mapping[str, Any]
type Check = Callable[[Variables], bool | None]
"""Returns None if the condition is disabled; raises ConditionError if it cannot be decided."""

_SILENT: Final = (STATE_UNAVAILABLE, STATE_UNKNOWN)
TIMES: Final = ("timestamp", "uptime")
"""Device classes of sensors whose state is a time."""


def all_hold(checks: list[Check], variables: Variables) -> bool:
    """Return whether the conditions of an automation, or of a branch, hold: one that cannot be decided does not."""
    decided = True
    for check in checks:
        try:
            if check(variables) is False:
                return False
        except ConditionError:
            decided = False
    return decided


def condition(replay: Replay, config: Mapping[str, Any], place: str) -> Check:
    """Return the check of a validated condition; raises NotReplayableError if it cannot be simulated."""
    enabled = config.get("enabled", True)
    if isinstance(enabled, Template):
        raise NotReplayableError(f"{place}: whether it is enabled is a template")
    if not enabled:
        return lambda _: None
    kind = config["condition"]
    options = {**config, **(config.get("options") or {})}
    match kind:
        case "and" | "or" | "not":
            parts = [
                condition(replay, part, f"{place}.conditions[{index}]")
                for index, part in enumerate(config["conditions"])
            ]
            return _nested(kind, parts)
        case "state":
            return _of_each(config["entity_id"], config.get("match", "all"), _state_check(replay, config))
        case "numeric_state":
            is_within = number_check(replay, config)
            return _of_each(
                config["entity_id"],
                "all",
                lambda entity_id, variables: is_within(_known(replay, entity_id, kind), variables),
            )
        case "template":
            return _template(replay, config["value_template"])
        case "time":
            return lambda _: is_time(replay, config)
        case "sun":
            return lambda _: is_sun(replay, options)
        case "zone":
            return _zone(replay, options)
        case "trigger":
            wanted = config["id"]
            return lambda variables: "trigger" in variables and variables["trigger"].get("id") in wanted
    raise NotReplayableError(f"{place}: a condition of the type '{kind}'")


def _nested(kind: str, parts: list[Check]) -> Check:
    """Return the check of conditions inside and, or, not."""

    def check(variables: Variables) -> bool:
        error: ConditionError | None = None
        for part in parts:
            try:
                found = part(variables)
            except ConditionError as err:
                error = err
                continue
            if kind == "and" and found is False:
                return False
            if kind == "or" and found is True:
                return True
            if kind == "not" and found:
                return False
        if error:
            raise error
        return kind != "or"

    return check


def _of_each(entity_ids: list[str], match: str, holds: Callable[[str, Variables], bool]) -> Check:
    """Return the check of all, or any, of some entities."""

    def check(variables: Variables) -> bool:
        error: ConditionError | None = None
        result = match != "any"
        for entity_id in entity_ids:
            try:
                if holds(entity_id, variables):
                    result = True
                elif match == "all":
                    return False
            except ConditionError as err:
                error = err
        if error:
            raise error
        return result

    return check


def _state_check(replay: Replay, config: Mapping[str, Any]) -> Callable[[str, Variables], bool]:
    """Return the check that an entity has one of the states, for the period in the condition."""
    attribute, period = config.get("attribute"), config.get("for")
    wanted = config["state"] if isinstance(config["state"], list) else [config["state"]]

    def holds(entity_id: str, variables: Variables) -> bool:
        past = _known(replay, entity_id, "state")
        if attribute is not None and attribute not in past.attributes:
            return False
        value = past.state if attribute is None else past.attributes[attribute]
        if not any(value == _value_of(replay, one) for one in wanted):
            return False
        if period is None:
            return True
        try:
            seconds = replay.seconds(period, variables)
        except TemplateError as err:
            raise ConditionErrorMessage("state", str(err)) from err
        return replay.now - seconds > past.changed

    return holds


def _value_of(replay: Replay, wanted: Any) -> Any:
    """Return a state, or the state of the helper that it names."""
    if isinstance(wanted, str) and cv.INPUT_ENTITY_ID.match(wanted):
        return _known(replay, wanted, "state").state
    return wanted


def _known(replay: Replay, entity_id: str, kind: str) -> Past:
    """Return the state of an entity; raises ConditionError if there is none."""
    if (past := replay.world.get(entity_id)) is None:
        raise ConditionErrorMessage(kind, f"unknown entity {entity_id}")
    return past


def number_check(replay: Replay, config: Mapping[str, Any]) -> Callable[[Past, Variables], bool]:
    """Return the check whether a number is above and below the limits of a condition or trigger.

    The check raises ConditionError for a state that is not a number.
    """
    attribute, template = config.get("attribute"), config.get("value_template")
    limits = [(config[key], sign) for key, sign in (("below", 1), ("above", -1)) if config.get(key) is not None]

    def is_within(past: Past, variables: Variables) -> bool:
        value: Any = past.state
        if attribute is not None:
            if attribute not in past.attributes:
                return False
            value = past.attributes[attribute]
        if template is not None:
            try:
                value = replay.render(template, {**variables, "state": past})
            except TemplateError as err:
                raise ConditionErrorMessage("numeric_state", str(err)) from err
        if value is None or value in _SILENT:
            return False
        number = _number(value)
        for limit, sign in limits:
            bound = limit
            if isinstance(limit, str):
                other = _known(replay, limit, "numeric_state").state
                if other in _SILENT:
                    return False
                bound = _number(other)
            if number * sign >= bound * sign:
                return False
        return True

    return is_within


def _number(value: Any) -> float:
    """Return a value as a number; raises ConditionError."""
    try:
        return float(value)
    except (TypeError, ValueError) as err:
        raise ConditionErrorMessage("numeric_state", f"'{value}' is no number") from err


def _template(replay: Replay, template: Template) -> Check:
    """Return the check of a template."""

    def check(variables: Variables) -> bool:
        try:
            return replay.text(template, variables).lower() == "true"
        except TemplateError as err:
            raise ConditionErrorMessage("template", str(err)) from err

    return check


def _zone(replay: Replay, options: Mapping[str, Any]) -> Check:
    """Return the check that every entity is in one of the zones."""

    def is_in(zone_id: str, entity_id: str) -> bool:
        place, there = replay.state(zone_id), replay.state(entity_id)
        return bool(is_in_zone(replay.hass, place, there))

    def check(_: Variables) -> bool:
        error: ConditionError | None = None
        everywhere = True
        for entity_id in options["entity_id"]:
            found = False
            for zone_id in options["zone"]:
                try:
                    found = is_in(zone_id, entity_id) or found
                except ConditionErrorMessage as err:
                    error = err
            everywhere = everywhere and found
        if error and not everywhere:
            raise error
        return everywhere

    return check


def is_time(replay: Replay, config: Mapping[str, Any]) -> bool:
    """Return whether a time condition holds."""
    now = dt_util.as_local(dt_util.utc_from_timestamp(replay.now))
    after, before = (_time_of(replay, config.get(key), key) for key in ("after", "before"))
    if after is None or before is None:
        return False
    within = after <= now.time() < before if after < before else not before <= now.time() < after
    if not within:
        return False
    weekday = config.get("weekday")
    today = WEEKDAYS[now.weekday()]
    return weekday is None or (weekday == today if isinstance(weekday, str) else today in weekday)


def _time_of(replay: Replay, value: Any, key: str) -> time | None:
    """Return the time of the day in a condition, or that of the entity in it; None if the entity has none."""
    if value is None:
        return time(0) if key == "after" else time(23, 59, 59, 999999)
    if isinstance(value, time):
        return value
    past = _known(replay, value, "time")
    domain = value.partition(".")[0]
    if domain == "input_datetime":
        return time(*(past.attributes.get(name, most) for name, most in (("hour", 23), ("minute", 59), ("second", 59))))
    if domain == "time":
        return None if past.state in _SILENT else dt_util.parse_time(past.state)
    if past.attributes.get("device_class") not in TIMES or past.state in _SILENT:
        return None
    moment = dt_util.parse_datetime(past.state)
    return None if moment is None else dt_util.as_local(moment).time()


def is_sun(replay: Replay, options: Mapping[str, Any]) -> bool:
    """Return whether a sun condition holds at the location of the home."""
    now = dt_util.utc_from_timestamp(replay.now)
    today = dt_util.as_local(now).date()
    before, after = options.get("before"), options.get("after")
    events = {event: _event(replay, event, today) for event in (before, after) if event}
    if None in events.values():
        return False
    until: Any = events[before] + (options.get("before_offset") or timedelta()) if before else None
    since: Any = events[after] + (options.get("after_offset") or timedelta()) if after else None
    if before == "sunrise" and after == "sunset":
        return bool(now < until or now > since)
    return not (until and now > until) and not (since and now < since)


def _event(replay: Replay, event: str, today: date) -> Any:
    """Return when the sun rises or sets on a day, or None."""
    moment = get_astral_event_date(replay.hass, event, today)
    if moment is not None and today > dt_util.as_local(moment).date():
        moment = get_astral_event_date(replay.hass, event, today + timedelta(days=1))
    return moment
