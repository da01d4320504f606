"""A home with helpers and Home Assistant's demo devices, and an agent that writes automations, scripts and scenes in it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
import json
from pathlib import Path
import time
from typing import Any

from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use

from .client import Client
from .instance import CONFIGURATION, HomeAssistantInstance, install_integration
from .written import WRITTEN

EFFECT_TIME = 12.0  # seconds until an effect must be seen
HELPERS = f"""
demo:
sun:
input_boolean:
  motion:
  door:
  party:
  lamp:
{"".join(f"  effect_{number}:\n" for number in range(len(WRITTEN)))}
input_number:
  level: {{min: 0, max: 100, initial: 0}}
  hot: {{min: 0, max: 100, initial: 90}}
input_select: {{mode: {{options: [home, night, away]}}}}
input_datetime: {{alarm: {{has_time: true}}}}
counter: {{count: {{}}}}
scene: !include scenes.yaml
scene in_the_configuration:
- name: Movie
  entities: {{light.ceiling_lights: {{state: 'on', brightness: 30}}}}
"""
SCRIPTS = """\
# mine
old:
  alias: Old   # keep
  sequence: []
party:
  sequence:
  - action: input_boolean.turn_on
    target: {entity_id: input_boolean.party}
"""


def prepare_writing_home(folder: Path) -> None:
    """Write the configuration of the home."""
    (folder / "configuration.yaml").write_text(CONFIGURATION + HELPERS)
    (folder / "scripts.yaml").write_text(SCRIPTS)
    (folder / "scenes.yaml").write_text("[]\n")
    install_integration(folder)


class Speaker:
    """Speaks to the agent, whose model says what the scenario has it say."""

    def __init__(self, client: Client, server: ClaudeServer) -> None:
        self._client = client
        self._server = server
        self.agent = ""
        self.entry_id = ""
        self.conversation_id: str | None = None

    async def set_up(self) -> None:
        """Set the agent up as a person does."""
        steps = ({"next_step_id": "claude"}, {"api_key": "test-key", "base_url": self._server.url})
        result = await self._client.config_flow("extended_assist", *steps)
        assert result["type"] == "create_entry", result
        self.entry_id = result["result"]["entry_id"]
        self.agent = await self._client.find_entity("conversation", "extended_assist")

    async def remove(self) -> None:
        """Remove the agent, with all that it keeps in mind."""
        await self._client.delete(f"/api/config/config_entries/entry/{self.entry_id}")

    async def set_options(
        self, ask_first: Sequence[str] = (), families: Sequence[str] = ("actions", "automations")
    ) -> None:
        """Choose the families and what asks first."""
        form = {
            "families": list(families),
            "result_budget": 20_000,
            "policy": {
                "who_may_read": "anyone",
                "who_may_control": "anyone",
                "who_may_administer": "admin",
                "ask_first": list(ask_first),
                "allow_without_chat": False,
            },
        }
        result = await self._client.options_flow(self.entry_id, form)
        assert result["type"] == "create_entry", result
        # The entry is loaded anew: its agent is gone for that time, and a conversation would keep the tools that it had.
        self.conversation_id = None
        for _ in range(50):
            await asyncio.sleep(0.2)
            if (await self._client.states()).get(self.agent, {"state": "unavailable"})["state"] != "unavailable":
                break

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Let the model call a tool of ours once and return what it got."""
        return await self.call_other(f"extended_assist__{tool}", **arguments)

    async def call_other(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Let the model call any tool once and return what it got."""
        self._server.responder = Scenario([Turn([tool_use(tool, arguments)]), Turn([text("So.")])])
        await self._say("Do it.")
        blocks = self._server.message_requests[-1]["messages"][-1]["content"]
        (result,) = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return dict(result)

    async def ask(self, tool: str, **arguments: Any) -> str:
        """Let the model call a tool that asks; return the question that is spoken."""
        self._server.responder = Scenario([Turn([tool_use(f"extended_assist__{tool}", arguments)])])
        return await self._say("Do it.")

    async def agree(self) -> dict[str, Any]:
        """Say yes; return what was done."""
        self._server.responder = Scenario([Turn([text("So.")])])
        await self._say("Yes, please.")
        blocks = self._server.message_requests[-1]["messages"][-1]["content"]
        (result,) = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return dict(result)

    async def _say(self, words: str) -> str:
        """Say something; return the answer."""
        answer = await self._client.converse(words, agent_id=self.agent, conversation_id=self.conversation_id)
        self.conversation_id = answer["conversation_id"]
        return str(answer["response"]["speech"]["plain"]["speech"])


@asynccontextmanager
async def speaking(home: HomeAssistantInstance) -> AsyncGenerator[tuple[Client, Speaker]]:
    """Set an agent up in the home; it is gone afterwards."""
    async with home.connect() as client, ClaudeServer(Scenario([])) as server:
        speaker = Speaker(client, server)
        await speaker.set_up()
        try:
            yield client, speaker
        finally:
            await speaker.remove()


async def becomes(client: Client, entity_id: str, wanted: object, attribute: str | None = None) -> None:
    """Wait until an entity is in a state, or has an attribute."""
    deadline = time.monotonic() + EFFECT_TIME
    found: object = None
    while time.monotonic() < deadline:
        shown = (await client.states()).get(entity_id, {})
        found = shown.get("attributes", {}).get(attribute) if attribute else shown.get("state")
        if found == wanted:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{entity_id} is {found}, not {wanted}")
