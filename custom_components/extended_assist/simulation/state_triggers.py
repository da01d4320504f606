"""Simulated triggers that follow entities: state, numeric_state, zone and template."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from homeassistant.core import State
from homeassistant.exceptions import ConditionError, TemplateError
from homeassistant.helpers.event import process_state_match
from homeassistant.helpers.location import has_location
from homeassistant.helpers.template import Template, result_as_boolean

from ..ha_compat.automations import is_in_zone
from ..templates.historical import parsed
from .conditions import number_check
from .historical_state import Past, PastChange
from .replay import Remove, Replay

type Config = Mapping[str, Any]
type Fire = Callable[[str, dict[str, Any]], None]
"""Called with the description of a trigger, and its variables."""
type Variables = Mapping[str, Any]

_MATCHES: Final = ("from", "not_from", "to", "not_to")
_NONE: Final = object()


def attach_state(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Attach a state trigger."""
    from_matches, to_matches = (
        process_state_match(config[wanted])
        if config.get(wanted) is not None
        else process_state_match(config[unwanted], invert=True)
        if config.get(unwanted) is not None
        else process_state_match("*")
        for wanted, unwanted in (("from", "not_from"), ("to", "not_to"))
    )
    attribute, period = config.get("attribute"), config.get("for")
    matches_all = not any(key in config for key in _MATCHES)
    cancels: dict[str, Remove] = {}

    def value_of(past: Past | None) -> Any:
        if past is None:
            return None
        return past.state if attribute is None else past.attributes.get(attribute)

    def heard(change: PastChange) -> None:
        old, new = value_of(change.old), value_of(change.new)
        if attribute is not None and old == new:
            return
        if not from_matches(old) or not to_matches(new) or (not matches_all and old == new):
            return
        told = {"entity_id": change.entity_id, "from_state": change.old, "to_state": change.new}
        call = partial(fire, f"state of {change.entity_id}", {**told, "for": period, "attribute": attribute})
        if not period:
            call()
            return
        try:
            seconds = replay.seconds(period, {**variables, "trigger": {"platform": "state", **told}})
        except TemplateError:
            return

        def is_same(past: Past | None) -> bool:
            if past is None:
                return False
            if "from" in config and "to" not in config:
                return bool(value_of(past) != old)
            return bool(value_of(past) == new)

        cancels[change.entity_id] = _after_same(replay, change.entity_id, seconds, is_same, call)

    remove = replay.track(config["entity_id"], heard)
    return lambda: _remove_all(remove, cancels)


def _after_same(
    replay: Replay, entity_id: str, seconds: float, is_same: Callable[[Past | None], bool], action: Callable[[], None]
) -> Remove:
    """Call a function after some seconds, unless is_same is false for the entity before."""

    def heard(change: PastChange) -> None:
        if not is_same(change.new):
            cancel()

    def due() -> None:
        cancel()
        action()

    removes = [replay.call_at(replay.now + seconds, due), replay.track([entity_id], heard)]

    def cancel() -> None:
        for remove in removes:
            remove()

    return cancel


def _remove_all(remove: Remove, others: dict[str, Remove]) -> None:
    """Call each of some functions."""
    remove()
    for other in others.values():
        other()


class _Range:
    """A numeric_state trigger: fires when the number of an entity enters the range from outside."""

    def __init__(self, replay: Replay, config: Config, fire: Fire, variables: Variables) -> None:
        """Arm every entity whose number is outside of the range."""
        self._replay = replay
        self._config = config
        self._fire = fire
        self._variables = variables
        self._limits = {key: config.get(key) for key in ("below", "above")}
        self._armed: set[str] = set()
        self._is_within = number_check(replay, config)
        self._has_template = "value_template" in config
        self.cancels: dict[str, Remove] = {}
        for entity_id in config["entity_id"]:
            with suppress(ConditionError):
                if (past := replay.world.get(entity_id)) is not None and not self._holds(past):
                    self._armed.add(entity_id)

    def _given(self, entity_id: str) -> dict[str, Any]:
        """Return the variables for templates."""
        told = {"platform": "numeric_state", "entity_id": entity_id, **self._limits}
        return {**self._variables, "trigger": told | {"attribute": self._config.get("attribute")}}

    def _holds(self, past: Past) -> bool:
        """Return whether the number of an entity is within the range; raises ConditionError for a state that is not a number."""
        given = self._given(past.entity_id) if self._has_template else {}
        return self._is_within(past, given)

    def _is_same(self, past: Past | None) -> bool:
        """Return whether an entity is still within the range."""
        with suppress(ConditionError):
            return past is not None and self._holds(past)
        return False

    def heard(self, change: PastChange) -> None:
        """Fire when an entity that was outside is within."""
        entity_id, new = change.entity_id, change.new
        try:
            if new is None or not self._holds(new):
                self._armed |= {entity_id} if new else set()
                return
        except ConditionError:
            return
        if entity_id not in self._armed:
            return
        self._armed.discard(entity_id)
        period = self._config.get("for")
        told = {"entity_id": entity_id, **self._limits, "from_state": change.old, "to_state": new, "for": period}
        call = partial(self._fire, f"numeric state of {entity_id}", told)
        if not period:
            call()
            return
        with suppress(TemplateError):
            seconds = self._replay.seconds(period, self._given(entity_id))
            self.cancels[entity_id] = _after_same(self._replay, entity_id, seconds, self._is_same, call)


