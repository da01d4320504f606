"""Tests that a power failure loses nothing: what is on the disk is followed call by call, and each sync is needed."""

import json
from pathlib import Path
from typing import Any

import pytest

from homeassistant.core import HomeAssistant
from tests.conftest import CallTool, expose
from tests.helpers.automating import ADD, REMOVE, UPDATE, StartHome, start_home, switching

from .disk import LOST, ForgetfulDisk, View

__all__ = ["start_home"]

CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "add": (ADD, {"automation": switching()}),
    "update": (UPDATE, {"automation": "one", "changes": {"alias": "Other"}}),
    "remove": (REMOVE, {"automation": "one"}),
}


class Promise:
    """What is promised of a home whose power fails."""

    def __init__(self, path: Path) -> None:
        """Take the file of automations as it is before a change."""
        self._path = path
        self._storage = path.parent / ".storage"
        self._copies = self._storage / "extended_assist.automations"
        self._unfinished = self._storage / "extended_assist.automations.unfinished"
        self._journal = self._storage / "extended_assist.journal"
        self._before = path.read_bytes()
        self.is_told = False
        """Whether the answer says that it is done."""

    def watched(self) -> list[Path]:
        """Return the files that matter."""
        return [self._path, self._unfinished, self._journal, *self._copies.glob("*.yaml.gz")]

    def check(self, view: View) -> str | None:
        """Return what is wrong: the file must be whole, and a changed one known, with a copy of what was before."""
        content, begun, journal = view[self._path], view[self._unfinished], view[self._journal]
        if content in {None, LOST}:
            return "the file"
        if LOST in {begun, journal}:
            return "what was stored"
        if content == self._before:
            return "what the answer says" if self.is_told else None
        if begun is not None:
            (*_, change) = (intent["change"] for intent in json.loads(begun)["intents"])
        elif journal is not None:
            (*_, change) = json.loads(journal)["data"]["changes"]
        else:
            return "what says what was done"
        copy = view.get(self._copies / f"{change['details']['copy']}.yaml.gz")
        return "the copy" if copy in {None, LOST} else None


async def follow(
    hass: HomeAssistant,
    path: Path,
    call_tool: CallTool,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    drop: int | None = None,
) -> ForgetfulDisk:
    """Make a change and forget that it is done, on a disk that forgets what was not synced."""
    promise = Promise(path)
    disk = ForgetfulDisk(path.parent, promise.watched, promise.check, drop)
    tool, arguments = CHANGES[what]
    with disk.followed(monkeypatch):
        await call_tool(tool, **arguments)
        promise.is_told = True
        disk.look()
        hass.bus.async_fire("homeassistant_close")
        await hass.async_block_till_done()
    return disk


@pytest.fixture
def hass_storage() -> dict[str, Any]:
    """Return nothing: what is stored goes into files."""
    return {}


@pytest.fixture
async def home(hass: HomeAssistant, start_home: StartHome) -> Path:
    """Start a home with one automation, and folders that nothing was stored in yet."""
    path = await start_home("- id: '1'\n  alias: One\n  triggers: []\n  actions: []\n")
    (path.parent / ".storage").mkdir(exist_ok=True)
    expose(hass, "automation.one")
    return path


@pytest.mark.parametrize("what", ["add", "update", "remove"])
async def test_power_failure(
    hass: HomeAssistant, home: Path, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Whenever the power fails, the file is the old or the new one, and the new one is known and can be undone."""
    disk = await follow(hass, home, call_tool, monkeypatch, what)
    assert disk.wrong == set()
    assert disk.moments > 30


NEEDED = {
    "the folder of copies": None,
    "the copy": "the copy",
    "its name": "the copy",
    "the intent": "what was stored",
    "its name, and that of the folder of copies": "what says what was done",
    "the file": "the file",
    "its renaming": "what the answer says",
    "the journal": "what was stored",
    "its renaming before the intent is gone": None,
    "the intent that is done": "what was stored",
    "that it is done": None,
    "that it is gone": None,
}
"""Every sync in its order, and what is lost without it; nothing where a later one, or doing it again, makes up for it."""


@pytest.mark.parametrize("sync", NEEDED)
async def test_each_sync_is_needed(
    hass: HomeAssistant, home: Path, call_tool: CallTool, monkeypatch: pytest.MonkeyPatch, sync: str
) -> None:
    """Without any one of the syncs, a power failure could lose something, and it is seen here."""
    disk = await follow(hass, home, call_tool, monkeypatch, "add", [*NEEDED].index(sync))
    assert len(disk.synced) == len(NEEDED)
    assert disk.wrong == {lost for lost in [NEEDED[sync]] if lost}
