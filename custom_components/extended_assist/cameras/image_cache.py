"""A cache of images that users looked at: in memory only, per user, for a few hours."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Final

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.event import async_call_later
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from ..calls.caller import Caller
from ..calls.plan import identity_of
from ..const import DOMAIN
from ..exposure.entities import Exposure
from .resize import FittedPicture

KEPT_FOR: Final = timedelta(hours=24)
"""How long an image can be compared with a new one."""
MAX_KEPT: Final = 60
MAX_SIZE: Final = 16_000_000
"""The most base64 characters of all images: about sixty."""
MAX_OF_ONE: Final = 6
"""The most images of one camera for one user."""

type Owner = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A cached image."""

    picture_id: str
    entity_id: str
    owner: Owner
    taken: datetime
    kept: datetime
    moment: datetime
    """The time of the snapshot or of the file."""
    picture: FittedPicture = field(repr=False)
    identity: str
    """The camera that took it; another one can get its entity id."""
    is_of_file: bool = False
    """Whether the image comes from a file and can be read again."""


@dataclass(frozen=True, slots=True)
class PictureReference:
    """An image that belongs to a result."""

    picture_id: str
    label: str
    """The text before the image: its camera and time."""
    tokens: int
    """The tokens that a model counts for it."""
    size: int = 0
    """Its size in base64 characters."""


class LookResult(llm.ToolResult):
    """A result with images, which only our requests include. Only our code makes one."""

    pictures: tuple[PictureReference, ...] = ()
    """No field, because Home Assistant writes the fields of results as JSON; the data names them."""

    @classmethod
    def of(cls, data: JsonObjectType, pictures: tuple[PictureReference, ...]) -> LookResult:
        """Return a result with its pictures."""
        result = cls(data=data)
        result.pictures = pictures
        return result


def owner_of(caller: Caller) -> Owner:
    """Return the owner of a caller's images: the user, else the device or the conversation."""
    if caller.user_id:
        return ("user", caller.user_id)
    return ("device", caller.device_id) if caller.device_id else ("conversation", *caller.conversation_key)


class ImageCache:
    """The cached images of this Home Assistant, oldest first."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Start empty."""
        self._hass = hass
        self._pictures: dict[str, KeptPicture] = {}
        self._size = 0
        self._stop: CALLBACK_TYPE | None = None

    @staticmethod
    def of(hass: HomeAssistant) -> ImageCache:
        """Return the cache of this Home Assistant."""
        return hass.data.setdefault(_KEPT, ImageCache(hass))

    def __iter__(self) -> Iterator[KeptPicture]:
        """Iterate over all images."""
        return iter([*self._pictures.values()])

    @property
    def size(self) -> int:
        """Return the number of characters of all images."""
        return self._size

    @callback
    def keep(
        self, caller: Caller, entity_id: str, taken: datetime, picture: FittedPicture, *, moment: datetime | None = None
    ) -> KeptPicture:
        """Cache an image that a caller looked at; `moment` is the time of a file."""
        now, is_of_file = dt_util.utcnow(), moment is not None
        kept = KeptPicture(
            token_urlsafe(12),
            entity_id,
            owner_of(caller),
            taken,
            now,
            moment or now,
            picture,
            identity_of(self._hass, entity_id),
            is_of_file,
        )
        if is_of_file and (there := next((one for one in self._like(kept) if one.moment == moment), None)):
            return there
        self._pictures[kept.picture_id] = kept
        self._size += len(picture.data)
        self._thin_out(kept)
        while len(self._pictures) > MAX_KEPT or self._size > MAX_SIZE:
            again = (one.picture_id for one in self if one.is_of_file and one is not kept)
            self._drop(next(again, next(iter(self._pictures))))
        self._forget_in_time()
        return kept

    @callback
    def get(self, picture_id: str) -> KeptPicture | None:
        """Return the image of a reference, or None if it was dropped."""
        return self._pictures.get(picture_id)

    @callback
    def seen_by(self, caller: Caller, picture_id: str) -> KeptPicture | None:
        """Return a picture that a result refers to, for a caller who goes on with its conversation.

        None if it was dropped, somebody else looked, its camera is not exposed any more, or another one has its entity id.
        """
        one = self.get(picture_id)
        if one is None or one.owner != owner_of(caller) or one.identity != identity_of(self._hass, one.entity_id):
            return None
        return one if Exposure(self._hass, caller.assistant).entity(one.entity_id) else None

    @callback
    def all_of(self, caller: Caller, entity_id: str) -> list[KeptPicture]:
        """Return the pictures of a camera that a caller has seen, by the time at which they were taken."""
        wanted = owner_of(caller), entity_id, identity_of(self._hass, entity_id)
        found = [one for one in self if (one.owner, one.entity_id, one.identity) == wanted]
        return sorted(found, key=lambda one: one.taken)

    @callback
    def clear(self) -> None:
        """Drop all images."""
        self._pictures, self._size = {}, 0
        self._forget_in_time()

    def _drop(self, picture_id: str) -> None:
        """Drop an image."""
        self._size -= len(self._pictures.pop(picture_id).picture.data)

    def _like(self, latest: KeptPicture) -> list[KeptPicture]:
        """Return a user's images of a camera, either from files or from snapshots; each kind has its own room."""
        kind = latest.owner, latest.entity_id, latest.identity, latest.is_of_file
        return [one for one in self if (one.owner, one.entity_id, one.identity, one.is_of_file) == kind]

    def _thin_out(self, latest: KeptPicture) -> None:
        """Keep the first and the last images of a camera, and those between that leave the smallest gaps."""
        same = self._like(latest)
        if len(same) > MAX_OF_ONE:
            _, index = min((same[index + 1].kept - same[index - 1].kept, index) for index in range(1, len(same) - 1))
            self._drop(same[index].picture_id)

    @callback
    def _forget_in_time(self, *_: Any) -> None:
        """Drop expired images and schedule the next time."""
        if self._stop:
            self._stop()
            self._stop = None
        limit = dt_util.utcnow() - KEPT_FOR
        for old in [one.picture_id for one in self if one.kept <= limit]:
            self._drop(old)
        if oldest := next(iter(self), None):
            job = HassJob(self._forget_in_time, "forget pictures", cancel_on_shutdown=True)
            self._stop = async_call_later(self._hass, oldest.kept - limit, job)


_KEPT: HassKey[ImageCache] = HassKey(f"{DOMAIN}_kept_pictures")
