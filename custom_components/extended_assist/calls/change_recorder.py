"""Record the entities that a call changes, by the call's own context, for its outcome and for undo."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from homeassistant.const import ATTR_ENTITY_ID, ENTITY_MATCH_ALL, EVENT_CALL_SERVICE
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, Event, HomeAssistant, State, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.target import SelectedEntities, TargetSelection, async_extract_referenced_entity_ids

from ..exposure.domains import ONLY_RUN
from ..exposure.entities import Exposure
from ..exposure.groups import is_group, members_of
from ..ha_compat.automations import EVENT_AUTOMATION_TRIGGERED
from .caller import Caller
from .desired_states import (
    ANOTHER,
    SLOW,
    TARGETS,
    Status,
    Wanted,
    is_all_known,
    is_seen,
    is_settled,
    lasting_of,
    status_of,
    wanted_of,
)
from .journal import ASPECTS, MAX_ATTRIBUTE, MAX_STATES, STATES, Change, Journal
from .plan import Plan, identity_of
from .settable_attributes import STATE, Aspect, aspects_of

SETTLE_TIME = 2.0
"""Seconds to wait for a state after an action; slower entities are reported as not there yet."""

_PLACES = frozenset(TARGETS) - {ATTR_ENTITY_ID}
_TURNS = frozenset({"turn_on", "turn_off", "toggle"})


@dataclass(slots=True)
class Act:
    """The effect of a call on one entity."""

    before: State
    """The state before the call."""
    since: State
    """The state before the last action of the call on this entity."""
    wanted: Wanted | None
    """The desired state and attributes; None if they are unknown."""
    lasting: str | None
    """The part of the action that cannot be undone, as a text; None if there is none."""
    is_all_known: bool = True
    """True if the desired state covers everything that the action's data asks for."""
    _known: tuple[State | None, State, Wanted | None, Status] | None = None
    """A cache of the last status with its inputs, because several callers ask for it for many entities."""

    def status(self, hass: HomeAssistant) -> Status:
        """Return the status of the entity."""
        now = hass.states.get(self.before.entity_id)
        if (known := self._known) and known[0] is now and known[1] is self.since and known[2] is self.wanted:
            return known[3]
        status = status_of(self.since, now, self.wanted)
        self._known = now, self.since, self.wanted, status
        return status

    def is_settled(self, hass: HomeAssistant) -> bool:
        """Return whether longer waiting would not change the status of the entity."""
        return is_settled(self.since, hass.states.get(self.before.entity_id), self.wanted, self.status(hass))

    def is_seen(self, hass: HomeAssistant) -> bool:
        """Return whether the entity's state shows that the whole action succeeded."""
        now = hass.states.get(self.before.entity_id)
        return self.is_all_known and is_seen(self.since, now, self.wanted, self.status(hass))


@dataclass(frozen=True, slots=True)
class Due:
    """The next time of a scheduled task."""

    moment: float | None
    """Seconds since the epoch; None if only an event triggers the task."""


@dataclass(slots=True)
class Recording:
    """The effects of one call: entities, and other changes that its tool adds."""

    what: str = ""
    acts: dict[str, Act] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    """Changes other than states."""
    failed: bool = False
    """True if the call failed, so that no further effect is expected."""
    is_complete: bool = False
    """True if the tool reports that it did everything it was called for."""
    is_agreed: bool = False
    """True if the user was asked about the plan and said yes."""
    plan: Plan | None = None
    """The plan; None if the call was not planned."""
    due: Due | None = None
    """The next time of the scheduled task that it made; None if it made none."""
    is_told: bool = True
    """False for calls that are not reported to others: memory, and tasks that users scheduled for themselves."""
    _until: float | None = None

    async def async_settle(self, hass: HomeAssistant) -> None:
        """Wait until each entity has settled, at most SETTLE_TIME seconds for the whole call."""
        if self._until is None:
            self._until = hass.loop.time() + SETTLE_TIME
        waiting = list(self.acts.values())

        def are_settled() -> bool:
            # Each new state runs this check. Settled entities are removed, and all are checked again only when none is
            # left.
            while waiting and waiting[-1].is_settled(hass):
                waiting.pop()
            if not waiting:
                waiting.extend(act for act in self.acts.values() if not act.is_settled(hass))
            return not waiting

        await async_until(hass, self.acts, are_settled, self._until)


