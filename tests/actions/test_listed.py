"""Tests of what may be done without being listed: what the entity components define, field by field."""

from functools import cache
import json
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.actions.check import holds_address
from custom_components.extended_assist.actions.data import async_may_be_listed
from custom_components.extended_assist.actions.entity_actions import ACTIONS
from custom_components.extended_assist.actions.rules import is_never
from custom_components.extended_assist.confirmation import untrusted_text
from custom_components.extended_assist.exposure.domains import WITH_ENTITIES
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant import loader
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import Event, HomeAssistant, ServiceCall, callback
from homeassistant.helpers.service import async_set_service_schema
from homeassistant.util.yaml import load_yaml_dict
from tests.e2e.instance import ENVIRONMENTS
from tests.e2e.programs import Program, lines_of
from tests.helpers.one_home import in_one_home

from ..conftest import CallTool, expose
from ..helpers.acting import hidden_states, listing

NOT_FREE = frozenset(
    {
        # They have an agent write or paint, or make an assistant talk and listen on its own.
        *("ai_task.clear_images", "ai_task.evaluate", "ai_task.generate_data", "ai_task.generate_image"),
        *("assist_satellite.ask_question", "assist_satellite.start_conversation"),
        # They have no target: exposure says nothing about them.
        *("device_tracker.see", "notify.persistent_notification", "persistent_notification.dismiss"),
        *("persistent_notification.dismiss_all", "scene.create", "tts.clear_cache", "tts.say"),
    }
)
"""What was looked at and is left to the user to list."""


@pytest.mark.timeout(300)
def test_table_is_complete(tmp_path: Path) -> None:
    """What the entity components of both versions register is in the table, with each field, or was left out on purpose."""
    domains = sorted(WITH_ENTITIES | {"homeassistant", "persistent_notification"})
    both = [Program(name, "tests.actions.registered", tmp_path / name, *domains) for name in ENVIRONMENTS]
    versions = [json.loads(printed) for (printed,) in lines_of(*both)]
    registered: dict[str, set[str]] = {}
    for action, fields in (item for version in versions for item in version.items()):
        if not is_never(*action.split(".")):
            registered[action] = registered.get(action, set()) | {*fields}
    assert {"light.turn_on", "todo.add_item", "media_player.play_media", "camera.snapshot"} <= registered.keys()
    assert registered.keys() - ACTIONS.keys() == NOT_FREE & registered.keys(), "New: look at it"
    assert ACTIONS.keys() - registered.keys() <= {"notify.notify"}, "Gone"
    general = {name for name in ACTIONS if name.startswith("homeassistant.")}  # They take what those of domains take.
    for action in registered.keys() & ACTIONS.keys() - general:
        assert registered[action] == {*ACTIONS[action]}, action


@cache
def _described(domain: str) -> dict[str, Any]:
    """Return the actions that one of Home Assistant's integrations describes."""
    return load_yaml_dict(Path(loader.__file__).parent / "components" / domain / "services.yaml")


OF_INTEGRATIONS = {
    "androidtv.adb_command": ("media_player.kitchen", {"command": "reboot"}),
    "androidtv.upload": ("media_player.kitchen", {"device_path": "/x", "local_path": "/config/secrets.yaml"}),
    "androidtv.download": ("media_player.kitchen", {"device_path": "/x", "local_path": "/config/x"}),
    "blink.save_video": ("camera.visible", {"filename": "/config/x", "name": "x"}),
    "blink.save_recent_clips": ("camera.visible", {"file_path": "/config", "name": "x"}),
    "kodi.call_method": ("media_player.kitchen", {"method": "System.Shutdown"}),
    "zwave_js.get_lock_usercode": ("lock.front_door", {"code_slot": 1}),
    "zwave_js.set_lock_usercode": ("lock.front_door", {"code_slot": 1, "usercode": "1"}),
    "light.own_invention": ("light.bed_light", {}),
}
"""Actions that integrations add to entities, on an exposed one."""


