"""Our agent in a Home Assistant started for it in this process, against everything that can go wrong.

`python -m tests.claude_server.outside.our_agent` prints one JSON object a line, with the name and the failure or null. For
the Home Assistant, and the SDK, whose versions the test framework does not support.
"""

import asyncio
from collections.abc import Awaitable, Callable
import importlib
import json
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import traceback
from typing import Any

import anthropic

from homeassistant.components import ai_task, conversation
from homeassistant.components.conversation.chat_log import DATA_CHAT_LOGS
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from tests.claude.faults import CONTENT, IN_A_STREAM, IN_PLACE_OF_A_STREAM, WHOLE, impatient, tries
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.e2e.instance import install_integration

from .core_agent import start

AGENT, TASK = "conversation.claude", "ai_task.claude_ai_task"
PACKAGE = "custom_components.extended_assist"
CHECKOUT = Path(__file__).parents[3]


class Talk:
    """A Home Assistant with our agent, and the server it talks to."""

    def __init__(self, hass: HomeAssistant, server: ClaudeServer) -> None:
        """Take both."""
        self.hass = hass
        self.server = server

    async def say(self, words: str, *turns: Turn, conversation_id: str | None = None) -> Any:
        """Say something, and return the result."""
        self.server.responder = Scenario(list(turns))
        return await conversation.async_converse(
            self.hass, words, conversation_id, Context(), language="en", agent_id=AGENT
        )

    async def fails_well(self, turn: Turn, said: str, times: int) -> None:
        """Check that a turn ends with a sentence, leaves a valid log, and that the next turn works."""
        before = len(self.server.message_requests)
        (entry,) = self.hass.config_entries.async_entries("extended_assist")
        with impatient(entry.runtime_data.client, turn.fault):
            async with asyncio.timeout(30):
                result = await self.say("Is the lamp on?", *[turn] * times)
        assert said in speech(result), speech(result)
        assert result.response.error_code == "failed_to_handle"
        log = self.hass.data[DATA_CHAT_LOGS][result.conversation_id]
        called = [call.id for item in log.content if item.role == "assistant" for call in item.tool_calls or ()]
        answered = [item.tool_call_id for item in log.content if item.role == "tool_result"]
        assert sorted(called) == sorted(answered), (called, answered)
        assert log.content[-1].content == speech(result)
        again = await self.say("And now?", Turn([text("Fine.")]), conversation_id=result.conversation_id)
        assert speech(again) == "Fine.", speech(again)
        assert len(self.server.message_requests) - before == times + 1
        assert all(request.type_checked for request in self.server.requests)


def speech(result: Any) -> str:
    """Return what is said."""
    return str(result.response.speech["plain"]["speech"])


type Check = Callable[[Talk], Awaitable[None]]
CHECKS: dict[str, Check] = {}


def _in_a_stream(fault: dict[str, Any], said: str, tried_anew: bool) -> Check:
    async def check(talk: Talk) -> None:
        for after in range(len(WHOLE)):
            turn = Turn(CONTENT, fault=Fault(**fault, after=after))
            await talk.fails_well(turn, said, tries(after, tried_anew))

    return check


def _in_place(fault: Fault, said: str, times: int) -> Check:
    async def check(talk: Talk) -> None:
        await talk.fails_well(Turn(fault=fault), said, times)

    return check


for _fault, _said, _tried_anew in IN_A_STREAM:
    CHECKS[f"stream {_fault.get('error_type', _fault['kind'])}"] = _in_a_stream(_fault, _said, _tried_anew)
for _number, (_place_fault, _said, _times) in enumerate(IN_PLACE_OF_A_STREAM):
    CHECKS[f"place {_number} {_place_fault.kind} {_place_fault.status}"] = _in_place(_place_fault, _said, _times)


async def _tools(talk: Talk) -> None:
    result = await talk.say("Is the lamp on?", Turn(CONTENT), Turn([text("No.")]))
    assert speech(result) == "No."
    kinds = [block["type"] for block in talk.server.message_requests[-1]["messages"][1]["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"], kinds


async def _task(talk: Talk) -> None:
    talk.server.responder = Scenario([Turn([text('{"name": "Lamp"}')])])
    import voluptuous as vol  # noqa: PLC0415 - after Home Assistant has replaced it

    data = await ai_task.async_generate_data(
        talk.hass, task_name="t", entity_id=TASK, instructions="Do", structure=vol.Schema({vol.Required("name"): str})
    )
    assert data.data == {"name": "Lamp"}
    assert talk.server.message_requests[-1]["output_config"]["format"]["type"] == "json_schema"


async def _web(talk: Talk) -> None:
    page = {
        "type": "web_search_result",
        "url": "https://a.example",
        "title": "A",
        "encrypted_content": "x",
        "page_age": None,
    }
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]}
    place = {
        "type": "web_search_result_location",
        "cited_text": "c",
        "encrypted_index": "i",
        "title": "A",
        "url": page["url"],
    }
    blocks = [search, found, {**text("Sunny."), "citations": [place]}]
    result = await talk.say("Weather?", Turn(blocks))
    assert speech(result) == "Sunny."
    assert "A: https://a.example" in result.response.card["sources"]["content"]
    await talk.say("Thanks", Turn([text("Sure.")]), conversation_id=result.conversation_id)
    assert talk.server.message_requests[-1]["messages"][1]["content"] == blocks


async def _deprecated_tools(talk: Talk) -> None:
    result = await talk.say("?", Turn([tool_use("no_such_tool")], invents=True), Turn([text("Sorted.")]))
    assert speech(result) == "Sorted."


CHECKS |= {"tools": _tools, "task": _task, "web": _web, "unknown tool": _deprecated_tools}


async def main(folder: str) -> None:
    """Set our agent up through its flow, and report each check."""
    install_integration(Path(folder))
    async with ClaudeServer(Scenario([])) as server:
        hass = await start(folder)
        assert await async_setup_component(hass, "intent", {})
        retry = importlib.import_module(f"{PACKAGE}.claude.retry")
        retry._PAUSES = dict.fromkeys(retry._PAUSES, (0.0,))  # type: ignore[attr-defined]
        flows = hass.config_entries.flow
        menu = await flows.async_init("extended_assist", context={"source": "user"})
        await flows.async_configure(menu["flow_id"], {"next_step_id": "claude"})
        done = await flows.async_configure(menu["flow_id"], {"api_key": "test-key", "base_url": server.url})
        await hass.async_block_till_done()
        assert done["type"] == "create_entry", done
        for name, check in CHECKS.items():
            failure = None
            try:
                await check(Talk(hass, server))
            except Exception:  # noqa: BLE001 - reported with the name
                failure = traceback.format_exc()
            sys.stdout.write(json.dumps({"name": name, "sdk": anthropic.__version__, "failure": failure}) + "\n")
        await hass.async_stop()


if __name__ == "__main__":
    # Home Assistant imports custom components by this name from its configuration; the checkout's must not be first.
    os.chdir("/")
    with TemporaryDirectory() as temporary:
        asyncio.run(main(temporary))
