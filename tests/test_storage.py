"""Tests of stored files that cannot be read: real files, in a folder of their own."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.toolbox.journal import async_get_journal
from homeassistant.core import HomeAssistant
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
