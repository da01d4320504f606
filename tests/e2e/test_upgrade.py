"""What 1.0.0 stored is kept: its entry, options, functions, counters, its journal, and what it was to do later."""

import asyncio
from collections.abc import AsyncIterator
import json
from pathlib import Path
import time
from typing import Any

import pytest

from tests.claude_server import ClaudeServer, Scenario

from .client import Client
from .conftest import complaints
from .first_release import (
    AGENT_NAME,
    AUTOMATION,
    FROZEN,
    KEY,
    LATER,
    PARTY,
    Kept,
    has_history,
    make,
    say,
    thaw,
)
from .instance import HomeAssistantInstance, install_integration, interpreter

FROZEN_DELAY = 15
"""Seconds after the start at which what the fixtures hold is due."""
PATIENCE = 90


@pytest.fixture
async def server() -> AsyncIterator[ClaudeServer]:
    """Serve the agent's model, at the same address before and after the upgrade."""
    async with ClaudeServer(Scenario([]), api_key=KEY) as server:
        yield server


@pytest.fixture(params=["run", "frozen"])
async def folder(request: pytest.FixtureRequest, tmp_path: Path, server: ClaudeServer) -> Path:
    """Return what 1.0.0 left behind: it is run and stopped, or the fixtures hold what it wrote."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    if request.param == "frozen":
        thaw(tmp_path, server.url, time.time() + FROZEN_DELAY)
    elif has_history():
        await make(tmp_path, "newest", server)
        expected = {path.stem: shape(json.loads(path.read_text())["data"]) for path in FROZEN.glob("extended_assist.*")}
        assert {key: shape(stored) for key, stored in Kept.of(tmp_path).stores.items()} == expected
    else:
        pytest.skip("this clone has no history: run git fetch --unshallow")
    return tmp_path


def shape(value: Any) -> Any:
    """Return what is stored without what differs from run to run: keys, how many, and types."""
    if isinstance(value, dict):
        return {len(key) if len(key) == 26 else key: shape(each) for key, each in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else type(value).__name__


def contains(now: Any, before: Any) -> bool:
    """Return whether everything that was stored is there; a later version may add to it."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(key in now and contains(now[key], each) for key, each in before.items())
    if isinstance(before, list):
        same_length = isinstance(now, list) and len(now) == len(before)
        return same_length and all(contains(one, other) for one, other in zip(now, before, strict=True))
    return bool(now == before)


async def counters(client: Client, kept: Kept) -> dict[str, str]:
    """Return what the sensors of the integration say."""
    states = await client.states()
    return {entity_id: states[entity_id]["state"] for entity_id in kept.entities.values() if entity_id in states}


async def until_on(client: Client, entity_id: str) -> None:
    """Wait until something is on."""
    deadline = time.monotonic() + PATIENCE
    while (await client.state(entity_id))["state"] != "on":
        assert time.monotonic() < deadline, f"{entity_id} is not on"
        await asyncio.sleep(0.5)


async def test_everything_is_kept(folder: Path, server: ClaudeServer) -> None:
    """Today's package, put in the place of 1.0.0, goes on where that stopped, and has nothing to complain of."""
    kept = Kept.of(folder)
    assert kept.stores["extended_assist.schedule"]["waiting"]
    used = kept.stores["extended_assist.usage"]
    install_integration(folder)
    async with HomeAssistantInstance("newest", folder, is_copy=True) as home:
        async with home.connect() as client:
            (entry,) = await client.config_entries("extended_assist")
            assert entry["state"] == "loaded"
            issues = (await client.call("repairs/list_issues"))["issues"]
            assert f"asks_now_{entry['entry_id']}" in {issue["issue_id"] for issue in issues}
            agent = await client.find_entity("conversation", "extended_assist")
            assert (await client.state(agent))["attributes"]["friendly_name"].endswith(AGENT_NAME)
            told = (await counters(client, kept)).items()
            for owner, usage in used.items():
                for count, number in usage["counts"].items():
                    assert (kept.entities[f"{owner}_{count}"], str(number)) in told, (count, number, told)
            called = {"function": "shout", "arguments": {"word": "kept"}}
            answer = await client.perform_action("extended_assist.call_function", called, response=True)
            assert answer["result"] == "KEPT!"
            # What was to be done later is done, at its time or, where the start took longer, as soon as it may be.
            await until_on(client, LATER)
            await until_undone(client, server, agent)
        await home.stop()
        now = Kept.of(folder)
        for key in ("modified_at", "minor_version"):
            kept.entry.pop(key)
        kept.entry["options"]["families"].append("wishes")
        assert contains(now.entry, kept.entry)
        assert "extended_assist.schedule" not in now.stores
        assert not [*(folder / ".storage").glob("*.unreadable.*")]
        assert contains(now.entities, kept.entities)
        assert complaints(home) == []


async def until_undone(client: Client, server: ClaudeServer, agent: str) -> None:
    """Undo, one by one, what was done later and what 1.0.0 did before: a light is switched off, an automation is gone."""
    assert (await client.state(PARTY))["state"] == "on"
    assert AUTOMATION in await client.states()
    undone = []
    for _ in range(4):
        undone.append(await say(client, server, agent, "undo_last_change"))
        if AUTOMATION not in await client.states():
            break
    states = await client.states()
    assert AUTOMATION not in states, undone
    assert (states[PARTY]["state"], states[LATER]["state"]) == ("off", "off"), undone
