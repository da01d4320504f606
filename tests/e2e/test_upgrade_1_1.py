"""Upgrade from 1.1.0: scheduled tasks, facts, the journal, options and counters stay, and keep working."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.claude_server import ClaudeServer, Scenario

from .client import Client
from .conftest import complaints
from .first_release import KEY, LATER, PARTY, Kept, has_history, prepare, say
from .instance import CONFIGURATION, HomeAssistantInstance, install_integration, interpreter
from .test_upgrade import contains, until_on

COMMIT = "220a8bab"
"""The last commit of this repository with what 1.1.0 stores."""
REMINDER, FACT = "Water the plants", "The attic key hangs behind the stove"
DELAY = 40
"""Seconds after which the delayed action is due: 1.1.0 is stopped by then."""
OPTIONS = {
    "families": ["entities", "history", "actions", "wishes", "memory"],
    "result_budget": 6000,
    "policy": {"who_may_read": "anyone", "who_may_control": "user", "who_may_administer": "admin", "ask_first": []},
}
HELPERS = "input_boolean:\n  later:\n    name: Later\n  party:\n    name: Party\n"
RELOAD = 2
"""Seconds in which the entry reloads after a change of its options."""


async def fill(client: Client, server: ClaudeServer) -> None:
    """Store a change, a fact, a reminder and a delayed action."""
    setting_up = {"api_key": KEY, "base_url": server.url}
    result = await client.config_flow("extended_assist", {"next_step_id": "claude"}, setting_up)
    entry_id = result["result"]["entry_id"]
    await asyncio.sleep(RELOAD)
    result = await client.options_flow(entry_id, OPTIONS)
    assert result["type"] == "create_entry", result
    await asyncio.sleep(RELOAD)
    await client.expose(PARTY, LATER)
    agent = await client.find_entity("conversation", "extended_assist")
    turn_on = "input_boolean.turn_on"
    tomorrow = {"when": {"after": 86_400}, "say": REMINDER}
    later = {"when": {"after": DELAY}, "action": {"action": turn_on, "target": {"entity_id": LATER}}}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("perform_action", {"action": turn_on, "target": {"entity_id": PARTY}}),
        ("remember", {"fact": FACT, "whose": "me"}),
        ("do_later", tomorrow),
        ("do_later", later),
    ]
    for tool, arguments in calls:
        answer = await say(client, server, agent, tool, **arguments)
        assert "error" not in answer, (tool, answer)


@pytest.mark.timeout(300)
async def test_everything_is_kept(tmp_path: Path) -> None:
    """What 1.1.0 stored is there, the delayed action is done, and the last change can be undone."""
    try:
        interpreter("newest")
    except FileNotFoundError as err:
        pytest.skip(str(err))
    if not has_history(COMMIT):
        pytest.skip("this clone has no history: run git fetch --unshallow")
    async with ClaudeServer(Scenario([]), api_key=KEY) as server:
        await asyncio.to_thread(prepare, tmp_path, COMMIT)
        (tmp_path / "configuration.yaml").write_text(CONFIGURATION + HELPERS)
        async with HomeAssistantInstance("newest", tmp_path, is_copy=True) as home, home.connect() as client:
            await fill(client, server)
        kept = Kept.of(tmp_path)
        install_integration(tmp_path)
        async with HomeAssistantInstance("newest", tmp_path, is_copy=True) as home:
            async with home.connect() as client:
                agent = await client.find_entity("conversation", "extended_assist")
                await until_on(client, LATER)
                pending = await say(client, server, agent, "pending")
                assert REMINDER in str(pending), pending
                assert FACT in str(await say(client, server, agent, "recall", words="attic key"))
                # The delayed action is the last change, and the one before it is 1.1.0's own.
                for entity_id in (LATER, PARTY):
                    undone = await say(client, server, agent, "undo_last_change")
                    for _ in range(4):
                        if (await client.state(entity_id))["state"] == "off":
                            break
                        undone = await say(client, server, agent, "undo_last_change")
                    assert (await client.state(entity_id))["state"] == "off", undone
            await home.stop()
            now = Kept.of(tmp_path)
            for key in ("modified_at", "minor_version"):
                kept.entry.pop(key)
            assert contains(now.entry, kept.entry)
            assert contains(now.entities, kept.entities)
            assert not [*(tmp_path / ".storage").glob("*.unreadable.*")]
            assert complaints(home) == []
