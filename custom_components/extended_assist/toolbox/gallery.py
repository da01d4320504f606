"""Pictures that can be fetched for a while: in memory only, each by one user."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from secrets import token_urlsafe
from time import monotonic
from typing import Final

from aiohttp import hdrs, web

from homeassistant.auth.models import User
from homeassistant.components.http.const import KEY_HASS_USER
from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.http import KEY_HASS, HomeAssistantView
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure.entities import Exposure

LIFETIME: Final = timedelta(minutes=10)
"""How long a picture can be fetched; in an older dialog its description stands in its place."""
MAX_PICTURES: Final = 50
MAX_BYTES: Final = 20_000_000
"""What all pictures together may take; the oldest go first."""
PATH: Final = f"/api/{DOMAIN}/shown/"
"""Begins the address of a picture, which ends with its id."""

_HEADERS: Final[Mapping[str, str]] = {
    hdrs.CACHE_CONTROL: "private, no-store",
    # Opened by itself, an SVG could otherwise run scripts and fetch what it likes, in the name of who looks at it.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    hdrs.X_CONTENT_TYPE_OPTIONS: "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that can be fetched."""

    content: bytes
    content_type: str
    user_id: str
    assistant: str
    entity_ids: frozenset[str]
    """What it shows; it is gone when one of them is not exposed any more."""
    until: float
    """When it goes, by the monotonic clock."""


class Gallery:
    """The pictures that can be fetched, by ids that nobody can guess."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin with none."""
        self._hass = hass
        self._pictures: dict[str, Picture] = {}
        self._job = HassJob(self._async_expire, f"{DOMAIN} pictures expire", cancel_on_shutdown=True)
        self._is_waiting = False

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._pictures)

    @callback
    def async_add(self, picture: Picture) -> str:
        """Keep a picture for its time, the oldest others as far as there is room; return its id."""
        reference = token_urlsafe(16)
        self._pictures[reference] = picture
        size = sum(len(one.content) for one in self._pictures.values())
        while len(self._pictures) > MAX_PICTURES or size > MAX_BYTES:
            size -= len(self._pictures.pop(next(iter(self._pictures))).content)
        if not self._is_waiting:
            self._async_expire()
        return reference

    @callback
    def _async_expire(self, _: datetime | None = None) -> None:
        """Forget what nobody can fetch any more, and wait for the next that goes."""
        now = monotonic()
        self._pictures = {reference: one for reference, one in self._pictures.items() if one.until > now}
        self._is_waiting = bool(self._pictures)
        if self._is_waiting:
            async_call_later(self._hass, min(one.until for one in self._pictures.values()) - now + 1, self._job)

    @callback
    def async_get(self, reference: str, user_id: str, reader: User | None = None) -> Picture | None:
        """Return a picture for the one who may see it, as long as all on it is exposed, and theirs to read; None otherwise."""
        picture = self._pictures.get(reference)
        if picture is None or picture.user_id != user_id or picture.until <= monotonic():
            return None
        exposure = Exposure(self._hass, picture.assistant, reader=reader)
        return picture if all(map(exposure.entity, picture.entity_ids)) else None


class PictureView(HomeAssistantView):
    """Serves a picture to the user to whom it was shown."""

    url = PATH + "{reference}"
    name = f"api:{DOMAIN}:shown"

    async def get(self, request: web.Request, reference: str) -> web.Response:
        """Return a picture; what is gone and what is somebody else's look the same."""
        gallery = async_get_gallery(request.app[KEY_HASS])
        user: User = request[KEY_HASS_USER]
        picture = gallery.async_get(reference, user.id, user)
        if picture is None:
            return web.Response(status=HTTPStatus.NOT_FOUND)
        return web.Response(body=picture.content, content_type=picture.content_type, headers=_HEADERS)


_GALLERY: HassKey[Gallery] = HassKey(f"{DOMAIN}_gallery")


@singleton(_GALLERY)
@callback
def async_get_gallery(hass: HomeAssistant) -> Gallery:
    """Return the pictures that can be fetched."""
    return Gallery(hass)


@callback
def async_register_view(hass: HomeAssistant) -> None:
    """Serve pictures."""
    hass.http.register_view(PictureView())
