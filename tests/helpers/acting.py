"""A house of real integrations in which half of everything is hidden, for tests of what acts on it."""

from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
    floor_registry as fr,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component

SECRETS = ("zebra", "quokka", "narwhal", "axolotl", "poorly", "calendar_2", "bedroom")
"""What occurs in ids and names of hidden things only."""

_PLATFORMS = [
    *(Platform.CALENDAR, Platform.CLIMATE, Platform.COVER, Platform.FAN, Platform.LIGHT, Platform.LOCK),
    *(Platform.MEDIA_PLAYER, Platform.NOTIFY, Platform.NUMBER, Platform.SWITCH, Platform.WEATHER),
]

_HIDDEN = {
    "light.office_rgbw_lights": ("light.zebra", "Zebra lamp"),
    "light.entrance_color_white_lights": ("light.narwhal", "Narwhal lamp"),
    "cover.garage_door": ("cover.zebra", "Zebra gate"),
    "climate.heatpump": ("climate.zebra", "Zebra pump"),
    "weather.demo_weather_north": ("weather.zebra", "Zebra weather"),
    "fan.percentage_full_fan": ("fan.zebra", "Zebra fan"),
    "switch.ac": ("switch.zebra", "Zebra switch"),
    "number.pwm_1": ("number.zebra", "Zebra number"),
}
EXPOSED = (
    *("light.bed_light", "light.ceiling_lights", "light.kitchen_lights", "cover.kitchen_window", "cover.hall_window"),
    *("climate.hvac", "weather.demo_weather_south", "fan.living_room_fan", "switch.decorative_lights", "number.volume"),
    *("notify.notifier", "lock.front_door", "lock.openable_lock", "calendar.calendar_1", "media_player.kitchen"),
    *("media_player.group", "input_boolean.party", "input_number.level", "input_text.note", "todo.shopping_list"),
    *("group.visible", "group.mixed", "light.mixed", "light.whole", "scene.visible", "scene.mixed"),
    *("script.visible", "script.outer", "automation.visible", "switch.mixed"),
)
_YAML = {
    "input_boolean": {"party": {"name": "Party"}, "zebra": {"name": "Zebra mode"}, "quokka": {"name": "Quokka mode"}},
    "input_number": {"level": {"min": 0, "max": 10}, "zebra": {"name": "Zebra level", "min": 0, "max": 10}},
    "input_text": {"note": {"name": "Note"}, "zebra": {"name": "Zebra text"}},
    "script": {
        "visible": {
            "alias": "Party time",
            "fields": {
                "lamp": {"selector": {"entity": {}}},
                "room": {"selector": {"area": {}}},
                "steps": {"selector": {"action": {}}},
                "text": {"selector": {"text": {}}},
                "x": {"selector": {"object": {}}},
            },
            "sequence": [
                {"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.party"}},
                {"variables": {"answer": {"lamp": "{{ lamp | default('none') }}"}}},
                {"stop": "Done", "response_variable": "answer"},
            ],
        },
        "outer": {"sequence": [{"action": "script.visible"}]},
        "zebra": {
            "alias": "Zebra run",
            "sequence": [{"action": "input_boolean.turn_on", "target": {"entity_id": "input_boolean.zebra"}}],
        },
    },
    "automation": [
        {
            "id": name,
            "alias": name.capitalize(),
            "triggers": [],
            "actions": [{"action": "input_boolean.toggle", "target": {"entity_id": f"input_boolean.{switched}"}}],
        }
        for name, switched in (("visible", "party"), ("zebra", "zebra"))
    ],
    "scene": [
        {"name": "Visible", "entities": {"light.bed_light": {"state": "on", "brightness": 42}}},
        {"name": "Mixed", "entities": {"light.bed_light": "on", "light.zebra": "on", "input_boolean.zebra": "on"}},
        {"name": "Zebra", "entities": {"light.bed_light": "on", "input_boolean.zebra": "on"}},
    ],
}
_OLD_GROUPS = {
    "visible": ["light.bed_light", "input_boolean.party"],
    "mixed": ["light.bed_light", "light.zebra", "input_boolean.quokka"],
    "zebra": ["light.bed_light", "light.zebra"],
}
_GROUPS = {
    "light": {
        "Mixed": ["light.ceiling_lights", "light.zebra"],
        "Whole": ["light.ceiling_lights", "light.kitchen_lights"],
    },
    "switch": {"Mixed": ["switch.zebra"]},
}


_AREAS = {
    "Kitchen": ("light.kitchen_lights", "light.ceiling_lights", "light.zebra", "number.volume", "number.zebra"),
    "Bed Room": ("light.bed_light", "climate.hvac", "climate.zebra"),
    "Axolotl Room": ("fan.zebra", "switch.zebra"),
}


