"""A house whose tasks are fulfilled at a known time, and what is told of them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calls import change_recorder
from custom_components.extended_assist.scheduled import execution, lifecycle
from custom_components.extended_assist.scheduled.manager import ScheduledTasks, async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import Owner, ScheduledTask, What, When
from custom_components.extended_assist.scheduled.store import KEY
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.util import dt as dt_util

LAMP = "light.bed_light"
PARTY = "input_boolean.party"
TURN_ON = {"action": "light.turn_on", "entity_ids": [LAMP], "data": {}, "targeted": True}
PARTY_BEGINS = {"trigger": "state", "entity_id": PARTY, "to": "on"}

type Later = Callable[[float], Awaitable[None]]
type Add = Callable[..., Awaitable[ScheduledTask]]


@dataclass
class Told:
    """What was told, instead of by satellites and phones."""

    words: list[str] = field(default_factory=list)
    answerable: list[bool] = field(default_factory=list)
    reaches: bool = True
    """Whether a device takes what is said."""

    async def async_deliver(self, _hass: HomeAssistant, _task: ScheduledTask, words: str, *, answerable: bool) -> bool:
        """Take words as a device does."""
        self.words.append(words)
        self.answerable.append(answerable)
        return self.reaches


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Return what is told."""
    told = Told()
    monkeypatch.setattr(execution, "async_deliver", told.async_deliver)
    return told


@pytest.fixture
async def home(
    hass: HomeAssistant, house: None, freezer: FrozenDateTimeFactory, told: Told, monkeypatch: pytest.MonkeyPatch
) -> MockConfigEntry:
    """Return a loaded entry that holds tools only, at a known time: 2026-03-02, a Monday, 12:00 in Berlin."""
    # While the clock stands still, nothing would end the wait for a device.
    monkeypatch.setattr(change_recorder, "SETTLE_TIME", 0.0)
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-03-02T11:00:00+00:00")
    entry = MockConfigEntry(domain="extended_assist", data={}, options={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


@pytest.fixture
def later(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Later:
    """Return a function that lets seconds go by."""

    async def go_by(seconds: float) -> None:
        freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(hass)
        await hass.async_block_till_done()

    return go_by


@pytest.fixture
def add(hass: HomeAssistant, home: MockConfigEntry) -> Add:
    """Return a function that lets a task stand."""

    async def stand(after: float | None = None, *, say: str | None = "The milk!", **parts: Any) -> ScheduledTask:
        task = a_task(home.entry_id, after, say=say, **parts)
        await (await async_get_scheduled_tasks(hass)).async_add(task)
        await hass.async_block_till_done()
        return task

    return stand


def now() -> float:
    """Return the moment that it is."""
    return dt_util.utcnow().timestamp()


def a_task(
    entry_id: str,
    after: float | None = None,
    *,
    say: str | None = "The milk!",
    user_id: str | None = None,
    **parts: Any,
) -> ScheduledTask:
    """Return a task that is due in some seconds, or by other parts."""
    owner = Owner(entry_id, "extended_assist", "conversation", "en", None, user_id)
    when = parts.pop("when", None) or When(moment=None if after is None else now() + after)
    what = What(say=say, ask=parts.pop("ask", None), actions=parts.pop("actions", []))
    return ScheduledTask(name=parts.pop("name", "milk"), owner=owner, when=when, what=what, **parts)


def crowd(tasks: ScheduledTasks, made: Iterable[ScheduledTask]) -> None:
    """Let many tasks stand, to be stored with the next one: one after the other, each stores all that stand before it."""
    for task in made:
        lifecycle.expect(task, now())
        tasks._store.tasks[task.id] = task


async def async_restart(hass: HomeAssistant, entry: MockConfigEntry) -> ScheduledTasks:
    """Forget everything in memory, and set the entry up again as a started Home Assistant does."""
    if entry.state.recoverable:
        assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()
    hass.data.pop("extended_assist_wishes")  # type: ignore[call-overload]
    hass.set_state(CoreState.starting)
    assert await hass.config_entries.async_setup(entry.entry_id)
    hass.set_state(CoreState.running)
    hass.bus.async_fire("homeassistant_started")
    await hass.async_block_till_done()
    return await async_get_scheduled_tasks(hass)


def on_disk(hass_storage: dict[str, Any], task: ScheduledTask) -> dict[str, Any]:
    """Return a task as it is stored."""
    (found,) = [one for one in hass_storage[KEY]["data"]["wishes"] if one["id"] == task.id]
    return dict(found)
