"""Tests of undoing changes of automations."""

from pathlib import Path

from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.extended_assist.automations.loading import AUTOMATIONS
from custom_components.extended_assist.calls.journal import MAX_CHANGES
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity, async_should_expose
from homeassistant.core import HomeAssistant
from tests.automations.files import HAND_WRITTEN
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE, File, StartHome, old_home, start_home, switching

__all__ = ["old_home", "start_home"]

UNDO = UndoLastChangeTool(FREE)


async def test_undo_whole(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """One after the other, every change is undone to the byte."""
    states = [old_home.read_bytes()]
    await call_tool(ADD, automation=switching())
    states.append(old_home.read_bytes())
    await call_tool(UPDATE, automation="porch", changes={"alias": "New", "mode": "queued"})
    states.append(old_home.read_bytes())
    await call_tool(REMOVE, automation="alarm")
    events = async_capture_events(hass, AUTOMATIONS.event)
    for expected, change in zip(reversed(states), ("added", "updated", "removed"), strict=True):
        await call_tool(UNDO)
        assert old_home.read_bytes() == expected
        assert events[-1].data["change"] == change
    assert hass.states.get("automation.alarm").state == "on"
    assert async_should_expose(hass, "conversation", "automation.alarm")
    assert hass.states.get("automation.porch").attributes["friendly_name"] == "Porch"
    assert hass.states.get("automation.porch_at_dusk") is None
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


BROKEN = """\
- id: broken
  alias: Broken
  triggers: []
  actions:
  - {no_such_step: 1}
"""


async def test_undo_of_a_broken_one(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, old_home: File
) -> None:
    """An automation that Home Assistant cannot load comes back to the byte when its removal is undone."""
    old_home.write_text(f"{HAND_WRITTEN}{BROKEN}")
    await hass.services.async_call("automation", "reload", blocking=True)
    before = old_home.read_bytes()
    expose(hass, "automation.broken")
    assert hass.states.get("automation.broken").state == "unavailable"
    await call_tool(REMOVE, automation="automation.broken")
    assert b"broken" not in old_home.read_bytes()
    data = await call_tool(UNDO)
    assert old_home.read_bytes() == before
    assert data["undone"] == {"automation.broken": "as it was before"}
    assert data["note"] == "Home Assistant loaded the automation as invalid; its repairs say why."
    assert hass.states.get("automation.broken").state == "unavailable"


async def test_undo_one_when_others_changed(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What somebody else changed since stays; only the one automation comes back."""
    await call_tool(REMOVE, automation="alarm")
    await call_tool(UPDATE, automation="porch", changes={"mode": "queued"})
    old_home.write_text(f"# mine\n{old_home.read_text()}")
    await call_tool(UNDO)
    await call_tool(UNDO)
    text = old_home.read_text()
    assert text.startswith("# mine\n")
    assert sorted(text.split()) == sorted(f"# mine {HAND_WRITTEN}".split())
    assert hass.states.get("automation.alarm").state == "on"


async def test_undo_what_was_changed_since(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What somebody else changed in the same automation is not overwritten."""
    added = await call_tool(ADD, automation=switching())
    old_home.write_text(old_home.read_text().replace("Porch at dusk", "Mine now"))
    before = old_home.read_bytes()
    assert "Somebody else has changed alias of this automation" in (await call_tool(UNDO, error=True))["error"]
    assert old_home.read_bytes() == before
    assert hass.states.get(added["added"]).state == "on"


async def test_undo_needs_what_the_change_needed(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, hass_admin_user: MockUser
) -> None:
    """Who may not change automations cannot undo their changes either; nor is what is hidden now touched."""
    await call_tool(ADD, automation=switching())
    before = old_home.read_bytes()
    error = await call_tool(UndoLastChangeTool(ToolboxOptions()), error=True)
    assert "Nobody is logged in" in error["error"]
    await call_tool(ADD, automation=switching("Second"))
    async_expose_entity(hass, "conversation", "automation.second", False)
    assert "not exposed any more" in (await call_tool(UNDO, error=True))["error"]
    assert old_home.read_bytes().startswith(before)


async def test_copies_are_limited(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, tmp_path: Path
) -> None:
    """There are never more copies than changes in the journal."""
    await start_home()
    added = await call_tool(ADD, automation=switching())
    for number in range(MAX_CHANGES + 3):
        await call_tool(UPDATE, automation=added["id"], changes={"description": str(number)})
    assert len(list((tmp_path / ".storage" / "extended_assist.automations").iterdir())) == MAX_CHANGES


async def test_refused_undo_uses_nothing_up(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """Who may not change automations may not undo that either; who may still can."""
    before = old_home.read_bytes()
    await call_tool(ADD, automation=switching())
    answer = await call_tool(UndoLastChangeTool(), error=True)
    assert "Nobody is logged in" in answer["error"]
    assert old_home.read_bytes() != before
    await call_tool(UNDO)
    assert old_home.read_bytes() == before
