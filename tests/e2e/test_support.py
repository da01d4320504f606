"""What people turn to when something is wrong, in a running Home Assistant: diagnostics."""

import json

from demo.custom_components.demo_home.catalogue import CAMERA, ITEMS

from .client import Client
from .conftest import PLANNER_KEY
from .instance import HomeAssistantInstance


async def test_diagnostics_help_and_name_nothing(home: HomeAssistantInstance, client: Client, agent: str) -> None:
    (entry,) = await client.config_entries("extended_assist")
    whole = await client.get(f"/api/diagnostics/config_entry/{entry['entry_id']}")
    data = whole["data"]
    assert [section for section in data.values() if isinstance(section, dict) and "error" in section] == []
    assert data["home"]["recorder"]["engine"] == "sqlite"
    assert data["home"]["exposed"]["light"] > 1
    assert data["connection"]["server"]["host"] == "loopback"
    (conversation,) = [agent for agent in data["agents"] if agent["type"] == "conversation"]
    assert conversation["offered"]["own_tools"]["extended_assist__get_history"] > 100
    # How entities and areas are called, and where they are.
    names = {name for item in (*ITEMS, CAMERA) for name in (item.entity_id, item.name, item.area)}
    told = json.dumps(data)
    assert [name for name in (*names, PLANNER_KEY, agent, "127.0.0.1") if name in told] == []
