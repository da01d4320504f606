"""Pictures that the home keeps in folders: which are found, of which time, and that nothing outside is reached."""

from dataclasses import replace
from datetime import UTC, datetime
import os
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockUser, async_capture_events

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.cameras import earlier, media_folders
from custom_components.extended_assist.cameras.image_cache import ImageCache, LookResult
from custom_components.extended_assist.cameras.media_folders import (
    async_pictures,
    folders_of,
    read_folder,
    read_picture,
    wrong_folder,
)
from custom_components.extended_assist.cameras.resize import MAX_FILE, UnreadablePictureError
from custom_components.extended_assist.const import EVENT_LOOKED
from custom_components.extended_assist.tools.cameras import LookTool, LookWithEyesTool
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm

from .conftest import CELLAR, DOOR, GARDEN, cameras
from .scenes import CameraServer, drawn

__all__ = ["cameras"]

LINE = f"{DOOR} = media-source://media_source/local/doorbell"


@pytest.fixture
def media(hass: HomeAssistant, tmp_path: Path) -> Path:
    """Return the folder of the local media, with one of a doorbell."""
    root = tmp_path / "media"
    (root / "doorbell").mkdir(parents=True)
    hass.config.media_dirs = {"local": str(root)}
    return root


def put(path: Path, content: bytes | None = None, changed: str | None = None) -> Path:
    """Write a picture, of a time where there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn(size=(320, 180)) if content is None else content)
    if changed:
        moment = datetime.fromisoformat(changed).timestamp()
        os.utime(path, (moment, moment))
    return path


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("2026-11-20_08-15-00.jpg", "2026-11-20 08:15:00"),
        ("door 2026-11-20 at.jpg", None),
        ("door_20261120081530.JPG", "2026-11-20 08:15:30"),
        ("20261120T0815.png", "2026-11-20 08:15:00"),
        ("20261120_081530_123.webp", "2026-11-20 08:15:30"),
        ("2026/11/20/08/15.jpg", "2026-11-20 08:15:00"),
        ("2026-11-20/08h15m30.jpeg", "2026-11-20 08:15:30"),
        ("front_door-1763655300.123-abc.jpg", "2025-11-20 08:15:00"),
        ("1763655300123.jpg", "2025-11-20 08:15:00"),
        ("20269999999999.jpg", None),
        ("last.bmp", None),
    ],
)
async def test_the_time_of_a_picture(
    hass: HomeAssistant, media: Path, freezer: FrozenDateTimeFactory, name: str, local: str | None
) -> None:
    """It is the one in its name, said in local time, or else the time of the file."""
    freezer.move_to("2026-11-20 20:00:00+00:00")
    put(media / "doorbell" / name, b"x", "2026-11-01T00:00:00+00:00")
    (found,) = await async_pictures(hass, ["local/doorbell"])
    expected = datetime(2026, 11, 1, tzinfo=UTC)
    if local:
        expected = datetime.fromisoformat(f"{local}-08:00")  # The test home is in Los Angeles.
    assert found.made == expected


async def test_nothing_outside_is_found(hass: HomeAssistant, media: Path, tmp_path: Path) -> None:
    """Links, hidden files and folders, other kinds and what lies too deep are left out; no path leads out of the media."""
    secret = put(tmp_path / "secret" / "2026-11-20_08-15-00.jpg")
    doorbell = media / "doorbell"
    good = put(doorbell / "a" / "b" / "c" / "d" / "good.jpg")
    put(doorbell / "a" / "b" / "c" / "d" / "e" / "deep.jpg")
    put(doorbell / ".hidden" / "x.jpg")
    put(doorbell / ".x.jpg")
    put(doorbell / "film.mp4")
    (doorbell / "link.jpg").symlink_to(secret)
    (doorbell / "linked").symlink_to(secret.parent)
    (doorbell / "folder.jpg").mkdir()
    os.mkfifo(doorbell / "pipe.jpg")
    assert [one.path for one in await async_pictures(hass, ["local/doorbell"])] == [str(good)]
    (media / "way_out").symlink_to(secret.parent)
    (media / "way_in").symlink_to(doorbell)
    for location in (
        "local/way_out",
        "local/../secret",
        "local//etc",
        "local/doorbell/../../secret",
        "other/doorbell",
        "local/x\0",
    ):
        assert await async_pictures(hass, [location]) == [], location
    assert [one.path for one in await async_pictures(hass, ["local/way_in"])] == [str(good)]


async def test_a_listing_is_bounded_and_kept(hass: HomeAssistant, media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of too many files those of the folders that are named last count; a listing holds for a while."""
    monkeypatch.setattr(media_folders, "MAX_ENTRIES", 8)
    for day in ("18", "19", "20"):
        for hour in ("08", "09"):
            put(media / "doorbell" / f"2026-11-{day}" / f"{hour}-00-00.jpg", b"x")
    found = await async_pictures(hass, ["local/doorbell"])
    names = sorted(one.path.removeprefix(f"{media}/doorbell/") for one in found)
    assert len(names) == 5  # The three folders count as well.
    assert names[1:] == [f"2026-11-{day}/{hour}-00-00.jpg" for day in ("19", "20") for hour in ("08", "09")]
    put(media / "doorbell" / "2026-11-21" / "08-00-00.jpg", b"x")
    assert await async_pictures(hass, ["local/doorbell"]) == found
    monkeypatch.setattr(media_folders, "FRESH", 0)
    assert await async_pictures(hass, ["local/doorbell"]) != found


