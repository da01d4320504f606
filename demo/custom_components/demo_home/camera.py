"""The camera at the front door."""

from pathlib import Path
from typing import override

from homeassistant.components.camera import Camera
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from . import DemoHomeConfigEntry
from .catalogue import CAMERA
from .const import DOMAIN, FRONT_DOOR_FILE


async def async_setup_entry(
    hass: HomeAssistant, _entry: DemoHomeConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the camera."""
    async_add_entities([DemoCamera(Path(hass.config.path(FRONT_DOOR_FILE)))])


class DemoCamera(Camera):
    """A camera that shows what was drawn last."""

    _attr_has_entity_name = True
    _attr_name = None

    def __init__(self, file: Path) -> None:
        """Take name, id and device from the catalogue."""
        super().__init__()
        self._file = file
        self.content_type = "image/png"
        self.entity_id = CAMERA.entity_id
        self._attr_unique_id = CAMERA.entity_id
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, CAMERA.device)}, name=CAMERA.device, suggested_area=CAMERA.area
        )

    @override
    def camera_image(self, width: int | None = None, height: int | None = None) -> bytes | None:
        """Return the picture, in whatever size it was drawn."""
        return self._file.read_bytes()
