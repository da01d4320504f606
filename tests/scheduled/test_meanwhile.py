"""Tests of what changes while a task is being fulfilled: it is ended, hidden, or its entry goes, and it is looked at again."""

import asyncio
from types import ModuleType
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.confirmation.phone_approval import PhoneAnswer
from custom_components.extended_assist.scheduled import execution, lifecycle, run_actions, scheduler
from custom_components.extended_assist.scheduled.lifecycle import Ending
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.ownership import LimitReachedError
from custom_components.extended_assist.scheduled.scheduled_task import (
    MAX_ENDED,
    Audience,
    Hearer,
    ScheduledTask,
    Until,
    When,
)
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from ..conftest import ASSISTANT
from ..helpers.acting import house
from .keeping import (
    LAMP,
    PARTY_BEGINS,
    TURN_ON,
    Add,
    Later,
    Told,
    a_task,
    add,
    async_restart,
    crowd,
    home,
    later,
    now,
    on_disk,
    told,
)

__all__ = ["add", "home", "house", "later", "told"]

LOCK = "lock.front_door"
UNLOCK = {"action": "lock.unlock", "entity_ids": [LOCK], "data": {}, "targeted": True}
UNLOCK_STEPS = [{"action": "lock.unlock", "target": {"entity_id": LOCK}}, {"delay": {"seconds": 0}}]


class Question:
    """A question from afar that waits until somebody answers it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ask it instead of the phones."""
        self.asked = asyncio.Event()
        self.answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        monkeypatch.setattr(run_actions, "async_can_ask", self._async_can_ask)
        monkeypatch.setattr(run_actions, "async_first_answer", self._async_ask)

    async def _async_can_ask(self, *_: Any) -> bool:
        return True

    async def _async_ask(self, _hass: HomeAssistant, user_ids: list[str], *_: Any, **__: Any) -> PhoneAnswer:
        self.asked.set()
        return PhoneAnswer(agreed=await asyncio.shield(self.answer), user_id=user_ids[0])

    async def async_answer(self, hass: HomeAssistant) -> None:
        """Say yes, and wait for what comes of it."""
        self.answer.set_result(True)
        await hass.async_block_till_done()


@pytest.fixture
async def question(monkeypatch: pytest.MonkeyPatch) -> Question:
    """Return the question that is asked from afar."""
    return Question(monkeypatch)


@pytest.fixture
def hearers(told: Told, monkeypatch: pytest.MonkeyPatch) -> list[Hearer]:
    """Return to whom something was told."""
    found: list[Hearer] = []

    async def deliver(hass: HomeAssistant, task: ScheduledTask, words: str, *, answerable: bool) -> bool:
        found.append(task.audience.hearer)
        return await told.async_deliver(hass, task, words, answerable=answerable)

    monkeypatch.setattr(execution, "async_deliver", deliver)
    return found


@pytest.fixture
async def ada(hass: HomeAssistant) -> str:
    """Return the id of a user."""
    await hass.auth.async_create_user("Owner")
    return (await hass.auth.async_create_user("Ada", group_ids=["system-users"])).id


