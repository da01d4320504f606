"""Pictures that are shown with answers: in memory only, for minutes, to the one who reads.

An answer is read where a pipeline that says nothing aloud was begun over a connection of the speaker's own, such as by typing in
the Assist dialog. Everywhere else there is no screen, and nothing is made or kept.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
import re
from time import monotonic
from typing import Any, Final

from homeassistant.auth.models import TOKEN_TYPE_NORMAL
from homeassistant.components.http.auth import async_sign_path
from homeassistant.components.websocket_api.connection import current_connection
from homeassistant.core import HomeAssistant, callback
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from .caller import Caller
from .gallery import LIFETIME, PATH, Picture, async_get_gallery

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
