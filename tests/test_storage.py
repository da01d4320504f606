"""Tests of stored files that cannot be read or written: real files, in a folder of their own."""

import asyncio
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calls.journal import Change, Journal, async_get_journal
from custom_components.extended_assist.claude.usage import async_get_meters
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.habits.dismissed import Declined, DeclinedHabits
from custom_components.extended_assist.storage import ConfirmedStore, NotStoredError
from custom_components.extended_assist.undo import undoers
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import CoreState, HomeAssistant
from tests.claude_server import ClaudeServer
from tests.test_formats import ENTRY, ENTRY_ID, STORES, ask, frozen


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Return nothing: what is stored goes into files."""
    return {}


DAMAGE = {
    "no JSON": lambda _: "{",
    "nothing": lambda _: "",
    "a list": lambda _: "[]",
    "a number": lambda _: "7",
    "no version": lambda _: '{"data": {}}',
    "a later major version": lambda store: json.dumps(store | {"version": 2}),
    "other data": lambda store: json.dumps(store | {"data": {"x": [1]}}),
    "data that are a list": lambda store: json.dumps(store | {"data": [{}]}),
    "other values": lambda store: (
        json.dumps(store)
        .replace('"time"', '"tide"')
        .replace("1000", '"x"')
        .replace("4102444800.0", "null")
        .replace('"kind"', '"find"')
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_damaged_stores(
    hass: HomeAssistant,
    assist: None,
    claude_server: ClaudeServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    """The entry loads and answers; what the files held is kept beside them, and the log says where."""
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    written = {store["key"]: DAMAGE[damage](store) for store in frozen(STORES)}
    for key, content in written.items():
        (folder / key).write_text(content)
    stored = frozen(ENTRY, claude_server.url)
    entry = MockConfigEntry(
        domain=DOMAIN,
        entry_id=ENTRY_ID,
        title=stored["title"],
        data=stored["data"],
        subentries_data=stored["subentries"],
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(ENTRY_ID)
    await hass.async_block_till_done()
    assert await ask(hass, claude_server) == "Good evening."
    await async_get_journal(hass)
    for key, content in written.items():
        (aside,) = folder.glob(f"{key}.*")
        assert aside.read_text() == content
        (said,) = [record for record in caplog.records if record.levelname == "ERROR" and str(aside) in record.message]
        assert "light.bed_light" not in said.message
    await hass.config_entries.async_remove(ENTRY_ID)


async def test_file_that_cannot_be_set_aside(
    hass: HomeAssistant, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is begun anew all the same, and the log says that too."""
    path = tmp_path / ".storage" / "extended_assist.journal"
    path.parent.mkdir(exist_ok=True)
    path.write_text("[]")
    with patch.object(Path, "rename", side_effect=PermissionError):
        assert (await async_get_journal(hass)).changes == []
    assert path.read_text() == "[]"
    assert f"{path} cannot be read (TypeError), nor renamed (PermissionError)" in caplog.text


FULL = patch("homeassistant.util.file.AtomicWriter", side_effect=OSError(28, "No space left on device"))
"""A disk that takes nothing more."""


def _on_disk(folder: Path, key: str) -> Any:
    """Return the data in a file, or None where there is none."""
    path = folder / ".storage" / key
    return json.loads(path.read_text())["data"] if path.exists() else None


async def test_confirmed(hass: HomeAssistant, tmp_path: Path) -> None:
    """A save that returns is on the disk; one that the disk does not take raises, and leaves the file as it was."""
    store = ConfirmedStore[dict[str, Any]](hass, 1, "confirmed")
    await store.async_save_confirmed(lambda: {"a": (1, None)})
    assert _on_disk(tmp_path, "confirmed") == {"a": [1, None]}
    with FULL, pytest.raises(NotStoredError, match="disk may be full"):
        await store.async_save_confirmed(lambda: {"a": 2})
    with pytest.raises(NotStoredError):
        await store.async_save_confirmed(lambda: {"a": object()})
    assert _on_disk(tmp_path, "confirmed") == {"a": [1, None]}
    await store.async_save_confirmed(lambda: None)
    await store.async_save_confirmed(lambda: None)
    assert _on_disk(tmp_path, "confirmed") is None