async def async_until(
    hass: HomeAssistant, entity_ids: Iterable[str], is_over: Callable[[], bool], until: float
) -> None:
    """Wait until a condition on entities holds, at most until a time of the event loop; each new state checks it."""
    if is_over():
        return
    over = asyncio.Event()

    @callback
    def look(_: Event[Any]) -> None:
        if is_over():
            over.set()

    stop = async_track_state_change_event(hass, list(entity_ids), look)
    try:
        async with asyncio.timeout_at(until):
            await over.wait()
    except TimeoutError:
        return
    finally:
        stop()


class _Listener:
    """Listens for actions in a call's own context, and in the contexts of automations that the call triggers itself.

    Automations that react to a state change belong to the user; their actions are not recorded.
    """

    def __init__(self, hass: HomeAssistant, context_id: str, acts: dict[str, Act]) -> None:
        """Set the context id and the dictionary for the acts."""
        self._hass = hass
        self._contexts = {context_id}
        self._acts = acts

    @callback
    def on_triggered(self, event: Event[Any]) -> None:
        """Follow an automation that an action of the call triggered."""
        if event.context.parent_id in self._contexts and event.data[ATTR_ENTITY_ID] in self._acts:
            self._contexts.add(event.context.id)

    @callback
    def on_action(self, event: Event[Any]) -> None:
        """Add the entities of an action in the call's contexts."""
        if event.context.id not in self._contexts:
            return
        domain, service, data = event.data["domain"], event.data["service"], event.data["service_data"]
        # Actions of `homeassistant` call actions of other domains, which fire events of their own.
        if domain == HOMEASSISTANT_DOMAIN:
            return
        if self._hass.services.supports_response(domain, service) is SupportsResponse.ONLY:
            return
        action = f"{domain}.{service}"
        is_known = is_all_known(action, data)
        for entity_id in self._targets(domain, service, data):
            self._add(entity_id, action, data, is_known=is_known)
            for member in members_of(self._hass, entity_id) if is_group(self._hass, entity_id) else ():
                if member.startswith(f"{domain}."):
                    self._add(member, action, data, is_known=is_known)

    def _targets(self, domain: str, service: str, data: Mapping[str, Any]) -> set[str]:
        """Return the entities that an action's data selects."""
        hass = self._hass
        if domain == "script" and service not in _TURNS:
            return {er.async_get(hass).async_get_entity_id(domain, domain, service) or f"{domain}.{service}"}
        if data.get(ATTR_ENTITY_ID) == ENTITY_MATCH_ALL:
            return set(hass.states.async_entity_ids(domain))
        named = data.get(ATTR_ENTITY_ID)
        if isinstance(named, list) and data.keys().isdisjoint(_PLACES) and all(isinstance(one, str) for one in named):
            # Our own actions pass plain entity ids, so no target has to be resolved.
            found = SelectedEntities(referenced=set(named))
        else:
            found = async_extract_referenced_entity_ids(hass, TargetSelection(dict(data)))
        registry = er.async_get(hass)
        # Of an area, device or label, an action affects only entities of its own domain or integration.
        inner = {
            entity_id
            for entity_id in found.indirectly_referenced
            if entity_id.startswith(f"{domain}.")
            or ((entry := registry.async_get(entity_id)) and entry.platform == domain)
        }
        joined = data.get("group_members", ())
        return {entity_id.lower() for entity_id in found.referenced | inner} | {
            entity_id for entity_id in (joined if isinstance(joined, list) else ()) if isinstance(entity_id, str)
        }

    def _add(self, entity_id: str, action: str, data: Mapping[str, Any], *, is_known: bool) -> None:
        """Add one entity. On a repeated action, the first state before stays, and the desired state is the last one."""
        if (now := self._hass.states.get(entity_id)) is None:
            return
        wanted, lasting = wanted_of(action, data, now), lasting_of(action, now)
        if (act := self._acts.get(entity_id)) is None:
            self._acts[entity_id] = Act(now, now, wanted, lasting, is_known)
            return
        earlier = act.wanted
        if earlier and wanted is not None and earlier.get(STATE) == wanted.get(STATE, earlier.get(STATE)):
            wanted = earlier | wanted
        act.since, act.wanted, act.lasting = now, wanted, act.lasting or lasting
        act.is_all_known &= is_known


