"""Core's own Anthropic integration as a client, in a Home Assistant started for it in this process.

`python -m tests.claude_server.outside.core_agent` prints what was said and every request, as one JSON object. For the
Home Assistant whose version the test framework does not support; it takes the integration's own set-up flow.
"""

import asyncio
from dataclasses import asdict
import json
import os
from pathlib import Path
import sys
from tempfile import TemporaryDirectory

from homeassistant import bootstrap, loader
from homeassistant.components import conversation
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigEntries
from homeassistant.const import __version__
from homeassistant.core import Context, CoreState, HomeAssistant
from homeassistant.core_config import async_process_ha_core_config
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Scenario, Turn, text, thinking, tool_use
from tests.e2e.instance import free_port, prepare_configuration

TURNS = [
    Turn(
        [thinking("I should look."), text("Let me look."), tool_use("homeassistant__GetLiveContext", {"name": "Lamp"})]
    ),
    Turn([text("The lamp is off.")]),
]


async def start(folder: str) -> HomeAssistant:
    """Start Home Assistant with what a conversation needs, and one exposed switch."""
    prepare_configuration(Path(folder), free_port())
    hass = HomeAssistant(folder)
    loader.async_setup(hass)
    hass.config.skip_pip = True
    hass.config_entries = ConfigEntries(hass, {})
    assert await bootstrap.async_load_base_functionality(hass)
    await async_process_ha_core_config(hass, {})
    for component in ("homeassistant", "conversation", "input_boolean"):
        assert await async_setup_component(hass, component, {"input_boolean": {"lamp": {"name": "Lamp"}}})
    # Running without a start event, upon which the web server would open its port.
    hass.set_state(CoreState.running)
    async_expose_entity(hass, "conversation", "input_boolean.lamp", should_expose=True)
    return hass


async def main(folder: str) -> None:
    """Set core's agent up through its flow, ask one question, and report."""
    async with ClaudeServer(Scenario(TURNS)) as server:
        os.environ["ANTHROPIC_BASE_URL"] = server.url
        hass = await start(folder)
        source = {"source": "user"}
        await hass.config_entries.flow.async_init("anthropic", context=source, data={"api_key": "test-key"})
        await hass.async_block_till_done()
        result = await conversation.async_converse(
            hass, "Is the lamp on?", None, Context(), language="en", agent_id="conversation.claude_conversation"
        )
        report = {
            "version": __version__,
            "answer": result.response.speech["plain"]["speech"],
            "requests": [asdict(request) for request in server.requests],
        }
        await hass.async_stop()
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        asyncio.run(main(temporary))