def attach_numeric_state(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Attach a numeric_state trigger."""
    within = _Range(replay, config, fire, variables)
    remove = replay.track(config["entity_id"], within.heard)
    return lambda: _remove_all(remove, within.cancels)


class TemplateTracker:
    """Renders a template again whenever an entity that it read changes, or a minute begins; reports changed results."""

    def __init__(
        self,
        replay: Replay,
        template: Template,
        variables: Mapping[str, Any],
        listener: Callable[[PastChange | None, Any], None],
    ) -> None:
        """Render the template; the listener is called with the change that was the reason, if any, and the new result or error."""
        self._replay = replay
        self._template = template
        self._variables = variables
        self._listener = listener
        self._last: Any = _NONE
        self._asked: frozenset[str] = frozenset()
        self._untrack: Remove | None = None
        self._clock: Remove | None = None
        self._render()

    def _render(self) -> Any:
        """Return the result or the error, and track the entities that the template read."""
        home = self._replay.home()
        result: Any
        try:
            result = parsed(self._replay.hass, self._replay.text(self._template, self._variables, home))
        except TemplateError as err:
            result = err
        self._follow(frozenset(home.asked), has_time=home.has_time)
        return result

    def refresh(self, change: PastChange | None) -> None:
        """Render the template, and report a new result."""
        result = self._render()
        was_error = isinstance(self._last, TemplateError)
        if (isinstance(result, TemplateError) and was_error) or (self._last is not _NONE and result == self._last):
            return
        self._last = result
        self._listener(change, result)

    def _follow(self, asked: frozenset[str], *, has_time: bool) -> None:
        """Track the entities that the template read, and the clock if it read the time."""
        if asked != self._asked:
            if self._untrack:
                self._untrack()
            self._asked, self._untrack = asked, self._replay.track(asked, self.refresh)
        if has_time and self._clock is None:
            self._clock = self._replay.call_daily((None, None, 0), lambda: self.refresh(None), local=False)
        elif not has_time and self._clock is not None:
            self._clock()
            self._clock = None

    def remove(self) -> None:
        """Stop tracking."""
        if self._untrack:
            self._untrack()
        if self._clock:
            self._clock()


def attach_template(replay: Replay, config: Config, fire: Fire, variables: Variables) -> Remove:
    """Attach a template trigger."""
    period = config.get("for")
    armed = False
    delayed: list[Remove] = []
    with suppress(TemplateError):
        armed = not result_as_boolean(replay.render(config["value_template"], variables))

    def heard(change: PastChange | None, result: Any) -> None:
        nonlocal armed
        if isinstance(result, TemplateError):
            return
        while delayed:
            delayed.pop()()
        if not result_as_boolean(result):
            armed = True
            return
        if not armed:
            return
        armed = False
        told = {
            "entity_id": change and change.entity_id,
            "from_state": change and change.old,
            "to_state": change and change.new,
        }
        description = f"{change.entity_id} via template" if change else "time change or manual update via template"
        call = partial(fire, description, {**told, "for": period})
        if not period:
            call()
            return
        try:
            seconds = replay.seconds(period, {**variables, "trigger": {"platform": "template", **told}})
        except TemplateError:
            return
        delayed.append(replay.call_at(replay.now + seconds, call))

    tracker = TemplateTracker(replay, config["value_template"], variables, heard)

    def remove() -> None:
        tracker.remove()
        while delayed:
            delayed.pop()()

    return remove


def _has_zone(state: State) -> bool:
    """Return whether a state has a location."""
    return bool(has_location(state)) or "in_zones" in state.attributes


def attach_zone(replay: Replay, config: Config, fire: Fire, _: Variables) -> Remove:
    """Attach a zone trigger."""
    zone_id, event = config["zone"], config["event"]

    def heard(change: PastChange) -> None:
        before, now = (past.as_state() if past else None for past in (change.old, change.new))
        if (before and not _has_zone(before)) or (now and not _has_zone(now)):
            return
        if (place := replay.state(zone_id)) is None:
            return
        was, is_in = (bool(is_in_zone(replay.hass, place, state)) if state else False for state in (before, now))
        if (is_in and not was) if event == "enter" else (was and not is_in):
            told = {"from_state": change.old, "to_state": change.new, "zone": replay.world[zone_id], "event": event}
            what = "entering" if event == "enter" else "leaving"
            description = f"{change.entity_id} {what} {place.attributes.get('friendly_name')}"
            fire(description, {"entity_id": change.entity_id, **told})

    return replay.track(config["entity_id"], heard)
