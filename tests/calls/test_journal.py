"""Tests of what is recorded of changes, so that they can be undone."""

import asyncio
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import (
    MAX_ALL_STATES,
    MAX_CHANGES,
    MAX_STATES,
    Change,
    Journal,
    async_get_journal,
)
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from tests.conftest import ASSISTANT, CallTool
from tests.helpers.acting import hidden_states

pytestmark = pytest.mark.usefixtures("house")


async def test_nothing_hidden_is_recorded(
    hass: HomeAssistant, call_tool: CallTool, hass_storage: dict[str, Any]
) -> None:
    """A script that the user exposed may move hidden things; they are neither recorded nor brought back."""
    await call_tool(PerformActionTool(), action="script.visible")
    await hass.services.async_call("script", "zebra", blocking=True, context=Context())
    await call_tool(UndoLastChangeTool())
    after = hidden_states(hass)
    assert after["input_boolean.zebra"][0] == "on"
    (change,) = (await async_get_journal(hass))._changes
    assert "zebra" not in json_dumps(change.details)


async def test_assists_own_tools(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, call_tool: CallTool
) -> None:
    """What Assist's own tools change through this API is undone as well."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    name = next(tool.name for tool in instance.tools if tool.name.endswith("HassTurnOn"))
    result = await instance.async_call_tool(llm.ToolInput(name, {"name": "Bed Light", "domain": ["light"]}))
    await hass.async_block_till_done()
    assert not result.error, result.data
    assert hass.states.is_state("light.bed_light", "on")
    data = await call_tool(UndoLastChangeTool())
    assert data["change"] == "light.turn_on"
    assert data["undone"]["light.bed_light"].startswith("on → off")


async def test_stored(hass: HomeAssistant, hass_storage: dict[str, Any], llm_context: llm.LLMContext) -> None:
    """The last changes are stored, and read again after a restart."""
    journal = Journal(hass)
    await journal.async_load()
    for number in range(MAX_CHANGES + 5):
        journal.add(Change("states", f"change {number}", {"states": {}}, assistant=ASSISTANT, device_id="a satellite"))
    assert await journal.async_save()
    again = Journal(hass)
    await again.async_load()
    assert len(again._changes) == MAX_CHANGES
    last = again.last(Caller(llm_context))
    assert last
    assert last.what == f"change {MAX_CHANGES + 4}"


def _many(count: int) -> dict[str, Any]:
    return {"states": {f"light.lamp_{index}": {"state": "on", "attributes": {}} for index in range(count)}}


async def test_size(hass: HomeAssistant) -> None:
    """However much is changed, what is kept stays small: the oldest changes go."""
    journal = Journal(hass)
    for number in range(10):
        journal.add(Change("states", f"change {number}", _many(MAX_STATES), assistant=ASSISTANT))
    assert [change.what for change in journal._changes] == [f"change {number}" for number in range(5, 10)]
    assert sum(len(change.details["states"]) for change in journal._changes) == MAX_ALL_STATES


async def test_large_change(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Of a very large change, and of very large values, not everything is kept, and undoing it says so."""
    names = [f"light.number_{index}" for index in range(MAX_STATES + 3)]
    for name in names:
        hass.states.async_set(name, "on", {"effect": "x" * 1000, "brightness": 9})
        async_expose_entity(hass, ASSISTANT, name, True)

    async def darken(call: ServiceCall) -> None:
        for name in names:
            hass.states.async_set(name, "off", {"effect": "y"})

    hass.services.async_register("light", "turn_off", darken)
    await call_tool(PerformActionTool(), action="light.turn_off", target={"entity_id": names})
    change = (await async_get_journal(hass))._changes[-1]
    kept = change.details["states"]
    assert len(kept) == MAX_STATES
    assert change.details["more"] == 3
    assert kept["light.number_1"]["aspects"].keys() == {"state", "brightness"}
    assert len(json_dumps(change.details)) < MAX_STATES * 1000
    hass.services.async_register("light", "turn_on", lambda _: None)
    data = await call_tool(UndoLastChangeTool())
    assert data["note"].startswith("3 more of that change")
    assert len(data["cannot_be_undone"]) + data["more_cannot_be_undone"] == MAX_STATES


