"""Tests of what Home Assistant or a limit does not accept in an automation."""

from typing import Any

import pytest

from custom_components.extended_assist.actions.text_check import MAX_SIZE
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, UPDATE, StartHome, start_home, switching

__all__ = ["start_home"]


async def test_too_long(start_home: StartHome, call_tool: CallTool) -> None:
    """An automation that is longer than anybody writes is refused."""
    await start_home()
    error = await call_tool(ADD, automation=switching(description="x" * MAX_SIZE), error=True)
    assert f"at most {MAX_SIZE} are allowed" in error["error"]


@pytest.mark.parametrize(
    ("written", "mended"), [("trigger: []", {"triggers": None}), ("mode: sometimes", {"mode": "single"})]
)
async def test_wrong_already(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, written: str, mended: dict[str, Any]
) -> None:
    """What is wrong in the file stays there until it is given anew, and keeps nobody from changing the rest."""
    path = await start_home(f"- id: '1'\n  alias: A\n  triggers: []\n  actions: []\n  {written}\n")
    (entity_id,) = hass.states.async_entity_ids("automation")
    expose(hass, entity_id)
    changed = await call_tool(UPDATE, automation=entity_id, changes={"alias": "B"})
    assert changed["notes"] == ["As before: Home Assistant loaded the automation as invalid; its repairs say why."]
    assert path.read_text() == f"- id: '1'\n  alias: B\n  triggers: []\n  actions: []\n  {written}\n"
    wrong = {"mode": "never"}
    error = await call_tool(UPDATE, automation=entity_id, changes=wrong, error=True)
    assert error["error"].startswith("Home Assistant does not accept this automation: ")
    if "mode" in mended:
        await call_tool(UPDATE, automation=entity_id, changes=mended)
        assert hass.states.get(entity_id).state == "on"
