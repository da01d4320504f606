"""Tests of a damaged file: real files, in a folder of their own."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.memory.store import KEY, Memory
from custom_components.extended_assist.storage import NotStoredError
from homeassistant.core import HomeAssistant


@pytest.fixture
def hass_config_dir(tmp_path: Path) -> str:
    """Return a folder that may be written to."""
    return str(tmp_path)


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Return nothing: what is stored goes into files."""
    return {}


async def _again(hass: HomeAssistant) -> Memory:
    """Return the memory as it is read at the next start."""
    memory = Memory(hass)
    await memory.async_load()
    return memory


async def test_damaged(hass: HomeAssistant, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A damaged file is set aside, told of, and never written over; with the last entry it goes, too."""
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    (folder / KEY).write_text('{"version": 1, "minor_version": 1, "key": "x", "data": {"facts": [{"words": 1}]}}')
    memory = await _again(hass)
    assert memory.held == []
    assert "is kept as" in caplog.text
    await memory.async_add([Fact("New")])
    (aside,) = folder.glob(f"{KEY}.unreadable.*")
    assert '"words": 1' in aside.read_text()
    assert "New" not in caplog.text
    await memory.async_clear()
    assert [*folder.glob(f"{KEY}*")] == []


async def test_damaged_and_in_the_way(hass: HomeAssistant, tmp_path: Path) -> None:
    """What can neither be read nor set aside is left as it is: nothing is remembered then."""
    folder = tmp_path / ".storage"
    folder.mkdir(exist_ok=True)
    text = '{"version": 1, "minor_version": 1, "key": "x", "data": {"facts": 7}}'
    (folder / KEY).write_text(text)
    with patch("pathlib.Path.rename", side_effect=OSError("no")):
        memory = await _again(hass)
    with pytest.raises(NotStoredError):
        await memory.async_add([Fact("New")])
    assert (folder / KEY).read_text() == text
    assert memory.held == []


async def test_not_deleted(hass: HomeAssistant, tmp_path: Path) -> None:
    """Where the disk does not let go of the last fact, it is told, and the fact is still there."""
    memory = await _again(hass)
    await memory.async_add([Fact("Kept")])
    path = tmp_path / ".storage" / KEY
    path.unlink()
    path.mkdir()
    with pytest.raises(NotStoredError, match="disk may be full"):
        await memory.async_delete(lambda _: True)
    assert [fact.words for fact in memory.held] == ["Kept"]
    path.rmdir()
    assert await memory.async_delete(lambda _: True) == 1
    assert (memory.held, (await _again(hass)).held) == ([], [])
