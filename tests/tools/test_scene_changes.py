"""Tests of saving the present state of entities as a scene, and of changing and removing such a scene."""

import importlib
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.extended_assist.automations import commit
from custom_components.extended_assist.automations.scenes import NEVER_IN_SCENES, NOT_BROUGHT_BACK, kept
from custom_components.extended_assist.calls.settable_attributes import ASPECTS, STATE
from custom_components.extended_assist.tools.actions import PerformActionTool, UndoLastChangeTool
from custom_components.extended_assist.tools.automation_changes import AddAutomationTool, UpdateAutomationTool
from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.helpers.json import json_dumps
from homeassistant.util.yaml import parse_yaml
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE
from tests.helpers.scripting import (
    ASKING,
    COVER,
    HIDDEN,
    LAMP,
    LEVEL,
    LIGHT,
    LOCK,
    PORCH,
    SCENES,
    StartScripts,
    start_scripts,
)

from .test_script_changes import plan_of, state

__all__ = ["start_scripts"]

UNDO, GET, ACT = UndoLastChangeTool(FREE), GetAutomationsTool(FREE), PerformActionTool(FREE)
CLIMATE, PLAYER, FAN = "climate.hvac", "media_player.lounge_room", "fan.living_room_fan"


async def act(hass: HomeAssistant, action: str, entity_id: str, **data: Any) -> None:
    """Perform an action."""
    await hass.services.async_call(*action.split("."), {"entity_id": entity_id, **data}, blocking=True)
    await hass.async_block_till_done()


