"""Cameras that are real: Home Assistant's demo, files, and network cameras on loopback."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.components.image import DATA_COMPONENT, ImageEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.conftest import expose

from .scenes import CameraServer, camera_server, drawn

DOOR, GARDEN, GARAGE, CELLAR = "camera.front_door", "camera.garden", "camera.garage", "camera.cellar"
BELL = "image.doorbell"
RANG = "2026-11-20T08:15:00+00:00"


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _remove(path: Path) -> None:
    path.unlink()


async def add_file_camera(hass: HomeAssistant, name: str, path: Path, content: bytes | None) -> None:
    """Add a camera that shows a file."""
    _write(path, content or drawn())
    hass.config.allowlist_external_dirs = {str(path.parent)}
    entry = MockConfigEntry(domain="local_file", title=name, options={"name": name, "file_path": str(path)})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    if content is None:
        _remove(path)


async def add_network_camera(hass: HomeAssistant, name: str, server: CameraServer, *, stream: bool = False) -> None:
    """Add a network camera, which gives single pictures or only a stream."""
    key = name.lower().replace(" ", "_")
    options = {
        "authentication": "basic",
        "password": "",
        "mjpeg_url": server.url(f"stream/{key}"),
        "verify_ssl": False,
        **({} if stream else {"still_image_url": server.url(f"still/{key}")}),
    }
    entry = MockConfigEntry(domain="mjpeg", title=name, options=options)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


class Doorbell(ImageEntity):
    """The last one who rang."""

    _attr_name = "Doorbell"
    _attr_image_last_updated = dt_util.parse_datetime(RANG)
    picture = drawn("Who rang")

    async def async_image(self) -> bytes | None:
        """Return the picture."""
        return self.picture


async def add_doorbell(hass: HomeAssistant) -> Doorbell:
    """Add an image."""
    bell = Doorbell(hass)
    await hass.data[DATA_COMPONENT].async_add_entities([bell])
    return bell


@pytest.fixture
async def cameras(
    hass: HomeAssistant, assist: None, socket_enabled: None, tmp_path: Path
) -> AsyncGenerator[CameraServer]:
    """Set up a front door and a doorbell, a garden and a garage on the network, and a cellar that is hidden."""
    assert await async_setup_component(hass, "camera", {})
    assert await async_setup_component(hass, "image", {})
    async with camera_server() as server:
        server.pictures |= {"garden": drawn(), "garage": drawn(size=(640, 480))}
        await add_file_camera(hass, "Front Door", tmp_path / "door.jpg", drawn())
        await add_network_camera(hass, "Garden", server)
        await add_network_camera(hass, "Garage", server, stream=True)
        await add_file_camera(hass, "Cellar", tmp_path / "cellar.jpg", drawn())
        await add_doorbell(hass)
        area = ar.async_get(hass).async_create("Outside")
        for entity_id in (DOOR, GARDEN, CELLAR):
            entities = er.async_get(hass)
            if device_id := entities.entities[entity_id].device_id:
                dr.async_get(hass).async_update_device(device_id, area_id=area.id)
            else:
                entities.async_update_entity(entity_id, area_id=area.id)
        expose(hass, DOOR, GARDEN, GARAGE, BELL)
        yield server
        for entry in hass.config_entries.async_entries():
            if entry.domain == "mjpeg":
                await hass.config_entries.async_unload(entry.entry_id)