async def async_ask(
    hass: HomeAssistant, add: Add, freezer: Any, question: Question, user_id: str, **parts: Any
) -> ScheduledTask:
    """Return a task whose question is shown."""
    task = await add(600, user_id=user_id, **({"say": None, "actions": [UNLOCK]} | parts))
    freezer.tick(601)
    (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
    await question.asked.wait()
    return task


async def async_reload(hass: HomeAssistant, entry: MockConfigEntry, options: dict[str, Any]) -> None:
    """Change options until the entry was unloaded and set up again, while something else goes on."""
    gone, back = asyncio.Event(), asyncio.Event()

    def note() -> None:
        if entry.state is not ConfigEntryState.LOADED:
            gone.set()
        elif gone.is_set():
            back.set()

    stop = entry.async_on_state_change(note)
    hass.config_entries.async_update_entry(entry, options=options)
    await back.wait()
    stop()


@pytest.mark.parametrize("actions", [[UNLOCK], UNLOCK_STEPS])
@pytest.mark.parametrize("change", ["ended", "hidden", "removed", "turned off", "nothing"])
async def test_yes_after_a_change(
    hass: HomeAssistant,
    home: MockConfigEntry,
    add: Add,
    told: Told,
    freezer: Any,
    question: Question,
    ada: str,
    change: str,
    actions: list[dict[str, Any]],
) -> None:
    """A yes releases what may still be done then: nothing that was ended, hidden, removed or turned off meanwhile."""
    task = await async_ask(hass, add, freezer, question, ada, actions=actions)
    tasks = await async_get_scheduled_tasks(hass)
    if change == "ended":
        await tasks.async_end(task.id, "cancelled")
    elif change == "hidden":
        async_expose_entity(hass, ASSISTANT, LOCK, False)
    elif change == "removed":
        # What is begun holds nobody up.
        await hass.config_entries.async_remove(home.entry_id)
    elif change == "turned off":
        await async_reload(hass, home, {"families": ["wishes"]})
    await question.async_answer(hass)
    assert hass.states.is_state(LOCK, "unlocked" if change == "nothing" else "locked")
    if change != "nothing":
        assert str(task.progress.result).startswith("not done: ")
        assert task.progress.begun is None
        assert "door" not in str(task.progress.result) + " ".join(told.words)
    if change == "ended":
        assert told.words == []


async def test_reloaded_while_begun(
    hass: HomeAssistant,
    hass_storage: dict[str, Any],
    home: MockConfigEntry,
    add: Add,
    told: Told,
    later: Later,
    freezer: Any,
    question: Question,
    ada: str,
) -> None:
    """What is begun when the options change comes to its end, once, and that is stored."""
    task = await async_ask(hass, add, freezer, question, ada)
    happened: list[Ending] = []
    (await async_get_scheduled_tasks(hass)).async_listen_happened(
        lambda _task, _moment, kind, _result: happened.append(kind)
    )
    await async_reload(hass, home, {"quiet_start": "22:00:00"})
    assert happened == []
    assert on_disk(hass_storage, task)["progress"]["begun"] is not None
    await question.async_answer(hass)
    await later(60)
    assert happened == [Ending.HAPPENED]
    stored = on_disk(hass_storage, task)["progress"]
    assert (stored["begun"], stored["times"]) == (None, 1)
    assert stored["ended"] is not None
    assert hass.states.is_state(LOCK, "unlocked")


async def test_unloaded_before_anything_is_done(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was about to be done when its entry was unloaded is done once that is there again."""
    tasks = await async_get_scheduled_tasks(hass)
    is_stored = tasks._store.async_is_stored

    async def unload(task: ScheduledTask) -> bool:
        monkeypatch.setattr(tasks._store, "async_is_stored", is_stored)
        assert await hass.config_entries.async_unload(home.entry_id)
        return await is_stored(task)

    task = await add(600, actions=[TURN_ON])
    monkeypatch.setattr(tasks._store, "async_is_stored", unload)
    await later(601)
    assert task.is_standing
    assert told.words == []
    assert await hass.config_entries.async_setup(home.entry_id)
    await hass.async_block_till_done()
    assert hass.states.is_state(LAMP, "on")
    assert told.words == ["The milk!"]


async def test_ended_before_it_is_said(
    hass: HomeAssistant, add: Add, later: Later, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody has ended while the assistant looked for an answer is not said."""

    async def answer(*_: Any) -> str:
        await (await async_get_scheduled_tasks(hass)).async_end(task.id, "cancelled")
        return "It rains."

    monkeypatch.setattr("custom_components.extended_assist.scheduled.execution.async_answer", answer)
    task = await add(600, say=None, ask="How is the weather?")
    await later(601)
    assert told.words == []
    assert task.progress.result == "not said: it was ended meanwhile"


@pytest.mark.parametrize("where", [scheduler, execution])
@pytest.mark.parametrize("actions", [[], [TURN_ON]])
async def test_ended_while_conditions_are_asked(
    hass: HomeAssistant,
    add: Add,
    later: Later,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
    where: ModuleType,
    actions: list[dict[str, Any]],
) -> None:
    """What somebody ends while its conditions are asked is neither done nor said."""
    tasks, ends = await async_get_scheduled_tasks(hass), []

    async def holds(*_: Any) -> bool:
        if not ends:
            ends.append(hass.async_create_task(tasks.async_end(task.id, "cancelled"), eager_start=True))
            assert not task.is_standing
        return True

    monkeypatch.setattr(where, "async_holds", holds)
    task = await add(600, actions=actions)
    await later(601)
    assert ends
    assert await ends[0] is task
    assert told.words == []
    assert hass.states.is_state(LAMP, "off")
    assert not task.is_standing
    assert task.progress.begun is None


@pytest.mark.parametrize("say", [None, "It is warm."])
async def test_condition_that_cannot_be_asked(
    hass: HomeAssistant, add: Add, later: Later, told: Told, say: str | None
) -> None:
    """A condition that nobody can answer does not hold: nothing is done or said for it, and that is told."""
    hass.states.async_set("input_number.heat", "unavailable")
    async_expose_entity(hass, ASSISTANT, "input_number.heat", True)
    cold = {"condition": "numeric_state", "entity_id": "input_number.heat", "below": 20}
    task = await add(600, say=say, actions=[TURN_ON], conditions=[cold])
    await later(601)
    assert hass.states.is_state(LAMP, "off")
    assert "not done" in str(task.progress.result)
    assert say not in told.words


async def test_too_late_for_the_action(add: Add, later: Later, told: Told) -> None:
    """Where it is too late for the action, the words beside it are not said; what the user is to do is said as late."""
    task = await add(600, actions=[TURN_ON])
    await later(600 + 1200)
    assert told.words == ["milk was due at 12:10. It was too late to do it then, so I did not."]
    assert task.progress.result == "not done: 20 minutes late is too late for an action"
    await add(600, actions=[TURN_ON], until=Until(done=True))
    await later(600 + 1200)
    assert told.words[-1].endswith("This was due at 12:40: The milk!")


@pytest.mark.parametrize("hearer", [Hearer.PERSON, Hearer.AREA])
async def test_audience_that_is_hidden(
    hass: HomeAssistant, add: Add, later: Later, told: Told, hearers: list[Hearer], hearer: Hearer
) -> None:
    """Nothing is said to a person or in an area that is hidden by now; the one who wanted it is told, without a name."""
    hass.states.async_set("person.ben", "home", {"friendly_name": "Ben"})
    target = "person.ben" if hearer is Hearer.PERSON else "cellar"
    task = await add(600, audience=Audience(hearer, target))
    async_expose_entity(hass, ASSISTANT, "person.ben", False)
    await later(601)
    assert "The milk!" not in " ".join(told.words)
    assert len(told.words) == 1
    assert str(task.progress.result).startswith("not done: ")
    assert "Ben" not in str(task.progress.result) + told.words[0]
    assert hearers == [Hearer.HERE]


async def test_who_hears_of_what_was_not_done(
    hass: HomeAssistant, add: Add, later: Later, hearers: list[Hearer]
) -> None:
    """That something was not done is told to the one who wanted it, not to the person for whom it was."""
    hass.states.async_set("person.ben", "home", {"friendly_name": "Ben", "user_id": "ben"})
    async_expose_entity(hass, ASSISTANT, "person.ben", True)
    await add(600, audience=Audience(Hearer.PERSON, "person.ben"), actions=[TURN_ON], until=Until(done=True))
    await later(600 + 1200)
    assert hearers == [Hearer.HERE, Hearer.PERSON]
    tasks = await async_get_scheduled_tasks(hass)
    await tasks.async_end(tasks.standing[0].id, "cancelled")
    hearers.clear()
    await add(600, say=None, audience=Audience(Hearer.EVERYONE), actions=[TURN_ON])
    await later(600 + 1200)
    assert hearers == [Hearer.EVERYONE]


async def test_nobody_heard(add: Add, later: Later, told: Told) -> None:
    """What nobody heard is not called said, nor what was not done told."""
    told.reaches = False
    task = await add(600)
    await later(601)
    assert task.progress.result == "not said: nobody could be told yet"


async def test_untold_is_kept(add: Add, later: Later, told: Told, hass: HomeAssistant) -> None:
    """What could not be told is kept until it is, whatever comes after it; the same words once."""
    told.reaches = False
    daily = When(rule="FREQ=DAILY", start="2026-03-02T13:00:00")
    task = await add(when=daily, actions=[TURN_ON])
    await later(3600 + 1200)
    told.reaches = True
    await later(24 * 3600 - 1200)
    assert told.words[-1] == "The milk!"
    tasks = await async_get_scheduled_tasks(hass)
    news = tasks.untold(task.owner.caller())
    assert "too late" in " ".join(news.values())
    task.progress.untold = f"{task.progress.untold}\nsomething new"
    await tasks.async_told(news)
    assert task.progress.untold == "something new"


async def test_untold_is_not_dropped_for_others(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What could not be told is kept longer than what is known to have ended."""
    told.reaches = False
    lost = await add(1, say="The lost one")
    await later(2)
    told.reaches = True
    tasks = await async_get_scheduled_tasks(hass)
    others = [a_task(lost.owner.entry_id, 1, say="Another") for _ in range(MAX_ENDED)]
    crowd(tasks, others)
    for task in others:
        lifecycle.end(task, "said", now())
    for _ in range(10):
        await add(1, say="Another")
        await later(2)
    assert len(tasks.ended) == MAX_ENDED + 1
    assert "The lost one" in " ".join(tasks.untold(lost.owner.caller()).values())


async def test_said_again_as_the_options_are_then(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told
) -> None:
    """What is said again is asked for anew as well."""
    task = await add(600, until=Until(done=True))
    await later(601)
    hass.config_entries.async_update_entry(home, options={"families": ["actions"]})
    await hass.async_block_till_done()
    await later(601)
    assert told.words.count("The milk!") == 1
    assert str(task.progress.result).startswith("not done: it was turned off")


async def test_due_when_the_time_zone_changes(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What is due already is not left out because the home moves to another time zone."""
    hass.states.async_set(LAMP, "unavailable")
    task = await add(when=When(rule="FREQ=DAILY", start="2026-03-02T12:05:00"), actions=[TURN_ON])
    due = task.progress.due
    await later(301)
    assert task.progress.due == due
    await hass.config.async_update(time_zone="America/New_York")
    await hass.async_block_till_done()
    assert task.progress.due == due


async def test_put_off_when_nothing_more_fits(hass: HomeAssistant, add: Add, later: Later) -> None:
    """What has ended does not come back beyond what can stand."""
    task = await add(1)
    await later(2)
    tasks = await async_get_scheduled_tasks(hass)
    crowd(tasks, (a_task(task.owner.entry_id, 3600) for _ in range(50)))
    with pytest.raises(LimitReachedError, match="already has 50 pending tasks"):
        await tasks.async_snooze(task.id, 600)
    assert not task.is_standing


@pytest.mark.parametrize("way", ["hidden", "removed"])
async def test_waits_in_vain(
    hass: HomeAssistant, hass_storage: dict[str, Any], add: Add, later: Later, told: Told, way: str
) -> None:
    """Where what sets a task off is gone or hidden, its owner is told once, without a name, and nothing sets it off."""
    begins = {"trigger": "state", "entity_id": LAMP, "to": "on"}
    task = await add(when=When(triggers=[begins]), name="Bed Light")
    other = await add(when=When(triggers=[PARTY_BEGINS]))
    if way == "hidden":
        async_expose_entity(hass, ASSISTANT, LAMP, False)
    else:
        er.async_get(hass).async_remove(LAMP)
    await later(3)
    (words,) = told.words
    assert words.startswith("something planned cannot come" if way == "hidden" else "Bed Light cannot come")
    assert on_disk(hass_storage, task)["progress"]["in_vain"] is True
    assert not other.progress.in_vain
    hass.states.async_set(LAMP, "off")
    hass.states.async_set(LAMP, "on")
    await later(20)
    async_expose_entity(hass, ASSISTANT, "lock.front_door", False)
    await later(3)
    assert len(told.words) == 1
    if way == "hidden":
        async_expose_entity(hass, ASSISTANT, LAMP, True)
        await later(3)
        assert not task.progress.in_vain
        hass.states.async_set(LAMP, "off")
        hass.states.async_set(LAMP, "on")
        await hass.async_block_till_done()
        assert told.words[1:] == ["The milk!"]


async def test_there_again(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What waited in vain is set off by what is there again, even where nothing has told that it is."""
    task = await add(when=When(triggers=[{"trigger": "state", "entity_id": LAMP, "to": "on"}]))
    task.progress.in_vain = True
    hass.states.async_set(LAMP, "off")
    hass.states.async_set(LAMP, "on")
    await hass.async_block_till_done()
    await later(1)
    assert told.words == ["The milk!"]
    assert not task.progress.in_vain


async def test_waits_in_vain_after_the_start(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told
) -> None:
    """What is gone after a start is told once the integrations had their time."""
    task = await add(when=When(triggers=[{"trigger": "state", "entity_id": "sensor.yaml", "to": "on"}]))
    await async_restart(hass, home)
    assert told.words == []
    await later(61)
    assert len(told.words) == 1
    (found,) = (await async_get_scheduled_tasks(hass)).standing
    assert (found.id, found.progress.in_vain) == (task.id, True)


async def test_integrations_that_load_late_have_their_time(
    hass: HomeAssistant, home: MockConfigEntry, add: Add, later: Later, told: Told
) -> None:
    """What another integration adds after a start lets nobody look before the rest had its time."""
    await add(when=When(triggers=[{"trigger": "state", "entity_id": "sensor.yaml", "to": "on"}]))
    await async_restart(hass, home)
    await later(5)
    er.async_get(hass).async_get_or_create("sensor", "early", "early")
    await later(10)
    hass.states.async_set("sensor.yaml", "off")
    async_expose_entity(hass, ASSISTANT, "sensor.yaml", True)
    await later(61)
    await later(61)
    assert told.words == []
