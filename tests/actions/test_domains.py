"""Tests of actions on real integrations of every kind, and of what their answers may tell."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.setup import async_setup_component

from ..conftest import ASSISTANT, CallTool, expose
from ..helpers.acting import hidden_states, listing, traces

pytestmark = pytest.mark.usefixtures("house")

PARTY = "input_boolean.party"
_SWITCHED = {
    f"turn_{way}": {"action": f"input_boolean.turn_{way}", "target": {"entity_id": PARTY}} for way in ("on", "off")
}
TEMPLATES = [
    {"light": [{"name": "Templated", "state": f"{{{{ is_state('{PARTY}', 'on') }}}}", **_SWITCHED}]},
    {"switch": [{"name": "Templated", "state": f"{{{{ is_state('{PARTY}', 'on') }}}}", **_SWITCHED}]},
    {
        "cover": [
            {
                "name": "Templated",
                "state": f"{{{{ is_state('{PARTY}', 'on') }}}}",
                "open_cover": _SWITCHED["turn_on"],
                "close_cover": _SWITCHED["turn_off"],
            }
        ]
    },
    {
        "lock": [
            {
                "name": "Templated",
                "state": f"{{{{ is_state('{PARTY}', 'off') }}}}",
                "unlock": _SWITCHED["turn_on"],
                "lock": _SWITCHED["turn_off"],
            }
        ]
    },
]


@pytest.mark.parametrize(
    ("action", "undone"),
    [
        ("light.turn_on", "on → off"),
        ("switch.turn_on", "on → off"),
        ("cover.open_cover", "open → closed"),
        ("lock.unlock", "unlocked → locked"),
    ],
)
async def test_templated(hass: HomeAssistant, call_tool: CallTool, action: str, undone: str) -> None:
    """An entity that acts on another one is followed, and what it did comes back with it."""
    assert await async_setup_component(hass, "template", {"template": TEMPLATES})
    await hass.async_block_till_done()
    entity_id = f"{action.split('.', maxsplit=1)[0]}.templated"
    expose(hass, entity_id)
    data = await call_tool(PerformActionTool(), action=action, target={"entity_id": entity_id})
    await hass.async_block_till_done()
    assert "→" in data["entities"][entity_id]
    assert hass.states.is_state(PARTY, "on")
    data = await call_tool(UndoLastChangeTool())
    await hass.async_block_till_done()
    assert data["undone"][entity_id].startswith(undone)
    assert hass.states.is_state(PARTY, "off")


GROUPS = [
    ("cover", "open_cover", ["cover.kitchen_window", "cover.zebra"]),
    ("fan", "turn_on", ["fan.living_room_fan", "fan.zebra"]),
    ("lock", "unlock", ["lock.front_door", "lock.poorly_installed_door"]),
    ("media_player", "media_pause", ["media_player.kitchen", "media_player.bedroom"]),
    ("switch", "turn_off", ["switch.decorative_lights", "switch.zebra"]),
]


@pytest.mark.parametrize(("domain", "action", "members"), GROUPS, ids=[domain for domain, *_ in GROUPS])
async def test_groups(hass: HomeAssistant, call_tool: CallTool, domain: str, action: str, members: list[str]) -> None:
    """A group that the user makes of visible and hidden things moves the visible ones."""
    options = {"group_type": domain, "name": "Both", "entities": members, "hide_members": False}
    entry = MockConfigEntry(domain="group", title="Both", options=options)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    expose(hass, f"{domain}.both")
    before = hidden_states(hass)
    target = {"entity_id": f"{domain}.both"}
    data = await call_tool(PerformActionTool(), action=f"{domain}.{action}", target=target)
    await hass.async_block_till_done()
    assert data["entities"].keys() == {members[0]}
    assert data["left_out"].startswith("1 more")
    after = hidden_states(hass)
    assert [entity_id for entity_id in before if after[entity_id] != before[entity_id]] in ([], [f"{domain}.both"])


async def test_todo(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Items are added, changed, read and removed; an item that holds the id of something hidden does not tell it."""
    target = {"entity_id": "todo.shopping_list"}

    async def items() -> list[dict[str, Any]]:
        data = await call_tool(PerformActionTool(), action="todo.get_items", target=target)
        found: list[dict[str, Any]] = data["response"]["todo.shopping_list"]["items"]
        return found

    await call_tool(PerformActionTool(), action="todo.add_item", target=target, data={"item": "Milk"})
    done = {"item": "Milk", "status": "completed"}
    await call_tool(PerformActionTool(), action="todo.update_item", target=target, data=done)
    await hass.services.async_call("todo", "add_item", {**target, "item": "repair light.zebra"}, blocking=True)
    data = await call_tool(
        PerformActionTool(), action="todo.get_items", target=target, data={"status": ["completed", "needs_action"]}
    )
    found = data["response"]["todo.shopping_list"]["items"]
    assert [(item.get("summary"), item["status"]) for item in found] == [("Milk", "completed"), (None, "needs_action")]
    assert traces(json_dumps(data), "") == []
    await call_tool(PerformActionTool(), action="todo.remove_item", target=target, data={"item": "Milk"})
    assert len(await items()) == 1


