"""Pictures that the home keeps by itself: files in folders of Home Assistant's local media, each folder of one camera."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from itertools import islice
from operator import attrgetter
import os
from pathlib import Path, PurePosixPath
import re
import stat
from typing import Final

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .resize import MAX_FILE, UnreadablePictureError

_SCHEME: Final = "media-source://"
_LOCAL: Final = f"{_SCHEME}media_source/"
_CAMERA: Final = re.compile(r"(camera|image)\.[a-z0-9_]+")
_SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
MAX_ENTRIES: Final = 20_000
"""Files and folders of one listing: a picture every five minutes for two months."""
_MAX_NAMES: Final = 200_000
"""Names of one folder that are gone through: a few tenths of a second on a disk."""
_DEPTH: Final = 5
"""Folders inside each other: by year, month, day and hour."""
LONGEST: Final = 20
"""Seconds that a listing is waited for; beside it, the deadline of a look leaves room for taking a picture."""
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
"""How a folder is opened on the way to a file; some may be passed but not listed."""
FRESH: Final = 30
"""Seconds for which a listing holds: one of a network's disk takes a while, and several questions come at once."""

_BETWEEN: Final = r"[-_.:/hms ]?"
_STAMP: Final = re.compile(
    # A year behind a day and a month begins nothing that comes after it.
    r"(?<!\d)(?<!\d\d-\d\d-)(?<!\d\d\.\d\d\.)"
    rf"(?=(20\d\d)[-_./]?(\d\d)[-_./]?(\d\d)[-_./T @]{{0,3}}(\d\d){_BETWEEN}(\d\d)(?:{_BETWEEN}(\d\d))?"
    r"(?:[.,]?(?:\d{6}|\d{3}))?(?!\d)(Z(?![A-Za-z])|\+\d\d:?\d\d(?!\d)|-\d\d:\d\d(?!\d))?)"
)
"""A time in a name, or in the names of folders and file together: local, or of the zone that is behind it. Each may be one."""
_SECONDS: Final = re.compile(r"(?<!\d)(1\d{9})(?:\d{3})?(?!\d)")
"""Seconds since the epoch, or thousandths of them."""
_AHEAD: Final = timedelta(days=1)
"""How far ahead the clock of a camera may be; numbers that tell a later time are of something else."""


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture in a folder."""

    made: datetime
    path: str


def read_folder(line: str) -> tuple[str, str] | str:
    """Return the camera and its folder that a line names, as the options store them, or the key of an error."""
    entity_id, _, folder = (part.strip() for part in line.partition("="))
    location = folder.removeprefix(_LOCAL).strip("/")
    if not (_CAMERA.fullmatch(entity_id.lower()) and location):
        return "invalid_folder"
    if _SCHEME in location:
        return "foreign_folder"
    return entity_id.lower(), location


def written(entity_id: str, location: str) -> str:
    """Return the line of a folder."""
    return f"{entity_id} = {_LOCAL}{location}"


def folders_of(lines: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the folders of each camera that the options name."""
    found: dict[str, tuple[str, ...]] = {}
    for one in map(read_folder, lines):
        if not isinstance(one, str):
            found[one[0]] = (*found.get(one[0], ()), one[1])
    return found


def wrong_folder(media_dirs: Mapping[str, str], lines: Iterable[str]) -> tuple[str, str] | None:
    """Return the first line that names no folder in which pictures may be looked for, and the error; for an executor."""
    for line in lines:
        one = read_folder(line)
        if isinstance(one, str):
            return line, one
        if _directory(media_dirs, one[1]) is None:
            return one[1], "no_such_folder"
    return None


def _directory(media_dirs: Mapping[str, str], location: str) -> Path | None:
    """Return a folder of the local media without any link in its path, or None for what is none or lies outside."""
    name, _, rest = location.partition("/")
    parts = PurePosixPath(rest).parts
    if name not in media_dirs or any(part.startswith((".", "/")) for part in parts):
        return None
    try:
        base = Path(media_dirs[name]).resolve()
        found = base.joinpath(*parts).resolve()
        return found if found.is_relative_to(base) and found.is_dir() else None
    except OSError, ValueError:
        return None


def _pictures(media_dirs: Mapping[str, str], location: str) -> list[PictureFile]:
    """Return the pictures of a folder; for an executor."""
    root = _directory(media_dirs, location)
    if root is None:
        return []
    found: list[PictureFile] = []
    for entry in _entries(root):
        try:
            if entry.is_file(follow_symlinks=False):
                made = _made(entry.path.removeprefix(f"{root}/"), entry.stat(follow_symlinks=False).st_mtime)
                found.append(PictureFile(made, entry.path))
        except OSError:
            continue  # Deleted meanwhile.
    return found