@pytest.fixture
async def house(
    hass: HomeAssistant, assist: None, hass_storage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set up the house, with devices that answer soon and nothing kept on the disk."""
    monkeypatch.setattr("custom_components.extended_assist.calls.change_recorder.SETTLE_TIME", 0.02)
    monkeypatch.setattr("homeassistant.components.demo.lock.LOCK_UNLOCK_DELAY", 0)
    monkeypatch.setattr("homeassistant.components.shopping_list.common.save_json", lambda *_: None)
    await _set_up(hass)


async def _set_up(hass: HomeAssistant) -> None:
    """Set everything up, name what is hidden, put it into areas, and expose the rest."""
    with patch("homeassistant.components.demo.COMPONENTS_WITH_CONFIG_ENTRY_DEMO_PLATFORM", _PLATFORMS):
        assert await async_setup_component(hass, "demo", {})
        await hass.async_block_till_done()
    registry = er.async_get(hass)
    for entity_id, (hidden_id, name) in _HIDDEN.items():
        registry.async_update_entity(entity_id, new_entity_id=hidden_id, name=name)
    await hass.async_block_till_done()
    for domain, config in _YAML.items():
        assert await async_setup_component(hass, domain, {domain: config}), domain
    assert await async_setup_component(hass, "group", {})
    for name, members in _OLD_GROUPS.items():
        data = {"object_id": name, "name": f"{name.capitalize()} group", "entities": members}
        await hass.services.async_call("group", "set", data, blocking=True)
    for platform in ("light", "switch"):
        await _add_groups(hass, platform)
    await _add_todo_list(hass)
    _furnish(hass)
    player = hass.states.get("media_player.group")
    assert player
    members = ["media_player.group", "media_player.bedroom"]
    hass.states.async_set("media_player.group", "playing", {**player.attributes, "group_members": members})
    missing = [entity_id for entity_id in EXPOSED if hass.states.get(entity_id) is None]
    assert not missing, (missing, hass.states.async_entity_ids())
    for entity_id in EXPOSED:
        async_expose_entity(hass, "conversation", entity_id, True)


async def _add_groups(hass: HomeAssistant, domain: str) -> None:
    """Add groups that are entities of a domain, as the user makes them in the interface."""
    for title, members in _GROUPS[domain].items():
        options = {"group_type": domain, "name": title, "entities": members, "hide_members": False, "all": False}
        entry = MockConfigEntry(domain="group", title=title, options=options)
        entry.add_to_hass(hass)
        assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


async def _add_todo_list(hass: HomeAssistant) -> None:
    """Add a list that is kept in a file."""
    entry = MockConfigEntry(domain="shopping_list", title="Shopping list")
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


def _furnish(hass: HomeAssistant) -> None:
    """Put entities into areas, floors, labels and devices."""
    registry, areas = er.async_get(hass), ar.async_get(hass)
    ground = fr.async_get(hass).async_create("Ground floor", aliases={"downstairs"})
    attic = fr.async_get(hass).async_create("Axolotl floor")
    cosy = lr.async_get(hass).async_create("Cosy")
    secret = lr.async_get(hass).async_create("Axolotl label")
    for name, entity_ids in _AREAS.items():
        area = areas.async_create(name, aliases={"Galley"} if name == "Kitchen" else None)
        areas.async_update(area.id, floor_id=attic.floor_id if "Axolotl" in name else ground.floor_id)
        for entity_id in entity_ids:
            entry = registry.async_get(entity_id)
            assert entry
            if entry.device_id:
                dr.async_get(hass).async_update_device(entry.device_id, area_id=area.id)
            else:
                registry.async_update_entity(entity_id, area_id=area.id)
    for entity_id in ("light.bed_light", "light.narwhal"):
        registry.async_update_entity(entity_id, labels={cosy.label_id})
    registry.async_update_entity("light.zebra", labels={secret.label_id})
    # One device with a visible and a hidden light.
    shared = registry.async_get("light.kitchen_lights")
    assert shared
    registry.async_update_entity("light.narwhal", device_id=shared.device_id)


def listing(*actions: str) -> PerformActionTool:
    """Return a tool whose options list actions, and that may act where there is nobody to ask."""
    policy = Policy(allow_without_chat=True)
    return PerformActionTool(ToolboxOptions(policy=policy, targetless_actions=frozenset(actions)))


def device_of(hass: HomeAssistant, entity_id: str) -> str:
    """Return the id of an entity's device."""
    entry = er.async_get(hass).async_get(entity_id)
    assert entry
    assert entry.device_id
    return entry.device_id


def hidden_states(hass: HomeAssistant) -> dict[str, tuple[str, dict[str, object]]]:
    """Return state and attributes of everything hidden, but for what shows the tasks of the home."""
    entities = er.async_get(hass).entities
    ours = {entity.entity_id for entity in entities.values() if entity.platform == DOMAIN}
    return {
        state.entity_id: (state.state, dict(state.attributes))
        for state in hass.states.async_all()
        if state.entity_id not in EXPOSED and state.entity_id not in ours
    }


def traces(text: str, said: str) -> list[str]:
    """Return the secrets in a text that were not said."""
    return [secret for secret in SECRETS if secret in text.lower() and secret not in said.lower()]