async def test_what_goes_meanwhile(hass: HomeAssistant, media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is deleted while it is listed is left out, and so is a whole folder."""
    monkeypatch.setattr(media_folders, "FRESH", 0)
    entries, directory = media_folders._entries, media_folders._directory

    def deleting(root: Path) -> Any:
        for entry in entries(root):
            if entry.name == "gone.jpg":
                Path(entry.path).unlink()
            yield entry

    good = put(media / "doorbell" / "good.jpg")
    put(media / "doorbell" / "gone.jpg")
    with monkeypatch.context() as patched:
        patched.setattr(media_folders, "_entries", deleting)
        assert [one.path for one in await async_pictures(hass, ["local/doorbell"])] == [str(good)]
    monkeypatch.setattr(media_folders, "_directory", lambda dirs, location: directory(dirs, location) / "gone")  # type: ignore[operator]
    assert await async_pictures(hass, ["local/doorbell"]) == []


def test_reading(tmp_path: Path) -> None:
    """What became a link, a folder or nothing since it was listed is not read, and of a large file no more than is opened."""
    good = put(tmp_path / "good.jpg", b"x" * (MAX_FILE + 5))
    assert len(read_picture(str(good))) == MAX_FILE + 1
    (tmp_path / "link.jpg").symlink_to(good)
    os.mkfifo(tmp_path / "pipe.jpg")
    for name in ("link.jpg", "pipe.jpg", "gone.jpg"):
        with pytest.raises(UnreadablePictureError):
            read_picture(str(tmp_path / name))


async def test_what_options_say(media: Path) -> None:
    """A line is a camera and a folder of the local media; anything else is an error with a reason."""
    dirs = {"local": str(media)}
    assert read_folder(" Camera.Front_Door = local/doorbell/ ") == (DOOR, "local/doorbell")
    assert folders_of([LINE, f"{DOOR}=local/b", "nonsense"]) == {DOOR: ("local/doorbell", "local/b")}
    assert wrong_folder(dirs, [LINE, f"{DOOR} = local/doorbell"]) is None
    for line, key in (
        ("camera.front_door", "invalid_folder"),
        ("light.lamp = local/doorbell", "invalid_folder"),
        (f"{DOOR} =", "invalid_folder"),
        (f"{DOOR} = media-source://frigate/clips", "foreign_folder"),
    ):
        assert wrong_folder(dirs, [LINE, line]) == (line, key)
    for location in ("local/nowhere", "other/doorbell", "local/../media", "/etc"):
        assert wrong_folder(dirs, [f"{DOOR} = {location}"]) == (location.strip("/"), "no_such_folder")


type Ask = Any


@pytest.fixture
def look(hass: HomeAssistant, cameras: CameraServer, llm_context: llm.LLMContext, hass_admin_user: MockUser) -> Ask:
    """Return a function that looks at a picture of another time."""

    async def ask(user: MockUser | None = hass_admin_user, **arguments: Any) -> Any:
        options = ToolboxOptions(look_folders=(LINE, f"{CELLAR} = local/cellar"))
        context = replace(llm_context, context=Context(user_id=user.id if user else None))
        tool_input = llm.ToolInput(LookTool.name, {"question": "Who was there?", "cameras": [DOOR], **arguments})
        return await LookWithEyesTool(options).async_call(hass, tool_input, context)

    return ask


def taken(result: Any) -> list[str]:
    """Return when the pictures of a result were taken."""
    assert isinstance(result, LookResult), result.data
    return [one["taken"] for one in result.data["pictures"]]  # type: ignore[union-attr, index, call-overload]


async def test_a_picture_of_the_morning(
    hass: HomeAssistant, media: Path, look: Ask, freezer: FrozenDateTimeFactory, hass_admin_user: MockUser
) -> None:
    """The file nearest to the time is shown, in place of now or beside it, and the look is known."""
    freezer.move_to("2026-11-20 20:00:00+00:00")  # Noon in the test home.
    put(media / "doorbell" / "2026-11-20_08-15-00.jpg")
    put(media / "doorbell" / "2026-11-20_09-00-00.jpg")
    events = async_capture_events(hass, EVENT_LOOKED)
    assert taken(await look(at="08:20")) == ["2026-11-20 08:15:00"]
    await hass.async_block_till_done()
    assert [event.data for event in events] == [{"entity_id": DOOR, "by": hass_admin_user.name}]
    assert taken(await look(compare="09:10")) == ["2026-11-20 09:00:00", "2026-11-20 12:00:00"]
    # What was shown is kept by the time that it is of, so another moment still finds another picture.
    assert taken(await look(at="11:59")) == ["2026-11-20 12:00:00"]
    assert taken(await look(at="08:20")) == ["2026-11-20 08:15:00"]
    assert len([one for one in ImageCache.of(hass) if one.moment == datetime(2026, 11, 20, 16, 15, tzinfo=UTC)]) == 1
    told = await look(at="2026-11-20 03:00")
    assert told.error
    assert "Nearest in folders are: Front Door 2026-11-20 08:15:00." in told.data["error"]


async def test_what_is_nearer_is_shown(media: Path, look: Ask, freezer: FrozenDateTimeFactory) -> None:
    """A picture of an earlier look comes before a file that is farther away, and the file where that is nearer."""
    freezer.move_to("2026-11-20 16:00:00+00:00")
    assert taken(await look()) == ["2026-11-20 08:00:00"]
    freezer.move_to("2026-11-20 20:00:00+00:00")
    put(media / "doorbell" / "2026-11-20_09-00-00.jpg")
    assert taken(await look(at="08:10")) == ["2026-11-20 08:00:00"]
    assert taken(await look(at="08:50")) == ["2026-11-20 09:00:00"]


async def test_a_broken_file_is_passed_over(
    hass: HomeAssistant, media: Path, look: Ask, freezer: FrozenDateTimeFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one is shown; of many that are broken only the nearest are opened."""
    freezer.move_to("2026-11-20 20:00:00+00:00")
    put(media / "doorbell" / "2026-11-20_10-30-00.jpg", b"half a picture")
    put(media / "doorbell" / "2026-11-20_10-40-00.jpg")
    assert taken(await look(at="10:30")) == ["2026-11-20 10:40:00"]
    monkeypatch.setattr(earlier, "_TRIES", 1)
    monkeypatch.setattr(media_folders, "FRESH", 0)
    ImageCache.of(hass).clear()
    assert (await look(at="10:30")).error


async def test_who_may_not_look_sees_no_file(
    hass: HomeAssistant, media: Path, look: Ask, freezer: FrozenDateTimeFactory
) -> None:
    """Files follow the exposure of their camera, and who may look at it now."""
    freezer.move_to("2026-11-20 20:00:00+00:00")
    put(media / "cellar" / "2026-11-20_08-15-00.jpg")
    put(media / "doorbell" / "2026-11-20_08-15-00.jpg")
    told = await look(cameras=[CELLAR], at="08:15")
    assert told.error
    assert "Cellar" not in told.data["error"]
    assert "08:15" not in told.data["error"]
    assert "Nobody is logged in" in (await look(user=None, at="08:15")).data["error"]
    assert (await look(cameras=[GARDEN], at="08:15")).error  # Of this one there is no folder.
