"""Tests of what Home Assistant or a limit does not accept in an automation."""

from typing import Any

import pytest

from custom_components.extended_assist.actions.texts import MAX_SIZE
from homeassistant.core import HomeAssistant
from tests.automating import ADD, UPDATE, StartHome, start_home, switching
from tests.conftest import CallTool, expose

__all__ = ["start_home"]


async def test_too_long(start_home: StartHome, call_tool: CallTool) -> None:
    """An automation that is longer than anybody writes is refused."""
    await start_home()
    error = await call_tool(ADD, automation=switching(description="x" * MAX_SIZE), error=True)
    assert f"at most {MAX_SIZE} are allowed" in error["error"]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("trigger: []", "Give triggers only; trigger is its older name."),
        ("mode: sometimes", "Home Assistant does not accept this automation as a whole."),
    ],
)
async def test_wrong_already(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, written: str, reason: str
) -> None:
    """What is wrong in the file is not written anew; giving the wrong part mends it."""
    path = await start_home(f"- id: '1'\n  alias: A\n  triggers: []\n  actions: []\n  {written}\n")
    before = path.read_bytes()
    (entity_id,) = hass.states.async_entity_ids("automation")
    expose(hass, entity_id)
    error = await call_tool(UPDATE, automation=entity_id, changes={"alias": "B"}, error=True)
    assert error["error"].startswith(reason)
    assert path.read_bytes() == before
    mended: dict[str, Any] = {"mode": "single"}
    if "mode" in written:
        await call_tool(UPDATE, automation=entity_id, changes=mended)
        assert "mode: single" in path.read_text()
