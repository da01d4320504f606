"""A scripted month, lived through by a real Home Assistant whose clock goes from one thing that is due to the next."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Future, wait
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
import math
from pathlib import Path
from socket import socket
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_test_home_assistant

from homeassistant.components.automation import EVENT_AUTOMATION_TRIGGERED
from homeassistant.core import CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import frame
from homeassistant.setup import async_setup_component

from .scripted import CALENDAR, Life, Month

LATITUDE, LONGITUDE = 52.5, 13.4
_LATE = 3e-4
"""Seconds by which a timer is late at least: what counts the time is rounded."""
_APART = 2.5e-7
"""Seconds between timers that are set for the same moment, one after the other: time goes on in a real life."""
_MOST_APART = 1_000


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run of an automation."""

    moment: float
    automation: str
    because: str


class Clock:
    """The frozen clock of a month."""

    def __init__(self, frozen: FrozenDateTimeFactory) -> None:
        """Take what freezes the clock; the event loop goes by it, too."""
        self._frozen = frozen

    def set(self, moment: float) -> None:
        """Let it be a moment, rounded up: no timer is called too early."""
        microseconds = math.ceil(moment * 1e6)
        self._frozen.move_to(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds))
        # As the frozen clock says it; to ask that one takes a third of all time, as often as the loop does.
        moment = microseconds // 1_000_000 + microseconds % 1_000_000 / 1e6
        vars(asyncio.get_running_loop())["time"] = lambda: moment

    async def advance(self, until: float) -> None:
        """Let everything happen that is due up to a moment, each at its time."""
        loop: Any = asyncio.get_running_loop()
        await settle()
        while True:
            # What was cancelled leaves the heap when the loop comes to it.
            due = loop._scheduled[0].when() if loop._scheduled else math.inf
            if due > until:
                break
            self.set(max(due, loop.time()) + _LATE)
            await settle()
        self.set(until)
        await settle()


async def settle() -> None:
    """Let the event loop do all that can be done now."""
    loop: Any = asyncio.get_running_loop()
    rounds = 3
    while rounds:
        await asyncio.sleep(0)
        rounds = max(rounds - 1, bool(loop._ready))


@contextmanager
def no_time_in_threads() -> Iterator[None]:
    """Wait for whatever is done in a thread: it takes no time of a clock that stands still."""
    executor: Any = asyncio.get_running_loop()._default_executor  # type: ignore[attr-defined] # it may not be set
    submit = executor.submit

    def submitted(*args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = submit(*args, **kwargs)
        wait([future])
        return future

    executor.submit = submitted
    try:
        yield
    finally:
        del executor.submit


@asynccontextmanager
async def life(month: Month, one: Life, clock: Clock, home: Path) -> AsyncGenerator[HomeAssistant]:
    """Begin a life of Home Assistant, which has not started yet, in a folder of its own."""
    clock.set(one.begin)
    async with async_test_home_assistant(config_dir=str(home), initial_state=CoreState.not_running) as hass:
        frame.async_setup(hass)
        await hass.config.async_set_time_zone(month.zone)
        _set_timers_apart(hass)
        hass.config.latitude, hass.config.longitude = LATITUDE, LONGITUDE
        try:
            yield hass
        finally:
            await settle()
            for task in [*hass._tasks, *hass._background_tasks]:
                task.cancel()
            await hass.async_stop(force=True)
            loop: Any = asyncio.get_running_loop()
            # A process ends with all that it had still to do.
            for handle in loop._scheduled:
                handle.cancel()
            vars(loop).pop("time", None)


def _set_timers_apart(hass: HomeAssistant) -> None:
    """Let what is set first be due first."""
    loop: Any = hass.loop
    call_at = type(loop).call_at
    moment, number = 0.0, 0

    def called_at(when: float, *args: Any, **kwargs: Any) -> Any:
        nonlocal moment, number
        number = number + 1 if moment == loop.time() else 0
        moment = loop.time()
        return call_at(loop, when + min(number, _MOST_APART) * _APART, *args, **kwargs)

    loop.call_at = called_at


async def live_through(hass: HomeAssistant, month: Month, one: Life, clock: Clock, busy: Any = None) -> None:
    """Let a life pass: its entities say what they say, it starts, and it goes on until just before its end."""
    is_started = False
    for number, said in enumerate(month.within(one)):
        if not is_started and said.moment > one.started:
            is_started = True
            await clock.advance(one.started)
            await hass.async_start()
        await clock.advance(said.moment)
        if said.state is None:
            hass.states.async_remove(said.entity_id)
        else:
            hass.states.async_set(said.entity_id, said.state, said.attributes, said.force)
        if busy and is_started and number % 5_000 == 4_999:
            await busy()
    if not is_started:
        await clock.advance(one.started)
        await hass.async_start()
    await clock.advance(one.end)


async def lived(month: Month, clock: Clock, automations: list[dict[str, Any]], home: Path) -> list[LiveRun]:
    """Return the runs of automations in a month."""
    runs: list[LiveRun] = []

    @callback
    def ran(event: Event) -> None:
        runs.append(LiveRun(hass.loop.time(), event.data["name"], event.data.get("source", "")))

    for one in month.lives:
        async with life(month, one, clock, home) as hass:
            await async_set_up(hass, len(automations))
            await async_set_up_calendar(hass, month)
            hass.bus.async_listen(EVENT_AUTOMATION_TRIGGERED, ran)
            assert await async_setup_component(hass, "automation", {"automation": automations})
            assert len(hass.states.async_entity_ids("automation")) == len(automations)
            with no_time_in_threads():
                await live_through(hass, month, one, clock)
    return runs


async def async_set_up(hass: HomeAssistant, count: int) -> None:
    """Set up what automations set: a helper for each."""
    assert await async_setup_component(hass, "homeassistant", {})
    helpers = {f"out_{number}": {"initial": False} for number in range(count)}
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": helpers})
    await settle()


async def async_set_up_calendar(hass: HomeAssistant, month: Month) -> None:
    """Set up a calendar of Home Assistant's own, which is not looked at every half a minute."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert await async_setup_component(hass, "http", {"http": {"server_host": "127.0.0.1", "server_port": port}})
    _write(Path(hass.config.path(".storage/home.ics")), month.events)
    data = {"calendar_name": "Home", "storage_key": "home"}
    entry = MockConfigEntry(domain="local_calendar", data=data, pref_disable_polling=True)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await settle()
    assert hass.states.get(CALENDAR)


def _write(path: Path, text: str) -> None:
    """Write a file of a home."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
