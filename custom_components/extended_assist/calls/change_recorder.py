"""What a call acts on: heard by the context that is the call's own, and recorded so that it can be undone."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from homeassistant.components.automation import EVENT_AUTOMATION_TRIGGERED
from homeassistant.const import ATTR_ENTITY_ID, ENTITY_MATCH_ALL, EVENT_CALL_SERVICE
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, Event, HomeAssistant, State, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.json import json_bytes
from homeassistant.helpers.target import SelectedEntities, TargetSelection, async_extract_referenced_entity_ids

from ..exposure.domains import ONLY_RUN
from ..exposure.entities import Exposure
from ..exposure.groups import is_group, members_of
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
"""Seconds in which a state may follow an action; slower devices are reported as not there yet."""

_PLACES = frozenset(TARGETS) - {ATTR_ENTITY_ID}
_TURNS = frozenset({"turn_on", "turn_off", "toggle"})


@dataclass(slots=True)
class Act:
    """What a call did to one entity."""

    before: State
    """How it was before the call."""
    since: State
    """How it was when it was last acted on."""
    wanted: Wanted | None
    """What it is to be; None where that cannot be known."""
    lasting: str | None
    """What of it cannot be taken back."""
    is_all_known: bool = True
    """Whether what it is to be is all that was asked for."""
    _known: tuple[State | None, State, Wanted | None, Status] | None = None
    """The status that was computed last, with all that it depends on: several ask for it, of many entities."""

    def status(self, hass: HomeAssistant) -> Status:
        """Return the status of the entity."""
        now = hass.states.get(self.before.entity_id)
        if (known := self._known) and known[0] is now and known[1] is self.since and known[2] is self.wanted:
            return known[3]
        status = status_of(self.since, now, self.wanted)
        self._known = now, self.since, self.wanted, status
        return status

    def is_settled(self, hass: HomeAssistant) -> bool:
        """Return whether waiting longer would tell no more of the entity."""
        return is_settled(self.since, hass.states.get(self.before.entity_id), self.wanted, self.status(hass))

    def is_seen(self, hass: HomeAssistant) -> bool:
        """Return whether the entity itself tells that all of it was done."""
        now = hass.states.get(self.before.entity_id)
        return self.is_all_known and is_seen(self.since, now, self.wanted, self.status(hass))


@dataclass(frozen=True, slots=True)
class Due:
    """The next time of a scheduled task."""

    moment: float | None
    """Seconds since the epoch; None where only something that happens sets it off."""


@dataclass(slots=True)
class Recording:
    """What one call does: the entities that it acts on, and what its tool adds."""

    what: str = ""
    acts: dict[str, Act] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    """Changes of other kinds than states."""
    failed: bool = False
    """Whether nothing more is to come of it."""
    is_complete: bool = False
    """Whether the tool says that it did all that it was to do."""
    is_agreed: bool = False
    """Whether the user was told what it would do, and said yes."""
    plan: Plan | None = None
    """What it would do, as far as that was looked at."""
    due: Due | None = None
    """The next time of the scheduled task that it made; None if it made none."""
    is_told: bool = True
    """Whether others may know of it: not what is remembered, or wanted by somebody for themselves."""
    _until: float | None = None

    async def async_settle(self, hass: HomeAssistant) -> None:
        """Wait until it is known what became of each entity, at most SETTLE_TIME in all."""
        if self._until is None:
            self._until = hass.loop.time() + SETTLE_TIME
        waiting = list(self.acts.values())

        def are_settled() -> bool:
            # Each new state is looked at: those that were settled before are looked at again only when all are.
            while waiting and waiting[-1].is_settled(hass):
                waiting.pop()
            if not waiting:
                waiting.extend(act for act in self.acts.values() if not act.is_settled(hass))
            return not waiting

        await async_until(hass, self.acts, are_settled, self._until)


async def async_until(
    hass: HomeAssistant, entity_ids: Iterable[str], is_over: Callable[[], bool], until: float
) -> None:
    """Wait until something is so of entities, at most until a time of the event loop; each new state is looked at."""
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
    """Hears the actions that are called in a call's own context, and by the automations that it triggers itself.

    What an automation does because something has changed is the user's own, and not what the call did.
    """

    def __init__(self, hass: HomeAssistant, context_id: str, acts: dict[str, Act]) -> None:
        """Take the context, and where acts are kept."""
        self._hass = hass
        self._contexts = {context_id}
        self._acts = acts

    @callback
    def on_triggered(self, event: Event[Any]) -> None:
        """Follow an automation that was triggered by an action."""
        if event.context.parent_id in self._contexts and event.data[ATTR_ENTITY_ID] in self._acts:
            self._contexts.add(event.context.id)

    @callback
    def on_action(self, event: Event[Any]) -> None:
        """Take note of the entities of an action."""
        if event.context.id not in self._contexts:
            return
        domain, service, data = event.data["domain"], event.data["service"], event.data["service_data"]
        # Those of Home Assistant itself call the actions of other domains, which are heard in turn.
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
        """Return the entities that an action means."""
        hass = self._hass
        if domain == "script" and service not in _TURNS:
            return {er.async_get(hass).async_get_entity_id(domain, domain, service) or f"{domain}.{service}"}
        if data.get(ATTR_ENTITY_ID) == ENTITY_MATCH_ALL:
            return set(hass.states.async_entity_ids(domain))
        named = data.get(ATTR_ENTITY_ID)
        if isinstance(named, list) and data.keys().isdisjoint(_PLACES) and all(isinstance(one, str) for one in named):
            found = SelectedEntities(referenced=set(named))  # As our own actions name them: nothing has to be found.
        else:
            found = async_extract_referenced_entity_ids(hass, TargetSelection(dict(data)))
        registry = er.async_get(hass)
        # What an area or a device holds is acted on where it is of the action's own kind.
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
        """Take note of one entity; what is acted on twice was what it was at first, and is to be what it was told last."""
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
    """Record what a call changes, also when it fails: what it acts on in the caller's context, and what its tool adds.

    Only exposed entities are kept, and of them what has become different, or is about to. entry_id is that of the options.
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
    """Return the values that undoing needs of each entity; nothing of those that nothing was done to."""
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
    # What only runs is nothing to bring back where what it did is kept for each entity.
    run = {
        entity_id for entity_id, found in kept.items() if not found["aspects"] and entity_id.split(".")[0] in ONLY_RUN
    }
    return {entity_id: found for entity_id, found in kept.items() if entity_id not in run} or kept


def _changed(aspect: Aspect, act: Act, now: State, *, failed: bool) -> dict[str, Any] | None:
    """Return the old, the present and the wanted value of an aspect; None where it is as it was and stays so."""
    before, after = aspect.read(act.before), aspect.read(now)
    wanted: dict[str, list[Any]] = {}
    for name, value in (act.wanted or {}).items():
        if name not in aspect.reads or (value is ANOTHER and act.before.domain not in SLOW):
            continue
        # Nothing stands for any value.
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
        return None  # An attribute that is an object: with it, nothing of the journal could be stored.
    return kept