async def test_save(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """The scene holds the states of this moment as Home Assistant's scenes bring them back, and nothing else."""
    folder = await start_scripts()
    events = async_capture_events(hass, "extended_assist_scene_changed")
    await act(hass, "light.turn_on", LIGHT, rgb_color=[10, 200, 30], brightness=77)
    await act(hass, "light.turn_off", "light.ceiling_lights")
    await act(hass, "input_number.set_value", LEVEL, value=35)
    await act(hass, "climate.set_temperature", CLIMATE, temperature=19)
    await act(hass, "input_text.set_value", "input_text.note", value="Milk")
    await act(hass, "media_player.turn_on", PLAYER)
    wanted = [LIGHT, "light.ceiling_lights", LEVEL, COVER, CLIMATE, PLAYER, FAN, LOCK, "input_text.note", "Porch light"]
    before = {entity_id: hass.states.get(entity_id) for entity_id in (*wanted[:-1], PORCH)}
    added = await call_tool(ADD, scene={"name": "Evening", "entities": wanted, "icon": "mdi:sofa"})
    assert added["added"] == "scene.evening"
    assert added["notes"][-1] == "Turn it on with perform_action (scene.turn_on)."
    assert async_should_expose(hass, "conversation", "scene.evening")
    assert events[0].data == {"id": added["id"], "entity_id": "scene.evening", "change": "added"}
    text = (folder / "scenes.yaml").read_text()
    assert text.startswith(SCENES)
    scene = parse_yaml(text)[-1]
    assert list(scene) == ["id", "name", "entities", "icon", "metadata"]
    assert scene["metadata"] == {key: {"entity_only": True} for key in scene["entities"]}
    entities = scene["entities"]
    assert entities[LIGHT].items() >= {"state": "on", "brightness": 77, "color_mode": "hs"}.items()
    assert entities[LIGHT].keys() == {"state", "brightness", "color_mode", "hs_color", "effect"}
    assert entities["light.ceiling_lights"] == {"state": "off"}
    assert entities[LEVEL] == {"state": "35.0"}
    assert entities[CLIMATE]["temperature"] == 19
    assert entities[COVER].keys() <= {"state", "current_position", "current_tilt_position"}
    assert not entities[PLAYER].keys() & {
        "entity_picture",
        "media_title",
        "shuffle",
        "repeat",
        "friendly_name",
        "source_list",
    }
    assert "volume_level" in entities[PLAYER]
    assert "Bed Light on (brightness 77, color mode hs, hs color" in added["what"]
    # Moved, and brought back.
    await act(hass, "light.turn_off", LIGHT)
    await act(hass, "input_number.set_value", LEVEL, value=3)
    await act(hass, "climate.set_temperature", CLIMATE, temperature=25)
    await act(hass, "input_boolean.turn_on", PORCH)
    await call_tool(ACT, action="scene.turn_on", target={"entity_id": "scene.evening"})
    await hass.async_block_till_done()
    for entity_id in (LIGHT, LEVEL, PORCH):
        then, now = before[entity_id], hass.states.get(entity_id)
        assert then
        assert now
        assert kept(now) == kept(then)
    pump = hass.states.get(CLIMATE)
    assert pump
    assert pump.attributes["temperature"] == 19


@pytest.mark.parametrize("domain", sorted(ASPECTS))
def test_only_what_comes_back(domain: str) -> None:
    """What a scene keeps of each kind is known to what brings it back, in Home Assistant's own code."""
    if domain in NEVER_IN_SCENES:
        with pytest.raises(ImportError):
            importlib.import_module(f"homeassistant.components.{domain}.reproduce_state")
        return
    module = importlib.import_module(f"homeassistant.components.{domain}.reproduce_state")
    known = set().union(*(_texts(value) for value in vars(module).values()))
    if domain in ("cover", "vacuum"):  # These import theirs as members of a class.
        known |= set().union(
            *(
                _texts(list(value))
                for value in vars(module).values()
                if isinstance(value, type) and issubclass(value, str)
            )
        )
    read = {name for aspect in ASPECTS[domain] for name in aspect.reads} - {STATE, "color_mode"}
    assert read - NOT_BROUGHT_BACK.get(domain, frozenset()) <= known
    assert not NOT_BROUGHT_BACK.get(domain, frozenset()) & known


def _texts(value: Any, depth: int = 0) -> set[str]:
    """Return the texts in a constant of a module."""
    if isinstance(value, str):
        return {value}
    if depth > 3 or not isinstance(value, list | tuple | set | frozenset | dict):
        return {str(value.parameter)} if hasattr(value, "parameter") else set()
    items = [*value, *value.values()] if isinstance(value, dict) else value
    return set().union(*(_texts(item, depth + 1) for item in items))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"entities": [LAMP]}, "Give the scene a name"),
    ({"name": " ", "entities": [LAMP]}, "Give the scene a name"),
    ({"name": "x" * 121, "entities": [LAMP]}, "at most 120"),
    ({"name": "A"}, "give at least one"),
    ({"name": "A", "entities": []}, "give at least one"),
    ({"name": "A", "entities": {LAMP: "on"}}, "give a list of entity ids"),
    ({"name": "A", "entities": [{LAMP: "on"}]}, "give a list of entity ids"),
    ({"name": "A", "entities": [LAMP], "metadata": {}}, "Unknown: metadata"),
    ({"name": "A", "entities": [LAMP], "icon": "lamp"}, "does not accept this scene"),
    ({"name": "A", "entities": [HIDDEN]}, "not found or is not exposed"),
    ({"name": "A", "entities": ["input_boolean.nothing"]}, "not found or is not exposed"),
    ({"name": "A", "entities": ["light"]}, "Name each by its entity id"),
    ({"name": "A", "entities": ["notify.notifier"]}, "bring back nothing of the kind notify"),
    ({"name": "A", "entities": ["script.good_night"]}, "bring back nothing of the kind script"),
    ({"name": "A", "entities": ["scene.cosy"]}, "bring back nothing of the kind scene"),
    ({"name": "A", "entities": ["input_text.word"]}, "not told to assistants"),
    ({"name": "A", "entities": ["light.gone"]}, "it is unavailable"),
    ({"name": "A", "entities": ["cover.moving"]}, "it is opening at this moment"),
    ({"name": "A", "entities": ["light.mixed"]}, "would also move what is not exposed"),
    ({"name": "A", "entities": ["input_text.talks"]}, "not told to assistants"),
]


