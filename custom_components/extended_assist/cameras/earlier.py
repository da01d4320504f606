"""Earlier images: the one nearest to a time, from the cache and from the home's folders."""

from datetime import datetime, timedelta
from itertools import chain
from typing import Final

from homeassistant.util import dt as dt_util

from ..calls.call import ToolCall
from ..exposure.entities import ExposedEntity
from ..recorder.periods import parse_time
from ..results import format_time
from .image_cache import ImageCache, KeptPicture
from .media_folders import PictureFile, async_pictures, folders_of, is_unanswered, read_picture
from .resize import UnreadablePictureError, most_tokens
from .snapshot import async_fit, async_note_looks

PART_OF_DAY: Final = timedelta(hours=3)
"""The most time between the requested time and an earlier image; for others, only their times are given."""
_TRIES: Final = 3
"""The most files that are opened, nearest first, if one is broken or incomplete."""

type SeenPicture = tuple[ExposedEntity, KeptPicture]


async def async_earlier(call: ToolCall, kept: ImageCache, entities: list[ExposedEntity]) -> list[SeenPicture]:
    """Return the image of each camera that is nearest to the requested time; note the access to a file."""
    if (moment := _moment(call)) is None:
        return []
    most = most_tokens(len(entities))
    folders = folders_of(call.options.look_folders)
    # All at once, so that those of several cameras that do not answer are waited for once.
    await async_pictures(call.hass, chain.from_iterable(folders.get(entity.entity_id, ()) for entity in entities))
    found: list[SeenPicture] = []
    opened: list[ExposedEntity] = []
    for entity in entities:
        near = [one for one in kept.all_of(call.caller, entity.entity_id) if abs(one.moment - moment) <= PART_OF_DAY]
        best = min(near, key=lambda one: abs(one.moment - moment), default=None)
        bound = abs(best.moment - moment) if best else PART_OF_DAY + timedelta.resolution
        if one := await _async_of_folder(call, kept, entity, moment, bound=bound, most=most):
            opened.append(entity)
            best = one
        if best:
            found.append((entity, best))
    await async_note_looks(call, opened)
    return found


async def async_earlier_times(call: ToolCall, kept: ImageCache, entities: list[ExposedEntity]) -> str:
    """Return the times of the images that a caller may see."""
    times = [
        f"{entity.name} {', '.join(format_time(one.moment) for one in found)}"
        for entity in entities
        if (found := kept.all_of(call.caller, entity.entity_id))
    ]
    told = f"Kept are: {'; '.join(times)}." if times else "Nothing was looked at for this user in the last day."
    moment = _moment(call)
    filed = [
        f"{entity.name} {format_time(min(files, key=lambda one: abs(one.made - moment)).made)}"
        for entity in entities
        if moment and (files := await _async_files(call, entity))
    ]
    folders = folders_of(call.options.look_folders)
    silent = [entity.name for entity in entities if is_unanswered(call.hass, folders.get(entity.entity_id, ()))]
    told += f" Nearest in folders are: {'; '.join(filed)}." if filed else ""
    return f"{told} A folder does not answer, of: {', '.join(silent)}. It can be tried again." if silent else told


def _moment(call: ToolCall) -> datetime | None:
    """Return the requested time."""
    name = "at" if "at" in call.arguments else "compare"
    return dt_util.as_utc(parse_time(call.arguments[name], name)) if name in call.arguments else None


async def _async_files(call: ToolCall, entity: ExposedEntity) -> list[PictureFile]:
    """Return the files of a camera."""
    locations = folders_of(call.options.look_folders).get(entity.entity_id, ())
    return await async_pictures(call.hass, locations) if locations else []


async def _async_of_folder(
    call: ToolCall, kept: ImageCache, entity: ExposedEntity, moment: datetime, *, bound: timedelta, most: int
) -> KeptPicture | None:
    """Return an image of a camera's folders that is nearer to a time than a limit, or None."""
    files = [one for one in await _async_files(call, entity) if abs(one.made - moment) < bound]
    for file in sorted(files, key=lambda one: abs(one.made - moment))[:_TRIES]:
        try:
            content = await call.hass.async_add_executor_job(read_picture, file.path)
            picture = await async_fit(call.hass, content, most)
        except UnreadablePictureError:
            continue
        made = dt_util.as_local(file.made)
        return kept.keep(call.caller, entity.entity_id, made, picture, moment=file.made)
    return None
