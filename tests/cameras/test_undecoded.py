"""A stream whose newest picture cannot be decoded gives no picture, rather than the last one that could be."""

import asyncio
from typing import Any

import pytest

from custom_components.extended_assist.cameras import snapshot
from custom_components.extended_assist.cameras.snapshot import MAX_PICTURES, NoPicture, TakenPicture, async_take
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.components.stream.core import KeyFrameConverter
from homeassistant.core import HomeAssistant

from .conftest import DOOR, cameras
from .scenes import CameraServer, drawn, filmed
from .test_generic import GREEN, add_generic, look, server, shade

__all__ = ["cameras", "server"]


async def test_no_old_picture(hass: HomeAssistant, server: CameraServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Home Assistant hands out again is not told as what there is now; when it can be decoded again, it is."""
    server.films["door"] = filmed(drawn(size=(640, 360)))
    entity_id = await add_generic(hass, "Door", stream_source=server.url("film/door"))
    assert shade(await look(hass, entity_id)) == GREEN
    with monkeypatch.context() as broken:
        broken.setattr(KeyFrameConverter, "_generate_image", lambda *_: None)
        assert isinstance(await look(hass, entity_id), NoPicture)
    assert shade(await look(hass, entity_id)) == GREEN


async def test_two_at_once(hass: HomeAssistant, server: CameraServer) -> None:
    """Several who look at one stream at once all see it."""
    server.films["door"] = filmed(drawn(size=(640, 360)))
    entity_id = await add_generic(hass, "Door", stream_source=server.url("film/door"))
    for _ in range(2):
        for one in await asyncio.gather(*(look(hass, entity_id) for _ in range(3))):
            assert shade(one) == GREEN


async def test_many_that_do_not_answer(
    hass: HomeAssistant, cameras: CameraServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look over as many cameras as one may have ends after the time of one, and each is a sentence or a picture."""

    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(snapshot, "TIMEOUT", -0.5)
    (door,) = filter(None, [Exposure(hass, "conversation").entity(DOOR)])
    with monkeypatch.context() as slow:
        slow.setattr("homeassistant.components.camera.async_get_image", never)
        async with asyncio.timeout(5):
            found = await async_take(hass, [door] * MAX_PICTURES)
    assert [type(one) for one in found] == [NoPicture] * MAX_PICTURES
    monkeypatch.setattr(snapshot, "TIMEOUT", 8)
    assert isinstance((await async_take(hass, [door]))[0], TakenPicture)
