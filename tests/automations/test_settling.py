"""Tests that a change is all there or not at all: compared with what runs, and brought to an end whatever broke it off."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
from datetime import timedelta
from inspect import iscoroutinefunction
import json
from pathlib import Path
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.extended_assist.automations import commit, file, query
from custom_components.extended_assist.automations.commit import Settler
from custom_components.extended_assist.automations.store import async_recover
from custom_components.extended_assist.calls.journal import Journal, async_get_journal
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity, async_should_expose
from homeassistant.const import EVENT_HOMEASSISTANT_CLOSE
from homeassistant.core import CoreState, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, issue_registry as ir, llm
from homeassistant.util import dt as dt_util
from tests.automations.files import HAND_WRITTEN
from tests.conftest import CallTool, expose
from tests.helpers.automating import (
    ADD,
    CONFIGURATION,
    FREE,
    PORCH,
    REMOVE,
    UPDATE,
    File,
    StartHome,
    old_home,
    start_home,
    switching,
)

__all__ = ["old_home", "start_home"]

UNDO = UndoLastChangeTool(FREE)
NEW = "automation.porch_at_dusk"


class Cut(BaseException):
    """What ends a change like the end of the process does: nothing that comes behind it is done."""


def unfinished(path: Path) -> Path:
    """Return the file that says what was begun."""
    return path.parent / ".storage" / "extended_assist.automations.unfinished"


def notices_by_id(hass: HomeAssistant) -> dict[str, ir.IssueEntry]:
    """Return the notices about changes that were cut off."""
    return {
        issue_id: issue
        for (domain, issue_id), issue in ir.async_get(hass).issues.items()
        if domain == DOMAIN and (issue.translation_key or "").startswith("change_")
    }


def notices(hass: HomeAssistant) -> dict[str, dict[str, str] | None]:
    """Return what the notices about changes that were cut off say, by their kind."""
    return {issue.translation_key or "": issue.translation_placeholders for issue in notices_by_id(hass).values()}


def end_store(hass: HomeAssistant) -> None:
    """End the store as the end of the process does: it stores nothing more."""
    for store in hass.data.pop(f"{DOMAIN}_config_stores").values():
        store._settler._intents = []


async def start_again(hass: HomeAssistant) -> None:
    """Have the store and the journal know only what is on the disk, as after a start."""
    end_store(hass)
    for key in ("journal", "unheard"):
        hass.data.pop(f"{DOMAIN}_{key}", None)
    await hass.services.async_call("automation", "reload", blocking=True)
    await async_recover(hass)
    await hass.async_block_till_done()


class Cutter:
    """Ends what is done where it calls a function, or behind that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] = Cut) -> None:
        """Take what undoes the patch, and what it ends with."""
        self._monkeypatch = monkeypatch
        self._error = error

    async def during(self, work: Awaitable[Any], owner: object, name: str, when: str) -> None:
        """Do something that is ended once at a step; it must get that far."""
        original = getattr(owner, name)
        cut = []

        def end() -> None:
            if not cut:
                cut.append(name)
                raise self._error

        async def end_task(*arguments: Any, **named: Any) -> Any:
            if when == "before":
                end()
            result = await original(*arguments, **named)
            end()
            return result

        def end_call(*arguments: Any, **named: Any) -> Any:
            if when == "before":
                end()
            result = original(*arguments, **named)
            end()
            return result

        with self._monkeypatch.context() as patch:
            patch.setattr(owner, name, end_task if iscoroutinefunction(original) else end_call)
            if self._error is Cut:
                with pytest.raises(Cut):
                    await work
            else:
                await work
        assert cut, "it did not come that far"


@pytest.fixture
def cutter(monkeypatch: pytest.MonkeyPatch) -> Cutter:
    """Return what ends a change as the end of the process does."""
    return Cutter(monkeypatch)


type Step = tuple[object, str, str]

