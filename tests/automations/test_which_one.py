"""Which automation, script or scene an id means, where several have it."""

import pytest

from custom_components.extended_assist.tools.automations import GetAutomationsTool
from homeassistant.core import HomeAssistant
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, REMOVE, UPDATE
from tests.helpers.scripting import LAMP, StartScripts, start_scripts

__all__ = ["start_scripts"]

GET = GetAutomationsTool(FREE)
AUTOMATIONS = """\
- id: automation.second
  alias: First
  triggers: []
  actions: [{delay: 1}]
- id: good_night
  alias: Second
  triggers: []
  actions: [{delay: 2}]
- alias: Nothing
  triggers: []
  actions: [{delay: 3}]
"""
ENTITIES = ("automation.first", "automation.second", "automation.nothing", "script.good_night", "scene.good_night")


@pytest.fixture
async def home(hass: HomeAssistant, start_scripts: StartScripts) -> None:
    """Start a home in which ids say little."""
    folder = await start_scripts(scenes=f"- id: good_night\n  name: Good night\n  entities: {{{LAMP}: 'on'}}\n")
    (folder / "automations.yaml").write_text(AUTOMATIONS)
    await hass.services.async_call("automation", "reload", blocking=True)
    expose(hass, *ENTITIES)


@pytest.mark.usefixtures("home")
async def test_entity_id_first(call_tool: CallTool) -> None:
    """The id of an entity is that of no other, whatever others are called."""
    assert (await call_tool(GET, name="automation.second", details=True))["name"] == "Second"
    changed = await call_tool(UPDATE, automation="automation.second", changes={"description": "x"})
    assert changed["changed"] == "automation.second"


@pytest.mark.usefixtures("home")
async def test_of_several_kinds(hass: HomeAssistant, call_tool: CallTool) -> None:
    """Nothing is changed while it could be another one; each can be named by its entity."""
    error = (await call_tool(REMOVE, automation="good_night", error=True))["error"]
    assert "means 3" in error
    assert all(entity_id in error for entity_id in ENTITIES[3:])
    assert (await call_tool(GET, kind="script", name="good_night", details=True))["entity_id"] == "script.good_night"
    assert (await call_tool(REMOVE, automation="scene.good_night"))["removed"] == "scene.good_night"
    assert hass.states.get("script.good_night")
    assert hass.states.get("automation.second")


@pytest.mark.usefixtures("home")
async def test_no_id_is_none(call_tool: CallTool) -> None:
    """What has no id is not meant by the word for it."""
    assert "No automation 'None'" in (await call_tool(GET, name="None", details=True, error=True))["error"]
