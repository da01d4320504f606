"""A home whose automations are in files, as in real life: for tests of what writes them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy, Speaker, Tier
from custom_components.extended_assist.tools.automation_changes import (
    AddAutomationTool,
    RemoveAutomationTool,
    UpdateAutomationTool,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.setup import async_setup_component
from tests.automations.files import HAND_WRITTEN
from tests.conftest import expose

CONFIGURATION = """\
automation: !include automations.yaml
input_boolean: {lamp: {name: Lamp}, porch: {name: Porch light}, motion: {name: Motion}, zebra: {name: Zebra mode}}
input_number: {level: {name: Level, min: 0, max: 100}}
"""
EXPOSED = ("input_boolean.lamp", "input_boolean.porch", "input_boolean.motion", "input_number.level")
FREE = ToolboxOptions(
    budget=40_000,
    policy=Policy(who_may=dict.fromkeys(Tier, Speaker.ANYONE), ask_first=frozenset(), allow_without_chat=True),
)
"""Options under which nobody is asked and everybody may: what is tested elsewhere."""
PORCH, MOTION = "input_boolean.porch", "input_boolean.motion"
ADD, UPDATE, REMOVE = (tool(FREE) for tool in (AddAutomationTool, UpdateAutomationTool, RemoveAutomationTool))

type File = Path
"""The file of automations of the home."""
type StartHome = Callable[..., Awaitable[File]]


@pytest.fixture
def start_home(hass: HomeAssistant, assist: None, tmp_path: Path) -> StartHome:
    """Return a function that starts the home with files of this content, and returns the file of automations."""

    async def start(automations: str | bytes = "[]\n", configuration: str = CONFIGURATION, **files: str) -> Path:
        hass.config.config_dir = str(tmp_path)
        path = tmp_path / "automations.yaml"
        path.write_bytes(automations if isinstance(automations, bytes) else automations.encode())
        (tmp_path / "configuration.yaml").write_text(configuration)
        for name, text in files.items():
            (tmp_path / name.replace("__", "/")).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / f"{name.replace('__', '/')}.yaml").write_text(text)
        await set_up(hass)
        await async_get_journal(hass)
        return path

    return start


async def set_up(hass: HomeAssistant) -> None:
    """Set up what the files say."""
    from homeassistant.config import async_hass_config_yaml  # noqa: PLC0415 - patched by the harness until now

    config = await async_hass_config_yaml(hass)
    beside = [domain for domain in ("script", "scene") if domain in config]
    for domain in ("input_boolean", "input_number", "automation", *beside):
        assert await async_setup_component(hass, domain, config), domain
    await hass.async_block_till_done()
    kitchen = ar.async_get(hass).async_get_or_create("Kitchen")
    er.async_get(hass).async_update_entity("input_boolean.lamp", area_id=kitchen.id)
    expose(hass, *EXPOSED)


def switching(name: str = "Porch at dusk", **more: Any) -> dict[str, Any]:
    """Return an automation that turns the porch light on when there is motion."""
    return {
        "alias": name,
        "triggers": [{"trigger": "state", "entity_id": "input_boolean.motion", "to": "on"}],
        "actions": [{"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.porch"}}],
        **more,
    }


async def turn_on(hass: HomeAssistant, entity_id: str) -> None:
    """Turn something on, and off before."""
    for service in ("turn_off", "turn_on"):
        await hass.services.async_call("input_boolean", service, {"entity_id": entity_id}, blocking=True)
    await hass.async_block_till_done()


@pytest.fixture
async def old_home(hass: HomeAssistant, start_home: StartHome) -> File:
    """Start a home with a file that people wrote, and expose what is in it."""
    path = await start_home(
        HAND_WRITTEN, other="id: else\nalias: Else\ntriggers: []\nactions: []\n", secrets=f"lamp: {PORCH}\n"
    )
    expose(hass, "automation.porch", "automation.alarm", "automation.else")
    return path
