"""Tests of what an action may be given: its script, its reach, and every kind of field in its data."""

from typing import Any
from unittest.mock import ANY

import pytest
from pytest_homeassistant_custom_component.common import async_capture_events
import voluptuous as vol

from custom_components.extended_assist.confirmation.untrusted_text import _HEARD as HEARD, MARK
from custom_components.extended_assist.tools.actions import PerformActionTool
from homeassistant.const import EVENT_CALL_SERVICE
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse
from homeassistant.helpers import area_registry as ar, entity_registry as er
from homeassistant.helpers.service import async_register_platform_entity_service, async_set_service_schema

from ..conftest import CallTool, expose
from ..helpers.acting import device_of, listing

pytestmark = pytest.mark.usefixtures("house")

BED = {"entity_id": "light.bed_light"}
KITCHEN_LIGHTS = {"entity_id": "light.kitchen_lights"}


@pytest.fixture
def calls(hass: HomeAssistant) -> list[dict[str, Any]]:
    """Return the data of the calls of jukebox.play, an action on lights with a description that lacks much."""
    data: list[dict[str, Any]] = []

    async def play(call: ServiceCall) -> None:
        data.append(dict(call.data))

    hass.services.async_register("jukebox", "play", play)
    fields = {"shelf": {"selector": {"area": {}}}, "lamp": {"selector": {}}, "note": None, "extra": {}}
    description = {"target": {"entity": {"domain": "light"}}, "fields": fields}
    async_set_service_schema(hass, "jukebox", "play", description)
    return data


def area_of_the_party(hass: HomeAssistant) -> str:
    """Return an area of which everything is exposed."""
    area = ar.async_get(hass).async_create("Ball Room")
    er.async_get(hass).async_update_entity("input_boolean.party", area_id=area.id)
    return area.id


async def test_script_of_another_id(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A script's own action runs that script, and no other one that has its id by now."""
    registry = er.async_get(hass)
    registry.async_update_entity("script.zebra", new_entity_id="script.quokka")
    registry.async_update_entity("script.outer", new_entity_id="script.zebra")
    await hass.async_block_till_done()
    expose(hass, "script.zebra")
    data = await call_tool(PerformActionTool(), error=True, action="script.zebra")
    assert data["error"] == "Run script.zebra with script.turn_on and that entity as target."
    await call_tool(PerformActionTool(), action="script.turn_on", target={"entity_id": "script.zebra"})
    await hass.async_block_till_done()
    assert hass.states.is_state("input_boolean.party", "on")
    assert hass.states.is_state("input_boolean.zebra", "off")


async def test_variables_are_passed_on(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Scripts that are turned on get their variables, checked like those of their own actions."""
    called = async_capture_events(hass, EVENT_CALL_SERVICE)
    arguments: dict[str, Any] = {"action": "script.turn_on", "target": {"entity_id": "script.visible"}}
    await call_tool(PerformActionTool(), **arguments, data={"variables": {"lamp": "Bed Light"}})
    data = [event.data["service_data"] for event in called if event.data["domain"] == "script"]
    assert data == [{"variables": {"lamp": "light.bed_light"}, "entity_id": ["script.visible"]}]
    for variables, reason in (
        ({"lamp": "light.zebra"}, "'light.zebra' was not found or is not exposed"),
        ({"lamp": "scene.mixed"}, "it would also move 2 entities that are not exposed"),
        ({"other": 1}, "script.visible has no field 'other'"),
        ("lamp", "only scripts take variables, as an object"),
    ):
        refused = await call_tool(PerformActionTool(), error=True, **arguments, data={"variables": variables})
        assert reason in refused["error"]


async def test_own_action_on_entities(hass: HomeAssistant, call_tool: CallTool) -> None:
    """An integration's own action that acts on single entities may be used on a device that is exposed in part."""
    async_register_platform_entity_service(
        hass, "demo", "flash", entity_domain="light", schema=None, func="async_turn_off"
    )
    async_set_service_schema(hass, "demo", "flash", {"target": {"entity": {"domain": "light"}}})
    data = await call_tool(listing("demo.flash"), action="demo.flash", target=KITCHEN_LIGHTS)
    assert data["entities"] == {"light.kitchen_lights": "on → off"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, "data.entities: this must be an object"),
        ({"entities": ["light.bed_light"]}, "data.entities: this must be an object"),
        ({"entities": {"scene.mixed": "on"}}, "'scene.mixed' would also move what is not exposed."),
        ({"entities": {"all": "on"}}, "data.entities.all: 'all' must be one entity of which everything is exposed."),
    ],
)
async def test_states_to_set(call_tool: CallTool, data: dict[str, Any], reason: str) -> None:
    """The states of a scene of the moment belong to single exposed entities."""
    refused = await call_tool(PerformActionTool(), error=True, action="scene.apply", data=data)
    assert reason in refused["error"]


async def test_places_in_data(hass: HomeAssistant, calls: list[dict[str, Any]], call_tool: CallTool) -> None:
    """An area in the data is passed on by its id when all that it holds is exposed."""
    area_id = area_of_the_party(hass)
    play: dict[str, Any] = {"action": "jukebox.play", "target": BED}
    await call_tool(listing("jukebox.play"), **play, data={"shelf": "Ball Room"})
    await call_tool(listing("jukebox.play"), **play, data={"shelf": ["ball room"]})
    assert [data["shelf"] for data in calls] == [area_id, [area_id]]
    refused = await call_tool(listing("jukebox.play"), error=True, **play, data={"shelf": "Kitchen"})
    assert "data.shelf: 'Kitchen' holds 3 entities that are not exposed" in refused["error"]


