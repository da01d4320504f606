"""Tests of finding entities."""

import csv
import io

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.tools.entities import GetEntitiesTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from tests.conftest import CallTool, expose


def table(text: str) -> list[dict[str, str]]:
    """Return CSV as one dictionary per row."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> None:
    """Three lights and a sensor in two areas; one light is hidden."""
    areas = {name: ar.async_get(hass).async_create(name) for name in ("Kitchen", "Living Room")}
    ar.async_get(hass).async_update(areas["Living Room"].id, aliases={"Lounge"})
    registry = er.async_get(hass)
    for domain, name, area in (
        ("light", "ceiling", "Kitchen"),
        ("light", "lamp", "Living Room"),
        ("light", "secret", "Kitchen"),
        ("sensor", "kitchen_temperature", "Kitchen"),
    ):
        entry = registry.async_get_or_create(domain, "test", name, suggested_object_id=name)
        registry.async_update_entity(entry.entity_id, area_id=areas[area].id)
    registry.async_update_entity("light.lamp", aliases=["Reading light"])
    hass.states.async_set("light.ceiling", "on", {"friendly_name": "Ceiling", "brightness": 128})
    hass.states.async_set("light.lamp", "off", {"friendly_name": "Lamp"})
    hass.states.async_set("light.secret", "on", {"friendly_name": "Secret"})
    hass.states.async_set(
        "sensor.kitchen_temperature", "21.123456789", {"friendly_name": "Temperature", "unit_of_measurement": "°C"}
    )
    expose(hass, "light.ceiling", "light.lamp", "sensor.kitchen_temperature")


async def test_all_exposed_entities(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Without filters, every exposed entity is listed with name, area, state and unit."""
    data = await call_tool(GetEntitiesTool())
    assert data["count"] == 3
    assert table(data["entities"]) == [
        {"entity_id": "light.ceiling", "name": "Ceiling", "area": "Kitchen", "state": "on", "unit": ""},
        {"entity_id": "light.lamp", "name": "Lamp", "area": "Living Room", "state": "off", "unit": ""},
        {
            "entity_id": "sensor.kitchen_temperature",
            "name": "Temperature",
            "area": "Kitchen",
            "state": "21.1",
            "unit": "°C",
        },
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "ceiling"}, ["light.ceiling"]),
        ({"name": "LAMP"}, ["light.lamp"]),
        ({"name": "reading LIGHT"}, ["light.lamp"]),
        ({"name": "light.lamp"}, ["light.lamp"]),
        ({"name": "kitchen temperature"}, ["sensor.kitchen_temperature"]),
        ({"name": "lounge lamp"}, ["light.lamp"]),
        ({"name": "temp"}, ["sensor.kitchen_temperature"]),
        ({"area": "lounge"}, ["light.lamp"]),
        ({"area": "Kitchen", "domain": "light"}, ["light.ceiling"]),
        ({"domain": ["light", "sensor"], "area": "kitchen"}, ["light.ceiling", "sensor.kitchen_temperature"]),
        ({"domain": "Light", "name": "lamp", "area": "Living Room"}, ["light.lamp"]),
        ({"domain": "lock"}, []),
    ],
)
async def test_filters(
    hass: HomeAssistant, home: None, call_tool: CallTool, arguments: dict[str, object], expected: list[str]
) -> None:
    """Filters combine and names are compared as people say them."""
    data = await call_tool(GetEntitiesTool(), **arguments)
    assert data["count"] == len(expected)
    assert [row["entity_id"] for row in table(data.get("entities", ""))] == expected


async def test_unknown_name_teaches(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """An unknown name is answered with the nearest exposed ones; a hidden one looks just as unknown."""
    data = await call_tool(GetEntitiesTool(), error=True, name="seiling")
    assert data["error"] == "'seiling' was not found or is not exposed. Nearest: Ceiling (light.ceiling)."
    hidden = await call_tool(GetEntitiesTool(), error=True, name="light.secret")
    assert hidden["error"].startswith("'light.secret' was not found or is not exposed.")
    data = await call_tool(GetEntitiesTool(), error=True, area="Attic")
    assert data["error"] == "No area named 'Attic' has exposed entities. Areas: Kitchen, Living Room."


async def test_attributes(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """Attributes come on request, without secrets and without what names a hidden entity."""
    hass.states.async_set(
        "light.ceiling",
        "on",
        {
            "friendly_name": "Ceiling",
            "brightness": 128,
            "access_token": "abc",
            "entity_id": ["light.lamp", "light.secret"],
            "hint": "follows light.secret",
            "nested": {"light.secret": 1, "kept": ["light.lamp", "12.5"]},
        },
    )
    data = await call_tool(GetEntitiesTool(), name="light.ceiling", attributes=["brightness"])
    assert data["attributes"] == {"light.ceiling": {"brightness": 128}}
    data = await call_tool(GetEntitiesTool(), name="light.ceiling", attributes="*")
    assert data["attributes"]["light.ceiling"] == {
        "friendly_name": "Ceiling",
        "brightness": 128,
        "entity_id": ["light.lamp"],
        "nested": {"kept": ["light.lamp", "12.5"]},
    }


async def test_area_of_the_device(hass: HomeAssistant, home: None, call_tool: CallTool) -> None:
    """An entity without an area of its own is in its device's area."""
    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    kitchen = ar.async_get(hass).async_get_area_by_name("Kitchen")
    assert kitchen
    dr.async_get(hass).async_update_device(device.id, area_id=kitchen.id)
    er.async_get(hass).async_get_or_create("fan", "test", "f", suggested_object_id="hood", device_id=device.id)
    hass.states.async_set("fan.hood", "off", {"friendly_name": "Hood"})
    expose(hass, "fan.hood")
    data = await call_tool(GetEntitiesTool(), domain="fan", area="Kitchen")
    assert [row["entity_id"] for row in table(data["entities"])] == ["fan.hood"]


async def test_budget_and_offset(hass: HomeAssistant, assist: None, call_tool: CallTool) -> None:
    """A long list is cut to the budget, says so, and can be read on to the end without a gap."""
    ids = [f"sensor.number_{index:03}" for index in range(300)]
    for entity_id in ids:
        hass.states.async_set(entity_id, "1")
    expose(hass, *ids)
    seen: list[str] = []
    while len(seen) < len(ids):
        data = await call_tool(GetEntitiesTool(ToolboxOptions(budget=2000)), offset=len(seen))
        assert len(str(data)) <= 2000
        page = [row["entity_id"] for row in table(data["entities"])]
        assert page
        seen += page
        assert ("note" in data) is (len(seen) < len(ids))
    assert seen == ids
