"""Undo of a change of entities: restore each aspect with the action that sets it, unless it was changed since."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import voluptuous as vol

from homeassistant.components.cover import CoverEntityFeature
from homeassistant.components.valve.const import ValveEntityFeature
from homeassistant.const import ATTR_ASSUMED_STATE, ATTR_ENTITY_ID, ATTR_SUPPORTED_FEATURES
from homeassistant.core import State, split_entity_id
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError, Unauthorized
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls import change_recorder
from ..calls.call import ToolCall
from ..calls.desired_states import LASTING, SLOW, is_coming, is_passed, passes
from ..calls.journal import STATES, Change
from ..calls.outcome import describe_change, fitting
from ..calls.plan import Step, identity_of
from ..calls.settable_attributes import NOT_KNOWN, POSITION, STATE, TILT, Aspect, Step as Setting, aspects_of, is_empty
from ..calls.visible_text import quoted
from ..confirmation.wording import framed
from ..const import DOMAIN
from ..exposure.domains import ONLY_RUN
from ..exposure.groups import members_of
from ..exposure.responses import safe_reason
from ..results import OverError

ACTION_TIME = 6.0
"""Seconds to wait for an action that restores a value; after that it continues in the background."""
BEGUN_TIME = 120.0
"""Seconds after a change in which the device may still start to follow it."""

_KEYS = ("undone", "under_way", "cannot_be_known", "changed_since", "cannot_be_undone")
_NOTES = 600
"""Characters of the result that are reserved for texts other than the entities."""
_MAY_FOLLOW = "set back, but what was begun was not seen and may still follow"
_STOPS = {
    ("cover", POSITION): ("stop_cover", CoverEntityFeature.STOP),
    ("cover", TILT): ("stop_cover_tilt", CoverEntityFeature.STOP_TILT),
    ("valve", POSITION): ("stop_valve", ValveEntityFeature.STOP),
}
"""For each domain and aspect, the action that stops a movement and the feature that it needs."""
_FIRST_RELEASE = "This change was made before the update: what somebody has changed since then is not known."


@dataclass(slots=True)
class _Part:
    """One changed aspect of an entity."""

    aspect: Aspect
    before: Mapping[str, Any]
    after: Mapping[str, Any] | None
    """The values after the change; None if they are not known."""
    wanted: Mapping[str, list[Any]]
    is_recent: bool = False
    """True if the change is so recent that the device may not have started yet."""

    def is_pending(self, now: State) -> bool:
        """Return whether the change did not reach its desired values yet and is recent enough to do so still."""
        have = self.aspect.read(now)
        return self.is_recent and any(
            not any(self.aspect.same({name: have.get(name)}, {name: value}) for value in values)
            for name, values in self.wanted.items()
        )

    def moves(self, now: State | None) -> bool:
        """Return whether the entity is between two positions."""
        return now is not None and self.aspect.name in (POSITION, TILT) and now.state in ("opening", "closing")

    def step_back(self, now: State) -> Setting | None:
        """Return the action that restores the aspect; an entity that is at its old position but moves is stopped."""
        if self.moves(now) and self.aspect.same(self.aspect.read(now), self.before):
            service, feature = _STOPS[now.domain, self.aspect.name]
            if now.attributes.get(ATTR_SUPPORTED_FEATURES, 0) & feature:
                return service, {}
        return self.aspect.setter(self.before, now)

    def is_as_left(self, now: State) -> bool:
        """Return whether the aspect has the values after the change, or moves to them: nobody changed it since."""
        have = self.aspect.read(now)
        if self.after is None or self.aspect.same(have, self.after):
            return True
        targets = {**{name: [value] for name, value in self.after.items()}, **self.wanted}
        return all(
            not values
            or any(
                self.aspect.same({name: have.get(name)}, {name: value})
                or (name == STATE and passes(now.state, str(value)))
                or (self.is_recent and _is_between(have.get(name), self.after.get(name), value))
                for value in values
            )
            for name, values in targets.items()
        ) or bool(self.wanted and now.state in ("opening", "closing"))

    @property
    def was_not_known(self) -> bool:
        """Return whether the earlier state was unknown or only passing, so that it cannot be restored."""
        return self.before.get(STATE) in NOT_KNOWN or is_passed(self.before.get(STATE))

    def is_exactly_back(self, now: State) -> bool:
        """Return whether the aspect has exactly its earlier values and does not move."""
        return not self.moves(now) and replace(self.aspect, tolerance=0).same(self.aspect.read(now), self.before)

    def is_back(self, now: State | None) -> bool:
        """Return whether the aspect has its earlier values within the device's tolerance and does not move."""
        return now is not None and not self.moves(now) and self.aspect.same(self.aspect.read(now), self.before)

    def is_coming(self, start: State, now: State | None) -> bool:
        """Return whether the aspect has been moving to its earlier values since the undo started."""
        if now is None or self.is_back(now):
            return False
        return all(is_coming(start, now, name, value) for name, value in self.before.items())


