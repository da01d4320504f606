"""The agent on every kind of model that a list can describe, each held to what is documented about it."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import CONF_PROMPT_CACHE, CONF_TOOL_SEARCH
from homeassistant.core import HomeAssistant
from tests.claude_server import ClaudeServer, Scenario, Turn, text, tool_use
from tests.claude_server.kinds import MODEL_KINDS
from tests.claude_server.thoughtful import Thoughtful
from tests.conftest import Converse, expose
from tests.helpers.talking import change_agent, speech

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

GET_ENTITIES = "extended_assist__get_entities"
CHOICES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "everything": {
        "thinking": "adaptive",
        "effort": "low",
        "web_search": True,
        "web_fetch": True,
        CONF_TOOL_SEARCH: True,
        CONF_PROMPT_CACHE: "1h",
    },
    "manual thinking": {"thinking": "enabled", "thinking_budget": 1_024},
    "no thinking": {"thinking": "disabled", "effort": "max"},
}


@pytest.fixture
async def claude_server(socket_enabled: None) -> AsyncGenerator[ClaudeServer]:
    """Return a server that lists a model of each kind."""
    async with ClaudeServer(Scenario([]), models=list(MODEL_KINDS.values()), omits_thinking=True) as server:
        yield server


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("kind", MODEL_KINDS)
async def test_conversation(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    converse: Converse,
    kind: str,
    choice: str,
) -> None:
    """A tool call, its answer and a further turn: whatever the user chose, the service takes each request."""
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    await change_agent(hass, entry, model=MODEL_KINDS[kind]["id"], **CHOICES[choice])
    turns = [
        Turn([text("I look."), tool_use(GET_ENTITIES, {})]),
        Turn([text("It is on.")]),
        Turn([text("You are welcome.")]),
    ]
    claude_server.responder = Thoughtful(Scenario(turns))
    result = await converse("Is the lamp on?")
    assert speech(result).endswith("It is on.")
    again = await converse("Thanks", conversation_id=result.conversation_id)
    assert speech(again) == "You are welcome."
    first, second, third = claude_server.message_requests
    assert len(first["messages"]) < len(second["messages"]) < len(third["messages"])
