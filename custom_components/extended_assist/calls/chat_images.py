"""Show pictures with answers, to the user who reads the answer; pictures are kept in memory for minutes.

An answer is read if a pipeline without speech output was started over the user's own connection, such as by typing in
the Assist dialog. Otherwise there is no screen, and no picture is made or stored.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
import re
from secrets import token_urlsafe
from time import monotonic
from typing import Final

from aiohttp import hdrs, web

from homeassistant.auth.models import TOKEN_TYPE_NORMAL, User
from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.http import HomeAssistantView
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..ha_compat.conversation import is_spoken
from ..ha_compat.http import KEY_HASS, KEY_HASS_USER, async_sign_path, current_connection
from .caller import Caller
from .plan import identity_of

MAX_PICTURE: Final = 4_000_000
"""Maximum bytes of one picture."""
MAX_SHOWN: Final = 4
"""Maximum pictures with one answer: nobody scrolls through more."""
CONTENT_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/svg+xml", "image/webp"})

_MAX_ALT: Final = 120
_NOT_WORDS: Final = re.compile(r"[^\w.,:%°…-]+|_+")
"""Characters that could have a meaning in Markdown or HTML."""
_APPS: Final = "https://home-assistant.io/"
"""The prefix of the client ids of apps for phones and watches, whose own dialogs show Markdown source."""


@dataclass(slots=True)
class Screen:
    """The screen on which the user reads the answer of one turn of our own agent."""

    hass: HomeAssistant
    user_id: str
    refresh_token_id: str
    assistant: str
    shown: dict[str, str] = field(default_factory=dict)
    """The alternative text of each picture to show, by picture id."""
    told: str = ""
    """The Markdown added to the answer, which the model did not write."""

    @callback
    def async_markdown(self) -> str:
        """Return the Markdown to add to the answer, once; its URLs work for LIFETIME and this user's log-in only."""
        if self.shown and not self.told:
            self.told = "".join(
                f"\n\n![{alt}]({async_sign_path(self.hass, path, LIFETIME, refresh_token_id=self.refresh_token_id)})"
                for reference, alt in self.shown.items()
                if (path := PATH + reference)
            )
            return self.told
        return ""


_SCREENS: HassKey[dict[str, Screen]] = HassKey(f"{DOMAIN}_screens")


@contextmanager
def showing(hass: HomeAssistant, caller: Caller) -> Iterator[Screen | None]:
    """Collect the pictures of a turn of our own agent if the user reads its answer; otherwise yield None."""
    if (screen := _screen(hass, caller)) is None:
        yield None
        return
    screens = hass.data.setdefault(_SCREENS, {})
    key = str(caller.conversation_id)
    outer = screens.get(key)
    screens[key] = screen
    try:
        yield screen
    finally:
        del screens[key]
        if outer is not None:
            screens[key] = outer


@callback
def screen_of(hass: HomeAssistant, caller: Caller) -> Screen | None:
    """Return the screen of a caller; None if the answer is spoken or comes from another agent."""
    if caller.chat_log is None or caller.conversation_id is None:
        return None
    screen = hass.data.get(_SCREENS, {}).get(caller.conversation_id)
    return screen if screen and screen.user_id == caller.user_id else None


@callback
def async_show(
    hass: HomeAssistant,
    caller: Caller,
    content: bytes,
    content_type: str,
    alt: str,
    *,
    entity_ids: Collection[str] = (),
) -> str | None:
    """Show a picture with the answer to a caller; return its id, or None if it cannot be shown.

    `alt` is its alternative text. All `entity_ids` that it shows must be exposed when it is fetched. Raises ValueError
    for an unknown content type.
    """
    screen = screen_of(hass, caller)
    if screen is None or len(screen.shown) >= MAX_SHOWN or len(content) > MAX_PICTURE:
        return None
    if content_type not in CONTENT_TYPES:
        raise ValueError(f"{content_type} is no type of pictures")
    alt = " ".join(_NOT_WORDS.sub(" ", alt).split())[:_MAX_ALT]
    # A picture with the same text replaces the older one.
    screen.shown = {reference: other for reference, other in screen.shown.items() if other != alt}
    reference = async_get_gallery(hass).async_add(
        Picture(
            content=content,
            content_type=content_type,
            user_id=screen.user_id,
            assistant=screen.assistant,
            entity_ids=frozenset(entity_ids),
            until=monotonic() + LIFETIME.total_seconds(),
        )
    )
    screen.shown[reference] = alt
    return reference


