"""Tests of conditions that are kept ready: what fires in vain is not stored, and whatever may hold is asked in full."""

from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.scheduled import scheduler, triggers as condition_cache
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Until, When
from custom_components.extended_assist.scheduled.store import ScheduledTaskStore
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er
from tests.conftest import ASSISTANT

from ..helpers.acting import house
from .keeping import LAMP, PARTY, PARTY_BEGINS, Add, Later, Told, add, home, later, told

__all__ = ["add", "home", "house", "later", "told"]

LAMP_IS_ON: dict[str, Any] = {"condition": "state", "entity_id": LAMP, "state": "on"}
LEVEL = "input_number.level"


@pytest.fixture
def saves() -> Any:
    """Count how often tasks are stored."""
    with patch.object(
        ScheduledTaskStore, "async_save", autospec=True, side_effect=ScheduledTaskStore.async_save
    ) as saves:
        yield saves


async def begin_party(hass: HomeAssistant) -> None:
    """Let the trigger fire."""
    hass.states.async_set(PARTY, "off")
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()


async def stand(add: Add, *conditions: dict[str, Any], **parts: Any) -> ScheduledTask:
    """Return a task that is said when a party begins, and conditions hold."""
    when = parts.pop("when", None) or When(triggers=[PARTY_BEGINS])
    return await add(when=when, conditions=list(conditions), until=Until(times=1), **parts)


@pytest.mark.parametrize(
    "condition",
    [
        LAMP_IS_ON,
        {"condition": "and", "conditions": [{"condition": "not", "conditions": [LAMP_IS_ON | {"state": "off"}]}]},
    ],
)
async def test_in_vain(hass: HomeAssistant, add: Add, told: Told, saves: Any, condition: dict[str, Any]) -> None:
    """However often it fires in vain, nothing is stored; once the conditions hold, it comes at once."""
    hass.states.async_set(LAMP, "off")
    task = await stand(add, condition)
    saves.reset_mock()
    for _ in range(20):
        await begin_party(hass)
    assert saves.call_count == 0
    assert told.words == []
    assert task.progress.result == scheduler.NOT_HELD
    assert task.progress.due is task.progress.last is None
    hass.states.async_set(LAMP, "on")
    await begin_party(hass)
    assert told.words == ["The milk!"]
    assert not task.is_standing


async def test_hidden_meanwhile(hass: HomeAssistant, add: Add, told: Told) -> None:
    """What is asked about something hidden is asked in full, and told without its name."""
    hass.states.async_set(LAMP, "off")
    await stand(add, LAMP_IS_ON)
    async_expose_entity(hass, ASSISTANT, LAMP, False)
    await begin_party(hass)
    assert len(told.words) == 1
    assert "bed" not in "".join(told.words).casefold()


async def test_renamed_meanwhile(hass: HomeAssistant, add: Add, told: Told) -> None:
    """Conditions are made ready anew where an entity is given another id; those of before are let go."""
    hass.states.async_set(LAMP, "off")
    await stand(add, LAMP_IS_ON)
    er.async_get(hass).async_update_entity(LAMP, new_entity_id="light.other")
    await hass.async_block_till_done()
    await begin_party(hass)
    assert told.words == []
    hass.states.async_set("light.other", "on")
    await begin_party(hass)
    assert told.words == ["The milk!"]


async def test_after_a_wait(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Conditions of what waits are asked after the wait."""
    hass.states.async_set(LAMP, "off")
    await stand(add, LAMP_IS_ON, when=When(triggers=[PARTY_BEGINS], wait=60))
    await begin_party(hass)
    hass.states.async_set(LAMP, "on")
    await later(61)
    assert told.words == ["The milk!"]


@pytest.mark.parametrize(
    "condition",
    [
        {"condition": "template", "value_template": f"{{{{ is_state('{LAMP}', 'on') }}}}"},
        {"condition": "numeric_state", "entity_id": LEVEL, "above": 5, "value_template": "{{ state.state | float }}"},
        {"condition": "zone", "entity_id": "person.anna", "zone": "zone.home"},
    ],
)
async def test_asked_in_full(hass: HomeAssistant, add: Add, saves: Any, condition: dict[str, Any]) -> None:
    """What does not plainly say of which entities it tells is not kept ready."""
    await stand(add, condition)
    saves.reset_mock()
    await begin_party(hass)
    assert saves.call_count


@pytest.mark.parametrize("error", [HomeAssistantError("no"), ValueError("no")])
async def test_cannot_be_made_ready(hass: HomeAssistant, add: Add, told: Told, error: Exception) -> None:
    """Conditions that cannot be made ready are asked in full, once something fires."""
    with patch.object(condition_cache.condition_helper, "async_conditions_from_config", side_effect=error):
        task = await stand(add, LAMP_IS_ON)
    hass.states.async_set(LAMP, "off")
    await begin_party(hass)
    assert told.words == []
    assert task.progress.last is not None


async def test_cannot_be_asked(hass: HomeAssistant, add: Add, told: Told) -> None:
    """Conditions that fail are asked in full."""
    hass.states.async_set(LAMP, "on")
    await stand(add, LAMP_IS_ON)
    (gate,) = (await async_get_scheduled_tasks(hass))._fulfilling._gates._gates.values()
    with patch.object(type(gate.checker), "async_check", side_effect=HomeAssistantError):
        assert not (await async_get_scheduled_tasks(hass))._fulfilling._gates.is_shut(
            (await async_get_scheduled_tasks(hass)).standing[0]
        )


async def test_ends_before_it_is_ready(hass: HomeAssistant, add: Add) -> None:
    """Conditions of what has ended meanwhile are let go."""
    real, tasks = condition_cache.condition_helper.async_conditions_from_config, await async_get_scheduled_tasks(hass)
    made = []

    async def slow(*arguments: Any) -> Any:
        made.append(await real(*arguments))
        for task in tasks.standing:
            await tasks.async_end(task.id, "cancelled")
        return made[-1]

    with patch.object(condition_cache.condition_helper, "async_conditions_from_config", slow):
        task = await stand(add, LAMP_IS_ON)
    assert made
    assert not task.is_standing
    assert tasks._fulfilling._gates._gates == {}
