"""Tests that nothing is left of what is deleted for good: in no file, and in nothing that can be undone."""

from collections.abc import Awaitable, Callable
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser, async_fire_time_changed

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import KEY, Memory, async_get_memory
from custom_components.extended_assist.storage import NotStoredError
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.core import HomeAssistant

from .home import act, async_set_up_home
from .people import Speaker

pytestmark = pytest.mark.usefixtures("assist")

SECRET, WORD = "Anna wants a quagga", "quagga"
OTHER = "Ben wants an okapi"


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Return nothing: what is stored goes into files."""
    return {}


@pytest.fixture
async def home(hass: HomeAssistant, assist: None) -> MockConfigEntry:
    """Return an entry in which memory is on."""
    return await async_set_up_home(hass)


@pytest.fixture
def anna(hass: HomeAssistant) -> Speaker:
    """Return somebody who lives here, and is a person."""
    user_id = MockUser(name="Anna").add_to_hass(hass).id
    hass.states.async_set("person.anna", "home", {"friendly_name": "Anna", "user_id": user_id})
    return Speaker(user_id)


async def agreed(hass: HomeAssistant, speaker: Speaker, **arguments: Any) -> dict[str, Any]:
    """Ask for what is deleted for good, and run it as agreed; return the question and the answer."""
    asked = await speaker.call(hass, RememberTool, **arguments)
    assert asked.data.get("done") is False, asked.data
    async with speaker.speaking(hass):
        caller = Caller.of(speaker.llm_context())
        exposure = Exposure(hass, "conversation")
        call = ToolCall(hass=hass, arguments=arguments, exposure=exposure, caller=caller, options=speaker.options)
        return asked.data | dict(await RememberTool().async_run(call))


async def files_with(hass: HomeAssistant, folder: Path, word: str) -> list[str]:
    """Return the names of the stored files that hold a word, once all is stored that is to be."""
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    return sorted(path.name for path in (folder / ".storage").rglob("*") if path.is_file() and word in path.read_text())


async def _forgotten(hass: HomeAssistant, anna: Speaker) -> None:
    kept = await anna.remember(hass, SECRET, "me")
    await anna.call(hass, RememberTool, forget=[kept["id"]])


async def _replaced(hass: HomeAssistant, anna: Speaker) -> None:
    kept = await anna.remember(hass, SECRET, "me")
    await anna.remember(hass, "She has all she wants", "me", replaces=[kept["id"]])


async def _changed(hass: HomeAssistant, anna: Speaker) -> None:
    kept = await act(hass, "remember", anna.user_id, words=SECRET, whose="me")
    await act(hass, "remember", anna.user_id, words="She has all she wants", id=kept["id"])


async def _of_household(hass: HomeAssistant, anna: Speaker) -> None:
    kept = await anna.remember(hass, SECRET, about=["Anna"])
    await anna.call(hass, RememberTool, forget=[kept["id"]])


async def _held(hass: HomeAssistant, anna: Speaker) -> None:
    await anna.remember(hass, SECRET, "me")


WAYS: dict[str, Callable[[HomeAssistant, Speaker], Awaitable[None]]] = {
    "held": _held,
    "forgotten": _forgotten,
    "replaced": _replaced,
    "changed by the action": _changed,
    "forgotten, of the household": _of_household,
}


@pytest.mark.parametrize("way", WAYS)
async def test_everything_about_me(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path, way: str
) -> None:
    """All that is stored of a user goes, whatever became of it, with what undo would bring it back by; others' stays."""
    ben = Speaker(MockUser(name="Ben").add_to_hass(hass).id)
    await ben.remember(hass, OTHER, "me")
    await WAYS[way](hass, anna)
    assert await files_with(hass, tmp_path, WORD) == [KEY]
    answer = await agreed(hass, anna, forget=["everything"])
    assert WORD in answer["would"]
    assert "okapi" not in answer["would"]
    assert answer["deleted_for_good"] > 0
    assert await files_with(hass, tmp_path, WORD) == []
    assert await files_with(hass, tmp_path, "okapi") == [KEY]
    journal = await async_get_journal(hass)
    assert {change.user_id for change in journal.changes} == {ben.user_id}
    assert str(anna.user_id) not in (tmp_path / ".storage" / "extended_assist.journal").read_text()
    assert "has changed nothing" in (await anna.call(hass, UndoLastChangeTool)).data["error"]
    again = await anna.call(hass, RememberTool, forget=["everything"])
    assert again.data["error"] == "Nothing is remembered of this user."


@pytest.mark.parametrize("way", [way for way in WAYS if "household" not in way])
@pytest.mark.parametrize("by", ["the action", "removal of the user"])
async def test_all_own(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path, way: str, by: str
) -> None:
    """So it is by the action, and where the user is removed."""
    await WAYS[way](hass, anna)
    if by == "the action":
        await act(hass, "forget", anna.user_id, all_own=True)
    else:
        await hass.auth.async_remove_user(await hass.auth.async_get_user(anna.user_id))
        await hass.async_block_till_done()
    assert await files_with(hass, tmp_path, WORD) == []
    assert (await async_get_journal(hass)).changes == []


async def test_one_fact_with_its_earlier_words(
    hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path
) -> None:
    """Where one fact is deleted for good, those in whose place it is go with it, back to the first."""
    kept = await act(hass, "remember", anna.user_id, words=SECRET)
    await act(hass, "remember", anna.user_id, words="Anna wants a zebra", id=kept["id"])
    other = await anna.remember(hass, "Anna wants a horse", replaces=[kept["id"]])
    await anna.remember(hass, OTHER, replaces=[])
    await act(hass, "forget", anna.user_id, ids=[other["id"]], for_good=True)
    assert await files_with(hass, tmp_path, WORD) == []
    assert await files_with(hass, tmp_path, "Anna wants") == []
    assert [fact.words for fact in (await async_get_memory(hass)).all] == [OTHER]


