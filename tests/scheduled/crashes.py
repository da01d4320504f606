"""Lives of a home that end in a crash at any step of what is stored, done and said, one after the other on the same disk."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
import random
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.extended_assist.scheduled import execution
from custom_components.extended_assist.scheduled.lifecycle import MAX_SAID
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.parts import chained
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Until, When
from custom_components.extended_assist.scheduled.store import KEY
from homeassistant import loader
from homeassistant.core import CoreState, HomeAssistant, ServiceRegistry
from homeassistant.helpers import frame, translation
from homeassistant.helpers.storage import Store
from homeassistant.setup import async_setup_component

from ..conftest import expose
from .keeping import a_task, now

SWITCH, SIGN = "input_boolean.switch", "input_boolean.sign"
ENTRY = "the entry"
SAYS = "The milk!"
TURN_ON = {"action": "input_boolean.turn_on", "entity_ids": [SWITCH], "data": {}, "targeted": True}
KINDS = ("say", "act", "both", "steps", "trigger", "rule", "done", "parts")
MOST_STEPS = 9
"""Steps of a life in which a task is fulfilled once, and a few more."""


@dataclass
class World:
    """What lasts over the crashes: the disk, the clock, and what was done and said outside of the home."""

    disk: dict[str, Any]
    clock: FrozenDateTimeFactory
    actions: int = 0
    services: list[str] = field(default_factory=list)
    """The names of these actions."""
    said: list[str] = field(default_factory=list)
    left: int | None = None
    """Steps until the next crash."""
    is_dead: bool = False
    crashes: int = 0
    halves: int = 0
    """Crashes between the beginning of an occurrence and what became of it."""
    places: list[str] = field(default_factory=list)
    """Where it crashed."""

    def step(self, place: str) -> None:
        """Go on, or crash here: from then on, nothing gets out of this life."""
        if not self.is_dead and self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.is_dead = True
                self.crashes += 1
                self.places.append(place)
                self.halves += any(one["progress"]["begun"] is not None for one in self.stored())
        if self.is_dead:
            raise asyncio.CancelledError

    def stored(self) -> list[dict[str, Any]]:
        """Return the tasks on the disk."""
        return list(self.disk.get(KEY, {"data": {"wishes": []}})["data"]["wishes"])

    @contextmanager
    def watched(self) -> Iterator[None]:
        """See every step: what is stored, done and said."""
        write, call = Store._async_write_data, ServiceRegistry.async_call

        async def watched_write(store: Store[Any], data: dict[str, Any]) -> None:
            if store.key == KEY:
                self.step("before storing")
            await write(store, data)
            if store.key == KEY:
                self.step("after storing")

        async def watched_call(registry: ServiceRegistry, domain: str, service: str, *args: Any, **kwargs: Any) -> Any:
            if domain != "input_boolean":
                return await call(registry, domain, service, *args, **kwargs)
            self.step("before acting")
            self.actions += 1
            self.services.append(service)
            answer = await call(registry, domain, service, *args, **kwargs)
            self.step("after acting")
            return answer

        async def deliver(_hass: HomeAssistant, _task: ScheduledTask, words: str, *, answerable: bool) -> bool:
            self.step("before saying")
            self.said.append(words)
            self.step("after saying")
            return True

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(Store, "_async_write_data", watched_write)
            monkeypatch.setattr(ServiceRegistry, "async_call", watched_call)
            monkeypatch.setattr(execution, "async_deliver", deliver)
            monkeypatch.setattr("custom_components.extended_assist.calls.change_recorder.SETTLE_TIME", 0.02)
            monkeypatch.setattr("custom_components.extended_assist.scheduled.run_actions.PATIENCE", 0.02)
            yield

    @asynccontextmanager
    async def life(self) -> AsyncGenerator[HomeAssistant]:
        """Start Home Assistant on the disk; at the end it is abandoned as it is."""
        self.is_dead = False
        async with async_test_home_assistant(initial_state=CoreState.starting) as hass:
            frame.async_setup(hass)
            await translation.async_load_integrations(hass, {"homeassistant"})
            hass.data.pop(loader.DATA_CUSTOM_COMPONENTS)
            await hass.config.async_set_time_zone("Europe/Berlin")
            for domain, config in {
                "homeassistant": {},
                "conversation": {},
                "input_boolean": {"switch": {"initial": False}, "sign": {"initial": False}},
            }.items():
                assert await async_setup_component(hass, domain, {domain: config})
            expose(hass, SWITCH, SIGN)
            entry = MockConfigEntry(domain="extended_assist", entry_id=ENTRY)
            entry.add_to_hass(hass)
            assert await hass.config_entries.async_setup(ENTRY)
            hass.set_state(CoreState.running)
            hass.bus.async_fire("homeassistant_started")
            await hass.async_block_till_done()
            try:
                yield hass
            finally:
                self.is_dead = True
                for task in [*hass._tasks, *hass._background_tasks]:
                    task.cancel()
                await hass.async_stop(force=True)

    async def pass_by(self, hass: HomeAssistant, seconds: float) -> None:
        """Let time pass."""
        self.clock.tick(timedelta(seconds=seconds))
        if not self.is_dead:
            async_fire_time_changed(hass)
            await hass.async_block_till_done()


async def async_live(world: World, seed: int, kind: str = "", *, left: int | None = None) -> str:
    """Let a task come due in several lives, and return what must not be; empty for nothing.

    With `left`, there is one crash, after so many steps.
    """
    chance = random.Random(seed)
    kind = kind or KINDS[seed % len(KINDS)]
    async with world.life() as hass:
        tasks = await async_get_scheduled_tasks(hass)
        task = _task(kind)
        await tasks.async_add(task)
    for _ in range(chance.choice((1, 1, 2, 3)) if left is None else 1):
        world.left = chance.randrange(MOST_STEPS) if left is None else left
        async with world.life() as hass:
            await _async_go_on(world, hass, kind, chance, times=4 if left is None else 12)
        world.clock.tick(timedelta(seconds=chance.choice((1, 20, 60, 90))))
    world.left = None
    async with world.life() as hass:
        await _async_go_on(world, hass, kind, chance, times=24)
    ended, *following = world.stored()
    if any(one["progress"]["ended"] is None for one in following):
        return f"{kind}: what follows did not come to its end: {following}"
    if ended["progress"]["ended"] is None or ended["progress"]["begun"] is not None:
        return f"{kind}: it did not come to its end: {ended['progress']}"
    problem = _problem(world, kind, ended["progress"])
    return problem and f"{kind}, crashed {' and '.join(world.places)}: {problem}"


def _task(kind: str) -> ScheduledTask:
    """Return a task of a kind, due soon."""
    if kind == "parts":
        switch = [{"action": f"input_boolean.turn_{how}", "target": {"entity_id": SWITCH}} for how in ("on", "off")]
        task = a_task(ENTRY, 60, say=None)
        task.what = chained([switch[0], {"delay": 60}, switch[1]], None, None, "action")
        return task
    parts: dict[str, Any] = {"say": None if kind in ("act", "steps") else SAYS}
    if kind in ("act", "both", "trigger"):
        parts["actions"] = [TURN_ON]
    if kind == "steps":
        parts["actions"] = [{"action": "input_boolean.turn_on", "target": {"entity_id": SWITCH}}, {"delay": 0}]
    if kind == "trigger":
        triggers = [{"trigger": "state", "entity_id": SIGN, "to": "on"}]
        return a_task(ENTRY, when=When(triggers=triggers, wait=30), until=Until(times=1), **parts)
    if kind == "rule":
        parts |= {
            "when": When(rule="FREQ=DAILY", start="2026-03-01T07:00:00"),
            "until": Until(moment=now() + 4.5 * 86400),
        }
        return a_task(ENTRY, **parts)
    return a_task(ENTRY, 60, until=Until(done=kind == "done"), **parts)


async def _async_go_on(world: World, hass: HomeAssistant, kind: str, chance: random.Random, times: int) -> None:
    """Let time pass, and something happen where a task waits for it."""
    for _ in range(times):
        if world.is_dead:
            return
        stored, *_ = world.stored()
        if kind == "trigger" and stored["progress"]["due"] is None and not stored["progress"]["times"]:
            hass.states.async_set(SIGN, "off")
            hass.states.async_set(SIGN, "on")
            await hass.async_block_till_done()
        span = {"rule": (6 * 3600, 12 * 3600), "done": (300, 610)}.get(kind, (5, 40))
        await world.pass_by(hass, chance.uniform(*span))


def _problem(world: World, kind: str, progress: dict[str, Any]) -> str:
    """Return what is wrong with what was done and said."""
    if kind == "parts":
        return _problem_of_parts(world)
    said = len([words for words in world.said if SAYS in words])
    acts = kind in ("act", "both", "steps", "trigger")
    if world.actions > acts:
        return f"done {world.actions} times"
    if acts and world.actions + len(world.said) == 0:
        return "neither done nor told"
    if kind == "rule":
        missed = sum(int(words.rpartition(" ")[2].rstrip(".")) for words in world.said if "earlier" in words)
        days = said + missed
        return "" if days == 4 or (world.halves and 4 <= days <= 4 + world.halves) else f"told of {days} of 4 days"
    if kind == "done":
        return "" if MAX_SAID <= said <= MAX_SAID + world.crashes else f"said {said} times"
    if not world.halves:
        is_right = (world.actions, said) == (int(acts), int(kind not in ("act", "steps")))
        return "" if is_right and len(world.said) == said else f"done {world.actions} times, said {world.said}"
    # Words beside an action are not said where nobody knows whether it was done; that is told instead.
    if not int(kind == "say") <= said <= 1 + world.halves:
        return f"said {said} times"
    again = [words for words in world.said if "already" in words or "had begun" in words]
    return "" if again else f"not told that it was begun before: {world.said}"


def _problem_of_parts(world: World) -> str:
    """Return what is wrong with what was turned on, and off again after a delay."""
    done = [world.services.count(name) for name in ("turn_on", "turn_off")]
    if max(done) > 1:
        return f"done {done} times"
    if not world.halves:
        return "" if done == [1, 1] and not world.said else f"done {done} times, said {world.said}"
    if done == [1, 0] and len([words for words in world.said if "had begun" in words]) == 0:
        return "not turned off again, and not told"
    return "" if world.said else "not told that it was begun before"