@callback
def _screen(hass: HomeAssistant, caller: Caller) -> Screen | None:
    """Return the screen of the caller's own connection; None if the answer is spoken or no person reads it."""
    connection = current_connection.get()
    if (
        connection is None
        or connection.refresh_token_id is None
        or connection.user.id != caller.user_id
        or caller.device_id is not None
        or caller.chat_log is None
        or caller.chat_log.delta_listener is None  # For example, an automation asks, even one that a user started.
    ):
        return None
    token = hass.auth.async_get_refresh_token(connection.refresh_token_id)
    # Programs use long-lived tokens and read only the text.
    if token is None or token.token_type != TOKEN_TYPE_NORMAL or (token.client_id or "").startswith(_APPS):
        return None
    if is_spoken(hass, caller.chat_log.conversation_id):
        return None
    return Screen(hass, connection.user.id, token.id, caller.assistant)


LIFETIME: Final = timedelta(minutes=10)
"""The time for which a picture can be fetched; after that the dialog shows its alternative text."""
MAX_PICTURES: Final = 50
MAX_BYTES: Final = 20_000_000
"""Maximum bytes of all pictures together; the oldest are removed first."""
PATH: Final = f"/api/{DOMAIN}/shown/"
"""The URL path of pictures, before the picture id."""

_HEADERS: Final[Mapping[str, str]] = {
    hdrs.CACHE_CONTROL: "private, no-store",
    # An SVG opened as a page could otherwise run scripts and load other URLs in the name of the user.
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
    """The entities that it shows; it cannot be fetched if one of them is not exposed any more."""
    until: float
    """When it expires, in seconds of the monotonic clock."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """The identity of each entity when it was stored; another one can get its entity id."""


class Gallery:
    """The stored pictures, by random ids."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Create an empty gallery."""
        self._hass = hass
        self._pictures: dict[str, Picture] = {}
        self._job = HassJob(self._async_expire, f"{DOMAIN} pictures expire", cancel_on_shutdown=True)
        self._is_waiting = False

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self._pictures)

    @callback
    def async_add(self, picture: Picture) -> str:
        """Store a picture until it expires, remove the oldest ones above the limits, and return its id."""
        reference = token_urlsafe(16)
        self._pictures[reference] = replace(picture, identities=self._identities(picture))
        size = sum(len(one.content) for one in self._pictures.values())
        while len(self._pictures) > MAX_PICTURES or size > MAX_BYTES:
            size -= len(self._pictures.pop(next(iter(self._pictures))).content)
        if not self._is_waiting:
            self._async_expire()
        return reference

    @callback
    def _async_expire(self, _: datetime | None = None) -> None:
        """Remove expired pictures and schedule the next removal."""
        now = monotonic()
        self._pictures = {reference: one for reference, one in self._pictures.items() if one.until > now}
        self._is_waiting = bool(self._pictures)
        if self._is_waiting:
            async_call_later(self._hass, min(one.until for one in self._pictures.values()) - now + 1, self._job)

    @callback
    def async_get(self, reference: str, user_id: str, reader: User | None = None) -> Picture | None:
        """Return a picture if it was shown to this user and has not expired; None otherwise.

        All of its entities must be exposed and readable for `reader`.
        """
        picture = self._pictures.get(reference)
        if picture is None or picture.user_id != user_id or picture.until <= monotonic():
            return None
        exposure = Exposure(self._hass, picture.assistant, reader=reader)
        is_visible = all(map(exposure.entity, picture.entity_ids)) and self._identities(picture) == picture.identities
        return picture if is_visible else None

    @callback
    def clear(self) -> None:
        """Remove all pictures."""
        self._pictures = {}

    def _identities(self, picture: Picture) -> dict[str, str]:
        """Return the identity of each entity that a picture shows."""
        return {entity_id: identity_of(self._hass, entity_id) for entity_id in picture.entity_ids}


class PictureView(HomeAssistantView):
    """Serves a picture to the user to whom it was shown."""

    url = PATH + "{reference}"
    name = f"api:{DOMAIN}:shown"

    async def get(self, request: web.Request, reference: str) -> web.Response:
        """Return a picture, or 404 both for a missing picture and for one of another user."""
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
    """Return the gallery of this Home Assistant."""
    return Gallery(hass)


@callback
def async_register_view(hass: HomeAssistant) -> None:
    """Register the view that serves pictures."""
    hass.http.register_view(PictureView())