@in_one_home("action", OF_INTEGRATIONS)
async def test_integrations_actions(hass: HomeAssistant, house: None, call_tool: CallTool, action: str) -> None:
    """What an integration adds to an entity that is exposed is refused, until the options list it."""
    entity_id, data = OF_INTEGRATIONS[action]
    domain, name = action.split(".")
    if hass.states.get(entity_id) is None:
        hass.states.async_set(entity_id, "idle")
        expose(hass, entity_id)
    calls: list[ServiceCall] = []

    async def handle(call: ServiceCall) -> None:
        calls.append(call)

    hass.services.async_register(domain, name, handle)
    if domain != "light":
        assert name in _described(domain) or domain == "blink"
    async_set_service_schema(
        hass, domain, name, {"target": {"entity": {}}, "fields": _described(domain).get(name, {}).get("fields", {})}
    )
    arguments = {"action": action, "target": {"entity_id": entity_id}, "data": data}
    refused = await call_tool(PerformActionTool(), error=True, **arguments)
    unknown = await call_tool(PerformActionTool(), error=True, **arguments | {"action": f"{domain}.none"})
    # What is nearest to a name differs with the name.
    told, same = (answer["error"].split("Nearest")[0] for answer in (refused, unknown))
    assert told.replace(action, f"{domain}.none") == same
    assert not calls
    assert action in await async_may_be_listed(hass)
    await call_tool(listing(action), **arguments)
    assert len(calls) == 1


PLAYER = {"entity_id": "media_player.kitchen"}
ADDRESSES = [
    *(
        "http://example.com/a.mp3",
        "HTTPS://example.com",
        " http://example.com",
        "ht\ttp://example.com",
        "//example.com/a",
    ),
    *(
        "http:example.com",
        "file:///config/secrets.yaml",
        "/config/secrets.yaml",
        "../secrets.yaml",
        "~/x",
        "C:\\x",
        "\\\\nas\\x",
    ),
    *(
        "rtsp://camera/stream",
        "smb://nas/song",
        "http%3A%2F%2Fexample.com",
        "http%253A//example.com",
        "\uff48ttp://example.com",
    ),
    *(
        "x-rincon-mp3radio://stream.example.com",
        "any://user@host/x",
        "new://192.168.1.1/x",
        "new://[::1]/x",
        "new://host:80/x",
    ),
    *(
        "/api/camera_proxy/camera.kitchen",
        "/local/a.mp3",
        "data:audio/mp3;base64,AAAA",
        "www.example.com",
        "intent:x#end",
    ),
    *(
        "javascript:alert(1)",
        "spotify:http://example.com",
        '{"url": "http://example.com"}',
        "media-source://x/http://example.com",
    ),
]
NAMES = [
    *(
        "jazz",
        "spotify:playlist:37i9dQZF1DX0SM0LYsmbMT",
        "spotify://track/4uLU6hMCjMI75M1A2tKUQC",
        "library://track/12",
    ),
    *("media-source://media_source/local/song.mp3", "AC/DC", "R.E.M./Out of Time", "FV:2/1", "1234", ".38 Special"),
    *(
        "media-source://radio_browser/960bf4c3",
        '{"library_name": "Music", "artist": "Miles: Davis"}',
        "metadata:jazz",
        "Track 1",
    ),
]


@pytest.mark.parametrize("media", ADDRESSES)
def test_addresses(media: str) -> None:
    """An address is one however it is written, and inside whatever a player is given."""
    assert holds_address(media)
    assert holds_address({"media_content_id": media, "media_content_type": "music"})


@pytest.mark.parametrize("media", NAMES)
def test_names_of_media(media: str) -> None:
    """What a player knows by a name or id is none."""
    assert not holds_address(media)


BEYOND: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    ("media_player.play_media", PLAYER, {"media_content_id": "http://example.com/x", "media_content_type": "music"}),
    ("media_player.play_media", PLAYER, {"media": {"media_content_id": "//x.com", "media_content_type": "music"}}),
    ("media_player.play_media", PLAYER, {"media_content_id": "x", "media_content_type": "music", "extra": {"a": 1}}),
    ("media_player.select_source", PLAYER, {"source": "x; reboot"}),
    ("media_player.select_sound_mode", PLAYER, {"sound_mode": "$(reboot)"}),
    ("remote.send_command", {"entity_id": "remote.visible"}, {"command": "reboot"}),
    ("remote.turn_on", {"entity_id": "remote.visible"}, {"activity": "https://example.com"}),
    ("homeassistant.turn_on", {"entity_id": "remote.visible"}, {"activity": "https://example.com"}),
    ("camera.snapshot", {"entity_id": "camera.visible"}, {"filename": "/config/www/x.jpg"}),
    ("camera.record", {"entity_id": "camera.visible"}, {"filename": "/config/www/x.mp4"}),
    ("vacuum.send_command", {"entity_id": "vacuum.visible"}, {"command": "app_goto_target"}),
    ("assist_satellite.announce", {"entity_id": "assist_satellite.visible"}, {"media_id": "http://example.com/x"}),
    ("assist_satellite.start_conversation", {"entity_id": "assist_satellite.visible"}, {"start_message": "Hello"}),
    ("light.turn_on", {"entity_id": "light.bed_light"}, {"file": "x"}),
]


