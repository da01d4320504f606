"""Take snapshots of cameras, for those who may see them."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any, Final

from homeassistant.const import ATTR_ENTITY_ID, STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..calls.call import ToolCall
from ..calls.caller import outside_conversation
from ..calls.policy import NotAllowedError, Speaker
from ..const import ATTR_BY, DOMAIN, EVENT_LOOKED, LOGGER
from ..exposure.entities import ExposedEntity
from .resize import FittedPicture, UnreadablePictureError, fit, most_tokens

SOURCES: Final = ("camera", "image")
"""Domains that have pictures."""
MAX_PICTURES: Final = 12
"""Cameras of one look."""
TIMEOUT: Final = 8
"""Seconds that a camera has: longer than one that works takes, and whoever asks waits for it."""
STREAM_TIMEOUT: Final = 15
"""Seconds that one has which gives nothing but a stream: it connects first, and some send a whole picture every ten seconds only."""
_AT_ONCE: Final = 2
"""Pictures that are made small at a time: each may take a hundred megabytes for a moment."""


@dataclass(frozen=True, slots=True)
class TakenPicture:
    """A picture of a camera, or the last one of an image."""

    entity: ExposedEntity
    taken: datetime
    picture: FittedPicture


@dataclass(frozen=True, slots=True)
class NoPicture:
    """A camera that gave none."""

    entity: ExposedEntity
    why: str
    """A sentence."""


async def async_take(hass: HomeAssistant, entities: list[ExposedEntity]) -> list[TakenPicture | NoPicture]:
    """Take a picture of each, all at once; one that fails does not cost the others."""
    most = most_tokens(len(entities))
    return await asyncio.gather(*(_async_take_one(hass, entity, most) for entity in entities))


async def async_fit(hass: HomeAssistant, content: bytes, most: int) -> FittedPicture:
    """Make a picture small; raises UnreadablePictureError."""
    async with _async_get_room(hass):
        return await hass.async_add_executor_job(fit, content, most)


async def _async_take_one(hass: HomeAssistant, entity: ExposedEntity, most: int) -> TakenPicture | NoPicture:
    """Take a picture, by Home Assistant's own means."""
    if entity.state.state == STATE_UNAVAILABLE:
        return NoPicture(entity, f"{entity.name} is not available.")
    try:
        content = await _async_content(hass, entity)
        # Some change their picture in the middle of it.
        taken = dt_util.utcnow() if entity.domain == SOURCES[0] else _updated(hass, entity)
        picture = await async_fit(hass, content, most)
    except UnreadablePictureError as err:
        return NoPicture(entity, f"{entity.name} {err}.")
    except Exception as err:  # noqa: BLE001 - whatever an integration raises, the others are looked at
        # The error itself may hold an address with a password.
        LOGGER.debug("There is no picture of %s: %s", entity.entity_id, type(err).__name__)
        is_off = isinstance(err, HomeAssistantError) and str(err) == "Camera is off"
        return NoPicture(entity, f"{entity.name} {'is turned off' if is_off else 'gave no picture'}.")
    return TakenPicture(entity, taken, picture)


async def _async_content(hass: HomeAssistant, entity: ExposedEntity) -> bytes:
    """Return the file of a picture."""
    # Loaded wherever there is such an entity; the other kind may not be, and loading it would hold the event loop.
    source = import_module(f"homeassistant.components.{entity.domain}")
    if entity.domain == SOURCES[0]:
        camera = source.get_camera_from_entity_id(hass, entity.entity_id)
        if camera.use_stream_for_stills:
            # Asked for a picture, Home Assistant gives the last one of the stream: none of one that has just begun, and of one that
            # begins anew, what was seen when somebody last looked.
            async with asyncio.timeout(STREAM_TIMEOUT):
                before: bytes | None = await camera.stream.async_get_image() if _has_own_stream(camera) else None
                content: bytes | None = await source.async_get_stream_image(camera, wait_for_next_keyframe=True)
            # The very same where the next one could not be decoded.
            return content if content and content is not before else b""
    async with asyncio.timeout(TIMEOUT + 1):
        found = await source.async_get_image(hass, entity.entity_id, timeout=TIMEOUT)
    whole: bytes = found.content
    return whole


def _has_own_stream(camera: Any) -> bool:
    """Return whether pictures come from a stream of Home Assistant's that there is already."""
    return camera.stream is not None and camera.webrtc_provider is None


def _updated(hass: HomeAssistant, entity: ExposedEntity) -> datetime:
    """Return when an image was made, which is its state."""
    state = hass.states.get(entity.entity_id)
    return (dt_util.parse_datetime(state.state) if state else None) or dt_util.utcnow()


_ROOM: HassKey[asyncio.Semaphore] = HassKey(f"{DOMAIN}_room_for_pictures")


@singleton(_ROOM)
def _async_get_room(hass: HomeAssistant) -> asyncio.Semaphore:
    """Return the semaphore that is held while a picture is made small."""
    return asyncio.Semaphore(_AT_ONCE)


_NOT_KNOWN = (
    "Nobody is logged in here, so cameras cannot be looked at from here{but}. Tell the user to ask from the app or a browser, "
    "where they are logged in."
)
_NOT_ADMIN = "Only an administrator of Home Assistant may look at cameras{but}. Tell the user to ask one."
_BUT = ", but for {names}"


async def async_may_see(call: ToolCall, entities: Iterable[ExposedEntity]) -> list[ExposedEntity]:
    """Return which of the entities the speaker may look at; raises NotAllowedError where that is none.

    What is left out is exposed and may be named; it may not be seen from here.
    """
    entities = list(entities)
    user = await call.caller.async_user(call.hass)
    known = user is not None and user.is_active
    if known and (call.options.who_may_look <= Speaker.USER or (user is not None and user.is_admin)):
        return entities
    if allowed := [entity for entity in entities if entity.entity_id in call.options.open_cameras]:
        return allowed
    others = sorted(filter(None, map(call.exposure.entity, call.options.open_cameras)), key=lambda one: one.name)
    but = _BUT.format(names=", ".join(one.name for one in others)) if others else ""
    raise NotAllowedError((_NOT_ADMIN if known else _NOT_KNOWN).format(but=but))


async def async_note_looks(call: ToolCall, entities: Iterable[ExposedEntity]) -> None:
    """Let the logbook know what was looked at, and who asked."""
    user = await call.caller.async_user(call.hass)
    by = user.name if user and not user.system_generated else _device(call)
    for entity in entities:
        data = {ATTR_ENTITY_ID: entity.entity_id, ATTR_BY: by}
        # What it sets off, such as an automation that talks, is no part of the conversation.
        outside_conversation(call.hass.bus.async_fire, EVENT_LOOKED, data, context=call.caller.context)


@callback
def _device(call: ToolCall) -> str | None:
    """Return the name of the device that was spoken to."""
    device = dr.async_get(call.hass).async_get(call.caller.device_id) if call.caller.device_id else None
    return device.name_by_user or device.name if device else None