async def test_side_by_side(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Calls of one message run side by side and share a context; each change is recorded once, and all come back."""
    lamps = ["light.bed_light", "input_boolean.party", "switch.decorative_lights"]
    before = [hass.states.get(entity_id).state for entity_id in lamps]  # type: ignore[union-attr]
    await asyncio.gather(
        *(call_tool(PerformActionTool(), action="homeassistant.toggle", target={"entity_id": lamp}) for lamp in lamps)
    )
    assert all(not hass.states.is_state(lamp, state) for lamp, state in zip(lamps, before, strict=True))
    changes = (await async_get_journal(hass))._changes
    recorded = [entity_id for change in changes for entity_id in change.details["states"]]
    assert sorted(recorded) == sorted(lamps)
    undone = await asyncio.gather(*(call_tool(UndoLastChangeTool()) for _ in changes))
    # One of them only assumes its state, so that nobody can say that it is back.
    told = [entity_id for data in undone for entity_id in data.get("undone", data.get("cannot_be_known"))]
    assert sorted(told) == sorted(lamps)
    assert [hass.states.get(entity_id).state for entity_id in lamps] == before  # type: ignore[union-attr]


async def test_private(hass: HomeAssistant, call_tool: CallTool) -> None:
    """What is stored holds no credentials, and only Home Assistant's own user may read it."""
    state = hass.states.get("media_player.kitchen")
    assert state
    hass.states.async_set(
        "media_player.kitchen", state.state, {**state.attributes, "entity_picture": "/api?token=1", "access_token": "2"}
    )
    target = {"entity_id": "media_player.kitchen"}
    await call_tool(PerformActionTool(), action="media_player.volume_set", target=target, data={"volume_level": 0.1})
    journal = await async_get_journal(hass)
    (change,) = journal._changes
    assert change.details["states"]["media_player.kitchen"]["aspects"] == {
        "volume_level": {
            "before": {"volume_level": 1.0},
            "after": {"volume_level": 0.1},
            "wanted": {"volume_level": [0.1]},
        }
    }
    assert "token" not in json_dumps(change.details)
    assert journal._store._private


async def test_removed_with_the_last_entry(
    hass: HomeAssistant, entry: MockConfigEntry, call_tool: CallTool, hass_storage: dict[str, Any]
) -> None:
    """Nothing stays behind when the integration is removed."""
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})
    await hass.config_entries.async_remove(entry.entry_id)
    assert (await async_get_journal(hass))._changes == []
    assert not [key for key in hass_storage if key.startswith("extended_assist.")]


async def test_kept_beside_another_entry(hass: HomeAssistant, entry: MockConfigEntry, call_tool: CallTool) -> None:
    """As long as there is another entry, what was done can be undone."""
    MockConfigEntry(domain="extended_assist", data={}).add_to_hass(hass)
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})
    await hass.config_entries.async_remove(entry.entry_id)
    assert (await call_tool(UndoLastChangeTool()))["change"] == "light.turn_on"


async def test_without_a_context(hass: HomeAssistant, call_tool: CallTool, llm_context: llm.LLMContext) -> None:
    """Where it is not known in whose context something is done, what was acted on comes back all the same."""
    llm_context.context = None
    await call_tool(PerformActionTool(), action="light.turn_on", target={"entity_id": "light.bed_light"})
    data = await call_tool(UndoLastChangeTool())
    assert data["undone"]["light.bed_light"].startswith("on → off")


async def test_entry_is_stored(hass: HomeAssistant) -> None:
    """The entry under whose options something was changed is known after a restart; of older changes none is."""
    journal = Journal(hass)
    journal.add(Change("states", "of an entry", {"states": {}}, entry_id="an entry"))
    journal.add(Change("states", "of an earlier version", {"states": {}}))
    await journal.async_save()
    again = Journal(hass)
    await again.async_load()
    assert [change.entry_id for change in again.changes] == ["an entry", None]
