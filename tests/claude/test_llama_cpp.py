"""Turns with llama.cpp's own server and a real, small model, where both are there: `script/bootstrap llama` brings them."""

import asyncio
from asyncio import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import voluptuous as vol

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.llm_tools.extended_tool import READ_ONLY
from homeassistant.components import conversation
from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.conftest import AGENT
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, change_agent, roles, speech

PYTHON = Path(__file__).parents[2] / ".cache" / "environments" / "llama" / "bin" / "python"
# Seconds to put the model together and load it, and for a turn of a few words, on a machine with other things to do.
LOAD_TIME = 120
TURN_TIME = 150

pytestmark = [
    pytest.mark.usefixtures("assist", "no_deprecations"),
    pytest.mark.timeout(LOAD_TIME + 4 * TURN_TIME),
    pytest.mark.skipif(
        not PYTHON.exists(), reason="The environment 'llama' is not there; script/bootstrap llama makes it"
    ),
]


class _Look(llm.Tool):
    """A tool, so that the server has one to render."""

    name = "look"
    description = "Tells whether the lamp is on."
    annotations = READ_ONLY
    integration = DOMAIN
    parameters = vol.Schema({vol.Required("name"): str})

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Tell."""
        return llm.ToolResult(data={"state": "on"})


class _Looking(llm.API):
    """An API with that tool alone: reading all of Assist's would take this model minutes."""

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return it."""
        return llm.APIInstance(api=self, api_prompt="", llm_context=llm_context, tools=[_Look()])


@pytest.fixture
async def address(socket_enabled: None, tmp_path: Path) -> AsyncGenerator[str]:
    """Return where the server listens."""
    script = Path(__file__).parents[1] / "helpers" / "llama_server.py"
    server = await subprocess.create_subprocess_exec(
        str(PYTHON),
        str(script),
        str(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield (await asyncio.wait_for(server.stdout.readline(), LOAD_TIME)).decode().strip()
    finally:
        server.stdin.close()
        await asyncio.wait_for(server.wait(), LOAD_TIME)


async def set_up(hass: HomeAssistant, address: str) -> ConfigEntry:
    """Go through the config flow as a person does."""
    llm.async_register_api(hass, _Looking(hass=hass, id="looking", name="Looking"))
    flows = hass.config_entries.flow
    menu = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    form = await flows.async_configure(menu["flow_id"], {"next_step_id": "claude"})
    result = await flows.async_configure(form["flow_id"], {"base_url": address})
    await hass.async_block_till_done()
    assert result["type"] == "create_entry", result
    return result["result"]


async def test_turns(hass: HomeAssistant, address: str, chat_log: FindLog) -> None:
    """It lists its model, and answers two turns of a conversation, with a tool among what it reads."""
    entry = await set_up(hass, address)
    assert [model.id for model in entry.runtime_data.models] == ["gemma-3-270m"]
    await change_agent(hass, entry, llm_hass_api=["looking"], prompt="Be brief.", max_tokens=16)
    conversation_id = None
    for words in ("Say hello.", "And goodbye."):
        result = await asyncio.wait_for(
            conversation.async_converse(hass, words, conversation_id, Context(), language="en", agent_id=AGENT),
            TURN_TIME,
        )
        assert result.response.error_code is None, speech(result)
        assert speech(result).strip()
        conversation_id = result.conversation_id
    log = chat_log(str(conversation_id))
    assert roles(log).count("user") == 2
    assert_every_call_has_a_result(log)
