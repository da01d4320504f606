"""An automation that has no name of its own, as Home Assistant allows, is changed like any other."""

import pytest

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.automating import UPDATE, StartHome, start_home
from tests.conftest import CallTool, expose

__all__ = ["start_home"]

NAMELESS = "- id: '1'\n  triggers: [{trigger: homeassistant, event: start}]\n  actions: [{delay: 1}]\n"


@pytest.mark.parametrize("changes", [{"description": "Words"}, {"actions": [{"delay": 2}]}, {"mode": "queued"}])
async def test_changed(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, changes: dict[str, object]
) -> None:
    """No name is needed to change something else, nor to look for others like it."""
    path = await start_home(NAMELESS)
    entity_id = er.async_get(hass).async_get_entity_id("automation", "automation", "1")
    expose(hass, entity_id)
    before = path.read_text()
    assert "changed" in await call_tool(UPDATE, automation=entity_id, changes=changes)
    assert path.read_text() != before