async def test_refused(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """What is hidden, cannot be brought back or is not known at this moment is refused, and nothing is written."""
    folder = await start_scripts()
    hass.states.async_set("light.gone", "unavailable")
    await act(hass, "input_text.set_value", "input_text.word", value="pass")
    hass.states.async_set("cover.moving", "opening")
    hass.states.async_set("light.mixed", "on", {"entity_id": ["light.bed_light", HIDDEN]})
    hass.states.async_set("input_text.talks", f"see {HIDDEN}")
    expose(hass, "light.gone", "cover.moving", "light.mixed", "input_text.talks")
    for scene, reason in REFUSED:
        answer = await call_tool(ADD, scene=scene, error=True)
        assert reason in answer["error"], (scene, answer)
    assert (folder / "scenes.yaml").read_text() == SCENES


async def test_update(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """The name alone leaves the states as they were; entities are all saved anew; every byte comes back."""
    folder = await start_scripts()
    path = folder / "scenes.yaml"
    changed = await call_tool(UPDATE, automation="scene.cosy", changes={"name": "Cosier", "icon": None})
    assert changed["changed"] == "scene.cosy"
    assert path.read_text() == SCENES.replace("Cosy ", "Cosier ").replace("  icon: mdi:candle\n", "")
    await act(hass, "input_boolean.turn_on", PORCH)
    changed = await call_tool(UPDATE, automation="scene.cosy", changes={"entities": [LAMP, PORCH]})
    assert "Lamp off; Porch light on" in changed["what"]
    scene = parse_yaml(path.read_text())[0]
    assert scene["entities"] == {LAMP: {"state": "off"}, PORCH: {"state": "on"}}
    assert scene["metadata"] == {key: {"entity_only": True} for key in (LAMP, PORCH)}
    await act(hass, "input_boolean.turn_off", PORCH)
    await call_tool(ACT, action="scene.turn_on", target={"entity_id": "scene.cosy"})
    assert state(hass, PORCH) == "on"
    await call_tool(UNDO)
    for _ in range(2):
        await call_tool(UNDO)
    assert path.read_text() == SCENES
    for changes, reason in (
        ({}, "Give at least one of"),
        ({"name": None}, "Give at least one of"),
        ({"entities": None}, "give a list"),
        ({"alias": "A"}, "Unknown: alias"),
        ({"entities": [HIDDEN]}, "exposed"),
    ):
        assert reason in (await call_tool(UPDATE, automation="scene.cosy", changes=changes, error=True))["error"]


async def test_hidden_parts(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """What is hidden in a scene is not told, and not lost; its name can be changed all the same."""
    folder = await start_scripts()
    details = await call_tool(GET, name="scene.mixed", details=True)
    assert details["configuration"]["entities"] == {LAMP: "on", "(not exposed)": "(not exposed)"}
    listed = await call_tool(GET, kind="scene")
    for answer in (details, listed):
        assert not any(word in json_dumps(answer) for word in ("zebra", "4711", "Zebra"))
    refused = await call_tool(UPDATE, automation="scene.mixed", changes={"entities": [LAMP]}, error=True)
    assert "which would be lost" in refused["error"]
    words = await plan_of(
        hass, UpdateAutomationTool(FREE), llm_context, automation="scene.mixed", changes={"name": "B"}
    )
    assert "zebra" not in words
    assert "4711" not in words
    assert "changed" in await call_tool(UPDATE, automation="scene.mixed", changes={"name": "B"})
    assert (folder / "scenes.yaml").read_text() == SCENES.replace("Mixed", "B")


async def test_remove(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """A scene is removed from the file and from Home Assistant, and comes back as it was."""
    folder = await start_scripts()
    removed = await call_tool(REMOVE, automation="Cosy")
    assert removed == {
        "removed": "scene.cosy",
        "what": "Remove the scene 'Cosy': When it is turned on: Lamp on, icon mdi:candle",
    }
    assert hass.states.get("scene.cosy") is None
    assert er.async_get(hass).async_get("scene.cosy") is None
    undone = await call_tool(UNDO)
    assert undone["undone"] == {"scene.cosy": "as it was before"}
    assert (folder / "scenes.yaml").read_text() == SCENES
    assert async_should_expose(hass, "conversation", "scene.cosy")


async def test_list(hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool) -> None:
    """Scenes are listed with what they bring about, and when they were turned on."""
    await start_scripts()
    listed = await call_tool(GET, kind="scene", entity=LAMP)
    assert listed["count"] == 2
    assert 'Cosy,scene.cosy,1,,never,yes,"When it is turned on: Lamp on, icon mdi:candle"' in listed["scenes"]
    await act(hass, "scene.turn_on", "scene.cosy")
    assert "never" not in (await call_tool(GET, kind="scene", name="Cosy"))["scenes"]
    assert (await call_tool(GET, kind="scene", entity=PORCH))["count"] == 0


async def test_question(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, llm_context: llm.LLMContext
) -> None:
    """The question says what would be brought about, who could do it, and what in it is consequential."""
    await start_scripts()
    await act(hass, "lock.unlock", LOCK)
    await act(hass, "cover.open_cover", "cover.garage_door")
    hass.states.async_set("cover.garage_door", "open", {**hass.states.get("cover.garage_door").attributes})  # type: ignore[union-attr]
    scene = {"name": "Way in", "entities": [LOCK, "cover.garage_door", LAMP]}
    words = await plan_of(hass, AddAutomationTool(FREE), llm_context, scene=scene)
    assert words.startswith("Save the scene 'Way in': When it is turned on: Front Door unlocked; Garage Door open")
    assert "Unlock: Front Door (lock.unlock); Open cover: Garage Door (cover.open_cover). Extended Assist asks" in words
    assert "speakers included, can then turn it on." in words
    plain = await plan_of(hass, AddAutomationTool(FREE), llm_context, scene={"name": "A", "entities": [LAMP]})
    assert "Extended Assist asks" not in plain
    await call_tool(ADD, scene=scene)
    asked = await call_tool(
        PerformActionTool(ASKING), action="scene.turn_on", target={"entity_id": "scene.way_in"}, error=True
    )
    assert "needs the user's own word" in asked["error"]


def test_colours() -> None:
    """Of a light, its colour is kept in its own mode alone."""
    colours = {"hs_color": (1, 2), "rgb_color": (3, 4, 5), "xy_color": (0.1, 0.2), "color_temp_kelvin": 3000}
    for mode, name in (
        ("hs", "hs_color"),
        ("rgb", "rgb_color"),
        ("xy", "xy_color"),
        ("color_temp", "color_temp_kelvin"),
    ):
        light = State(
            "light.a", "on", {"brightness": 5, "color_mode": mode, "effect": "rainbow", "secret": 1, **colours}
        )
        value = colours[name]
        expected = list(value) if isinstance(value, tuple) else value
        assert kept(light) == {"state": "on", "brightness": 5, "color_mode": mode, name: expected, "effect": "rainbow"}


@pytest.mark.parametrize("tool", [UPDATE, REMOVE])
async def test_changed_at_that_moment(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch, tool: Any
) -> None:
    """What somebody else saves of it between the check and the writing is neither lost nor removed."""
    path = (await start_scripts()) / "scenes.yaml"
    expose(hass, "scene.cosy")
    theirs, write = SCENES.replace("    input_boolean.lamp: 'on'\n", f"    {HIDDEN}: 'on'\n", 1), commit.change

    def change(*args: Any) -> Any:
        """Save in the editor, then write."""
        path.write_text(theirs)
        return write(*args)

    monkeypatch.setattr(commit, "change", change)
    more = {} if tool is REMOVE else {"changes": {"entities": [LAMP]}}
    error = await call_tool(tool, automation="scene.cosy", error=True, **more)
    assert "was changed by somebody else meanwhile" in error["error"]
    assert path.read_text() == theirs
