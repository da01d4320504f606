"""Looking at generic cameras: Home Assistant's own platform for addresses of stills and streams, on loopback."""

import base64
from collections.abc import AsyncGenerator
from io import BytesIO
from typing import Any

from PIL import Image
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.cameras import snapshot
from custom_components.extended_assist.cameras.snapshot import NoPicture, TakenPicture, async_take
from custom_components.extended_assist.exposure.entities import Exposure
from homeassistant.components.camera.img_util import TurboJPEGSingleton
from homeassistant.components.stream import Stream
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.conftest import expose

from .scenes import CameraServer, camera_server, drawn, filmed

type Taken = TakenPicture | NoPicture


class Jpegs:
    """What the native library does for streams, where it is not installed."""

    def encode(self, bgr_array: Any) -> bytes:
        """Return an array as a JPEG."""
        data = BytesIO()
        Image.fromarray(bgr_array[:, :, ::-1]).save(data, "JPEG")
        return data.getvalue()


@pytest.fixture
async def server(
    hass: HomeAssistant, assist: None, socket_enabled: None, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[CameraServer]:
    """Run network cameras."""
    if not TurboJPEGSingleton.instance():
        monkeypatch.setattr(TurboJPEGSingleton, "_TurboJPEGSingleton__instance", Jpegs())
    assert await async_setup_component(hass, "stream", {})
    async with camera_server() as cameras:
        yield cameras
        for stream in hass.data["stream"]["streams"]:
            await forget(stream)
        for entry in hass.config_entries.async_entries("generic"):
            await hass.config_entries.async_unload(entry.entry_id)


async def forget(stream: Stream) -> None:
    """End a stream, as Home Assistant does when nobody looked for some minutes."""
    for output in stream.outputs().values():
        await stream.remove_provider(output)
    await stream.stop()


async def add_generic(hass: HomeAssistant, name: str, **addresses: str) -> str:
    """Add a generic camera, and expose it."""
    advanced = {"framerate": 2, "verify_ssl": False, "authentication": "basic", "limit_refetch_to_url_change": False}
    options = {"content_type": "image/jpeg", "advanced": advanced, **addresses}
    entry = MockConfigEntry(domain="generic", title=name, options=options, version=2)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    entity_id = f"camera.{name.lower()}"
    expose(hass, entity_id)
    return entity_id


async def look(hass: HomeAssistant, entity_id: str) -> Taken:
    """Take a picture of a camera."""
    entity = Exposure(hass, "conversation").entity(entity_id)
    assert entity
    (taken,) = await async_take(hass, [entity])
    return taken


def shade(taken: Taken) -> Any:
    """Return the colour of the door in a picture."""
    assert isinstance(taken, TakenPicture), taken
    with Image.open(BytesIO(base64.b64decode(taken.picture.data))) as picture:
        return picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))


GREEN, GREY = pytest.approx((0, 100, 0), abs=12), pytest.approx((211, 211, 211), abs=12)


def plain() -> bytes:
    """Return a picture without a door."""
    data = BytesIO()
    Image.new("RGB", (640, 360), "lightgray").save(data, "JPEG")
    return data.getvalue()


async def test_a_still(hass: HomeAssistant, server: CameraServer) -> None:
    """A camera with an address of a still is asked for one each time."""
    server.pictures["still"] = drawn(size=(640, 360))
    entity_id = await add_generic(hass, "Still", still_image_url=server.url("still/still"))
    assert shade(await look(hass, entity_id)) == GREEN
    assert server.asked == ["still"]


async def test_only_a_film(hass: HomeAssistant, server: CameraServer) -> None:
    """The first look at a camera that has only a stream waits for its first whole picture."""
    server.films["door"] = filmed(drawn(size=(640, 360)))
    entity_id = await add_generic(hass, "Door", stream_source=server.url("film/door"))
    assert shade(await look(hass, entity_id)) == GREEN
    assert shade(await look(hass, entity_id)) == GREEN


async def test_what_is_seen_is_of_now(hass: HomeAssistant, server: CameraServer) -> None:
    """A stream that nobody looked at for a while begins anew; its last picture of before is not taken for one of now."""
    server.films["door"] = filmed(drawn(size=(640, 360)))
    entity_id = await add_generic(hass, "Door", stream_source=server.url("film/door"))
    assert shade(await look(hass, entity_id)) == GREEN
    await forget(hass.data["camera"].get_entity(entity_id).stream)
    server.films["door"] = filmed(plain())
    assert shade(await look(hass, entity_id)) == GREY


async def test_a_stream_that_is_gone(
    hass: HomeAssistant, server: CameraServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream without a picture is a sentence, after a while."""
    monkeypatch.setattr(snapshot, "STREAM_TIMEOUT", 1)
    server.films["empty"] = []
    entity_id = await add_generic(hass, "Empty", stream_source=server.url("film/empty"))
    taken = await look(hass, entity_id)
    assert isinstance(taken, NoPicture)
    assert taken.why == "Empty gave no picture."


async def test_jpegs_as_a_stream(hass: HomeAssistant, server: CameraServer) -> None:
    """A stream of single pictures is one as well."""
    server.pictures["door"] = drawn(size=(640, 360))
    entity_id = await add_generic(hass, "Door", stream_source=server.url("stream/door"))
    assert shade(await look(hass, entity_id)) == GREEN
