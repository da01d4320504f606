"""A home whose scripts and scenes are in files beside its automations, with demo devices: for tests of what writes them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy, Speaker, Tier
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.conftest import expose

CONFIGURATION = """\
automation: !include automations.yaml
script: !include scripts.yaml
scene: !include scenes.yaml
input_boolean: {lamp: {name: Lamp}, porch: {name: Porch light}, zebra: {name: Zebra mode}}
input_number: {level: {name: Level, min: 0, max: 100}}
input_text: {note: {name: Note}, word: {name: Word, mode: password}}
"""
LAMP, PORCH, LEVEL, HIDDEN = "input_boolean.lamp", "input_boolean.porch", "input_number.level", "input_boolean.zebra"
LIGHT, LOCK, COVER = "light.bed_light", "lock.front_door", "cover.hall_window"
EXPOSED = (
    *(LAMP, PORCH, LEVEL, "input_text.note", "input_text.word", LIGHT, "light.ceiling_lights", LOCK, COVER),
    *("cover.garage_door", "climate.hvac", "media_player.lounge_room", "fan.living_room_fan", "notify.notifier"),
)
_PLATFORMS = [
    *(Platform.CLIMATE, Platform.COVER, Platform.FAN, Platform.LIGHT, Platform.LOCK, Platform.MEDIA_PLAYER),
    Platform.NOTIFY,
]
SCRIPTS = """\
# Scripts of the house
good_night:
  alias: Good night   # sleep well
  sequence:
  - action: input_boolean.turn_off
    target: {entity_id: input_boolean.lamp}
# ----- more -----
hidden:
  alias: Hidden one
  sequence:
  - action: input_boolean.turn_on
    target: {entity_id: input_boolean.zebra}
'42':
    alias: Number
    sequence: []
"""
SCENES = """\
- id: '1'
  name: Cosy   # candles
  entities:
    input_boolean.lamp: 'on'
  icon: mdi:candle
- id: '2'
  name: Mixed
  entities:
    input_boolean.lamp: 'on'
    input_boolean.zebra: {state: 'off', code: 4711}
"""

ASKING = ToolboxOptions(budget=40_000, policy=Policy(who_may=dict.fromkeys(Tier, Speaker.ANYONE)))
"""Options under which everybody may, and asks as at first."""

type StartScripts = Callable[..., Awaitable[Path]]


@pytest.fixture
def start_scripts(hass: HomeAssistant, assist: None, tmp_path: Path) -> StartScripts:
    """Return a function that starts the home with files of this content, and returns their folder.

    Who needs no devices does without them: they take most of the time.
    """

    async def start(
        scripts: str | bytes = SCRIPTS,
        scenes: str = SCENES,
        configuration: str = CONFIGURATION,
        *,
        devices: bool = True,
    ) -> Path:
        hass.config.config_dir = str(tmp_path)
        (tmp_path / "automations.yaml").write_text("[]\n")
        (tmp_path / "scripts.yaml").write_bytes(scripts if isinstance(scripts, bytes) else scripts.encode())
        (tmp_path / "scenes.yaml").write_text(scenes)
        (tmp_path / "configuration.yaml").write_text(configuration)
        if devices:
            await _add_devices(hass)
        await _set_up(hass)
        await async_get_journal(hass)
        return tmp_path

    return start


async def _add_devices(hass: HomeAssistant) -> None:
    """Set up the devices."""
    with patch("homeassistant.components.demo.COMPONENTS_WITH_CONFIG_ENTRY_DEMO_PLATFORM", _PLATFORMS):
        assert await async_setup_component(hass, "demo", {})
        await hass.async_block_till_done()


async def _set_up(hass: HomeAssistant) -> None:
    """Set up what the files say."""
    from homeassistant.config import async_hass_config_yaml  # noqa: PLC0415 - patched by the harness until now

    config = await async_hass_config_yaml(hass)
    for domain in ("input_boolean", "input_number", "input_text", "automation", "script", "scene"):
        assert await async_setup_component(hass, domain, config), domain
    await hass.async_block_till_done()
    written = ("script.good_night", "script.hidden", "script.42", "scene.cosy", "scene.mixed")
    expose(hass, *EXPOSED, *(one for one in written if hass.states.get(one)))


def lighting(name: str = "Light the room", **more: Any) -> dict[str, Any]:
    """Return a script with a field, which sets the level and turns the lamp on."""
    return {
        "alias": name,
        "fields": {"level": {"required": True, "selector": {"number": {"min": 0, "max": 100}}}},
        "sequence": [
            {
                "action": "input_number.set_value",
                "target": {"entity_id": LEVEL},
                "data": {"value": "{{ level }}"},
            },
            {"action": "input_boolean.turn_on", "target": {"entity_id": LAMP}},
        ],
        **more,
    }
