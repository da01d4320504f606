"""Tests of performing actions, with real integrations, and of attempts to reach what is hidden."""

from collections.abc import Callable
import json
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.confirmation.untrusted_text import _HEARD as HEARD
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.setup import async_setup_component
from tests.attacks import actions as attacks
from tests.conftest import CallTool
from tests.helpers.acting import EXPOSED, device_of, hidden_states, traces
from tests.helpers.one_home import in_one_home


def _filled(hass: HomeAssistant, value: Any) -> Any:
    """Return arguments with the ids that <…> stands for."""
    registry = er.async_get(hass)
    zebra = registry.async_get("light.zebra")
    assert zebra
    text = json.dumps(value)
    for mark, real in (
        (attacks.DEVICE, device_of(hass, "light.narwhal")),
        (attacks.HIDDEN_DEVICE, device_of(hass, "light.zebra")),
        (attacks.REGISTRY_ID, zebra.id),
    ):
        text = text.replace(json.dumps(mark), json.dumps(real))
    return json.loads(text)


async def test_attacks(hass: HomeAssistant, house: None, llm_context: llm.LLMContext) -> None:
    """No attempt moves anything hidden, calls what is never allowed, or tells of it."""
    assert len(attacks.ALL) > 140
    assert await async_setup_component(hass, "shell_command", {"shell_command": {"zebra": "true"}})
    assert await async_setup_component(hass, "rest_command", {"rest_command": {"zebra": {"url": "http://127.0.0.1:1"}}})
    assert await async_setup_component(hass, "persistent_notification", {})
    assert all(hass.services.has_service(*action.split(".")) for action in attacks.LISTED_ACTIONS)
    calls = async_capture_events(hass, EVENT_CALL_SERVICE)
    free = Policy(allow_without_chat=True)
    tool = PerformActionTool(ToolboxOptions(policy=free))
    listing = PerformActionTool(ToolboxOptions(policy=free, targetless_actions=attacks.LISTED_ACTIONS))
    before = hidden_states(hass)
    assert {"light.zebra", "scene.zebra", "script.zebra", "lock.poorly_installed_door"} <= before.keys()
    attempts = [(tool, *attack) for attack in attacks.ALL] + [(listing, *attack) for attack in attacks.LISTED]
    for used, name, arguments, refused in attempts:
        filled = _filled(hass, arguments)
        calls.clear()
        hass.data.pop(HEARD, None)  # Each attempt stands for itself.
        result = await used.async_call(hass, llm.ToolInput(tool.name, filled), llm_context)
        await hass.async_block_till_done()
        assert result.error is refused, (name, result.data)
        assert "unexpectedly" not in str(result.data), name
        assert traces(json_dumps(result.data), json_dumps(filled)) == [], name
        assert bool(calls) is not refused, name
        for call in calls:
            reached = json_dumps(call.data["service_data"])
            assert not any(json.dumps(entity_id) in reached for entity_id in before), (name, call.data)
        assert hidden_states(hass) == before, name


@pytest.mark.parametrize(
    "options",
    [
        ToolboxOptions(),
        ToolboxOptions(
            targetless_actions=frozenset(
                {
                    "shell_command.x",
                    "homeassistant.restart",
                    "group.set",
                    "input_boolean.reload",
                    "conversation.process",
                }
            )
        ),
    ],
)
async def test_never(hass: HomeAssistant, house: None, call_tool: CallTool, options: ToolboxOptions) -> None:
    """Some actions are refused whatever the options list."""
    assert await async_setup_component(hass, "shell_command", {"shell_command": {"x": "true"}})
    for action in (
        *("shell_command.x", "homeassistant.restart", "group.set", "input_boolean.reload"),
        "conversation.process",
    ):
        data = await call_tool(PerformActionTool(options), error=True, action=action)
        assert data["error"].startswith(f"{action} cannot be used by assistants.")


