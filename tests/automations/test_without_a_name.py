"""What has no name of its own, or one that is no text, as Home Assistant allows, is changed like any other."""

import pytest

from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, UPDATE, StartHome, start_home
from tests.helpers.scripting import LAMP, StartScripts, start_scripts

__all__ = ["start_home", "start_scripts"]

UNDO = UndoLastChangeTool(FREE)
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


@pytest.mark.parametrize("name", ["", "  alias: ''\n", "  alias: 42\n", "  alias: true\n", "  alias: 2024-01-01\n"])
@pytest.mark.parametrize("changes", [{"description": "Words"}, {"sequence": [{"delay": 2}]}, {"alias": "New"}])
async def test_script(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, name: str, changes: dict[str, object]
) -> None:
    """A script has no name of its own either, or one that is no text; only a new name has to be one."""
    path = (await start_scripts(f"one:\n{name}  sequence: [{{delay: 1}}]\n")) / "scripts.yaml"
    expose(hass, "script.one")
    before = path.read_text()
    changed = await call_tool(UPDATE, automation="script.one", changes=changes)
    assert "''" not in changed["what"]
    assert "None" not in changed["what"]
    await call_tool(UNDO)
    assert path.read_text() == before
    assert "a name" in (await call_tool(UPDATE, automation="script.one", changes={"alias": ""}, error=True))["error"]


@pytest.mark.parametrize("name", ["''", "42", "true"])
@pytest.mark.parametrize("changes", [{"icon": "mdi:lamp"}, {"entities": [LAMP]}, {"name": "New"}])
async def test_scene(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, name: str, changes: dict[str, object]
) -> None:
    """Nor need the name of a scene be a text."""
    text = f"- id: '1'\n  name: {name}\n  entities: {{{LAMP}: 'on'}}\n"
    path = (await start_scripts(scenes=text)) / "scenes.yaml"
    entity_id = er.async_get(hass).async_get_entity_id("scene", "homeassistant", "1")
    expose(hass, entity_id)
    changed = await call_tool(UPDATE, automation=entity_id, changes=changes)
    assert "''" not in changed["what"]
    await call_tool(UNDO)
    assert path.read_text() == text
    for wrong in ("", " ", 5, "Two\nlines"):
        error = await call_tool(UPDATE, automation=entity_id, changes={"name": wrong}, error=True)
        assert "name" in error["error"]
