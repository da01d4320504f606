"""Tests of what people ask for: written, loaded by Home Assistant and told whole, or refused with the reason."""

import asyncio
from collections.abc import Mapping
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.actions.automation_context import marked
from custom_components.extended_assist.automations.describe import AutomationDescriber
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.tools.automation_changes import AddAutomationTool
from homeassistant.core import HomeAssistant
from tests.automations.requests import (
    ANSWER,
    ASKED,
    BUTTONS,
    HOME,
    LISTED_ACTIONS,
    LISTED_TRIGGERS,
    MOTION,
    WISHES,
    do,
    event,
    phone_id,
    remote_id,
    set_up_home,
    tell,
    when,
    wish,
)
from tests.automations.test_describe import _with_one_change
from tests.conftest import CallTool
from tests.helpers.automating import FREE, PORCH, UPDATE, File, StartHome, start_home

__all__ = ["start_home"]

pytestmark = pytest.mark.parametrize("expected_lingering_timers", [True])


def test_enough() -> None:
    """There are sixty tasks, of which six at most are refused."""
    assert len(WISHES) == len({wish.name for wish in WISHES}) == 60
    assert sum(wish.refused is not None for wish in WISHES) <= 6


OPTIONS = dataclasses.replace(FREE, targetless_actions=LISTED_ACTIONS, listed_triggers=LISTED_TRIGGERS)
ADD = AddAutomationTool(OPTIONS)
BLUEPRINT = """\
blueprint:
  name: Follow
  domain: automation
  input: {leader: {selector: {entity: {}}}, follower: {selector: {entity: {}}}}
triggers: [{trigger: state, entity_id: !input leader, to: ["on", "off"]}]
actions: [{action: light.toggle, target: {entity_id: !input follower}}]
"""


_AS_IT_IS = frozenset({"event_data", "variables"})