async def test_hidden_and_unknown_look_the_same(hass: HomeAssistant, house: None, call_tool: CallTool) -> None:
    """The answer about something hidden is that about something that does not exist."""

    def ask(word: str) -> list[dict[str, Any]]:
        return [
            {"action": "light.turn_on", "target": {"entity_id": f"light.{word}"}},
            {"action": "light.turn_on", "target": {"area_id": f"{word} room"}},
            {"action": "light.turn_on", "target": {"floor_id": f"{word} floor"}},
            {"action": "light.turn_on", "target": {"label_id": f"{word} label"}},
            {"action": f"script.{word}"},
            {"action": "script.visible", "data": {"lamp": f"light.{word}"}},
            {"action": "script.visible", "data": {"text": f"see light.{word} there"}},
            {"action": "scene.apply", "data": {"entities": {f"light.{word}": "on"}}},
            {"action": f"rest_command.{word}"},
        ]

    assert await async_setup_component(hass, "rest_command", {"rest_command": {"zebra": {"url": "http://127.0.0.1:1"}}})
    for hidden, other in (("zebra", "zebxx"), ("axolotl", "axoloxx")):
        for first, second in zip(ask(hidden), ask(other), strict=True):
            known = await call_tool(PerformActionTool(), error=True, **first)
            unknown = await call_tool(PerformActionTool(), error=True, **second)
            assert known["error"].replace(hidden, other) == unknown["error"]


REPORTS: list[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
    (
        {"action": "light.turn_on", "target": {"entity_id": "bed light"}, "data": {"brightness": 128}},
        lambda data: data["entities"]["light.bed_light"].startswith("off → on, brightness 128"),
    ),
    (
        {"action": "light.turn_off", "target": {"area_id": "Kitchen"}},
        lambda data: (
            data["entities"].keys() == {"light.ceiling_lights", "light.kitchen_lights"}
            and data["left_out"].startswith("2 more in this target")
        ),
    ),
    (
        {"action": "climate.set_hvac_mode", "target": {"entity_id": "climate.hvac"}, "data": {"hvac_mode": "heat"}},
        lambda data: data["entities"]["climate.hvac"].startswith("cool → heat"),
    ),
    (
        {"action": "cover.open_cover", "target": {"entity_id": "Kitchen Window"}},
        lambda data: data["entities"]["cover.kitchen_window"].startswith("closed → open"),
    ),
    (
        {"action": "lock.unlock", "target": {"entity_id": "front door"}},
        lambda data: data["entities"]["lock.front_door"] in ("locked → unlocking", "locked → unlocked"),
    ),
    (
        {
            "action": "media_player.volume_set",
            "target": {"entity_id": "media_player.kitchen"},
            "data": {"volume_level": 0.3},
        },
        lambda data: "volume_level 0.3" in data["entities"]["media_player.kitchen"],
    ),
    (
        {"action": "todo.add_item", "target": {"entity_id": "todo.shopping_list"}, "data": {"item": "Milk"}},
        lambda data: data["entities"]["todo.shopping_list"] == "0 → 1",
    ),
    (
        {"action": "todo.get_items", "target": {"entity_id": "todo.shopping_list"}},
        lambda data: data["response"]["todo.shopping_list"]["items"] == [] and "entities" not in data,
    ),
    (
        {
            "action": "calendar.get_events",
            "target": {"entity_id": "calendar.calendar_1"},
            "data": {"duration": {"hours": 9}},
        },
        lambda data: data["response"]["calendar.calendar_1"]["events"][0]["summary"] == "Future Event",
    ),
    (
        {
            "action": "weather.get_forecasts",
            "target": {"entity_id": "weather.demo_weather_south"},
            "data": {"type": "daily"},
        },
        lambda data: len(data["response"]["weather.demo_weather_south"]["forecast"]) > 3,
    ),
    (
        {"action": "notify.send_message", "target": {"entity_id": "notify.notifier"}, "data": {"message": "Dinner"}},
        lambda data: "unknown → 20" in data["entities"]["notify.notifier"],
    ),
    (
        {"action": "input_number.set_value", "data": {"entity_id": "input_number.level", "value": 4}},
        lambda data: data["entities"]["input_number.level"] == "0.0 → 4.0".replace("0.0", "0").replace("4.0", "4"),
    ),
    (
        {"action": "scene.turn_on", "target": {"entity_id": "scene.visible"}},
        lambda data: data["entities"]["scene.visible"].startswith("unknown → 20"),
    ),
    (
        {"action": "script.visible", "data": {"lamp": "Bed Light"}},
        lambda data: data["response"] == {"lamp": "light.bed_light"},
    ),
    (
        {"action": "scene.apply", "data": {"entities": {"light.bed_light": {"state": "on", "brightness": 7}}}},
        lambda data: "brightness 7" in data["entities"]["light.bed_light"],
    ),
    (
        {
            "action": "homeassistant.turn_on",
            "target": {"entity_id": ["input_boolean.party", "switch.decorative_lights"]},
        },
        lambda data: (
            data["entities"]["input_boolean.party"] == "off → on"
            and "as before" in data["entities"]["switch.decorative_lights"]
        ),
    ),
    (
        {"action": "light.turn_on", "target": {"entity_id": "light.whole"}},
        lambda data: data["entities"].keys() == {"light.whole"},
    ),
    (
        {"action": "light.turn_on", "target": {"entity_id": "light.mixed"}},
        lambda data: data["entities"].keys() == {"light.ceiling_lights"} and "1 more" in data["left_out"],
    ),
    (
        {
            "action": "media_player.volume_set",
            "target": {"entity_id": "media_player.group"},
            "data": {"volume_level": 0.1},
        },
        lambda data: data["entities"].keys() == {"media_player.group"},
    ),
]