async def test_area_as_a_name(hass: HomeAssistant, call_tool: CallTool) -> None:
    """An area that a vacuum cleans moves nothing in it, so it may hold hidden things; a hidden area stays unknown."""
    called: list[Any] = []

    async def clean(call: ServiceCall) -> None:
        called.append(call.data["cleaning_area_id"])

    hass.services.async_register("vacuum", "clean_area", clean)
    fields = {"cleaning_area_id": {"selector": {"area": {"multiple": True}}}}
    async_set_service_schema(
        hass, "vacuum", "clean_area", {"target": {"entity": {"domain": "vacuum"}}, "fields": fields}
    )
    hass.states.async_set("vacuum.robot", "docked")
    expose(hass, "vacuum.robot")
    arguments: dict[str, Any] = {"action": "vacuum.clean_area", "target": {"entity_id": "vacuum.robot"}}
    await call_tool(PerformActionTool(), **arguments, data={"cleaning_area_id": ["kitchen"]})
    assert called == [["kitchen"]]
    data = await call_tool(PerformActionTool(), error=True, **arguments, data={"cleaning_area_id": ["axolotl_room"]})
    assert data["error"].startswith("No area named 'axolotl_room'")


async def test_references_inside_data(calls: list[dict[str, Any]], call_tool: CallTool) -> None:
    """A target deep inside the data becomes the exposed entities that it means, and says what it left out."""
    play: dict[str, Any] = {"action": "jukebox.play", "target": BED}
    for given, sent in (
        ({"entity_id": "Bed Light", "level": 3}, {"level": 3, "entity_id": "light.bed_light"}),
        ({"entity_id": ["Bed Light"]}, {"entity_id": ["light.bed_light"]}),
        ({"label_id": "cosy", "entity_id": "party"}, {"entity_id": ["light.bed_light", "input_boolean.party"]}),
    ):
        data = await call_tool(listing("jukebox.play"), **play, data={"extra": {"then": given}})
        assert calls.pop()["extra"] == {"then": sent}
        assert ("left_out" in data) is ("label_id" in given)
    refused = await call_tool(
        listing("jukebox.play"), error=True, **play, data={"extra": {"entity_id": "{{ 'light.' ~ 'zebra' }}"}}
    )
    assert "Templates cannot be used here" in refused["error"]


async def test_registry_ids_in_texts(hass: HomeAssistant, calls: list[dict[str, Any]], call_tool: CallTool) -> None:
    """The registry id of a hidden entity is as unknown in a text as the entity."""
    zebra = er.async_get(hass).async_get("light.zebra")
    assert zebra
    refused = await call_tool(
        listing("jukebox.play"), error=True, action="jukebox.play", target=BED, data={"note": f" {zebra.id} "}
    )
    assert refused["error"] == f"data.note: ' {zebra.id} ' was not found or is not exposed. Use exposed entities only."
    assert calls == []


async def test_excluded_is_named(call_tool: CallTool) -> None:
    """What is excluded from a target is named by texts."""
    target = {"area_id": "kitchen", "exclude": {"entity_id": 5}}
    data = await call_tool(PerformActionTool(), error=True, action="light.turn_off", target=target)
    assert "target.exclude.entity_id: this must be a name or id, or a list of them." in data["error"]


async def test_named_for_what_it_cannot_do(call_tool: CallTool) -> None:
    """A name that means only entities of another kind is answered with these."""
    data = await call_tool(
        PerformActionTool(), error=True, action="light.turn_on", target={"entity_id": "Kitchen Window"}
    )
    assert "cover.kitchen_window cannot do light.turn_on." in data["error"]


async def test_place_by_device_class(hass: HomeAssistant, call_tool: CallTool) -> None:
    """In a place, only entities of the device class that an action wants are meant."""
    tool = listing("jukebox.air")
    called: list[Any] = []
    hass.services.async_register("jukebox", "air", lambda call: called.append(call.data["entity_id"]))
    wanted = {"domain": "cover", "device_class": ["shutter"]}
    async_set_service_schema(hass, "jukebox", "air", {"target": {"entity": [{"integration": "demo", **wanted}]}})
    await call_tool(
        tool,
        error=True,
        action="jukebox.air",
        target={"device_id": device_of(hass, "cover.kitchen_window")},
    )
    state = hass.states.get("cover.kitchen_window")
    assert state
    hass.states.async_set("cover.kitchen_window", state.state, {**state.attributes, "device_class": "shutter"})
    await call_tool(tool, action="jukebox.air", target={"device_id": device_of(hass, "cover.kitchen_window")})
    assert called == [["cover.kitchen_window"]]


async def test_response_without_a_change(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Where an action answers, an entity that stayed as it was is not told of besides; one that is gone is."""

    async def play(call: ServiceCall) -> dict[str, Any]:
        if call.data.get("last"):
            hass.states.async_remove("light.bed_light")
        return {"title": "Song"}

    hass.services.async_register(
        "jukebox", "play", play, vol.Schema({}, extra=vol.ALLOW_EXTRA), supports_response=SupportsResponse.OPTIONAL
    )
    async_set_service_schema(hass, "jukebox", "play", {"target": {"entity": {"domain": "light"}}})
    arguments: dict[str, Any] = {"action": "jukebox.play", "target": BED}
    assert await call_tool(listing("jukebox.play"), **arguments) == {
        "action": "jukebox.play",
        "response": {"title": "Song"},
        "outcome": {"cannot_be_known": {"Bed Light": "off"}},
        MARK: ANY,
    }
    hass.data.pop(HEARD, None)
    data = await call_tool(listing("jukebox.play"), **arguments, data={"last": True})
    assert data["entities"] == {"light.bed_light": "removed"}
