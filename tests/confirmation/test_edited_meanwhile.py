"""A script inside a script, or a scene, that is edited between question and yes is noticed, as one that was asked about itself."""

from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.calls.plan import Plan, Step
from custom_components.extended_assist.confirmation.recheck import agreed_acts, are_agreed, digest
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from .test_recheck import DOOR, LEAVE, RUN, Way, make_way

__all__ = ["make_way"]

pytestmark = pytest.mark.usefixtures("quiet")

SOMEBODY = "binary_sensor.someone"
AT_HOME = {"condition": "state", "entity_id": SOMEBODY, "state": "on"}
UNLOCKS = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
EDITS: dict[str, list[dict[str, Any]]] = {
    "without its condition": [UNLOCKS],
    "with an event": [AT_HOME, {"event": "opens_the_gates"}, UNLOCKS],
    "with another condition": [{**AT_HOME, "state": "off"}, UNLOCKS],
    "with a delay": [AT_HOME, {"delay": 1}, UNLOCKS],
}
OUTER: dict[str, list[dict[str, Any]]] = {
    "itself": [],
    "nested": [{"action": "script.inner"}],
    "turned on": [{"action": "script.turn_on", "target": {"entity_id": "script.inner"}}],
    "in a branch": [{"if": "{{ true }}", "then": [{"action": "homeassistant.turn_on", "entity_id": "script.inner"}]}],
    "twice nested": [{"action": "script.middle"}],
}


async def load(hass: HomeAssistant, inner: list[dict[str, Any]], outer: list[dict[str, Any]]) -> None:
    """Load the scripts as their editor has written them."""
    scripts = {
        "leave": {"sequence": outer or inner},
        "middle": {"sequence": [{"action": "script.inner"}]},
        "inner": {"sequence": inner},
    }
    if not hass.services.has_service("script", "reload"):
        assert await async_setup_component(hass, "script", {"script": scripts})
    with patch("homeassistant.config.load_yaml_config_file", return_value={"script": scripts}):
        await hass.services.async_call("script", "reload", blocking=True)
    for entity_id in (LEAVE, "script.inner", "script.middle"):
        async_expose_entity(hass, "conversation", entity_id, True)


@pytest.mark.parametrize("way", ["conversation", "by hand", "phone"])
@pytest.mark.parametrize("outer", OUTER.values(), ids=OUTER)
@pytest.mark.parametrize("edited", list(EDITS.values())[:2], ids=list(EDITS)[:2])
async def test_script(
    hass: HomeAssistant,
    make_way: Callable[[str], Awaitable[Way]],
    way: str,
    outer: list[dict[str, Any]],
    edited: list[dict[str, Any]],
) -> None:
    """Nothing of what was edited is done with the yes to what was there before."""
    asked = await make_way(way)
    hass.states.async_set(SOMEBODY, "off" if edited == EDITS["without its condition"] else "on")
    fired: list[object] = []
    hass.bus.async_listen("opens_the_gates", fired.append)
    await load(hass, [AT_HOME, UNLOCKS], outer)
    await asked.async_ask(RUN)
    await load(hass, edited, outer)
    await asked.async_settle()
    await asked.async_agree()
    await hass.async_block_till_done()
    assert hass.states.is_state(DOOR, "locked")
    assert fired == []


@pytest.mark.parametrize("outer", OUTER.values(), ids=OUTER)
@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS)
async def test_digest(hass: HomeAssistant, outer: list[dict[str, Any]], edited: list[dict[str, Any]]) -> None:
    """Each edit gives another digest, and is no part of what was agreed to for later."""
    assert await async_setup_component(hass, "homeassistant", {})
    hass.states.async_set(DOOR, "locked")
    await load(hass, [AT_HOME, UNLOCKS], outer)
    plan = Plan((Step("script.turn_on", (LEAVE,)),), "Leave")
    before, agreed_to = digest(hass, plan), agreed_acts(hass, plan)
    await load(hass, [AT_HOME, UNLOCKS], outer)
    assert digest(hass, plan) == before
    assert are_agreed(hass, plan, agreed_to)
    await load(hass, edited, outer)
    assert digest(hass, plan) != before
    assert not are_agreed(hass, plan, agreed_to)
    assert are_agreed(hass, plan, [f"lock.unlock {DOOR}"]), "agreements of an earlier version have the actions only"


@pytest.mark.parametrize("values", [{"current_position": 100}, {"current_position": 11}, {"current_tilt_position": 5}])
@pytest.mark.parametrize("runs", ["scene.air", LEAVE])
async def test_scene(hass: HomeAssistant, runs: str, values: dict[str, int]) -> None:
    """A scene whose cover goes further than it did is another one, in a script as well."""
    hass.states.async_set("cover.garage", "closed", {"device_class": "garage"})

    async def write(**attributes: int) -> None:
        scene = {"id": "air", "name": "Air", "entities": {"cover.garage": {"state": "open", **attributes}}}
        config = {"scene": [scene]}
        if not hass.services.has_service("scene", "reload"):
            assert await async_setup_component(hass, "scene", config)
        with patch("homeassistant.config.load_yaml_config_file", return_value=config):
            await hass.services.async_call("scene", "reload", blocking=True)

    assert await async_setup_component(hass, "homeassistant", {})
    await write(current_position=10)
    await load(hass, [{"action": "scene.turn_on", "target": {"entity_id": "scene.air"}}], [])
    plan = Plan((Step(f"{runs.partition('.')[0]}.turn_on", (runs,)),), "Air")
    before, agreed_to = digest(hass, plan), agreed_acts(hass, plan)
    await write(current_position=10)
    assert digest(hass, plan) == before
    await write(**{"current_position": 10} | values)
    assert digest(hass, plan) != before
    assert agreed_to
    assert not are_agreed(hass, plan, agreed_to)
