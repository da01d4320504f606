"""Whether the rehearsals of automations over a recorded month agree with what they did in the same month."""

from dataclasses import replace
import math
from pathlib import Path
from typing import Any

from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.recorder import async_read
from custom_components.extended_assist.results import texts_in
from custom_components.extended_assist.simulation.calendars import async_events
from custom_components.extended_assist.simulation.historical_state import SimulationOutcome
from custom_components.extended_assist.simulation.run import Rehearsed, RehearsedSpan, rehearse
from homeassistant.components.automation.config import async_validate_config_item
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.components.recorder import Recorder, get_instance
from homeassistant.core import HomeAssistant
from homeassistant.helpers.recorder import async_initialize_recorder
from homeassistant.setup import async_setup_component

from .living import Clock, LiveRun, async_set_up, async_set_up_calendar, life, live_through, lived, settle
from .random_automations import Maker
from .scripted import CALENDAR, ENTITIES, month

ASSISTANT = "conversation"
SAME = 0.01
"""Seconds within which two things are due at the same moment."""
NEAR = 0.6
"""Seconds by which Home Assistant's clocks may be late."""


async def disagreements(seed: int, count: int, days: float, clock: Clock, home: Path) -> tuple[int, list[str]]:
    """Return how many runs were compared, and what differs between rehearsal and life."""
    scripted = month(seed, days)
    maker = Maker(seed)
    automations = [maker.automation(number) for number in range(count)]
    runs = await lived(scripted, clock, automations, home)
    outcomes: dict[str, SimulationOutcome] = {}
    for index, one in enumerate(scripted.lives):
        async with life(scripted, one, clock, home) as hass:
            recorder = await _async_recorder(hass, f"sqlite:///{home}/home.db")
            await async_set_up(hass, count)
            await async_set_up_calendar(hass, scripted)
            await live_through(hass, scripted, one, clock, recorder.async_block_till_done)
            await recorder.async_block_till_done()
            if index == len(scripted.lives) - 1:
                outcomes = {
                    config["alias"]: await _rehearsed(hass, config, scripted.lives[0].begin, one.end)
                    for config in automations
                }
    wrong = []
    for config in automations:
        name = config["alias"]
        wrong += compared(name, config, [run for run in runs if run.automation == name], outcomes[name])
    return len(runs), wrong


async def _async_recorder(hass: HomeAssistant, url: str) -> Recorder:
    """Return a running recorder that keeps everything; it commits once an hour of the month."""
    async_initialize_recorder(hass)
    config = {"db_url": url, "commit_interval": 3600, "auto_purge": False, "purge_keep_days": 3650}
    assert await async_setup_component(hass, "recorder", {"recorder": config})
    await settle()
    return get_instance(hass)


async def _rehearsed(hass: HomeAssistant, config: dict[str, Any], start: float, end: float) -> SimulationOutcome:
    """Return the rehearsal of an automation."""
    await async_setup_component(hass, "homeassistant", {})
    hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities(ASSISTANT, True)
    async_expose_entity(hass, ASSISTANT, CALENDAR, should_expose=True)
    validated = await async_validate_config_item(hass, config["id"], config)
    assert validated is not None
    known = {text for text, _ in texts_in(config, keys=True)}
    own = {text for text in known if text.startswith("input_boolean.out_")}
    uses = frozenset(ENTITIES) | own
    subject = Rehearsed(config=validated, reads=uses, uses=dict.fromkeys(uses, frozenset()))
    exposure = Exposure(hass, ASSISTANT)
    events = await async_events(hass, exposure, validated, start, end)
    return await async_read(
        hass, rehearse, exposure, replace(subject, events=events), RehearsedSpan(start, end, math.inf)
    )


def compared(name: str, config: dict[str, Any], runs: list[LiveRun], outcome: SimulationOutcome) -> list[str]:
    """Return in words how a rehearsal differs from life."""
    live = _ordered([(run.moment, run.because) for run in runs])
    told = _ordered([(run.moment, run.description) for run in outcome.runs])
    for index in range(max(len(live), len(told))):
        one = live[index] if index < len(live) else None
        other = told[index] if index < len(told) else None
        if one is None or other is None or abs(one[0] - other[0]) > NEAR or one[1] != other[1]:
            about = f"{name}: {len(live)} live, {len(told)} rehearsed; run {index}: live {one}, rehearsed {other}"
            return [f"{about}; before {live[max(0, index - 2) : index]}\n{config}"]
    return []


def _ordered(runs: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return runs in an order that does not depend on which of those that are due at the same moment comes first."""
    groups: list[list[tuple[float, str]]] = []
    for run in sorted(runs):
        if groups and run[0] - groups[-1][-1][0] < SAME:
            groups[-1].append(run)
        else:
            groups.append([run])
    return [run for group in groups for run in sorted(group, key=lambda one: one[1])]
