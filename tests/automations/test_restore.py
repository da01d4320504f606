"""Undoing changes of automations in a home: beside the editor, for what is broken, and again after it has failed."""

from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.automations.yaml_positions import index_yaml, load_automation
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity, async_should_expose
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.helpers import (
    area_registry as ar,
    category_registry as cr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from tests.automations.files import HAND_WRITTEN
from tests.automations.test_together import URL, save
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE, File, StartHome, old_home, start_home, switching

__all__ = ["old_home", "start_home"]

UNDO = UndoLastChangeTool(FREE)
GONE = "0123456789abcdef0123456789abcdef"
BROKEN = {
    "device": f"""\
- id: broken   # for a device that is gone
  alias: Broken
  trigger:
  - platform: device
    device_id: {GONE}
    domain: zha
    type: remote_button_short_press
  action:
  - service: input_boolean.turn_on
    entity_id: input_boolean.porch
""",
    "integration": f"""\
- id: broken
  alias: Broken
  triggers: []
  actions:
  - {{device_id: {GONE}, domain: light, entity_id: {GONE}, type: turn_on}}
""",
    "trigger": "- id: broken\n  alias: Broken\n  triggers: [{trigger: not_there}]\n  actions: []\n",
    "blueprint": "- id: broken\n  alias: Broken\n  use_blueprint: {path: gone.yaml, input: {}}\n",
    "number": "- id: broken\n  alias: Broken\n  triggers: []\n  actions: 17\n",
}


def loaded(path: Path, automation_id: str) -> dict[str, Any] | None:
    """Return an automation as it stands in the file."""
    index = index_yaml(path.read_text())
    item = index.find(automation_id)
    return load_automation(index, item) if item else None


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("forgotten", [False, True])
async def test_a_broken_one_comes_back_as_it_was(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, kind: str, forgotten: bool
) -> None:
    """To the byte, unavailable as it was, with all that was set of it, also where Home Assistant has forgotten that."""
    path = await start_home(f"# mine\n{BROKEN[kind]}- id: b\n  alias: B\n  triggers: []\n  actions: []\n")
    entities = er.async_get(hass)
    area = ar.async_get(hass).async_create("Hall")
    label = lr.async_get(hass).async_create("Old")
    category = cr.async_get(hass).async_create(scope="automation", name="House")
    entities.async_update_entity(
        "automation.broken",
        new_entity_id="automation.old_one",
        name="Old one",
        icon="mdi:ghost",
        area_id=area.id,
        labels={label.label_id},
        categories={"automation": category.category_id},
        aliases=[er.COMPUTED_NAME, "The old one"],
        hidden_by=er.RegistryEntryHider.USER,
    )
    await hass.async_block_till_done()
    expose(hass, "automation.old_one")
    async_expose_entity(hass, "cloud.alexa", "automation.old_one", False)
    assert hass.states.get("automation.old_one").state == "unavailable"
    before, settings = path.read_bytes(), entities.async_get("automation.old_one")
    await call_tool(REMOVE, automation="automation.old_one")
    assert entities.async_get("automation.old_one") is None
    if forgotten:
        entities.deleted_entities.clear()
    data = await call_tool(UNDO)
    assert data["undone"] == {"automation.old_one": "as it was before"}
    assert "invalid" in data["note"]
    await hass.async_block_till_done()
    assert path.read_bytes() == before
    assert hass.states.get("automation.old_one").state == "unavailable"
    after = entities.async_get("automation.old_one")
    for key in ("name", "icon", "area_id", "labels", "categories", "aliases", "hidden_by", "disabled_by", "options"):
        assert getattr(after, key) == getattr(settings, key), key
    assert not async_should_expose(hass, "cloud.alexa", "automation.old_one")
    assert len(hass.states.async_entity_ids("automation")) == 2


async def test_what_it_was_set_to_may_be_gone(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """An area and a label that are gone by then are left out, and one that is off comes back off."""
    entities = er.async_get(hass)
    area, label = ar.async_get(hass).async_create("Hall"), lr.async_get(hass).async_create("Old")
    entities.async_update_entity("automation.alarm", area_id=area.id, labels={label.label_id}, icon="mdi:ghost")
    await hass.services.async_call("automation", "turn_off", {"entity_id": "automation.alarm"}, blocking=True)
    await call_tool(REMOVE, automation="alarm")
    entities.deleted_entities.clear()
    ar.async_get(hass).async_delete(area.id)
    lr.async_get(hass).async_delete(label.label_id)
    await call_tool(UNDO)
    entry = entities.async_get("automation.alarm")
    assert (entry.area_id, entry.labels, entry.icon) == (None, set(), "mdi:ghost")
    assert hass.states.get("automation.alarm").state == "off"
    assert async_should_expose(hass, "conversation", "automation.alarm")


async def test_the_editor_has_written_the_file(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, hass_client: ClientSessionGenerator
) -> None:
    """The editor has saved another automation, and with it the whole file in its own way: all is undone all the same."""
    path = await start_home(
        "# mine\n  - alias: Porch  # old\n    id: '1'\n    trigger: []\n    action: []\n"
        "  - id: '2'\n    alias: Two\n    triggers: []\n    actions: []\n"
    )
    assert await async_setup_component(hass, "config", {})
    editor = await hass_client()
    expose(hass, "automation.porch", "automation.two")
    await call_tool(UPDATE, automation="1", changes={"alias": "New", "actions": [{"delay": 5}], "mode": "queued"})
    await call_tool(REMOVE, automation="2")
    added = await call_tool(ADD, automation=switching())
    await save(editor, "theirs", switching("Theirs"))
    await hass.async_block_till_done()
    assert "#" not in path.read_text()
    await call_tool(UNDO)
    await call_tool(UNDO)
    await call_tool(UNDO)
    assert loaded(path, added["id"]) is None
    assert loaded(path, "1") == {"alias": "Porch", "id": "1", "trigger": [], "action": []}
    assert loaded(path, "2") == {"id": "2", "alias": "Two", "triggers": [], "actions": []}
    assert loaded(path, "theirs") == {"id": "theirs", **switching("Theirs")}
    assert hass.states.get("automation.two").state == "on"
    assert len(index_yaml(path.read_text()).automations) == 3
    assert (await editor.get(URL.format("2"))).status == 200


async def test_saved_in_the_editor(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool, hass_client: ClientSessionGenerator
) -> None:
    """What the user saved in the editor of the very automation stays, but for what we had changed."""
    path = await start_home("- id: '1'\n  alias: Porch\n  trigger: []\n  action: []\n")
    assert await async_setup_component(hass, "config", {})
    editor = await hass_client()
    expose(hass, "automation.porch")
    await call_tool(UPDATE, automation="1", changes={"alias": "New", "variables": {"x": 1}})
    theirs = {"alias": "New", "description": "Mine", "triggers": [], "conditions": [], "actions": [{"delay": 3}]}
    await save(editor, "1", {**theirs, "mode": "single", "variables": {"x": 1}})
    await hass.async_block_till_done()
    await call_tool(UNDO)
    assert loaded(path, "1") == {"id": "1", **theirs, "alias": "Porch", "mode": "single"}
    assert hass.states.get("automation.porch").name == "Porch"


async def test_again_and_then_given_up(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What is in the way is told with its name, can be set right, and does not keep what was before from being undone."""
    first = old_home.read_bytes()
    await call_tool(UPDATE, automation="alarm", changes={"alias": "Siren"})
    between = old_home.read_bytes()
    await call_tool(UPDATE, automation="1", changes={"alias": "New"})
    ours = old_home.read_text()
    theirs = ours.replace("alias: New", "alias: Mine")
    old_home.write_text(theirs)
    refused = (await call_tool(UNDO, error=True))["error"]
    assert "changed alias of this automation" in refused
    assert "Once that is set back, undo again" in refused
    old_home.write_text(ours)
    await call_tool(UNDO)
    assert old_home.read_bytes() == between

    await call_tool(UPDATE, automation="1", changes={"alias": "New"})
    old_home.write_text(theirs)
    assert "undo again" in (await call_tool(UNDO, error=True))["error"]
    assert "It is given up" in (await call_tool(UNDO, error=True))["error"]
    assert old_home.read_text() == theirs
    await call_tool(UNDO)
    assert old_home.read_text() == first.decode().replace("alias: Porch", "alias: Mine")
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


async def test_what_cannot_be_written_is_given_up_too(
    hass: HomeAssistant, start_home: StartHome, call_tool: CallTool
) -> None:
    """A part that others use by now is not undone, a file that cannot be read keeps nothing from being undone later."""
    path = await start_home("- id: '1'\n  alias: A\n  triggers: []\n  actions: []\n")
    expose(hass, "automation.a")
    await call_tool(UPDATE, automation="1", changes={"alias": "First"})
    await call_tool(UPDATE, automation="1", changes={"actions": [{"delay": 5}]})
    ours = path.read_text()
    for _ in range(3):
        path.write_text(f"{ours}- [")
        assert "not valid YAML" in (await call_tool(UNDO, error=True))["error"]
    theirs = ours.replace("actions:", "actions: &x") + "- id: '2'\n  alias: B\n  triggers: []\n  actions: *x\n"
    path.write_text(theirs)
    assert "undo again" in (await call_tool(UNDO, error=True))["error"]
    assert "It is given up" in (await call_tool(UNDO, error=True))["error"]
    assert path.read_text() == theirs
    await call_tool(UNDO)
    assert path.read_text() == theirs.replace("alias: First", "alias: A")


@pytest.mark.parametrize("change", ["add", "update", "remove"])
async def test_what_fails_can_be_tried_again(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, change: str
) -> None:
    """A file that cannot be written and a configuration that cannot be loaded pass; the change stays the last one."""
    before = old_home.read_bytes()
    if change == "add":
        await call_tool(ADD, automation=switching())
    elif change == "update":
        await call_tool(UPDATE, automation="alarm", changes={"alias": "Siren"})
    else:
        await call_tool(REMOVE, automation="alarm")
    changed, entities = old_home.read_bytes(), set(hass.states.async_entity_ids("automation"))
    old_home.chmod(0o444)
    assert "cannot be written" in (await call_tool(UNDO, error=True))["error"]
    assert old_home.read_bytes() == changed
    old_home.chmod(0o644)
    if change != "add":  # Nothing is loaded where something goes.
        reload = hass.services.async_services_for_domain("automation")["reload"].job.target

        async def fail(_: ServiceCall) -> None:
            raise ValueError("narwhal")

        hass.services.async_register("automation", "reload", fail)
        assert "put back as it was" in (await call_tool(UNDO, error=True))["error"]
        assert old_home.read_bytes() == changed
        hass.services.async_register("automation", "reload", reload)
        assert set(hass.states.async_entity_ids("automation")) == entities
    await call_tool(UNDO)
    assert old_home.read_bytes() == before
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


async def test_never_twice(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What somebody has brought back by themselves is not brought back a second time."""
    await call_tool(REMOVE, automation="alarm")
    old_home.write_text(f"# back again\n{HAND_WRITTEN}")
    for _ in range(2):
        assert "there again already" in (await call_tool(UNDO, error=True))["error"]
        assert old_home.read_text() == f"# back again\n{HAND_WRITTEN}"
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]