@in_one_home(("action", "target", "data"), BEYOND)
async def test_fields_that_reach_beyond(
    hass: HomeAssistant, house: None, call_tool: CallTool, action: str, target: dict[str, str], data: dict[str, Any]
) -> None:
    """Files, addresses and commands are refused, also where the action is one of the entity's own component."""
    hass.data.pop(
        untrusted_text._HEARD, None
    )  # A refusal that lists sources is untrusted text; each case begins without.
    domain, name = action.split(".")
    entity_id = target["entity_id"]
    if hass.states.get(entity_id) is None:
        hass.states.async_set(entity_id, "idle")
        expose(hass, entity_id)
    reached: list[ServiceCall] = []
    for each in {domain, entity_id.split(".", maxsplit=1)[0]} - {"homeassistant"}:
        hass.services.async_register(each, name, reached.append)
        described = {"target": {}, "fields": _described(each).get(name, {}).get("fields", {})}
        async_set_service_schema(hass, each, name, described)
    await call_tool(PerformActionTool(), error=True, action=action, target=target, data=data)
    assert not reached
    if name not in ("turn_on", "start_conversation"):
        assert action in await async_may_be_listed(hass)
        await call_tool(listing(action), action=action, target=target, data=data)
        assert reached


async def test_what_a_player_offers(hass: HomeAssistant, house: None, call_tool: CallTool) -> None:
    """A source is one of those that the player offers; where it does not tell, plain words."""
    hass.states.async_set("media_player.tv", "on", {"source_list": ["TV & more", "HDMI 1"]})
    expose(hass, "media_player.tv")
    chosen: list[Any] = []

    async def select(call: ServiceCall) -> None:
        chosen.append(call.data["source"])

    hass.services.async_register("media_player", "select_source", select)
    arguments: dict[str, Any] = {"action": "media_player.select_source", "target": {"entity_id": "media_player.tv"}}
    await call_tool(PerformActionTool(), **arguments, data={"source": "TV & more"})
    refused = await call_tool(PerformActionTool(), error=True, **arguments, data={"source": "HDMI 2"})
    assert refused["error"] == "data.source: not offered. Choose of source_list: HDMI 1, TV & more."
    hass.states.async_set("media_player.tv", "off")
    await call_tool(PerformActionTool(), **arguments, data={"source": "HDMI 2"})
    await call_tool(PerformActionTool(), error=True, **arguments, data={"source": "TV & more"})
    assert chosen == ["TV & more", "HDMI 2"]


SAID: list[tuple[str, dict[str, str], str]] = [
    ("notify.send_message", {"entity_id": "notify.notifier"}, "message"),
    ("todo.add_item", {"entity_id": "todo.shopping_list"}, "item"),
    ("input_text.set_value", {"entity_id": "input_text.note"}, "value"),
]


@pytest.mark.parametrize(("action", "target", "field"), SAID)
async def test_texts_that_look_like_ids(
    hass: HomeAssistant, house: None, call_tool: CallTool, action: str, target: dict[str, str], field: str
) -> None:
    """Where nothing reads an id in a text, weather.com is a word; what is hidden and what is not there answer alike."""
    before = hidden_states(hass)
    said: list[str] = []

    @callback
    def listen(event: Event) -> None:
        said.append(event.data["service_data"][field])

    hass.bus.async_listen(EVENT_CALL_SERVICE, listen)
    texts = ["weather.com", "todo.txt", "see light.zebra", "see light.zebxx"]
    answers = [await call_tool(PerformActionTool(), action=action, target=target, data={field: text}) for text in texts]
    assert said == texts
    assert answers[2].keys() == answers[3].keys()
    assert hidden_states(hass) == before
    refused = await call_tool(
        PerformActionTool(), error=True, action=action, target=target, data={field: "{{ states('light.zebra') }}"}
    )
    assert "Templates cannot be used here" in refused["error"]
