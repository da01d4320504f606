"""Tests of what is due: checked anew, done on what may still be touched, and told, whatever became of it."""

from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.functions.tool import CALL_FUNCTION
from custom_components.extended_assist.scheduled import execution
from custom_components.extended_assist.scheduled.lifecycle import Ending
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import Audience, Hearer, When
from custom_components.extended_assist.tools.scheduled import DoLaterTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from ..conftest import ASSISTANT, CallTool
from ..helpers.acting import house
from .keeping import LAMP, PARTY, PARTY_BEGINS, TURN_ON, Add, Later, Told, add, home, later, told

__all__ = ["add", "home", "house", "later", "told"]

LOCK = "lock.front_door"
UNLOCK = {"action": "lock.unlock", "entity_ids": [LOCK], "data": {}, "targeted": True}
PARTY_ON = {"condition": "state", "entity_id": PARTY, "state": "on"}
SEQUENCE: list[dict[str, Any]] = [
    {"action": "light.turn_on", "target": {"entity_id": LAMP}},
    {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}},
]


def is_on(hass: HomeAssistant, entity_id: str) -> bool:
    return hass.states.is_state(entity_id, "on")


def hide(hass: HomeAssistant, entity_id: str) -> None:
    async_expose_entity(hass, ASSISTANT, entity_id, False)


@pytest.mark.parametrize("holds", [True, False])
async def test_conditions(hass: HomeAssistant, add: Add, later: Later, told: Told, *, holds: bool) -> None:
    """What must hold is asked when it is due; where it does not, nothing happens, and that is known."""
    task, happened = await add(600, conditions=[PARTY_ON]), []
    (await async_get_scheduled_tasks(hass)).async_listen_happened(lambda *of: happened.append(of[2]))
    hass.states.async_set(PARTY, "on" if holds else "off")
    await later(601)
    assert told.words == (["The milk!"] if holds else [])
    assert task.progress.result == ("said" if holds else "not done: its conditions did not hold")
    assert not task.is_standing
    assert happened == [Ending.HAPPENED if holds else Ending.SKIPPED]