def _entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """Go through what is named like a picture in a folder and those in it, the last ones by name first; links are not followed."""
    left = MAX_ENTRIES
    waiting = [(str(root), 1)]
    while waiting and left:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = nlargest(left, islice(entries, _MAX_NAMES), key=attrgetter("name"))
            shown = [entry for entry in found if not entry.name.startswith(".")]
            deeper = sorted(entry.path for entry in shown if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue  # Deleted meanwhile, or not to be read.
        left -= len(found)
        waiting += [(path, depth + 1) for path in deeper if depth < _DEPTH]
        yield from (entry for entry in shown if entry.name.lower().endswith(_SUFFIXES))


def _made(name: str, changed: float) -> datetime:
    """Return when a picture was made: by its name, which copies keep, or else by the time of the file."""
    latest, of_file = dt_util.utcnow() + _AHEAD, datetime.fromtimestamp(changed, UTC)
    for text in (name.rpartition("/")[2], name):
        for found in _STAMP.finditer(text):
            if (made := _time_of(found, of_file)) and made <= latest:
                return made
        for found in _SECONDS.finditer(text):
            if (made := datetime.fromtimestamp(int(found[1]), UTC)) <= latest:
                return made
    return of_file


def _time_of(found: re.Match[str], of_file: datetime) -> datetime | None:
    """Return the time that is found in a name, or None for numbers that are none, such as of a series."""
    *numbers, zone = found.groups()
    try:
        year, month, day, hour, minute, seconds = (int(one or 0) for one in numbers)
        made = datetime(year, month, day, hour, minute, seconds)  # noqa: DTZ001 - the zone comes below
        if zone:
            return dt_util.as_utc(datetime.fromisoformat(f"{made.isoformat()}{zone}"))
    except ValueError:
        return None
    # Where clocks are set back, an hour comes twice: the file's own time tells which one it is, unless it is of a copy.
    local = made.replace(tzinfo=dt_util.get_default_time_zone())
    first, second = (dt_util.as_utc(local.replace(fold=fold)) for fold in (0, 1))
    return second if first < second and abs(of_file - second) < (second - first) / 2 else first


def read_picture(path: str) -> bytes:
    """Return a file that was listed; for an executor. Raises UnreadablePictureError for one that is something else meanwhile."""
    try:
        with open(_opened(path), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadablePictureError("gave something that is no file")
            return file.read(MAX_FILE + 1)
    except OSError as err:
        raise UnreadablePictureError("gave a file that cannot be read") from err


def _opened(path: str) -> int:
    """Open a file step by step, so that no link on the way is followed, also none that is made at this very moment."""
    first, *between, name = PurePosixPath(path).parts
    folder = os.open(first, _FOLDER)
    try:
        for part in between:
            deeper = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = deeper
        # Nor is a pipe waited for that nobody writes to.
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)


type _Listings = dict[str, tuple[float, asyncio.Future[list[PictureFile]]]]
"""What was listed lately, or is being listed, and when that began."""


async def async_pictures(hass: HomeAssistant, locations: Iterable[str]) -> list[PictureFile]:
    """Return the pictures of folders; of one that does not answer in time, as on a disk that is gone, there are none."""
    begun = [_async_begin(hass, location) for location in dict.fromkeys(locations)]
    if begun:
        left = max(moment for moment, _ in begun) + LONGEST - hass.loop.time()
        await asyncio.wait([listing for _, listing in begun], timeout=max(0.0, left))
    return [one for _, listing in begun if listing.done() for one in listing.result()]


@callback
def is_unanswered(hass: HomeAssistant, locations: Iterable[str]) -> bool:
    """Return whether one of some folders was asked and does not answer."""
    listings = _async_get_listings(hass)
    return any(location in listings and not listings[location][1].done() for location in locations)


@callback
def _async_begin(hass: HomeAssistant, location: str) -> tuple[float, asyncio.Future[list[PictureFile]]]:
    """Return the listing of a folder; one that does not come to its end is not begun again, which would take thread after thread."""
    listings, now = _async_get_listings(hass), hass.loop.time()
    for old in [key for key, one in listings.items() if now - one[0] >= FRESH and one[1].done()]:
        del listings[old]
    if location not in listings:
        listing = hass.async_add_executor_job(_pictures, dict(hass.config.media_dirs), location)
        listings[location] = now, listing
    return listings[location]


_LISTINGS: HassKey[_Listings] = HassKey(f"{DOMAIN}_picture_files")


@singleton(_LISTINGS)
def _async_get_listings(hass: HomeAssistant) -> _Listings:
    """Return the listings of this Home Assistant."""
    return {}
