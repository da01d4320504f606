"""The phones of the companion app, read from the data of its integration."""

from collections.abc import Mapping
from typing import Any, Final

from homeassistant.core import HomeAssistant, callback

PHONE: Final = "mobile_app"


@callback
def phone_action(hass: HomeAssistant, device_id: Any) -> str | None:
    """Return the notify action of a phone with the companion app, or None; the phone is given by its device id."""
    # Read from hass.data: an import of mobile_app would make Home Assistant load its dependencies, such as the cloud.
    known: Mapping[str, Any] = hass.data.get(PHONE) or {}
    ids = [key for key, device in (known.get("devices") or {}).items() if device.id == device_id]
    targets = known["notify"].registered_targets if ids and known.get("notify") else {}
    return next((f"notify.{name}" for name, target in targets.items() if target in ids), None)
