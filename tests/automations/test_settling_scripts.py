"""Tests that changes of scripts and scenes, too, are all there or not at all wherever they are cut off."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
import shutil
from typing import Any

import pytest

from custom_components.extended_assist.automations.store import async_recover
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_should_expose
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er, issue_registry as ir
from tests.automations.test_settling import STEPS, Cutter, cutter, end_store, notices, notices_by_id
from tests.conftest import CallTool
from tests.helpers.automating import ADD, FREE, REMOVE, UPDATE
from tests.helpers.one_home import in_one_home
from tests.helpers.scripting import LAMP, StartScripts, lighting, start_scripts

__all__ = ["cutter", "start_scripts"]

UNDO = UndoLastChangeTool(FREE)
NOT_BEGUN = {"to be written", "read", "copy to be kept", "copy kept"}


@dataclass(frozen=True)
class Kind:
    """What is tried of scripts, or of scenes."""

    file: str
    new: str
    old: str
    name: str
    added: dict[str, Any]
    changes: dict[str, Any]


KINDS = {
    "script": Kind(
        "scripts.yaml",
        "script.light_the_room",
        "script.good_night",
        "Good night",
        {"script": lighting()},
        {"alias": "X"},
    ),
    "scene": Kind(
        "scenes.yaml",
        "scene.evening",
        "scene.cosy",
        "Cosy",
        {"scene": {"name": "Evening", "entities": [LAMP]}},
        {"name": "X"},
    ),
}
CHANGES: dict[str, Callable[[CallTool, Kind], Awaitable[Any]]] = {
    "add": lambda call_tool, kind: call_tool(ADD, **kind.added),
    "add unexposed": lambda call_tool, kind: call_tool(ADD, expose=False, **kind.added),
    "update": lambda call_tool, kind: call_tool(UPDATE, automation=kind.old, changes=kind.changes),
    "remove": lambda call_tool, kind: call_tool(REMOVE, automation=kind.old),
}


async def start_again(hass: HomeAssistant) -> None:
    """Have the store and the journal know only what is on the disk, as after a start."""
    end_store(hass)
    for key in ("journal", "unheard"):
        hass.data.pop(f"{DOMAIN}_{key}", None)
    for domain in KINDS:
        await hass.services.async_call(domain, "reload", blocking=True)
    await async_recover(hass)
    await hass.async_block_till_done()


def registered(hass: HomeAssistant, entity_id: str) -> tuple[bool, bool]:
    """Return whether there is an entity, and whether it is registered."""
    return hass.states.get(entity_id) is not None, er.async_get(hass).async_get(entity_id) is not None


def is_named(hass: HomeAssistant, kind: Kind) -> bool:
    """Return whether the old one has its name, and is exposed."""
    state = hass.states.get(kind.old)
    return state is not None and state.name == kind.name and async_should_expose(hass, "conversation", kind.old)


@pytest.fixture
async def folder(hass: HomeAssistant, start_scripts: StartScripts) -> Path:
    """Start the home, and return the folder of its files."""
    return await start_scripts(devices=False)


async def begin(hass: HomeAssistant, folder: Path, kind: Kind) -> None:
    """Forget what the case before recorded, told and removed; everything else has to be as it was at first."""
    await (await async_get_journal(hass)).async_clear()
    if f"{DOMAIN}_config_stores" in hass.data:
        end_store(hass)
    hass.data.pop(f"{DOMAIN}_unheard", None)
    shutil.rmtree(folder / ".storage", ignore_errors=True)
    er.async_get(hass).deleted_entities.clear()
    for issue in notices_by_id(hass):
        ir.async_delete_issue(hass, DOMAIN, issue)
    assert registered(hass, kind.new) == (False, False)
    assert registered(hass, kind.old) == (True, True)
    assert is_named(hass, kind)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("change", CHANGES)
@in_one_home("step", STEPS)
async def test_cut_off(
    hass: HomeAssistant,
    folder: Path,
    call_tool: CallTool,
    cutter: Cutter,
    step: str,
    change: str,
    kind: Kind,
) -> None:
    """After the start it is not there, or there, exposed as promised, recorded and undoable; the user is told."""
    await begin(hass, folder, kind)
    path = folder / kind.file
    before = path.read_bytes()
    where, is_there = STEPS[step]
    await cutter.during(CHANGES[change](call_tool, kind), *where)
    after = path.read_bytes()
    assert (after != before) is is_there
    await start_again(hass)
    assert path.read_bytes() == after
    expected = "change_completed" if is_there else "change_not_made"
    assert list(notices(hass)) == ([] if step in NOT_BEGUN else [expected])
    assert len((await async_get_journal(hass)).changes) == is_there
    assert registered(hass, kind.new) == (change.startswith("add") and is_there,) * 2
    assert registered(hass, kind.old) == (not (change == "remove" and is_there),) * 2
    if change.startswith("add") and is_there:
        assert async_should_expose(hass, "conversation", kind.new) is (change == "add")
    if is_there:
        await call_tool(UNDO)
    assert path.read_bytes() == before
    assert registered(hass, kind.new) == (False, False)
    assert is_named(hass, kind)
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("change", CHANGES)
@in_one_home("step", STEPS)
async def test_undo_cut_off(
    hass: HomeAssistant,
    folder: Path,
    call_tool: CallTool,
    cutter: Cutter,
    step: str,
    change: str,
    kind: Kind,
) -> None:
    """An undo that is cut off was made or not made, and can be made again only in the latter case."""
    await begin(hass, folder, kind)
    path = folder / kind.file
    er.async_get(hass).async_update_entity(kind.old, icon="mdi:ghost")
    before = path.read_bytes()
    await CHANGES[change](call_tool, kind)
    changed = path.read_bytes()
    where, is_there = STEPS[step]
    await cutter.during(call_tool(UNDO), *where)
    er.async_get(hass).deleted_entities.clear()
    await start_again(hass)
    assert path.read_bytes() == (before if is_there else changed)
    if not is_there:
        await call_tool(UNDO)
    assert path.read_bytes() == before
    assert registered(hass, kind.new) == (False, False)
    assert is_named(hass, kind)
    assert er.async_get(hass).async_get(kind.old).icon == "mdi:ghost"
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("change", CHANGES)
@in_one_home(("step", "error"), [(step, error) for step in STEPS for error in (RuntimeError, asyncio.CancelledError)])
async def test_broken_off_while_running(
    hass: HomeAssistant,
    folder: Path,
    call_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: type[BaseException],
    change: str,
    kind: Kind,
) -> None:
    """What fails, or is cancelled, in the middle is brought to an end at once."""
    await begin(hass, folder, kind)
    path = folder / kind.file
    before = path.read_bytes()

    async def work() -> None:
        try:
            await CHANGES[change](call_tool, kind)
        except AssertionError:
            return  # The tool tells of an error.

    await Cutter(monkeypatch, error).during(work(), *STEPS[step][0])
    await hass.async_block_till_done()
    is_there = path.read_bytes() != before
    assert len((await async_get_journal(hass)).changes) == is_there
    assert registered(hass, kind.new) == (change.startswith("add") and is_there,) * 2
    assert registered(hass, kind.old) == (not (change == "remove" and is_there),) * 2
    if change.startswith("add") and is_there:
        assert async_should_expose(hass, "conversation", kind.new) is (change == "add")
    if is_there:
        await call_tool(UNDO)
    assert path.read_bytes() == before
    assert registered(hass, kind.new) == (False, False)
    assert is_named(hass, kind)
