"""Internals of the HTTP server and its connections."""

from homeassistant.components.http.auth import async_sign_path
from homeassistant.components.http.const import KEY_HASS_USER
from homeassistant.components.websocket_api.connection import current_connection
from homeassistant.helpers.http import KEY_HASS

__all__ = (
    "KEY_HASS",
    "KEY_HASS_USER",
    "async_sign_path",
    "current_connection",
)