@dataclass(slots=True)
class _Entity:
    """One entity of a change during its undo."""

    entity_id: str
    parts: list[_Part]
    start: State | None
    """The state before the undo."""
    lasting: str | None = None
    is_another: bool = False
    """True if another entity has the id of the changed one now."""
    reports: dict[str, str] = field(default_factory=dict)
    """The reports about the entity, by the key of the tool result."""
    left: set[str] = field(default_factory=set)
    """The aspects that a second undo may retry."""


async def async_undo_states(call: ToolCall, change: Change) -> tuple[JsonObjectType, bool]:
    """Restore the aspects that nobody changed since; failed ones stay in the change, so that undo can be retried.

    Returns the tool result, and True if nothing is left. Raises OverError if no entity of the change is exposed.
    """
    stored: Mapping[str, Any] = change.details[STATES]
    is_recent = dt_util.utcnow().timestamp() - change.time < BEGUN_TIME
    entities = [
        _entity(call, entity_id, kept, is_recent=is_recent)
        for entity_id, kept in stored.items()
        if call.exposure.is_exposed(entity_id)
    ]
    if not entities:
        raise OverError("Nothing of the last change can be reached any more, so nothing was undone.")
    if len(entities) > 1:
        entities = [one for one in entities if one.parts or split_entity_id(one.entity_id)[0] not in ONLY_RUN]
    await asyncio.gather(*(_async_undo_entity(call, entity) for entity in entities))
    answer: JsonObjectType = {}
    keys = [key for key in _KEYS if any(key in entity.reports for entity in entities)]
    for key in keys:
        reports = {entity.entity_id: entity.reports[key] for entity in entities if key in entity.reports}
        answer[key] = told = fitting(reports, (call.budget - _NOTES) // len(keys))
        if more := len(reports) - len(told):
            answer[f"more_{key}"] = more
    if lasting := sorted({one.lasting for one in entities if one.lasting and "cannot_be_undone" not in one.reports}):
        answer["not_restored"] = f"{'; '.join(lasting).capitalize()}."
    if hidden := sum(not call.exposure.is_exposed(one) for one in stored) + change.details.get("more", 0):
        answer["note"] = f"{hidden} more of that change cannot be reached any more, and stayed as they are."
    if any("attributes" in kept for kept in stored.values()):
        answer["careful"] = _FIRST_RELEASE
    left = {entity.entity_id: entity.left for entity in entities if entity.left}
    if left:
        answer["again"] = "What failed was kept: undo again to try it once more."
        change.details[STATES] = {entity_id: _rest(stored[entity_id], names) for entity_id, names in left.items()}
    return answer, not left


def steps_of_undoing(call: ToolCall, change: Change) -> Iterator[Step]:
    """Yield the steps that would undo a change, one for each exposed entity and aspect."""
    for entity_id, kept in change.details.get(STATES, {}).items():
        if not call.exposure.is_exposed(entity_id) or (now := call.hass.states.get(entity_id)) is None:
            continue
        entity = _entity(call, entity_id, kept)
        for part in () if entity.is_another else entity.parts:
            values = [
                quoted(str(value)) if name == STATE else f"{name} {quoted(str(value))}"
                for name, value in part.before.items()
                if value is not None
            ]
            if values:
                setter = part.aspect.setter(part.before, now)
                action = f"{now.domain}.{setter[0]}" if setter else f"{DOMAIN}.undo"
                step = Step(action, (entity_id,), dict(part.before))
                yield framed(call.exposure, step, (("back", ", ".join(values)),))


def _rest(kept: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    """Return an entity's stored values for the aspects that are left to undo."""
    if "aspects" not in kept:
        return dict(kept)
    left = {"aspects": {name: value for name, value in kept["aspects"].items() if name in names}}
    return left | ({"thing": kept["thing"]} if "thing" in kept else {})


def _is_between(value: Any, one: Any, other: Any) -> bool:
    """Return whether a number lies between two others, as while a light fades."""
    if not all(isinstance(number, int | float) for number in (value, one, other)):
        return False
    return bool(min(one, other) <= value <= max(one, other))


def _entity(call: ToolCall, entity_id: str, kept: Mapping[str, Any], *, is_recent: bool = False) -> _Entity:
    """Return an entity with its aspects to undo, from the values in the journal."""
    now = call.hass.states.get(entity_id)
    known = {aspect.name: aspect for aspect in aspects_of(now)} if now else {}
    if "aspects" in kept:
        parts = [
            _Part(known[name], one["before"], one["after"], one.get("wanted", {}), is_recent)
            for name, one in kept["aspects"].items()
            if name in known
        ]
        identity = identity_of(call.hass, entity_id)
        is_another = kept.get("thing", identity) != identity
        return _Entity(entity_id, parts, now, kept.get("lasting"), is_another)
    # Version 1.0 stored only the whole earlier state, so every aspect that differs from it counts as changed.
    before = State(entity_id, kept["state"], kept["attributes"])
    parts = [
        _Part(aspect, values, None, {})
        for aspect in known.values()
        if not is_empty(values := aspect.read(before)) and (aspect.read(now) != values if now else True)
    ]
    if not known or kept["state"] in NOT_KNOWN:
        parts = [_Part(aspect, aspect.read(before), None, {}) for aspect in known.values() if aspect.name == STATE]
    return _Entity(entity_id, parts, now, None if known else LASTING)


async def _async_undo_entity(call: ToolCall, entity: _Entity) -> None:
    """Restore the aspects of an entity, one action after the other, and store the reports about it."""
    start, parts = entity.start, entity.parts
    if start is None or start.state in NOT_KNOWN:
        entity.reports["cannot_be_undone"] = f"it is {start.state if start else 'gone'}"
        entity.left = {part.aspect.name for part in parts} if start else set()
        return
    if reason := _hindrance(call, entity):
        entity.reports["cannot_be_undone"] = reason
        return
    since = [part for part in parts if not part.is_as_left(start) and not part.is_exactly_back(start)]
    if any(is_empty(part.before) for part in since):
        # Somebody changed an aspect that exists only in the new state, so they also rely on that state.
        since += [part for part in parts if part.aspect.name == STATE and part not in since]
    if since:
        entity.reports["changed_since"] = f"{', '.join(part.aspect.name for part in since)}: left as it is now"
    todo = [part for part in parts if part not in since]
    if not todo and parts:
        return
    failures = await _async_set_back(call, start, todo)
    now = call.hass.states.get(entity.entity_id)
    report = describe_change(call.hass, call.exposure, start, now)
    if failures:
        entity.reports["cannot_be_undone"] = "; ".join(dict.fromkeys(reason for reason, _ in failures.values()))
        entity.left = {name for name, (_, is_final) in failures.items() if not is_final}
        todo = [part for part in todo if part.aspect.name not in failures and not is_empty(part.before)]
        if not todo:
            return
    if now is not None and now.attributes.get(ATTR_ASSUMED_STATE):
        entity.reports["cannot_be_known"] = f"{report}; assumed, not seen"
    elif now is start and any(part.is_pending(start) for part in todo):
        entity.reports["under_way"] = f"{report}; {_MAY_FOLLOW}"
    else:
        entity.reports["undone" if all(part.is_back(now) for part in todo) else "under_way"] = report


def _hindrance(call: ToolCall, entity: _Entity) -> str | None:
    """Return the reason why the entity cannot be restored at all, or None."""
    if entity.is_another:
        return "another device has its id by now"
    if any(not call.exposure.is_exposed(member) for member in members_of(call.hass, entity.entity_id)):
        return "it would also move what is not exposed"
    return entity.lasting if not entity.parts else None


async def _async_set_back(call: ToolCall, start: State, parts: list[_Part]) -> dict[str, tuple[str, bool]]:
    """Call the actions that restore aspects; return the failed aspects with the reason and whether it is final."""
    hass, entity_id, failures = call.hass, start.entity_id, dict[str, tuple[str, bool]]()
    patience = change_recorder.SETTLE_TIME
    called: set[str] = set()
    # The device may not have started the change yet, so such an aspect is restored once, even if it looks unchanged.
    pending = {part.aspect.name for part in parts if part.is_pending(start)}

    def must_be_set(one: _Part, now: State) -> bool:
        return not one.was_not_known and (one.aspect.name in pending or not one.is_exactly_back(now))

    for part in parts:
        while (now := hass.states.get(entity_id)) and must_be_set(part, now):
            if (step := part.step_back(now)) is None or step[0] in called:
                break
            # Aspects that one action sets are restored in one call, such as brightness and colour.
            together = [
                (one, data)
                for one in parts
                if must_be_set(one, now) and (other := one.step_back(now)) and other[0] == step[0]
                for data in [other[1]]
            ]
            called.add(step[0])
            if not part.moves(now):
                pending -= {one.aspect.name for one, _ in together}
            data = {key: value for _, fields in together for key, value in fields.items()}
            if failure := await _async_call(call, entity_id, step[0], data):
                return failures | {one.aspect.name: failure for one, _ in together}
            begun = hass.loop.time()
            await change_recorder.async_until(
                hass, [entity_id], partial(_is_over, call, start, [one for one, _ in together]), begun + patience
            )
            patience = max(0.0, patience - (hass.loop.time() - begun))
    await change_recorder.async_until(
        hass, [entity_id], partial(_is_over, call, start, parts), hass.loop.time() + patience
    )
    now = hass.states.get(entity_id)
    if now is not None and now.attributes.get(ATTR_ASSUMED_STATE):
        return failures
    for part in parts:
        if part.is_back(now) or part.is_coming(start, now):
            continue
        if part.was_not_known:
            failures[part.aspect.name] = (f"it was {part.before[STATE]} before", True)
        elif now is None or part.aspect.setter(part.before, now) is None:
            failures[part.aspect.name] = (f"nothing sets its {part.aspect.name} back", True)
        else:
            failures[part.aspect.name] = (f"it did not follow within {change_recorder.SETTLE_TIME:g} seconds", False)
    return failures


def _is_over(call: ToolCall, start: State, parts: list[_Part]) -> bool:
    """Return whether waiting longer cannot show more about the result."""
    now = call.hass.states.get(start.entity_id)
    if now is None or now.attributes.get(ATTR_ASSUMED_STATE):
        return True
    if now is start and any(part.is_pending(start) for part in parts):
        return False
    return all(part.is_back(now) or (part.is_coming(start, now) and now.domain in SLOW) for part in parts)


async def _async_call(call: ToolCall, entity_id: str, service: str, data: dict[str, Any]) -> tuple[str, bool] | None:
    """Call an action on an entity; return why it failed and whether that is final, or None.

    An action that takes longer than ACTION_TIME continues in the background, and counts as not failed.
    """
    domain = split_entity_id(entity_id)[0]
    work = call.hass.services.async_call(
        domain, service, data, blocking=True, context=call.llm_context.context, target={ATTR_ENTITY_ID: entity_id}
    )
    task = call.hass.async_create_background_task(work, "extended_assist undo")
    done, _ = await asyncio.wait({task}, timeout=ACTION_TIME)
    if not done:
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
        return None
    match error := task.exception():
        case None:
            return None
        case Unauthorized():
            return "the user who speaks may not do this", False
        case ServiceValidationError() | vol.Invalid():
            return safe_reason(call.exposure, error), True
        case HomeAssistantError():
            return f"its device failed: {safe_reason(call.exposure, error)}", False
        case _:
            return f"the {domain} refused", False