@pytest.mark.parametrize(
    ("arguments", "expected"), REPORTS, ids=lambda value: value["action"] if isinstance(value, dict) else ""
)
async def test_reports(
    hass: HomeAssistant,
    house: None,
    call_tool: CallTool,
    arguments: dict[str, Any],
    expected: Callable[[dict[str, Any]], bool],
) -> None:
    """An action reports what became of each entity, or answers."""
    data = await call_tool(PerformActionTool(), **arguments)
    assert expected(data), data


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"action": "light.turn_onn"}, "Nearest: light.turn_on"),
    (
        {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}, "data": {"brightnes": 1}},
        "light.turn_on does not take this data",
    ),
    (
        {"action": "climate.set_hvac_mode", "target": {"entity_id": "climate.hvac"}, "data": {"hvac_mode": "party"}},
        "climate.set_hvac_mode does not take this data",
    ),
    (
        {"action": "climate.set_temperature", "target": {"entity_id": "climate.hvac"}, "data": {"temperature": 500}},
        "climate.set_temperature failed",
    ),
    (
        {"action": "light.turn_on", "target": {"entity_id": "cover.hall_window"}},
        "cover.hall_window cannot do light.turn_on",
    ),
    ({"action": "light.turn_on", "target": {"entity_id": "lights"}}, "'lights' means 2 entities"),
    ({"action": "light.turn_on", "target": {"area_id": "Attic"}}, "Areas: Bed Room, Kitchen."),
    (
        {"action": "cover.open_cover", "target": {"area_id": "Bed Room"}},
        "holds nothing exposed that can do cover.open_cover",
    ),
    ({"action": "persistent_notification.create", "data": {"message": "x"}}, "do not allow it without"),
    (
        {"action": "scene.turn_on", "target": {"entity_id": "scene.mixed"}},
        "it would also move 2 entities that are not exposed",
    ),
    (
        {"action": "light.turn_on", "target": {"entity_id": "light.bed_light"}, "data": {"effect": {"a": ["{{ 1 }}"]}}},
        "data.effect.a[0]: Templates cannot be used here",
    ),
]


@in_one_home(("arguments", "expected"), ERRORS)
async def test_errors_teach(
    hass: HomeAssistant, house: None, call_tool: CallTool, arguments: dict[str, Any], expected: str
) -> None:
    """What is refused says why and what to do."""
    data = await call_tool(PerformActionTool(), error=True, **arguments)
    assert expected in data["error"]


def test_exposed_is_known() -> None:
    """The house's lists do not overlap."""
    assert not any(secret in entity_id for entity_id in EXPOSED for secret in ("zebra", "narwhal", "quokka"))
