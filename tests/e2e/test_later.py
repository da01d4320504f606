"""What is to happen later, in a Home Assistant that is killed before it does."""

import asyncio
from datetime import timedelta
import os
import signal
import time
from typing import Any

from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Scenario

from .client import Client
from .instance import HomeAssistantInstance
from .writing_home import Speaker, becomes

DOOR, LAMP = "input_boolean.door", "input_boolean.lamp"
STORED = 12
"""Seconds after which Home Assistant has stored what is exposed; ours is on the disk at once."""
DUE = 45
"""Seconds in which Home Assistant is up again."""
PATIENCE = 90.0
UNTOLD = "the user could not be told"
OPENS = {"trigger": "state", "entity_id": DOOR, "to": "on"}


async def test_once_over_a_kill(writing_home: HomeAssistantInstance) -> None:
    """Words are said once and the action is done once; what nobody could be told goes with the next message."""
    home = writing_home
    async with ClaudeServer(Scenario([])) as server:
        async with home.connect() as client:
            speaker = Speaker(client, server)
            await speaker.set_up()
            try:
                await _task(client, speaker)
            except BaseException:
                await speaker.remove()
                raise
        await asyncio.sleep(STORED)
        assert home.pid is not None
        os.kill(home.pid, signal.SIGKILL)
        await home.stop()
        await home.start()
        async with home.connect() as client:
            speaker = _again(speaker, client, server)
            try:
                await _look(client, speaker, server)
            finally:
                await speaker.remove()


async def _task(client: Client, speaker: Speaker) -> None:
    """Ask for words, for an action when a door opens, and put a reminder into the household's list."""
    await client.expose(DOOR, LAMP)
    await speaker.set_options(families=("actions", "wishes"))
    list_id = await client.find_entity("todo", "extended_assist")
    exposed: Any = await client.call("homeassistant/expose_entity/list")
    assert not exposed["exposed_entities"].get(list_id, {}).get("conversation")
    said = await speaker.call("do_later", when={"after": DUE}, say="Think of the milk")
    assert said["what"] == "Say: Think of the milk"
    action = {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}}
    assert "id" in await speaker.call("do_later", when={"triggers": [OPENS], "wait": 2}, action=action)
    due = dt_util.utcnow() + timedelta(seconds=DUE)
    item = {"entity_id": list_id, "item": "Bins", "due_datetime": due.isoformat()}
    await client.perform_action("todo.add_item", item)
    await becomes(client, list_id, "1")


async def _look(client: Client, speaker: Speaker, server: ClaudeServer) -> None:
    """Open the door, wait for the rest, and speak."""
    await client.perform_action("input_boolean.turn_on", {"entity_id": DOOR})
    await becomes(client, LAMP, "on")
    deadline = time.monotonic() + PATIENCE
    found: list[str] = []
    while time.monotonic() < deadline and len(found) < 2:
        await asyncio.sleep(1)
        shown: Any = await client.call("persistent_notification/get")
        found = [one["message"] for one in shown if "milk" in one["message"] or "Bins" in one["message"]]
    assert sorted("milk" in one for one in found) == [False, True], found
    await becomes(client, await client.find_entity("todo", "extended_assist"), "0")
    ended = await speaker.call("pending")
    assert ended["pending"] == []
    (acted,) = [one for one in ended["ended"] if "Turn on" in one["what"]]
    assert acted["result"].startswith("done"), acted
    # Nobody had a satellite or a phone; what the first message brought is not told again.
    assert UNTOLD in str(server.message_requests[-1])
    speaker.conversation_id = None
    await speaker.call("pending")
    assert UNTOLD not in str(server.message_requests[-1])


def _again(speaker: Speaker, client: Client, server: ClaudeServer) -> Speaker:
    """Return who speaks to the same agent after the start."""
    again = Speaker(client, server)
    again.agent, again.entry_id = speaker.agent, speaker.entry_id
    return again
