"""Our tools and Home Assistant's own editor, through its real HTTP API, on one file."""

import asyncio
import random
from typing import Any

from aiohttp.test_utils import TestClient
import pytest
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.automations import store
from custom_components.extended_assist.automations.commit import editors_lock
from custom_components.extended_assist.automations.yaml_positions import index_yaml
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.automations.files import automation
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, REMOVE, UPDATE, StartHome, start_home, switching
from tests.helpers.seeds import seeds

__all__ = ["start_home"]

ROUNDS = 60
URL = "/api/config/automation/config/{}"


@pytest.fixture
async def editor(hass: HomeAssistant, start_home: StartHome, hass_client: ClientSessionGenerator) -> TestClient:
    """Return a client of the editor's API."""
    await start_home()
    assert await async_setup_component(hass, "config", {})
    await hass.async_block_till_done()
    return await hass_client()


async def save(editor: TestClient, automation_id: str, config: dict[str, Any]) -> None:
    """Save as the user interface does."""
    response = await editor.post(URL.format(automation_id), json=config)
    assert response.status == 200, await response.text()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", seeds(1))
async def test_at_once(hass: HomeAssistant, editor: TestClient, call_tool: CallTool, seed: int) -> None:
    """Many rounds in which both write at once: nothing that either wrote is lost; script/soak goes on with other seeds."""
    assert editors_lock(hass, "automation") is not None
    random.seed(seed)
    path = store.async_get_store(hass).path
    mine: list[str] = []
    theirs: set[str] = set()
    for number in range(ROUNDS):
        key = f"ui{number}"
        work = [
            save(editor, key, switching(f"Theirs {number}")),
            call_tool(ADD, automation=switching(f"Mine {number}")),
        ]
        if len(mine) > 6:
            oldest = mine.pop(0)
            again = random.choice(mine)
            work.append(call_tool(REMOVE, automation=oldest))
            work.append(call_tool(UPDATE, automation=again, changes={"description": f"Round {number}"}))
        if len(theirs) > 6:
            gone = theirs.pop()
            work.append(editor.delete(URL.format(gone)))
        random.shuffle(work)
        results = await asyncio.gather(*work)
        theirs.add(key)
        mine += [result["id"] for result in results if isinstance(result, dict) and "added" in result]
        assert {item.id for item in index_yaml(path.read_text()).automations} == {*mine, *theirs}, number
    await hass.async_block_till_done()
    assert len(hass.states.async_entity_ids("automation")) == len(mine) + len(theirs)


async def test_round_trip(hass: HomeAssistant, editor: TestClient, call_tool: CallTool) -> None:
    """The editor reads back what we wrote; we can change what it wrote; neither changes more than that."""
    config = automation(3)
    del config["id"]
    config["actions"][0]["target"]["entity_id"] = "input_boolean.porch"
    config["variables"] = {"on": "on", "at": "17:30:00", "yes": True, "none": None, "half": 0.5, "list": [1, "1"]}
    added = await call_tool(ADD, automation=config)
    assert await (await editor.get(URL.format(added["id"]))).json() == config | {"id": added["id"]}
    path = store.async_get_store(hass).path
    ours = path.read_text()
    await save(editor, added["id"], config | {"id": added["id"]})
    assert path.read_text() == ours, "the editor would write the same"
    await save(editor, "theirs", switching("Theirs"))
    await hass.async_block_till_done()
    await call_tool(UPDATE, automation="theirs", changes={"alias": "Ours", "mode": "restart"}, error=True)
    expose(hass, "automation.theirs")
    await call_tool(UPDATE, automation="theirs", changes={"alias": "Ours", "mode": "restart"})
    changed = await (await editor.get(URL.format("theirs"))).json()
    assert changed == switching("Ours") | {"id": "theirs", "mode": "restart"}
    assert (await editor.delete(URL.format(added["id"]))).status == 200
    await hass.async_block_till_done()
    assert (await call_tool(UPDATE, automation=added["id"], changes={"alias": "Gone"}, error=True))["error"]