def _stored(*facts: Fact | dict[str, Any]) -> dict[str, Any]:
    rows = [fact.stored() if isinstance(fact, Fact) else fact for fact in facts]
    return {"version": 1, "minor_version": 1, "key": KEY, "data": {"facts": rows}}


ASIDE: dict[str, Callable[[str], tuple[str, bool]]] = {
    "rows beside a wrong one": lambda own: (
        json.dumps(_stored(Fact(SECRET, own), Fact(OTHER, "ben"), {"words": 1})),
        True,
    ),
    "about the person": lambda own: (
        json.dumps(_stored(Fact(SECRET, entities=["person.anna"]), Fact(OTHER), {"words": 1})),
        True,
    ),
    "a wrong row of the user": lambda own: (
        json.dumps(_stored({"words": [SECRET], "user_id": own}, Fact(OTHER))),
        True,
    ),
    "cut off": lambda own: (json.dumps(_stored(Fact(SECRET, own), Fact(OTHER, "ben")))[:-20], False),
    "no facts": lambda own: (json.dumps({"version": 1, "data": {"words": SECRET, "user_id": own}}), False),
}
"""What was set aside, by the user's id, and whether the facts of others can be told apart in it."""


@pytest.mark.parametrize("kind", ASIDE)
async def test_copies_set_aside(hass: HomeAssistant, anna: Speaker, tmp_path: Path, kind: str) -> None:
    """What a file that could not be read holds of the user goes, too; where it cannot be taken apart, all of it."""
    text, can_be_cut = ASIDE[kind](str(anna.user_id))
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    (folder / KEY).write_text(text)
    await async_set_up_home(hass)
    (aside,) = folder.glob(f"{KEY}.*")
    unrelated = folder / f"{KEY}.unreadable.20200101T000000"
    unrelated.write_text(json.dumps(_stored(Fact(OTHER, "ben"))))
    answer = await agreed(hass, anna, forget=["everything"])
    assert "files that could not be read" in answer["would"]
    assert await files_with(hass, tmp_path, WORD) == []
    assert aside.exists() is can_be_cut
    assert not can_be_cut or "okapi" in aside.read_text()
    assert "okapi" in unrelated.read_text()
    again = await anna.call(hass, RememberTool, forget=["everything"])
    assert again.data["error"] == "Nothing is remembered of this user."


async def test_words_in_a_copy(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path) -> None:
    """One fact that is deleted for good goes from such copies by its words, as whole words of another one stay."""
    copy = tmp_path / ".storage" / f"{KEY}.corrupt.2026"
    copy.write_text(json.dumps(_stored(Fact(SECRET, id="other1"), Fact(f"{SECRET} and a horse"))))
    kept = await act(hass, "remember", anna.user_id, words=SECRET)
    await act(hass, "forget", anna.user_id, ids=[kept["id"]], for_good=True)
    assert [row["words"] for row in json.loads(copy.read_text())["data"]["facts"]] == [f"{SECRET} and a horse"]


async def test_a_copy_on_a_full_disk(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path) -> None:
    """Where what is left of a copy cannot be written, nothing is deleted, and that is told."""
    copy = tmp_path / ".storage" / f"{KEY}.corrupt.2026"
    text = json.dumps(_stored(Fact(SECRET, anna.user_id), Fact(OTHER, "ben")))
    copy.write_text(text)
    await anna.remember(hass, SECRET, "me")
    memory = await async_get_memory(hass)
    full = OSError(28, "No space left on device")
    with patch("homeassistant.util.file.AtomicWriter", side_effect=full), pytest.raises(NotStoredError):
        await memory.async_delete(lambda fact: fact.user_id == anna.user_id, anna.user_id)
    assert [fact.words for fact in memory.held] == [SECRET]
    assert copy.read_text() == text


async def test_a_copy_that_stays(hass: HomeAssistant, home: MockConfigEntry, anna: Speaker, tmp_path: Path) -> None:
    """Where a copy cannot be changed, nothing is deleted, and that is told."""
    copy = tmp_path / ".storage" / f"{KEY}.corrupt.2026"
    copy.write_text(f'{{"words": "{SECRET}"')
    await anna.remember(hass, SECRET, "me")
    memory = await async_get_memory(hass)
    with patch.object(Path, "unlink", side_effect=PermissionError), pytest.raises(NotStoredError):
        await memory.async_delete(lambda fact: fact.user_id == anna.user_id, anna.user_id)
    assert [fact.words for fact in memory.held] == [SECRET]


async def test_removed_while_nobody_noticed(
    hass: HomeAssistant, anna: Speaker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a user kept who was removed before the start, or while the disk was full, goes at the next start."""
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    (folder / KEY).write_text(
        json.dumps(_stored(Fact(SECRET, "removed"), Fact("Hers", anna.user_id), Fact(OTHER, None, "removed")))
    )
    memory = await async_get_memory(hass)
    assert {fact.words for fact in memory.all} == {"Hers", OTHER}
    assert await files_with(hass, tmp_path, WORD) == []
    with patch("homeassistant.util.file.AtomicWriter", side_effect=OSError(28, "No space left on device")):
        await hass.auth.async_remove_user(await hass.auth.async_get_user(anna.user_id))
        await hass.async_block_till_done()
    assert "facts of a removed user are deleted at the next start" in caplog.text
    assert "Hers" not in caplog.text
    MockUser(name="Ben").add_to_hass(hass)
    again = Memory(hass)
    await again.async_load()
    await again.async_delete_of_removed_users()
    assert [fact.words for fact in again.all] == [OTHER]
