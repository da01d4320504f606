"""Pictures that are shown with answers: in memory only, for minutes, to the one who reads.

An answer is read where a pipeline that says nothing aloud was begun over a connection of the speaker's own, such as by typing in
the Assist dialog. Everywhere else there is no screen, and nothing is made or kept.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
import re
from secrets import token_urlsafe
from time import monotonic
from typing import Any, Final

from aiohttp import hdrs, web

from homeassistant.auth.models import TOKEN_TYPE_NORMAL, User
from homeassistant.components.http.auth import async_sign_path
from homeassistant.components.http.const import KEY_HASS_USER
from homeassistant.components.websocket_api.connection import current_connection
from homeassistant.core import HassJob, HomeAssistant, callback
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.http import KEY_HASS, HomeAssistantView
from homeassistant.helpers.singleton import singleton
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..exposure.entities import Exposure
from .caller import Caller

MAX_PICTURE: Final = 4_000_000
"""Bytes of one picture."""
MAX_SHOWN: Final = 4
"""Pictures with one answer: more than that nobody scrolls through."""
CONTENT_TYPES: Final = frozenset({"image/gif", "image/jpeg", "image/png", "image/svg+xml", "image/webp"})

_MAX_ALT: Final = 120
_NOT_WORDS: Final = re.compile(r"[^\w.,:%°…-]+|_+")
"""What means something in Markdown or HTML."""
_APPS: Final = "https://home-assistant.io/"
"""Begins the client ids of the apps for phones and watches, whose own dialogs show Markdown as it is written."""


@dataclass(slots=True)
class Screen:
    """Where the answer of one turn of our own agent is read."""

    hass: HomeAssistant
    user_id: str
    refresh_token_id: str
    assistant: str
    shown: dict[str, str] = field(default_factory=dict)
    """What is to be shown, each with words in its place."""
    told: str = ""
    """What was added to the answer, which is no part of what the model said."""

    @callback
    def async_markdown(self) -> str:
        """Return the Markdown that is added to the answer, once; its addresses are good for minutes, and for this user's own log-in."""
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
    """Take in the pictures of a turn of our own agent, where its answer is read; yield None everywhere else."""
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
    """Return where the answer to a caller is read; None where it is heard, or is not our own agent's."""
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
    """Show a picture with the answer to a caller; return its id, or None where nothing is shown.

    alt are the words in its place; entity_ids are what it shows, all of which must be exposed when it is fetched.
    """
    screen = screen_of(hass, caller)
    if screen is None or len(screen.shown) >= MAX_SHOWN or len(content) > MAX_PICTURE:
        return None
    if content_type not in CONTENT_TYPES:
        raise ValueError(f"{content_type} is no type of pictures")
    alt = " ".join(_NOT_WORDS.sub(" ", alt).split())[:_MAX_ALT]
    # Asked for again, the newer one stands for both.
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
    """Return where an answer is read: over the connection of the one who asks, and not aloud."""
    connection = current_connection.get()
    if (
        connection is None
        or connection.refresh_token_id is None
        or connection.user.id != caller.user_id
        or caller.device_id is not None
        or caller.chat_log is None
        or caller.chat_log.delta_listener is None  # Such as where an automation asks, also one that a user has begun.
    ):
        return None
    token = hass.auth.async_get_refresh_token(connection.refresh_token_id)
    # Programs use tokens that last, and read words.
    if token is None or token.token_type != TOKEN_TYPE_NORMAL or (token.client_id or "").startswith(_APPS):
        return None
    if _is_spoken(hass, caller.chat_log.conversation_id):
        return None
    return Screen(hass, connection.user.id, token.id, caller.assistant)


@callback
def _is_spoken(hass: HomeAssistant, conversation_id: str) -> bool:
    """Return whether answers of a conversation are said aloud, or no pipeline is known to run it."""
    pipelines: Any = hass.data.get("assist_pipeline")
    runs = [run.events for runs in pipelines.pipeline_debug.values() for run in runs.values()] if pipelines else []
    begun = [
        events[0].data or {}
        for events in runs
        if events and events[0].type == "run-start" and all(event.type != "run-end" for event in events)
    ]
    ours = [data for data in begun if data.get("conversation_id") == conversation_id]
    return not ours or any("tts_output" in data for data in ours)


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
