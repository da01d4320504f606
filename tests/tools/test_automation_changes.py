"""Tests of adding, changing and removing automations, in files of real life."""

from custom_components.extended_assist.automations.layout import read_layout
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant
from tests.automating import ADD, StartHome, start_home, switching
from tests.conftest import CallTool

__all__ = ["start_home"]


async def turn_on(hass: HomeAssistant, entity_id: str) -> None:
    """Turn something on, and off before."""
    for service in ("turn_off", "turn_on"):
        await hass.services.async_call("input_boolean", service, {"entity_id": entity_id}, blocking=True)
    await hass.async_block_till_done()


async def test_add_runs(hass: HomeAssistant, start_home: StartHome, call_tool: CallTool) -> None:
    """A new automation is in the file, loaded, active, exposed, and does what it says."""
    path = await start_home()
    added = await call_tool(ADD, automation=switching())
    assert hass.states.get(added["added"]).state == "on"
    assert async_should_expose(hass, "conversation", added["added"])
    assert [item.id for item in read_layout(path.read_text()).items] == [added["id"]]
    await turn_on(hass, "input_boolean.motion")
    assert hass.states.get("input_boolean.porch").state == "on"
