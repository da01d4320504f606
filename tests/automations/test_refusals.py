"""Tests of the sentences with which something in an automation is refused: a place, a true reason and what to do."""

import ast
import dataclasses
from pathlib import Path
import re
from typing import Any

import pytest

from custom_components.extended_assist import actions, automations
from custom_components.extended_assist.tools.automation_changes import AddAutomationTool
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, StartHome, start_home, switching

__all__ = ["start_home"]

ADD = AddAutomationTool(dataclasses.replace(FREE, targetless_actions=frozenset({"notify.family"})))

ROOMS = [
    Path(str(room.__file__)).parent / f"{name}.py"
    for room, names in (
        (actions, "check conditions data listed_triggers automation_context sequences targets text_check"),
        (automations, "check expansion"),
    )
    for name in names.split()
]
NEXT_STEP = re.compile(
    r"\b(ask|call|choose|do|give|known|leave|make|name|nearest|perform|put|run|tell|use|write)\b|must be|it takes|no field|an automation has",
    re.IGNORECASE,
)


def sentences(path: Path) -> list[str]:
    """Return what is raised in a file to teach: the constant words of each error, where it has words of its own."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id.endswith("Error")
            and node.args
        ):
            texts = [part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
            found.append(" ".join(text for text in texts if isinstance(text, str)))
    return [text for text in found if len(text.split()) > 3]


@pytest.mark.parametrize("path", ROOMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_says_what_to_do(path: Path) -> None:
    """No sentence only says no."""
    said = sentences(path)
    assert said or path.stem == "text_check"
    wrapping = ("The blueprint with these inputs", "assistants cannot use a trigger of the type")
    assert [text for text in said if not NEXT_STEP.search(text) and not any(wrap in text for wrap in wrapping)] == []


SAID: list[tuple[dict[str, Any], str]] = [
    (
        {"action": "notify.family", "data": {"message": "x", "data": {"sound": "siren.mp3"}}},
        (
            "actions[0]: data.data.sound: 'siren.mp3' was not found or is not exposed, and reads like the id of an entity. Use exposed "
            "entities only; what is a file or an address must be called differently, such as my_siren.mp3."
        ),
    ),
    (
        {"action": "notify.family", "data": {"message": "x", "data": {"entity": "light.zebra"}}},
        (
            "actions[0]: data.data.entity: 'light.zebra' was not found or is not exposed, and reads like the id of an entity. Use "
            "exposed entities only, or leave it out."
        ),
    ),
    (
        {"action": "camera.snapshot", "target": {"entity_id": "camera.door"}, "data": {"filename": "/config/door.jpg"}},
        (
            "actions[0]: data.filename: this is a file, which may be given only where the options of Extended Assist list "
            "camera.snapshot. Tell the user to list it there, if they want this."
        ),
    ),
    (
        {"action": "camera.snapshots", "target": {"entity_id": "camera.door"}},
        (
            "actions[0]: There is no action camera.snapshots, or the options of Extended Assist do not allow it without being listed "
            "there. Nearest: camera.snapshot,"
        ),
    ),
    (
        {"action": "rest_command.unlisted"},
        (
            "actions[0]: There is no action rest_command.unlisted, or the options of Extended Assist do not allow it without being "
            "listed there. Where just this one is wanted, tell the user that it has to be listed, under 'Further actions'."
        ),
    ),
]


@pytest.mark.parametrize(("step", "said"), SAID)
async def test_true(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, step: dict[str, Any], said: str
) -> None:
    """What was misleading is true: the place, what it was taken for, and what to do."""
    await start_home()
    assert await async_setup_component(hass, "camera", {})
    hass.states.async_set("camera.door", "idle")
    expose(hass, "camera.door")
    hass.services.async_register("notify", "family", lambda _: None)
    error = await call_tool(ADD, automation=switching(actions=[step]), error=True)
    assert error["error"].startswith(said)


async def test_nearest_is_another(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """An action that went away is not said to be the nearest to itself."""
    await start_home()
    assert await async_setup_component(hass, "camera", {})
    step = {"action": "camera.snapshot", "target": {"entity_id": "camera.door"}}
    await call_tool(ADD, automation=switching(actions=[step]), error=True)  # Its description is known from now on.
    hass.services.async_remove("camera", "snapshot")
    error = await call_tool(ADD, automation=switching(actions=[step]), error=True)
    assert "no action camera.snapshot," in error["error"]
    assert "Nearest: camera.snapshot" not in error["error"]
