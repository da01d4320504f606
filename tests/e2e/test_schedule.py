"""A scheduled action in a running Home Assistant, which is stopped and started before it is due."""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .client import Client
from .instance import HomeAssistantInstance

LIGHT = "light.kitchen_light"
DELAY = 20
PATIENCE = 90


def file(home: HomeAssistantInstance) -> Path:
    """Return where scheduled actions are stored."""
    return home.config_dir / ".storage" / "extended_assist.schedule"


def stored(home: HomeAssistantInstance) -> dict[str, Any]:
    """Return what is on the disk of scheduled actions."""
    data: dict[str, Any] = json.loads(file(home).read_text(encoding="utf-8"))["data"]
    return data


async def until_done(home: HomeAssistantInstance) -> None:
    """Wait until a scheduled action is over."""
    for _ in range(PATIENCE):
        await asyncio.sleep(1)
        if (outcomes := stored(home)["outcomes"]) and not outcomes[0]["result"].startswith("begun"):
            return
    raise AssertionError(stored(home))


async def conversation_entities(client: Client) -> set[str]:
    return {entity_id for entity_id in await client.states() if entity_id.startswith("conversation.")}


async def test_it_survives_a_restart_and_runs_once(home: HomeAssistantInstance) -> None:
    """The light is switched after the restart; after another one, within the time for being late, it is not again."""
    call = {"target": {"entity_id": LIGHT}, "delay": DELAY}
    async with ClaudeServer(Scenario([])) as server:
        async with home.connect() as client:
            on = (await client.state(LIGHT))["state"] == "on"
            call["action"] = f"light.turn_{'off' if on else 'on'}"
            server.responder = Scenario(
                [Turn([tool_use("extended_assist__perform_action", call)]), Turn([text("It will be done.")])]
            )
            before = await conversation_entities(client)
            keys = {"api_key": "test-key", "base_url": server.url}
            result = await client.config_flow("extended_assist", {"next_step_id": "claude"}, keys)
            entry_id = result["result"]["entry_id"]
            (agent,) = await conversation_entities(client) - before
            await client.converse("Switch the kitchen light in a while", agent_id=agent)
        (waiting,) = stored(home)["waiting"]
        assert waiting["entity_ids"] == [LIGHT]
        await home.restart()
        async with home.connect() as client:
            await until_done(home)
            assert (await client.state(LIGHT))["state"] == ("off" if on else "on")
        first = stored(home)
        assert first["waiting"] == []
        (outcome,) = first["outcomes"]
        assert outcome["result"].startswith("done")
        await home.restart()
        await asyncio.sleep(2)
        assert stored(home) == first
        async with home.connect() as client:
            await client.delete(f"/api/config/config_entries/entry/{entry_id}")
        assert not await asyncio.to_thread(file(home).exists)