STEPS: dict[str, tuple[Step, bool]] = {
    "to be written": ((Settler, "_async_write", "before"), False),
    "read": ((commit, "change", "before"), False),
    "copy to be kept": ((commit, "keep_copy", "before"), False),
    "copy kept": ((commit, "keep_copy", "after"), False),
    "intent stored": ((commit, "write_intents", "after"), False),
    "file to be replaced": ((file, "swap", "before"), False),
    "file replaced": ((file, "swap", "after"), True),
    "written": ((Settler, "_async_complete", "before"), True),
    "loaded": ((Settler, "_async_load", "after"), True),
    "to be recorded": ((Journal, "async_save", "before"), True),
    "recorded": ((Journal, "async_save", "after"), True),
    "to be ended": ((Settler, "_async_end", "before"), True),
}
"""The steps of a change, and whether it is there when it is cut off at one of them."""
CHANGES: dict[str, Callable[[CallTool], Awaitable[Any]]] = {
    "add": lambda call_tool: call_tool(ADD, automation=switching()),
    "update": lambda call_tool: call_tool(UPDATE, automation="porch", changes={"alias": "Other"}),
    "remove": lambda call_tool: call_tool(REMOVE, automation="porch"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", STEPS)
async def test_cut_off(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, cutter: Cutter, step: str, change: str
) -> None:
    """Wherever it is cut off: after the start it is not there, or there, exposed, recorded and undoable; the user is told."""
    before = old_home.read_bytes()
    where, is_there = STEPS[step]
    await cutter.during(CHANGES[change](call_tool), *where)
    after = old_home.read_bytes()
    assert (after != before) is is_there
    await start_again(hass)
    assert old_home.read_bytes() == after
    is_begun = step not in {"to be written", "read", "copy to be kept", "copy kept"}
    (known,) = notices(hass) if is_begun else [None]
    assert known == (("change_completed" if is_there else "change_not_made") if is_begun else None)
    journal = await async_get_journal(hass)
    assert len(journal.changes) == is_there
    assert (hass.states.get(NEW) is not None) is (change == "add" and is_there)
    assert (hass.states.get("automation.porch") is None) is (change == "remove" and is_there)
    if change == "add" and is_there:
        assert async_should_expose(hass, "conversation", NEW)
    lamp = {"automation": "alarm", "changes": {"mode": "queued"}}
    told = (await call_tool(UPDATE, **lamp)).get("earlier", [])
    assert len(told) == is_begun
    assert all(("can be undone" if is_there else "was not done") in one for one in told)
    await call_tool(UNDO)
    if is_there:
        await call_tool(UNDO)
        assert hass.states.get(NEW) is None
        assert hass.states.get("automation.porch").attributes["friendly_name"] == "Porch"
        assert async_should_expose(hass, "conversation", "automation.porch")
    assert old_home.read_bytes() == before
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", STEPS)
async def test_undo_cut_off(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, cutter: Cutter, step: str, change: str
) -> None:
    """An undo that is cut off was made or not made, and can be made again only in the latter case."""
    before = old_home.read_bytes()
    await CHANGES[change](call_tool)
    changed = old_home.read_bytes()
    where, is_there = STEPS[step]
    await cutter.during(call_tool(UNDO), *where)
    await start_again(hass)
    assert old_home.read_bytes() == (before if is_there else changed)
    if not is_there:
        await call_tool(UNDO)
    assert old_home.read_bytes() == before
    assert (hass.states.get(NEW), er.async_get(hass).async_get(NEW)) == (None, None)
    assert hass.states.get("automation.porch").attributes["friendly_name"] == "Porch"
    assert async_should_expose(hass, "conversation", "automation.porch")
    assert "changed nothing" in (await call_tool(UNDO, error=True))["error"]


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
@pytest.mark.parametrize("step", STEPS)
async def test_broken_off_while_running(
    hass: HomeAssistant,
    old_home: File,
    call_tool: CallTool,
    llm_context: llm.LLMContext,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    error: type[BaseException],
) -> None:
    """What fails, or is cancelled, in the middle is brought to an end at once, and a second one is not made."""
    before = old_home.read_bytes()
    where, _ = STEPS[step]
    results: list[dict[str, Any]] = []

    async def add() -> None:
        result = await ADD.async_call(hass, llm.ToolInput(ADD.name, {"automation": switching()}), llm_context)
        results.append({"error": result.error, **result.data})

    await Cutter(monkeypatch, error).during(add(), *where)
    await hass.async_block_till_done()
    is_there = hass.states.get(NEW) is not None
    assert is_there is (old_home.read_bytes() != before)
    journal = await async_get_journal(hass)
    assert len(journal.changes) == is_there
    if is_there:
        assert async_should_expose(hass, "conversation", NEW)
    (result,) = results
    assert "less" not in str(result)
    later = (await call_tool(UPDATE, automation="alarm", changes={"mode": "queued"})).get("earlier", [])
    if error is asyncio.CancelledError:
        assert "told with the next answer" in result["error"]
        assert ("can be undone" if is_there else "was not done") in [*result.get("earlier", ()), *later][0]
    else:
        assert ("added" in result) is is_there
        assert not later
    await call_tool(UNDO)
    if is_there:
        await call_tool(UNDO)
    assert old_home.read_bytes() == before
    known = set(notices(hass))
    await start_again(hass)
    assert set(notices(hass)) == known, "what is stored can be read"
    assert old_home.read_bytes() == before


async def test_cut_off_while_put_back(hass: HomeAssistant, old_home: File, call_tool: CallTool, cutter: Cutter) -> None:
    """What Home Assistant did not load is taken back after the start too, with what it left in the registry."""
    before = old_home.read_bytes()
    reload = hass.services.async_services_for_domain("automation")["reload"].job.target

    async def load(call: ServiceCall) -> None:
        await reload(call)
        if old_home.read_bytes() != before and call.data:
            raise HomeAssistantError("narwhal")

    hass.services.async_register("automation", "reload", load)
    await cutter.during(CHANGES["add"](call_tool), commit, "restore", "before")
    assert old_home.read_bytes() != before
    await start_again(hass)
    assert old_home.read_bytes() == before
    assert (hass.states.get(NEW), er.async_get(hass).async_get(NEW)) == (None, None)
    assert "change_not_made" in notices(hass)
    assert (await async_get_journal(hass)).changes == []


EDITS: dict[str, tuple[str, Callable[[str], str], str]] = {
    "a comment elsewhere": ("add", lambda text: f"# mine\n{text}", "change_completed"),
    "the new one": ("add", lambda text: text.replace("Porch at dusk", "Porch at dawn"), "change_completed"),
    "the new one is gone": ("add", lambda text: text[: text.index("- id: '17")], "change_not_made"),
    "the changed one": ("update", lambda text: text.replace("alias: Other", "alias: Mine"), "change_unclear"),
    "the removed one is back": ("remove", lambda _: HAND_WRITTEN, "change_not_made"),
    "no YAML": ("add", lambda text: f"{text}- [\n", "change_unclear"),
}


@pytest.mark.parametrize("what", EDITS)
async def test_others_wrote_meanwhile(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, cutter: Cutter, what: str
) -> None:
    """Whatever people did to the file between the end and the start stays, and what is there is exposed and recorded."""
    change, edited, notice = EDITS[what]
    await cutter.during(CHANGES[change](call_tool), file, "swap", "after")
    text = edited(old_home.read_text())
    old_home.write_text(text)
    with contextlib.suppress(HomeAssistantError):
        await start_again(hass)
    await async_recover(hass)
    assert old_home.read_text() == text
    assert set(notices(hass)) == {notice}
    assert len((await async_get_journal(hass)).changes) == (notice == "change_completed")
    assert unfinished(old_home).exists()
    if notice == "change_completed":
        (state,) = (
            state for state in hass.states.async_all("automation") if state.entity_id.startswith("automation.porch_at")
        )
        assert async_should_expose(hass, "conversation", state.entity_id)


async def test_unclear_until_it_can_be_read(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, cutter: Cutter
) -> None:
    """While what was begun cannot be brought to an end, nothing else is changed; once it can, it is finished."""
    await cutter.during(CHANGES["add"](call_tool), file, "swap", "after")
    text = old_home.read_text()
    old_home.write_bytes(b"- \xff")
    end_store(hass)
    await async_recover(hass)
    assert set(notices(hass)) == {"change_unclear"}
    old_home.write_text(text)
    await start_again(hass)
    assert set(notices(hass)) == {"change_completed"}
    assert hass.states.get(NEW).state == "on"


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"intents": [{}]}', b"\xff", b'{"intents": [{"change": 1, "before": ""}]}']
)
async def test_damaged(hass: HomeAssistant, old_home: File, call_tool: CallTool, content: bytes) -> None:
    """What is stored of a change and cannot be read is set aside and told; nothing is done to the file, and work goes on."""
    await CHANGES["add"](call_tool)
    before = old_home.read_bytes()
    unfinished(old_home).write_bytes(content)
    await start_again(hass)
    assert old_home.read_bytes() == before
    assert set(notices(hass)) == {"change_unclear"}
    (aside,) = unfinished(old_home).parent.glob("*.unreadable.*")
    assert aside.read_bytes() == content
    await CHANGES["update"](call_tool)


