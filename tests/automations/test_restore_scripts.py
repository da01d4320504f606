"""Undoing changes of scripts and scenes in a home: beside the editors, for what is broken, and what else has the same id."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator

from custom_components.extended_assist.automations.yaml_positions import index_yaml, load_automation
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity, async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    area_registry as ar,
    category_registry as cr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.setup import async_setup_component
from tests.automations.test_settling_scripts import CHANGES, KINDS, Kind, start_again
from tests.conftest import CallTool, expose
from tests.helpers.automating import FREE, REMOVE, UPDATE
from tests.helpers.scripting import CONFIGURATION, LAMP, StartScripts, lighting, start_scripts

__all__ = ["start_scripts"]

UNDO = UndoLastChangeTool(FREE)
IDS = {"script": "good_night", "scene": "1"}
both = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def domain_of(kind: Kind) -> str:
    """Return script or scene."""
    return kind.old.partition(".")[0]


def loaded(text: str, domain: str, item_id: str) -> dict[str, Any] | None:
    """Return an item as it stands in the file."""
    index = index_yaml(text, domain)
    item = index.find(item_id)
    return load_automation(index, item) if item else None


@both
async def test_all_that_was_set_comes_back(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind
) -> None:
    """A removed one comes back with entity id, name, area, labels, icon, categories and exposure."""
    path = await start_scripts() / kind.file
    entities = er.async_get(hass)
    domain = domain_of(kind)
    area, label = ar.async_get(hass).async_create("Hall"), lr.async_get(hass).async_create("Old")
    category = cr.async_get(hass).async_create(scope=domain, name="House")
    renamed = f"{domain}.old_one"
    entities.async_update_entity(
        kind.old,
        new_entity_id=renamed,
        name="Old one",
        icon="mdi:ghost",
        area_id=area.id,
        labels={label.label_id},
        categories={domain: category.category_id},
        aliases=[er.COMPUTED_NAME, "The old one"],
    )
    await hass.async_block_till_done()
    expose(hass, renamed)
    async_expose_entity(hass, "cloud.alexa", renamed, False)
    before, settings = path.read_bytes(), entities.async_get(renamed)
    await call_tool(REMOVE, automation=renamed)
    entities.deleted_entities.clear()
    assert (await call_tool(UNDO))["undone"] == {renamed: "as it was before"}
    await hass.async_block_till_done()
    assert path.read_bytes() == before
    after = entities.async_get(renamed)
    for key in ("name", "icon", "area_id", "labels", "categories", "aliases", "options"):
        assert getattr(after, key) == getattr(settings, key), key
    assert hass.states.get(renamed).name == "Old one"
    assert hass.states.get(kind.old) is None
    if domain == "script":
        assert hass.services.has_service("script", "good_night")


@both
@pytest.mark.parametrize("change", CHANGES)
async def test_configuration_cannot_be_read(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind, change: str
) -> None:
    """Nothing is changed, and nothing is undone, as long as Home Assistant cannot read its configuration."""
    folder = await start_scripts()
    path, configuration = folder / kind.file, folder / "configuration.yaml"
    before, good = path.read_bytes(), configuration.read_text()
    if change != "remove":
        configuration.write_text(f"{good}broken: [\n")
        with pytest.raises(AssertionError):
            await CHANGES[change](call_tool, kind)
        assert path.read_bytes() == before
        assert hass.states.get(kind.new) is None
        configuration.write_text(good)
    await CHANGES[change](call_tool, kind)
    after = path.read_bytes()
    configuration.write_text(f"{good}broken: [\n")
    if change in {"update", "remove"}:
        error = (await call_tool(UNDO, error=True))["error"]
        assert "could not load its configuration" in error
        assert path.read_bytes() == after
        configuration.write_text(good)
    await call_tool(UNDO)
    assert path.read_bytes() == before
    assert hass.states.get(kind.old).name == kind.name
    assert er.async_get(hass).async_get(kind.new) is None


OTHER = {
    "script": "{good_night: {alias: Other, sequence: []}}\n",
    "scene": "[{id: '1', name: Other, entities: {input_boolean.lamp: 'off'}}]\n",
}


@both
@pytest.mark.parametrize("change", ["update", "remove"])
@pytest.mark.parametrize("where", ["first", "last", "package"])
async def test_another_file_holds_the_id(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind, change: str, where: str
) -> None:
    """What Home Assistant runs is compared with what was written; where it is something else, all is put back."""
    domain = domain_of(kind)
    if where == "package":
        configuration = f"{CONFIGURATION}homeassistant: {{packages: {{one: {{{domain}: {OTHER[domain].strip()}}}}}}}\n"
    elif where == "first":
        configuration = f"{domain} second: {OTHER[domain]}{CONFIGURATION}"
    else:
        configuration = f"{CONFIGURATION}{domain} second: {OTHER[domain]}"
    path = await start_scripts(configuration=configuration) / kind.file
    before = path.read_bytes()
    (entity_id,) = [
        er.async_get(hass).async_get_entity_id(domain, "script" if domain == "script" else "homeassistant", IDS[domain])
    ]
    assert entity_id
    expose(hass, entity_id)
    name = hass.states.get(entity_id).name
    arguments = {"changes": kind.changes} if change == "update" else {}
    result = None
    try:
        result = await call_tool(UPDATE if change == "update" else REMOVE, automation=entity_id, **arguments)
    except AssertionError:
        assert path.read_bytes() == before
        assert hass.states.get(entity_id).name == name
        assert async_should_expose(hass, "conversation", entity_id)
        return
    await start_again(hass)
    state = hass.states.get(entity_id)
    if change == "update":
        assert state.name == "X", (result, state)
    else:
        assert state is None, (result, state)


STYLES = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "bom": lambda text: f"\N{ZERO WIDTH NO-BREAK SPACE}{text}",
    "indented": lambda text: "".join(f"  {line}" for line in text.splitlines(True)),
    "document": lambda text: f"%YAML 1.1\n---\n{text}...\n",
    "no newline": lambda text: text.rstrip("\n"),
    "comments": lambda text: text.replace("\n", "   # c\n"),
}


@both
@pytest.mark.parametrize("change", ["add", "update", "remove"])
@pytest.mark.parametrize("style", STYLES)
async def test_in_another_style(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind, change: str, style: str
) -> None:
    """The file was written in another style since: only the one item is taken back, after a start too."""
    path = await start_scripts() / kind.file
    domain = domain_of(kind)
    before = path.read_bytes().decode()
    await CHANGES[change](call_tool, kind)
    path.write_bytes(STYLES[style](path.read_bytes().decode()).encode())
    await start_again(hass)
    await call_tool(UNDO)
    text = path.read_bytes().decode("utf-8-sig")
    for number in ["good_night", "hidden", "42"] if domain == "script" else ["1", "2"]:
        assert loaded(text, domain, number) == loaded(before, domain, number), text
    assert len(index_yaml(text, domain).automations) == len(index_yaml(before, domain).automations)
    if style == "crlf":
        assert text.count("\n") == text.count("\r\n")
    assert hass.states.get(kind.old).name == kind.name
    assert (hass.states.get(kind.new), er.async_get(hass).async_get(kind.new)) == (None, None)


@both
async def test_entity_renamed_since(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind
) -> None:
    """The user has given them other entity ids since: all is undone, and the ids stay."""
    path = await start_scripts() / kind.file
    before, entities, domain = path.read_bytes(), er.async_get(hass), domain_of(kind)
    await CHANGES["update"](call_tool, kind)
    await CHANGES["add"](call_tool, kind)
    entities.async_update_entity(kind.new, new_entity_id=f"{domain}.a")
    entities.async_update_entity(kind.old, new_entity_id=f"{domain}.b")
    await hass.async_block_till_done()
    expose(hass, f"{domain}.a", f"{domain}.b")
    await call_tool(UNDO)
    assert (hass.states.get(f"{domain}.a"), entities.async_get(f"{domain}.a")) == (None, None)
    await call_tool(UNDO)
    assert path.read_bytes() == before
    assert hass.states.get(f"{domain}.b").name == kind.name


@both
async def test_the_editor_has_written_the_file(
    hass: HomeAssistant,
    start_scripts: StartScripts,
    call_tool: CallTool,
    hass_client: ClientSessionGenerator,
    kind: Kind,
) -> None:
    """The editor has saved another one, and with it the whole file in its own way: all is undone all the same."""
    path = await start_scripts() / kind.file
    domain = domain_of(kind)
    before = path.read_text()
    assert await async_setup_component(hass, "config", {})
    editor = await hass_client()
    await CHANGES["update"](call_tool, kind)
    await CHANGES["add"](call_tool, kind)
    await CHANGES["remove"](call_tool, kind)
    theirs = lighting("Theirs") if domain == "script" else {"name": "Theirs", "entities": {LAMP: "on"}}
    response = await editor.post(f"/api/config/{domain}/config/theirs", json=theirs)
    assert response.status == 200, await response.text()
    await hass.async_block_till_done()
    for _ in range(3):
        await call_tool(UNDO)
    text = path.read_text()
    for number in ["good_night", "hidden", "42"] if domain == "script" else ["1", "2"]:
        assert loaded(text, domain, number) == loaded(before, domain, number), text
    assert loaded(text, domain, "theirs")["alias" if domain == "script" else "name"] == "Theirs"
    assert len(index_yaml(text, domain).automations) == len(index_yaml(before, domain).automations) + 1
    assert hass.states.get(kind.old).name == kind.name
    assert hass.states.get(f"{domain}.theirs") is not None
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


@both
async def test_saved_in_the_editor(
    hass: HomeAssistant,
    start_scripts: StartScripts,
    call_tool: CallTool,
    hass_client: ClientSessionGenerator,
    kind: Kind,
) -> None:
    """What the user saved in the editor of the very one stays, but for what we had changed."""
    path = await start_scripts() / kind.file
    domain, item_id = domain_of(kind), IDS[domain_of(kind)]
    assert await async_setup_component(hass, "config", {})
    editor = await hass_client()
    await CHANGES["update"](call_tool, kind)
    url = f"/api/config/{domain}/config/{item_id}"
    saved = await (await editor.get(url)).json()
    saved |= {"icon": "mdi:star"}
    if domain == "script":
        saved |= {"description": "", "mode": "single"}
    else:
        saved |= {"metadata": {}}
    assert (await editor.post(url, json=saved)).status == 200
    await hass.async_block_till_done()
    await call_tool(UNDO)
    found = loaded(path.read_text(), domain, item_id)
    assert found["alias" if domain == "script" else "name"] == kind.name
    assert found["icon"] == "mdi:star"
    assert hass.states.get(kind.old).name == kind.name
    # And what we added, opened and saved there.
    await CHANGES["add"](call_tool, kind)
    (change,) = (one for one in (await async_get_journal(hass)).changes if not one.undone)
    url = f"/api/config/{domain}/config/{change.details['id']}"
    saved = await (await editor.get(url)).json()
    saved |= {"description": "", "mode": "single"} if domain == "script" else {}
    assert (await editor.post(url, json=saved)).status == 200
    await hass.async_block_till_done()
    await call_tool(UNDO)
    assert loaded(path.read_text(), domain, change.details["id"]) is None
    assert hass.states.get(kind.new) is None


@both
async def test_two_changes_of_one(
    hass: HomeAssistant, start_scripts: StartScripts, call_tool: CallTool, kind: Kind
) -> None:
    """Two changes of one are undone one after the other, while others write elsewhere in the file."""
    path = await start_scripts() / kind.file
    before = path.read_text()
    key = "alias" if domain_of(kind) == "script" else "name"
    await call_tool(UPDATE, automation=kind.old, changes={key: "One"})
    await call_tool(UPDATE, automation=kind.old, changes={key: "Two", "icon": "mdi:star"})
    await call_tool(REMOVE, automation=kind.old)
    path.write_text(f"# mine\n{path.read_text()}")
    await call_tool(UNDO)
    assert hass.states.get(kind.old).name == "Two"
    path.write_text(path.read_text().replace("# mine\n", "# yours\n\n"))
    await call_tool(UNDO)
    assert hass.states.get(kind.old).name == "One"
    await call_tool(UNDO)
    text = path.read_text()
    assert text.startswith("# yours\n\n")
    assert sorted(text.splitlines()) == sorted(["# yours", "", *before.splitlines()])
    assert hass.states.get(kind.old).name == kind.name