def older(part: Any) -> Any:
    """Return an automation as it was written before the words were exchanged."""
    if isinstance(part, list):
        return [older(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    names = {"triggers": "trigger", "conditions": "condition", "actions": "action"} if "alias" in part else {}
    if "trigger" in part and part.get("condition") != "trigger":
        names = {"trigger": "platform"}
    elif "action" in part and "title" not in part:
        names = {"action": "service"}
    changed = {names.get(key, key): value if key in _AS_IT_IS else older(value) for key, value in part.items()}
    if "service" in changed and isinstance(target := changed.get("target"), Mapping) and "{" not in str(target):
        del changed["target"]
        changed |= (
            {"entity_id": target["entity_id"]} if "entity_id" in target else {"data": changed.get("data", {}) | target}
        )
    return changed


def filled(hass: HomeAssistant, part: Any) -> Any:
    """Return a configuration with the ids of the devices that it means."""
    if isinstance(part, Mapping):
        return {key: filled(hass, value) for key, value in part.items()}
    if isinstance(part, list):
        return [filled(hass, item) for item in part]
    return {"PHONE": phone_id, "REMOTE": remote_id}[part](hass) if part in ("PHONE", "REMOTE") else part


@pytest.fixture
async def path(hass: HomeAssistant, start_home: StartHome, tmp_path: Path) -> Path:
    """Start the home, with a blueprint of the user."""
    path = await start_home(configuration=HOME)
    folder = tmp_path / "blueprints" / "automation" / "mine"
    folder.mkdir(parents=True)
    (folder / "follow.yaml").write_text(BLUEPRINT)
    await set_up_home(hass)
    return path


@pytest.mark.parametrize("syntax", [lambda config: config, older], ids=["present", "older"])
async def test_wishes(
    hass: HomeAssistant, path: File, call_tool: CallTool, subtests: pytest.Subtests, syntax: Any
) -> None:
    """Each is written, loaded, and told whole; or it is refused with its place, and nothing is written."""
    describer = AutomationDescriber(hass, Exposure(hass, "conversation"), known=LISTED_ACTIONS)
    for wished in WISHES:
        with subtests.test(wished.name):
            before = path.read_text()
            answer = await call_tool(
                ADD, automation=syntax(filled(hass, wished.config)), error=wished.refused is not None
            )
            if wished.refused is not None:
                assert wished.refused in answer["error"]
                assert path.read_text() == before
                continue
            state = hass.states.get(answer["added"])
            assert state
            assert state.state == "on"
            assert "zebra" not in path.read_text().lower()
            assert "not exposed" not in answer["what"]
            loaded = hass.data["automation"].get_entity(answer["added"]).raw_config
            words = describer.describe(loaded)
            assert [place for place, other in _with_one_change(loaded) if describer.describe(other) == words] == []


async def test_places_are_written_out(path: File, call_tool: CallTool) -> None:
    """An area becomes the entities that are exposed, which is told; what comes into it later is not moved."""
    lights = wish("Off", when(MOTION, "off"), do("light.turn_off", {"area_id": ["kitchen", "hall"]}))
    answer = await call_tool(ADD, automation=lights.config)
    assert answer["what"].endswith("turn off Kitchen (light.kitchen) and Hall (light.turn_off)")
    assert answer["notes"][0] == "Of the places that were named, 1 entity not exposed will be left alone."
    written = path.read_text()
    assert "- light.kitchen\n" in written
    assert "area" not in written
    assert "zebra" not in written
    upstairs = {"trigger": "light.turned_on", "target": {"floor_id": "upstairs"}, "options": {"behavior": "each"}}
    changes = {"actions": [do("light.turn_on", "all")], "triggers": [upstairs]}
    answer = await call_tool(UPDATE, automation=answer["added"], changes=changes)
    assert "When Bedroom light: turned on" in answer["what"]
    written = path.read_text()
    assert "floor" not in written
    assert [f"light.{name}\n" in written for name in ("porch", "bedroom", "zebra")] == [True, True, False]


async def test_scene_of_its_own(hass: HomeAssistant, path: File, call_tool: CallTool) -> None:
    """What it kept comes back, and no scene that somebody else has called so."""
    somebody = {"scene_id": "before", "entities": {"input_boolean.zebra": "on"}}
    await hass.services.async_call("scene", "create", somebody, blocking=True)
    steps = [
        do("scene.create", scene_id="before", snapshot_entities=[PORCH]),
        do("input_boolean.turn_on", PORCH),
        {"wait_for_trigger": when("input_button.bell"), "timeout": 5},
        do("scene.turn_on", "scene.before"),
    ]
    answer = await call_tool(ADD, automation=wish("Flash", when(MOTION, "on"), steps).config)
    assert f"turn on the scene {marked('before')} (scene.turn_on)" in answer["what"]
    assert f"scene_id: {marked('before')}\n" in path.read_text()
    hass.states.async_set(MOTION, "on")
    for _ in range(50):
        await asyncio.sleep(0)
    states = [hass.states.get(PORCH)]
    await hass.services.async_call("input_button", "press", {"entity_id": "input_button.bell"}, blocking=True)
    await hass.async_block_till_done()
    states += [hass.states.get(PORCH), hass.states.get("input_boolean.zebra")]
    assert [state and state.state for state in states] == ["on", "off", "off"]
    again = await call_tool(UPDATE, automation=answer["added"], changes={"actions": steps})
    assert again["what"].endswith(answer["what"].partition("turns on, ")[2]), "it keeps its name"


async def test_events_set_off(hass: HomeAssistant, path: File, call_tool: CallTool) -> None:
    """A listed event, a timer's and an answer set off what they should, and others do not."""
    triggers = [event("zha_event", {"command": "on"}), event("timer.finished", {"entity_id": "timer.laundry"}), ASKED]
    steps = [do("counter.increment", "counter.visits"), tell("Open?", data=BUTTONS) | {"enabled": False}]
    await call_tool(ADD, automation=wish("Count", triggers, steps, mode="parallel").config)
    assert "timer.finished" in path.read_text()
    for event_type, data in (
        ("zha_event", {"command": "on", "device_id": "x"}),
        ("zha_event", {"command": "off"}),
        ("timer.finished", {"entity_id": "timer.laundry"}),
        ("timer.finished", {"entity_id": "timer.zebra"}),
        (ANSWER, {"action": "OPEN_BLINDS"}),
        (ANSWER, {"action": "OTHER"}),
    ):
        hass.bus.async_fire(event_type, data)
        await hass.async_block_till_done()
    visits = hass.states.get("counter.visits")
    assert visits
    assert visits.state == "3"


@pytest.mark.usefixtures("path")
async def test_phone_is_told(hass: HomeAssistant, call_tool: CallTool) -> None:
    """A phone given by its device is told as the action that sends the message, which has to be listed."""
    step = {"device_id": "PHONE", "domain": "mobile_app", "type": "notify", "message": "{{ states('light.hall') }}"}
    config = filled(hass, wish("Door", when(MOTION), step).config)
    answer = await call_tool(ADD, automation=config)
    assert "(notify.mobile_app_annas_phone)" in answer["what"]
    refused = await call_tool(AddAutomationTool(FREE), automation=config, error=True)
    assert "actions[0]" in refused["error"]
    assert "list" in refused["error"]