async def test_conditions_of_what_is_hidden(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """A condition on what is hidden by now is not asked; nothing is done, and nothing is named."""
    task = await add(600, say=None, actions=[TURN_ON], conditions=[PARTY_ON], name="Party light")
    hide(hass, PARTY)
    await later(601)
    assert not is_on(hass, LAMP)
    assert str(task.progress.result).startswith("not done:")
    assert "arty" not in " ".join(told.words) + str(task.progress.result)


async def test_hidden_meanwhile(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What is hidden by now is left alone, as is the rest of a task that has nothing else; both are told, without names."""
    part = {**TURN_ON, "entity_ids": [LAMP, "light.ceiling_lights"]}
    some = await add(600, say=None, actions=[part])
    none = await add(600, say=None, actions=[TURN_ON], name="Bed Light")
    hide(hass, LAMP)
    await later(601)
    assert not is_on(hass, LAMP)
    assert str(some.progress.result).endswith("1 not exposed any more")
    assert none.progress.result == "not done: none of its entities is exposed any more."
    assert len(told.words) == 2
    assert "Bed" not in " ".join(told.words)


async def test_hidden_trigger(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What is hidden by now sets nothing off."""
    task = await add(when=When(triggers=[PARTY_BEGINS]))
    hide(hass, PARTY)
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()
    await later(61)
    assert "The milk!" not in told.words
    assert str(task.progress.result).startswith("not done:")


async def test_sequence(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Steps are done one after the other, and what they changed can be undone."""
    task = await add(600, say=None, actions=SEQUENCE)
    await later(601)
    assert is_on(hass, LAMP)
    assert is_on(hass, PARTY)
    assert str(task.progress.result).startswith("done: ")
    changes = (await async_get_journal(hass)).changes
    assert [change.what for change in changes] == ["running a sequence"]


async def test_sequence_of_what_is_hidden(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Of steps of which one may not be done any more, none is."""
    task = await add(600, say=None, actions=SEQUENCE)
    hide(hass, PARTY)
    await later(601)
    assert not is_on(hass, LAMP)
    assert str(task.progress.result).startswith("not done:")
    assert len(told.words) == 1


async def test_too_late(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """An action that comes much too late is not done, and that is told."""
    task = await add(600, say=None, actions=[TURN_ON])
    await later(600 + 1200)
    assert not is_on(hass, LAMP)
    assert "20 minutes late is too late" in str(task.progress.result)
    assert len(told.words) == 1


async def test_nobody_to_ask(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What is consequential and was not agreed to waits for nobody's word."""
    before = hass.states.get(LOCK)
    task = await add(600, say=None, actions=[UNLOCK])
    await later(601)
    assert hass.states.get(LOCK) == before
    assert task.progress.result == "not done: it needs somebody's word, and nobody can be asked."
    assert len(told.words) == 1


async def test_agreed(hass: HomeAssistant, add: Add, later: Later) -> None:
    """What the user agreed to for that time is done."""
    await add(600, say=None, actions=[UNLOCK], agreed=True)
    await later(601)
    assert hass.states.is_state(LOCK, "unlocked")


async def test_ask(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """A question is asked when it is due, and its answer is said; one without an answer is told as such."""
    await add(600, say=None, ask="What time is it?")
    await later(601)
    assert len(told.words) == 1
    assert "12:10" in told.words[0]
    lost = await add(600, say=None, ask="Sing me the song of the zebra")
    await later(601)
    assert lost.progress.result == "not done: the assistant gave no answer."


async def test_function_that_is_gone(add: Add, later: Later, told: Told) -> None:
    """What an entry brings itself is done by it; where that is gone, this is told."""
    step = {"action": CALL_FUNCTION, "entity_ids": [], "data": {"function": "gone", "arguments": {}}, "targeted": False}
    task = await add(600, say=None, actions=[step])
    await later(601)
    assert str(task.progress.result).startswith("not done:")
    assert len(told.words) == 1


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"families": ["actions"]}, "it was turned off in the options."),
        ({"families": ["wishes"]}, "it was turned off in the options."),
        ({"who_may_control": "admin"}, "Nobody is logged in on this device"),
    ],
)
async def test_not_allowed_any_more(
    hass: HomeAssistant,
    home: MockConfigEntry,
    add: Add,
    later: Later,
    told: Told,
    options: dict[str, Any],
    reason: str,
) -> None:
    """What the options do not allow by now is not done."""
    task = await add(600, say=None, actions=[TURN_ON])
    hass.config_entries.async_update_entry(home, options=options)
    await hass.async_block_till_done()
    await later(601)
    assert not is_on(hass, LAMP)
    assert str(task.progress.result).startswith(f"not done: {reason}")
    assert await hass.config_entries.async_unload(home.entry_id)


async def test_unexpected(
    hass: HomeAssistant, add: Add, later: Later, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake of ours ends in words, and what cannot be told is kept for later."""

    async def fail(*_: Any, **__: Any) -> str:
        raise KeyError("a mistake")

    monkeypatch.setattr(execution, "async_act", fail)
    first = await add(600, say=None, actions=[TURN_ON])
    await later(601)
    assert first.progress.result == "not done: it failed unexpectedly"
    assert len(told.words) == 1
    monkeypatch.setattr(execution, "async_deliver", fail)
    second = await add(600)
    await later(601)
    assert second.progress.result == "not said: nobody could be told yet"
    assert second.progress.untold == "2026-03-02 12:20:01: The milk!"


async def test_waits_for_what_loads_late(hass: HomeAssistant, add: Add, later: Later) -> None:
    """What is not there yet is waited for, a minute at most."""
    task = await add(600, say=None, actions=[TURN_ON])
    known = hass.states.get(LAMP)
    assert known
    hass.states.async_set(LAMP, "unavailable")
    await later(601)
    assert task.is_standing
    hass.states.async_set(LAMP, "off", known.attributes)
    await later(31)
    assert not task.is_standing
    assert str(task.progress.result).startswith("done")


async def test_renamed(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What is named by an id that changes is meant by the new one, wherever it stands."""
    task = await add(
        when=When(triggers=[{**PARTY_BEGINS, "entity_id": [LAMP]}]),
        say=None,
        actions=[TURN_ON],
        conditions=[{"condition": "template", "value_template": f"{{{{ is_state('{LAMP}', 'on') }}}}"}],
        audience=Audience(Hearer.PERSON, "person.ada"),
    )
    er.async_get(hass).async_update_entity(LAMP, new_entity_id="light.renamed")
    await hass.async_block_till_done()
    assert task.when.triggers[0]["entity_id"] == ["light.renamed"]
    assert task.what.actions[0]["entity_ids"] == ["light.renamed"]
    assert "light.renamed" in str(task.conditions)
    assert task.audience.target == "person.ada"


async def test_other_time_zone(hass: HomeAssistant, add: Add) -> None:
    """A rule follows the clock on the wall to another time zone; the name of the home changes nothing."""
    task = await add(when=When(rule="FREQ=DAILY", start="2026-03-02T07:00:00"))
    before = task.progress.due
    assert before is not None
    await hass.config.async_update(location_name="Elsewhere")
    assert task.progress.due == before
    await hass.config.async_update(time_zone="America/New_York")
    await hass.async_block_till_done()
    assert task.progress.due == 1772452800.0  # 07:00 in New York, on the same day.


async def test_removed_user(hass: HomeAssistant, add: Add) -> None:
    """What a user wanted who is removed ends; the household's stays."""
    await hass.auth.async_create_user("Owner")
    user = await hass.auth.async_create_user("Ada")
    own, household = await add(600, user_id=user.id), await add(600)
    await hass.auth.async_remove_user(user)
    await hass.async_block_till_done()
    assert (own.is_standing, household.is_standing) == (False, True)
    tasks = await async_get_scheduled_tasks(hass)
    assert await tasks.async_end(own.id, "again") is None
    assert await tasks.async_snooze("nothing", 5) is None


@pytest.mark.parametrize("actions", [["script.evening"], ["script.evening", "light.turn_on"]])
async def test_more_than_was_agreed_to(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, call_tool: CallTool, actions: list[str]
) -> None:
    """Where a script unlocks a door by now that only turned on a lamp when it was agreed to, that is not done unasked."""

    async def load(action: str, entity_id: str) -> None:
        step = {"action": action, "target": {"entity_id": entity_id}}
        config = {"script": {"evening": {"sequence": [step]}}}
        with patch("homeassistant.config.load_yaml_config_file", return_value=config):
            await hass.services.async_call("script", "reload", blocking=True)
        async_expose_entity(hass, ASSISTANT, "script.evening", True)

    await load("light.turn_on", LAMP)
    options = ToolboxOptions(entry_id=home.entry_id, policy=Policy(allow_without_chat=True), is_fixed=True)
    steps = [{"action": one} | ({"target": {"entity_id": LAMP}} if "light" in one else {}) for one in actions]
    ids = []
    for _ in range(2):
        made = await call_tool(DoLaterTool(options), when={"after": 600}, action=steps)
        task = (await async_get_scheduled_tasks(hass)).find(made["id"])
        assert task is not None
        task.agreed = True
        ids.append(task)
    assert ids[0].agreed_to == []
    ids[1].agreed_to = [f"lock.unlock {LOCK}"]
    await load("lock.unlock", LOCK)
    ids[1].until.moment = None
    await later(601)
    assert "needs somebody's word" in str(ids[0].progress.result)
    assert str(ids[1].progress.result).startswith("done")
    assert hass.states.is_state(LOCK, "unlocked")