async def test_confirmed_in_turn(hass: HomeAssistant, tmp_path: Path) -> None:
    """Saves at the same time take turns; each stores the data as they are at its turn, after what a failed one puts back."""
    store, held, failed = ConfirmedStore[dict[str, Any]](hass, 1, "turns"), dict[str, int](), list[int]()
    save = ConfirmedStore.async_save

    async def full_for_odd(self: ConfirmedStore[Any], data: dict[str, Any]) -> None:
        if not max(data.values()) % 2:
            await save(self, data)

    async def add(number: int) -> None:
        def put() -> dict[str, int]:
            held[f"n{number}"] = number
            return held

        try:
            await store.async_save_confirmed(put)
        except NotStoredError:
            failed.append(held.pop(f"n{number}"))

    with patch.object(ConfirmedStore, "async_save", full_for_odd):
        await asyncio.gather(*map(add, range(10)))
    assert failed == [1, 3, 5, 7, 9]
    assert _on_disk(tmp_path, "turns") == held == {f"n{number}": number for number in range(0, 10, 2)}


async def test_removed_after_a_save(hass: HomeAssistant, tmp_path: Path) -> None:
    """A file that is removed while it is written stays removed, and a delayed save does not bring it back."""
    store = ConfirmedStore[dict[str, Any]](hass, 1, "removed")
    saving = hass.async_create_task(store.async_save_confirmed(lambda: {"a": 1}), eager_start=True)
    store.async_delay_save_confirmed(lambda: {"a": 2}, 10)
    await store.async_remove()
    await saving
    async_fire_time_changed(hass, fire_all=True)
    await hass.async_block_till_done()
    assert _on_disk(tmp_path, "removed") is None


async def test_while_it_stops(hass: HomeAssistant, tmp_path: Path) -> None:
    """While Home Assistant stops, all is saved at its end: what was to be confirmed, and what was delayed."""
    store, other = (ConfirmedStore[dict[str, Any]](hass, 1, key) for key in ("stops", "delayed"))
    other.async_delay_save_confirmed(lambda: {"a": 2}, 1_000)
    hass.set_state(CoreState.stopping)
    await store.async_save_confirmed(lambda: {"a": 1})
    assert _on_disk(tmp_path, "stops") is None
    hass.set_state(CoreState.final_write)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    hass.set_state(CoreState.running)
    assert _on_disk(tmp_path, "stops") == {"a": 1}
    assert _on_disk(tmp_path, "delayed") == {"a": 2}


async def test_counted_on_a_full_disk(
    hass: HomeAssistant, tmp_path: Path, freezer: FrozenDateTimeFactory, caplog: pytest.LogCaptureFixture
) -> None:
    """What agents use stays in memory while the disk is full, which is logged once, and is stored as soon as it can be."""
    meters = await async_get_meters(hass)
    meters.of("agent").add({"input_tokens": 7})
    with FULL:
        for seconds in (11, 61, 121, 241):
            freezer.tick(seconds)
            async_fire_time_changed(hass)
            await hass.async_block_till_done()
            meters.of("agent").add({"input_tokens": 1})
    assert _on_disk(tmp_path, f"{DOMAIN}.usage") is None
    assert caplog.text.count("writing is tried again") == 1
    assert caplog.text.count("Error writing config") == 4
    freezer.tick(481)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    assert _on_disk(tmp_path, f"{DOMAIN}.usage")["agent"]["counts"]["input_tokens"] == 11


async def test_dismissed_on_a_full_disk(hass: HomeAssistant, tmp_path: Path) -> None:
    """A habit is neither dismissed nor offered again where the disk does not take it."""
    habits, one, two = DeclinedHabits(hass), Declined("one", "light.a", "on"), Declined("two", "light.b", "on")
    await habits.async_load()
    await habits.async_decline(one)
    with FULL:
        with pytest.raises(NotStoredError):
            await habits.async_decline(two)
        with pytest.raises(NotStoredError):
            await habits.async_allow("one")
    assert habits.all == [one]
    assert [row["id"] for row in _on_disk(tmp_path, f"{DOMAIN}.habits")["declined"]] == ["one"]


async def test_undone_on_a_full_disk(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> None:
    """What was undone says that this could not be stored; it counts as undone, and is stored as soon as it can be."""
    journal, change = Journal(hass), Change("any", "light.turn_on", {})
    await journal.async_load()
    journal.add(change)
    assert await journal.async_save()

    async def undo(*_: Any) -> Any:
        return {"undone": "all"}, True

    with FULL, patch.dict(undoers.UNDOERS, {"any": undo}):
        answer = await undoers.async_undo(None, journal, change)  # type: ignore[arg-type]  # This one needs no call.
    assert "could not be stored" in str(answer["note"])
    assert change.undone
    again = Journal(hass)
    await again.async_load()
    assert not again.changes[0].undone
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done()
    await again.async_load()
    assert again.changes[0].undone