async def test_answers_about_many(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Answers hold what was asked of exposed entities, and nothing of the others."""
    for action, data in (
        ("weather.get_forecasts", {"type": "daily"}),
        ("calendar.get_events", {"duration": {"days": 2}}),
        ("todo.get_items", {}),
    ):
        answer = await call_tool(PerformActionTool(), action=action, target={"entity_id": "all"}, data=data)
        domain = action.split(".")[0]
        exposed = {
            "weather": {"weather.demo_weather_south"},
            "calendar": {"calendar.calendar_1"},
            "todo": {"todo.shopping_list"},
        }
        assert answer["response"].keys() == exposed[domain]
        assert traces(json_dumps(answer), "") == []


async def test_no_secrets_in_answers(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Credentials that an integration answers with are left out."""

    async def browse(_: ServiceCall) -> ServiceResponse:
        found = {"title": "Album", "thumbnail": "/api/media_player_proxy/x?token=narwhal", "access_token": "narwhal"}
        return {"children": [found, {"title": "Song", "url": "/local/song.mp3?authSig=narwhal"}]}

    hass.services.async_register("jukebox", "browse", browse, supports_response=SupportsResponse.ONLY)
    async_set_service_schema(hass, "jukebox", "browse", {"target": {"entity": {"domain": "media_player"}}})
    data = await call_tool(
        listing("jukebox.browse"), action="jukebox.browse", target={"entity_id": "media_player.kitchen"}
    )
    assert data["response"] == {"children": [{"title": "Album"}, {"title": "Song"}]}


async def test_whole_devices(hass: HomeAssistant, call_tool: CallTool) -> None:
    """An integration's own action, which may act on a whole device, needs all of the device to be exposed."""
    calls: list[ServiceCall] = []

    async def identify(call: ServiceCall) -> None:
        calls.append(call)

    hass.services.async_register("jukebox", "identify", identify)
    async_set_service_schema(hass, "jukebox", "identify", {"target": {"entity": {"domain": "light"}}})
    arguments: dict[str, Any] = {"action": "jukebox.identify", "target": {"entity_id": "light.kitchen_lights"}}
    data = await call_tool(listing("jukebox.identify"), error=True, **arguments)
    assert data["error"].startswith(
        "jukebox.identify acts on whole devices, and these have 1 entity that is not exposed"
    )
    assert calls == []
    async_expose_entity(hass, ASSISTANT, "light.narwhal", True)
    await call_tool(listing("jukebox.identify"), **arguments)
    assert [call.data for call in calls] == [{"entity_id": ["light.kitchen_lights"]}]