@contextmanager
def recording(
    hass: HomeAssistant,
    journal: Journal,
    exposure: Exposure,
    caller: Caller,
    recorded: Recording,
    *,
    entry_id: str | None,
) -> Iterator[None]:
    """Record in the journal what a call changes, also when it fails.

    These are exposed entities that the call acts on in the caller's context and that changed or are about to, and
    changes that the tool adds. entry_id is the entry of the options.
    """
    listener = _Listener(hass, caller.context.id if caller.context else "", recorded.acts)
    stops = (
        hass.bus.async_listen(EVENT_CALL_SERVICE, listener.on_action),
        hass.bus.async_listen(EVENT_AUTOMATION_TRIGGERED, listener.on_triggered),
    )
    try:
        yield
    except Exception:
        recorded.failed = True
        raise
    finally:
        for stop in stops:
            stop()
        if kept := _kept(hass, exposure, recorded):
            details = {STATES: dict(list(kept.items())[:MAX_STATES]), "more": max(0, len(kept) - MAX_STATES)}
            recorded.changes.append(Change(ASPECTS, recorded.what, details))
        for change in recorded.changes:
            change.assistant, change.conversation_id = caller.assistant, caller.conversation_id
            change.user_id, change.device_id = caller.user_id, caller.device_id
            change.entry_id = entry_id
            journal.add(change)


def _kept(hass: HomeAssistant, exposure: Exposure, recorded: Recording) -> dict[str, Any]:
    """Return the values of each entity that undo needs, without entities that did not change."""
    kept: dict[str, Any] = {}
    for entity_id, act in sorted(recorded.acts.items()):
        now = hass.states.get(entity_id)
        if now is None or is_group(hass, entity_id) or not exposure.is_exposed(entity_id):
            continue
        aspects = {
            aspect.name: found
            for aspect in aspects_of(act.before)
            if (found := _changed(aspect, act, now, failed=recorded.failed))
        }
        lasting = None if recorded.failed and now is act.before else act.lasting
        if aspects or lasting:
            thing = identity_of(hass, entity_id)
            more = {"lasting": lasting, "thing": thing}
            kept[entity_id] = {"aspects": aspects, **{key: value for key, value in more.items() if value}}
    # Scripts and the like cannot be undone themselves. They are left out if the entities that they changed are stored.
    run = {
        entity_id for entity_id, found in kept.items() if not found["aspects"] and entity_id.split(".")[0] in ONLY_RUN
    }
    return {entity_id: found for entity_id, found in kept.items() if entity_id not in run} or kept


def _changed(aspect: Aspect, act: Act, now: State, *, failed: bool) -> dict[str, Any] | None:
    """Return the old, current and desired value of an aspect; None if it did not change and is not about to."""
    before, after = aspect.read(act.before), aspect.read(now)
    wanted: dict[str, list[Any]] = {}
    for name, value in (act.wanted or {}).items():
        if name not in aspect.reads or (value is ANOTHER and act.before.domain not in SLOW):
            continue
        # An empty list means any value.
        wanted[name] = [] if value is ANOTHER else sorted(value) if isinstance(value, frozenset) else [value]
    coming = not failed and any(before.get(name) not in values for name, values in wanted.items())
    if before == after and not coming:
        return None
    if len(str(before)) > MAX_ATTRIBUTE:
        return None
    kept = {"before": before, "after": after, **({"wanted": wanted} if coming else {})}
    try:
        json_bytes(kept)
    except TypeError:
        return None  # An attribute that JSON cannot encode would prevent storing the whole journal.
    return kept
