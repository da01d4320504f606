"""Folders of pictures that are large, that do not answer, and that change while they are read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
import os
from pathlib import Path
import threading
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.extended_assist.cameras import media_folders
from custom_components.extended_assist.cameras.image_cache import ImageCache
from custom_components.extended_assist.cameras.media_folders import async_pictures, read_picture
from custom_components.extended_assist.cameras.resize import UnreadablePictureError
from custom_components.extended_assist.const import EVENT_LOOKED
from homeassistant.core import HomeAssistant

from .conftest import DOOR, cameras
from .test_folders import Ask, look, media, put, taken

__all__ = ["cameras", "look", "media"]


async def test_of_many_files_the_last_ones(hass: HomeAssistant, media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one folder with more files than are listed, those count that are named last: the newest, as most are named."""
    monkeypatch.setattr(media_folders, "MAX_ENTRIES", 5)
    for minute in range(40):
        put(media / "doorbell" / f"2026-11-20_08-{minute * 7 % 40:02}-00.jpg", b"x")
    found = await async_pictures(hass, ["local/doorbell"])
    assert {Path(one.path).name for one in found} == {f"2026-11-20_08-{minute}-00.jpg" for minute in range(35, 40)}


def test_a_folder_becomes_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No link on the way to a file is followed, also not one that is made at the very moment."""
    secret = put(tmp_path / "secret" / "x.jpg", b"secret")
    good = put(tmp_path / "media" / "a" / "x.jpg", b"good")
    assert read_picture(str(good)) == b"good"
    realpath = os.path.realpath

    def swapping(path: Any, **options: Any) -> Any:
        resolved = realpath(path, **options)
        good.parent.rename(tmp_path / "media" / "b")
        good.parent.symlink_to(secret.parent)
        return resolved

    monkeypatch.setattr(os.path, "realpath", swapping)
    if read := _read(good):  # Nothing asked where it leads.
        assert read == b"good"
        swapping(str(good))
    assert _read(good) is None


def _read(path: Path) -> bytes | None:
    """Return a file, or None where it is not read."""
    try:
        return read_picture(str(path))
    except UnreadablePictureError:
        return None


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let folders not answer, as of a disk on the network that is gone; return which were asked."""
    asked: list[str] = []
    ends = threading.Event()

    def never(_dirs: Any, location: str) -> list[Any]:
        asked.append(location)
        ends.wait(30)
        return []

    monkeypatch.setattr(media_folders, "_pictures", never)
    monkeypatch.setattr(media_folders, "LONGEST", 0.2, raising=False)
    monkeypatch.setattr(media_folders, "FRESH", 0.1)
    yield asked
    ends.set()


@pytest.mark.timeout(25)
async def test_a_folder_that_does_not_answer(look: Ask, media: Path, stuck: list[str]) -> None:
    """It holds neither a look at what there is now nor at what was kept, is asked once, and what is wrong is told."""
    assert not (await look()).error
    assert len(taken(await look(at=datetime.now(UTC).isoformat()))) == 1
    assert len(taken(await look(compare=datetime.now(UTC).isoformat()))) == 2
    told = await look(at=(datetime.now(UTC) - timedelta(hours=12)).isoformat())
    assert told.error
    assert "does not answer" in told.data["error"]
    assert "Front Door" in told.data["error"]
    assert stuck == ["local/doorbell"]


async def test_the_same_picture_at_once(
    hass: HomeAssistant, look: Ask, media: Path, freezer: FrozenDateTimeFactory
) -> None:
    """Two questions about one moment, asked at once, keep the picture of a file once."""
    freezer.move_to("2026-11-20 20:00:00+00:00")
    put(media / "doorbell" / "2026-11-20_08-15-00.jpg")
    events = async_capture_events(hass, EVENT_LOOKED)
    first, second = [hass.async_create_task(look(at="08:20")) for _ in range(2)]
    assert taken(await first) == taken(await second) == ["2026-11-20 08:15:00"]
    await hass.async_block_till_done()
    assert len(events) == 2
    assert [one.entity_id for one in ImageCache.of(hass)] == [DOOR]


async def test_files_do_not_push_out_looks(
    hass: HomeAssistant, look: Ask, media: Path, freezer: FrozenDateTimeFactory
) -> None:
    """Pictures of files, which can be read again, go before those that somebody looked at and that nobody can take anew."""
    for hour in (14, 15, 16, 17, 18, 19):
        freezer.move_to(f"2026-11-20 {hour}:00:00+00:00")
        await look()
    freezer.move_to("2026-11-20 20:00:00+00:00")
    for minute in range(10, 50, 4):
        put(media / "doorbell" / f"2026-11-20_09-{minute}-00.jpg")
    for minute in range(10, 50, 4):
        assert taken(await look(at=f"09:{minute}")) == [f"2026-11-20 09:{minute}:00"]
    looks = [one.moment.hour for one in ImageCache.of(hass) if one.moment.minute == 0]
    assert looks == [14, 15, 16, 17, 18, 19]