async def test_forgotten_when_stored(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What is done is kept until Home Assistant has stored its part, for its own user only, and is then gone."""
    await CHANGES["add"](call_tool)
    await CHANGES["remove"](call_tool)
    assert len(json.loads(unfinished(old_home).read_bytes())["intents"]) == 2
    assert unfinished(old_home).stat().st_mode & 0o777 == 0o600
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=commit.KEEP + 1))
    await hass.async_block_till_done()
    assert not unfinished(old_home).exists()
    await call_tool(UNDO)
    assert unfinished(old_home).exists()
    hass.bus.async_fire("homeassistant_close")
    await hass.async_block_till_done()
    assert not unfinished(old_home).exists()


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_ended_while_stopping(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch, *, is_loaded: bool
) -> None:
    """What comes to its end while Home Assistant stops is told after the next start, since nobody hears the answer."""
    before, load = old_home.read_bytes(), Settler._async_load

    async def stop(self: Settler, item_id: str, lines: str | None, *, may_be_off: bool) -> str | None:
        hass.set_state(CoreState.stopping)
        problem = await load(self, item_id, lines, may_be_off=may_be_off)
        return problem if is_loaded or lines is None else "It is not loaded."

    with monkeypatch.context() as patch:
        patch.setattr(Settler, "_async_load", stop)
        await call_tool(ADD, automation=switching(), error=not is_loaded)
    assert (old_home.read_bytes() != before) is is_loaded
    hass.bus.async_fire(EVENT_HOMEASSISTANT_CLOSE)
    await hass.async_block_till_done()
    hass.set_state(CoreState.running)
    await start_again(hass)
    assert list(notices(hass)) == ["change_completed" if is_loaded else "change_not_made"]
    assert len((await async_get_journal(hass)).changes) == is_loaded
    (told,) = (await call_tool(UPDATE, automation="alarm", changes={"mode": "queued"}))["earlier"]
    assert ("can be undone" if is_loaded else "was not done") in told
    for _ in range(1 + is_loaded):
        await call_tool(UNDO)
    assert old_home.read_bytes() == before
    hass.bus.async_fire(EVENT_HOMEASSISTANT_CLOSE)
    await hass.async_block_till_done()
    assert not unfinished(old_home).exists()


async def test_what_home_assistant_had_not_stored(hass: HomeAssistant, old_home: File, call_tool: CallTool) -> None:
    """What was done right before the end is exposed again, and nothing of what was removed is left, without a notice."""
    await CHANGES["add"](call_tool)
    await CHANGES["remove"](call_tool)
    registry = er.async_get(hass)
    async_expose_entity(hass, "conversation", NEW, should_expose=False)
    registry.async_get_or_create("automation", "automation", "1", suggested_object_id="porch")
    await start_again(hass)
    assert async_should_expose(hass, "conversation", NEW)
    assert registry.async_get("automation.porch") is None
    assert notices(hass) == {}
    assert len((await async_get_journal(hass)).changes) == 2


TAKEN = "- {id: '1', alias: Other, triggers: [], actions: []}\n"


# What is written in a package comes behind the file, so that it runs only once that is gone.
@pytest.mark.parametrize(
    ("other", "change"), [("package", "remove"), ("second key", "update"), ("second key", "remove")]
)
async def test_another_file_holds_the_id(
    hass: HomeAssistant,
    start_home: StartHome,
    call_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    other: str,
    change: str,
) -> None:
    """What Home Assistant runs is compared with what was written; where it is something else, the change is taken back."""
    monkeypatch.setattr(
        query, "other_places", lambda *_: {}
    )  # As in a file that is included in a way that is not followed.
    where = "homeassistant: {packages: {one: {automation: !include second.yaml}}}\n"
    if other == "second key":
        where = "automation first: !include second.yaml\n"
    path = await start_home(
        HAND_WRITTEN.replace("!secret lamp", PORCH), configuration=f"{where}{CONFIGURATION}", other="[]\n", second=TAKEN
    )
    entity_id = er.async_get(hass).async_get_entity_id("automation", "automation", "1")
    expose(hass, entity_id)
    before = path.read_bytes()
    arguments = {"changes": {"description": "Other words"}} if change == "update" else {}
    tool = UPDATE if change == "update" else REMOVE
    error = (await call_tool(tool, automation=entity_id, error=True, **arguments))["error"]
    assert error.startswith("Home Assistant runs something else under this id: another file of the configuration")
    assert error.endswith("Everything was put back as it was before.")
    assert path.read_bytes() == before
    assert (await async_get_journal(hass)).changes == []
    assert hass.states.get(entity_id)


async def test_checked_too_long(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change whose check takes too long is told not to have begun, and not to ask for less."""

    async def wait(*_: Any) -> None:
        raise TimeoutError

    monkeypatch.setattr(type(ADD), "async_plan", wait)
    error = (await call_tool(ADD, automation=switching(), error=True))["error"]
    assert error.endswith("took too long to be checked. Nothing was begun; it can be called again.")
    assert old_home.read_text() == HAND_WRITTEN


async def test_deadline(
    hass: HomeAssistant, old_home: File, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the deadline the model is told that it goes on and not to make it again, and later what became of it."""
    let = asyncio.Event()
    load = Settler._async_load

    async def slow(self: Settler, *arguments: Any, **named: Any) -> str | None:
        await let.wait()
        return await load(self, *arguments, **named)

    monkeypatch.setattr(Settler, "_async_load", slow)
    monkeypatch.setattr(type(ADD), "deadline", 0.3)
    result = await call_tool(ADD, automation=switching())
    assert "goes on; do not call it again" in result["note"]
    let.set()
    await hass.async_block_till_done(wait_background_tasks=True)
    told = (await call_tool(UPDATE, automation="alarm", changes={"mode": "queued"}))["earlier"]
    assert "has ended. What it changed can be undone." in told[0]
    assert async_should_expose(hass, "conversation", NEW)
