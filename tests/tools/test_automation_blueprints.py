"""Tests of automations that use blueprints."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from homeassistant.core import HomeAssistant
from tests.automating import ADD, MOTION, PORCH, UPDATE, StartHome, start_home, turn_on
from tests.conftest import CallTool

__all__ = ["start_home"]

BLUEPRINT = """\
blueprint:
  name: Switch
  domain: automation
  input:
    sensor: {{selector: {{entity: {{}}}}}}
    lamp: {{default: input_boolean.porch, selector: {{entity: {{}}}}}}
trigger:
  platform: state
  entity_id: !input sensor
  to: 'on'
variables: {{lamp: !input lamp}}
action:
- service: input_boolean.turn_on
  target: {{entity_id: !input lamp}}
{more}
"""


@pytest.fixture
def blueprint(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that writes a blueprint and returns an automation that uses it."""

    def write(more: str = "", **inputs: str) -> dict[str, Any]:
        folder = tmp_path / "blueprints" / "automation" / "mine"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "switch.yaml").write_text(BLUEPRINT.format(more=more))
        return {"alias": "From a blueprint", "use_blueprint": {"path": "mine/switch.yaml", "input": inputs}}

    return write


async def test_blueprint(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, blueprint: Callable[..., dict[str, Any]]
) -> None:
    """A blueprint is used with its inputs, checked as what it becomes, and its inputs can be changed."""
    path = await start_home()
    added = await call_tool(ADD, automation=blueprint(sensor=MOTION))
    assert "When Motion turns on, turn on Porch light" in added["what"]
    await turn_on(hass, MOTION)
    assert hass.states.get(PORCH).state == "on"
    changed = {"path": "mine/switch.yaml", "input": {"sensor": MOTION, "lamp": "input_boolean.lamp"}}
    await call_tool(UPDATE, automation=added["id"], changes={"use_blueprint": changed})
    assert "turn on Lamp" in (await call_tool(UPDATE, automation=added["id"], changes={"description": "x"}))["what"]
    await turn_on(hass, MOTION)
    assert hass.states.get("input_boolean.lamp").state == "on"
    assert "      lamp: input_boolean.lamp\n" in path.read_text()


@pytest.mark.parametrize(
    ("more", "inputs", "reason"),
    [
        ("", {"sensor": "input_boolean.zebra"}, "The blueprint with these inputs cannot be used: "),
        ("", {}, "does not accept"),
        (
            "- service: input_boolean.turn_on\n  target: {entity_id: input_boolean.zebra}",
            {"sensor": MOTION},
            "also uses",
        ),
        ("- service: homeassistant.restart", {"sensor": MOTION}, "cannot be used by assistants"),
    ],
)
async def test_blueprint_refused(
    start_home: StartHome,
    call_tool: CallTool,
    blueprint: Callable[..., dict[str, Any]],
    more: str,
    inputs: Any,
    reason: str,
) -> None:
    """What a blueprint makes of its inputs must be exposed and allowed; what it names itself is not told."""
    path = await start_home()
    error = (await call_tool(ADD, automation=blueprint(more, **inputs), error=True))["error"]
    assert reason in error
    letters = [*"abcdefghijklmnopqrstuvwxyz._"]
    again = await call_tool(ADD, automation=blueprint(more, **inputs) | {"variables": {"x": letters}}, error=True)
    assert again == {"error": error}, "letters said one by one are no names"
    assert "zebra" in str(inputs) or "zebra" not in error
    assert path.read_text() == "[]\n"
