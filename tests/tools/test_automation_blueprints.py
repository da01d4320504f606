"""Tests of automations that use blueprints."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from custom_components.extended_assist.automations import commit
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool
from tests.helpers.automating import ADD, MOTION, PORCH, UPDATE, StartHome, start_home, turn_on
from tests.helpers.scripting import StartScripts, start_scripts

__all__ = ["start_home", "start_scripts"]

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


ZEBRA = "- service: input_boolean.turn_on\n  target: {entity_id: input_boolean.zebra}"


async def test_blueprint_changed_on_the_disk(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, blueprint: Callable[..., dict[str, Any]]
) -> None:
    """What Home Assistant will load is what is checked and told, and not what it had loaded before."""
    path = await start_home()
    added = await call_tool(ADD, automation=blueprint(sensor=MOTION))
    before = path.read_text()
    again = blueprint("- service: input_boolean.turn_on\n  target: {entity_id: input_boolean.lamp}", sensor=MOTION)
    second = await call_tool(ADD, automation={**again, "alias": "Second"})
    assert "then turn on Lamp" in second["what"]
    hidden = blueprint(ZEBRA, sensor=MOTION)
    error = await call_tool(ADD, automation={**hidden, "alias": "Third"}, error=True)
    assert "also uses something that is not exposed" in error["error"]
    now = path.read_text()
    assert now.startswith(before)
    for changes in ({"alias": "New"}, {"description": "New"}, {"mode": "queued"}):
        error = await call_tool(UPDATE, automation=added["id"], changes=changes, error=True)
        assert "The blueprint of this automation was changed since" in error["error"]
    error = await call_tool(UPDATE, automation=added["id"], changes={"variables": {"x": 1}}, error=True)
    assert "also uses something that is not exposed" in error["error"]
    assert path.read_text() == now
    await hass.services.async_call("automation", "reload", blocking=True)
    await call_tool(UPDATE, automation=added["id"], changes={"alias": "New"})


@pytest.mark.parametrize("is_new", [True, False])
async def test_blueprint_changed_at_the_last_moment(
    hass: HomeAssistant,
    start_home: StartHome,
    call_tool: CallTool,
    blueprint: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    is_new: bool,
) -> None:
    """Between the check and the load it becomes another one: nothing of the change stays."""
    path = await start_home()
    used = blueprint(sensor=MOTION)
    added = {} if is_new else await call_tool(ADD, automation=used)
    before, write = path.read_text(), commit.change

    def change(*args: Any) -> Any:
        """Write the file, and the blueprint at the same moment."""
        blueprint(ZEBRA, sensor=MOTION)
        return write(*args)

    monkeypatch.setattr(commit, "change", change)
    if is_new:
        answer = await call_tool(ADD, automation=used, error=True)
        assert hass.states.async_entity_ids("automation") == []
    else:
        answer = await call_tool(UPDATE, automation=added["id"], changes={"alias": "New"}, error=True)
    assert "The blueprint was changed at this moment" in answer["error"]
    assert path.read_text() == before


async def test_blueprint_of_a_script(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, tmp_path: Path
) -> None:
    """Scripts are loaded with what is on the disk as well."""
    file = tmp_path / "blueprints" / "script" / "b.yaml"
    file.parent.mkdir(parents=True)
    step = "- {{service: input_boolean.turn_on, target: {{entity_id: input_boolean.{}}}}}\n"
    file.write_text("blueprint: {name: B, domain: script}\nsequence:\n" + step.format("lamp"))
    await start_scripts()
    added = await call_tool(ADD, script={"alias": "S", "use_blueprint": {"path": "b.yaml"}})
    assert "turn on Lamp" in added["what"]
    await call_tool(UPDATE, automation=added["added"], changes={"alias": "T"})
    file.write_text(file.read_text() + step.format("zebra"))
    for changes in ({"alias": "U"}, {"icon": "mdi:lamp"}):
        error = await call_tool(UPDATE, automation=added["added"], changes=changes, error=True)
        assert "The blueprint of this script was changed since" in error["error"]
