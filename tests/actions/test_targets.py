"""Tests of which concrete exposed entities a target means."""

from typing import Any

import pytest

from custom_components.extended_assist.actions.targets import Expander, Fits
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.exposure.groups import hidden_beside, members_of
from custom_components.extended_assist.results import ToolError
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.helpers.one_home import in_one_home

from ..conftest import ASSISTANT
from ..helpers.acting import device_of

pytestmark = pytest.mark.usefixtures("house")

LIGHT = Fits("light.turn_on", frozenset({"light"}), ({"domain": ["light"]},))
ANY = Fits("homeassistant.turn_on")


def expand(hass: HomeAssistant, target: dict[str, Any], fits: Fits = LIGHT) -> tuple[list[str], set[str], set[str]]:
    """Return what a target means, what is hidden of it, and what was left out because it moves hidden things."""
    found = Expander(hass, Exposure(hass, ASSISTANT), fits).expand(target)
    return list(found.entity_ids), found.hidden, found.shared


@in_one_home(
    ("target", "expected", "hidden"),
    [
        ({"entity_id": "light.bed_light"}, ["light.bed_light"], set()),
        ({"entity_id": " Light.Bed_Light "}, ["light.bed_light"], set()),
        ({"entity_id": "bed light"}, ["light.bed_light"], set()),
        ({"entity_id": "bed"}, ["light.bed_light"], set()),
        ({"entity_id": ["Bed Light", "light.kitchen_lights"]}, ["light.bed_light", "light.kitchen_lights"], set()),
        ({"entity_id": "light.bed_light, Kitchen Lights"}, ["light.bed_light", "light.kitchen_lights"], set()),
        ({"area_id": "Galley"}, ["light.ceiling_lights", "light.kitchen_lights"], {"light.narwhal", "light.zebra"}),
        (
            {"floor_id": "downstairs"},
            ["light.bed_light", "light.ceiling_lights", "light.kitchen_lights"],
            {"light.narwhal", "light.zebra"},
        ),
        ({"label_id": "cosy"}, ["light.bed_light"], {"light.narwhal"}),
        ({"device_id": "Kitchen Lights"}, ["light.kitchen_lights"], {"light.narwhal"}),
        ({"entity_id": "light.whole"}, ["light.whole"], set()),
        ({"entity_id": "light.mixed"}, ["light.ceiling_lights"], {"light.zebra"}),
        ({"entity_id": "group.mixed"}, ["light.bed_light"], {"light.zebra"}),
        ({"entity_id": "group.visible"}, ["light.bed_light"], set()),
        (
            {"area_id": "kitchen", "exclude": {"entity_id": "Kitchen Lights"}},
            ["light.ceiling_lights"],
            {"light.narwhal", "light.zebra"},
        ),
        ({"entity_id": "none"}, [], set()),
    ],
)
async def test_expand(hass: HomeAssistant, target: dict[str, Any], expected: list[str], hidden: set[str]) -> None:
    """Ids and names of all kinds become exposed lights; what is hidden is known by number."""
    assert expand(hass, target) == (expected, hidden, set())


async def test_all(hass: HomeAssistant) -> None:
    """All means all that is exposed, with groups of hidden members left out."""
    found, hidden, shared = expand(hass, {"entity_id": "all"})
    assert set(found) == {"light.bed_light", "light.ceiling_lights", "light.kitchen_lights", "light.whole"}
    assert {"light.zebra", "light.narwhal"} <= hidden
    found, _, shared = expand(hass, {"entity_id": "all"}, Fits("scene.turn_on", frozenset({"scene"})))
    assert (found, shared) == (["scene.visible"], {"scene.mixed"})


async def test_features(hass: HomeAssistant) -> None:
    """In a place, only entities that can do it count; hidden ones that cannot are not counted either."""
    can = Fits("light.turn_on", None, ({"domain": ["light"], "supported_features": [1 << 20]},))
    assert expand(hass, {"area_id": "kitchen"}, can) == ([], set(), set())
    assert expand(hass, {"entity_id": "light.bed_light"}, can)[0] == ["light.bed_light"]
    other = Fits("test.do", None, ({"integration": "hue"},))
    with pytest.raises(ToolError, match=r"light\.bed_light cannot do test\.do"):
        expand(hass, {"entity_id": "light.bed_light"}, other)


async def test_registry_ids(hass: HomeAssistant) -> None:
    """The registry id of an exposed entity means that entity, that of a hidden one means nothing."""
    registry = er.async_get(hass)
    visible, hidden = registry.async_get("light.bed_light"), registry.async_get("light.zebra")
    assert visible
    assert hidden
    assert expand(hass, {"entity_id": visible.id})[0] == ["light.bed_light"]
    with pytest.raises(ToolError, match=f"'{hidden.id}' was not found or is not exposed"):
        expand(hass, {"entity_id": hidden.id})


async def test_settings_of_a_device_are_not_meant(hass: HomeAssistant) -> None:
    """As in Home Assistant, a device or area does not mean the settings in it, and they are not counted."""
    er.async_get(hass).async_update_entity("light.narwhal", entity_category=EntityCategory.CONFIG)
    assert expand(hass, {"device_id": device_of(hass, "light.narwhal")}) == (["light.kitchen_lights"], set(), set())


async def test_groups_in_groups(hass: HomeAssistant) -> None:
    """What a group moves is found through groups in groups, also where they hold each other."""
    hass.states.async_set(
        "group.outer", "on", {"entity_id": ["group.mixed", "light.whole", "group.outer", "light.gone"]}
    )
    hass.states.async_set("group.mixed", "on", {"entity_id": ["light.zebra", "group.outer"]})
    assert set(members_of(hass, "group.outer")) == {
        *("group.mixed", "light.whole", "light.zebra", "light.ceiling_lights", "light.kitchen_lights")
    }
    assert "light.zebra" in members_of(hass, "group.mixed")
    assert members_of(hass, "light.gone") == []


async def test_device_of_a_hidden_entity(hass: HomeAssistant) -> None:
    """What is hidden beside an entity on its device is found, so that actions on whole devices can be refused."""
    exposure = Exposure(hass, ASSISTANT)
    assert hidden_beside(hass, exposure, "light.kitchen_lights") == {"light.narwhal"}
    assert hidden_beside(hass, exposure, "light.bed_light") == set()
    assert hidden_beside(hass, exposure, "input_boolean.party") == set()
