"""What happened of the household's tasks, as events and in the logbook."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done

from custom_components.extended_assist.const import EVENT_HAPPENED
from custom_components.extended_assist.scheduled.lifecycle import Ending
from custom_components.extended_assist.scheduled.manager import ScheduledTasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask
from homeassistant.components.logbook.processor import EventProcessor
from homeassistant.components.recorder import Recorder
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util

from .shown import EVENTS, async_set_up_home, make_task, now

type Happen = Callable[[ScheduledTask, float, Ending, str], None]


@pytest.fixture
def happen(monkeypatch: pytest.MonkeyPatch) -> Happen:
    """Return a function that tells what listens to the keeper what became of a task."""
    listeners: set[Happen] = set()
    listen = ScheduledTasks.async_listen_happened

    def watched(self: ScheduledTasks, listener: Happen) -> Callable[[], None]:
        stop = listen(self, listener)
        listeners.add(listener)
        return lambda: (listeners.discard(listener), stop())[1]

    def tell(task: ScheduledTask, moment: float, kind: Ending, result: str) -> None:
        for listener in listeners:
            listener(task, moment, kind, result)

    monkeypatch.setattr(ScheduledTasks, "async_listen_happened", watched)
    return tell


def attributes(hass: HomeAssistant) -> dict[str, Any]:
    """Return what the event entity tells."""
    state = hass.states.get(EVENTS)
    assert state
    return {key: state.attributes.get(key) for key in ("event_type", "name", "result")}


@pytest.mark.parametrize("kind", [*Ending])
@pytest.mark.usefixtures("assist")
async def test_kinds(hass: HomeAssistant, happen: Happen, kind: Ending) -> None:
    """Each way in which an occurrence can end is an event of its own, with name and result, whatever words that has."""
    entry = await async_set_up_home(hass)
    assert hass.states.get(EVENTS).state == "unknown"
    happen(make_task(entry, "Bins"), now(), kind, "not done: it failed")
    assert attributes(hass) == {"event_type": kind.value, "name": "Bins", "result": "not done: it failed"}


@pytest.mark.usefixtures("assist")
async def test_the_households_only(hass: HomeAssistant, happen: Happen) -> None:
    """What a user wished for alone, or what is another entry's, is told neither by state nor by event."""
    entry, other = await async_set_up_home(hass), await async_set_up_home(hass, title="Cabin")
    fired = async_capture_events(hass, EVENT_HAPPENED)
    happen(make_task(entry, "Present", user_id="anna"), now(), Ending.HAPPENED, "said")
    assert hass.states.get(EVENTS).state == "unknown"
    happen(make_task(other, "Wood"), now(), Ending.HAPPENED, "said")
    assert hass.states.get(EVENTS).state == "unknown"
    assert [event.data["name"] for event in fired] == ["Wood"]
    happen(make_task(entry, "Bins"), now(), Ending.HAPPENED, "said")
    assert attributes(hass)["name"] == "Bins"
    assert fired[1].context.id == hass.states.get(EVENTS).context.id
    assert await hass.config_entries.async_unload(entry.entry_id)
    happen(make_task(entry, "Milk"), now(), Ending.HAPPENED, "said")
    assert [event.data["name"] for event in fired] == ["Wood", "Bins"]


@pytest.mark.usefixtures("assist")
async def test_the_same_twice(hass: HomeAssistant, happen: Happen, freezer: FrozenDateTimeFactory) -> None:
    """What happens again is another event, however alike."""
    entry = await async_set_up_home(hass)
    happen(make_task(entry, "Bins"), now(), Ending.HAPPENED, "said")
    first = hass.states.get(EVENTS).state
    freezer.tick(timedelta(minutes=5))
    happen(make_task(entry, "Bins"), now(), Ending.HAPPENED, "said")
    assert hass.states.get(EVENTS).state > first


async def _async_entries(hass: HomeAssistant) -> list[dict[str, Any]]:
    """Return what the logbook tells of the last hour, without changes of states."""
    await async_wait_recording_done(hass)
    processor = EventProcessor(hass, (EVENT_HAPPENED,))
    end = dt_util.utcnow() + timedelta(minutes=1)
    found = await hass.async_add_executor_job(processor.get_events, end - timedelta(hours=1), end)
    return [entry for entry in found if entry.get("domain") == "extended_assist"]


@pytest.mark.parametrize(("language", "message"), [("en", "failed: {}"), ("de", "fehlgeschlagen: {}")])
async def test_logbook(
    recorder_mock: Recorder, hass: HomeAssistant, assist: None, happen: Happen, language: str, message: str
) -> None:
    """The logbook tells by name what became of the household's tasks, in the language of the home, and of no others."""
    hass.config.language = language
    events_id = {"en": EVENTS, "de": "event.home_fur_spater"}[language]
    assert await async_setup_component(hass, "logbook", {})
    entry: MockConfigEntry = await async_set_up_home(hass)
    result = "not done: it failed unexpectedly"
    happen(make_task(entry, "Present", user_id="anna"), now(), Ending.FAILED, result)
    happen(make_task(entry, "Bins"), now(), Ending.FAILED, result)
    (told,) = await _async_entries(hass)
    assert (told["name"], told["message"]) == ("Bins", message.format(result))
    assert told["entity_id"] == events_id
    # Told in other words when they are unknown, rather than not at all.
    hass.bus.async_fire(EVENT_HAPPENED, {"name": "Bins", "kind": "odd", "result": "", "entity_id": events_id})
    assert [told["message"] for told in await _async_entries(hass)] == [message.format(result), "odd"]
