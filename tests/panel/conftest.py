"""A home with two users and an administrator, each with a connection of their own."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import CLIENT_ID, MockConfigEntry, MockUser
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.extended_assist.const import DOMAIN
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.scheduled.devices import add_phone, anna, ben
from tests.scheduled.shown import async_set_up_home

__all__ = ["add_phone", "anna", "ben"]

FAMILIES = ["entities", "history", "actions", "wishes", "memory"]


class Refused(Exception):  # noqa: N818 - what a command was answered with
    """A command was refused."""


type Send = Callable[..., Awaitable[Any]]
type As = Callable[[User], Awaitable[Send]]


@pytest.fixture
async def panel_home(hass: HomeAssistant, house: None) -> MockConfigEntry:
    """Return a loaded entry in the house, of which a half is hidden."""
    assert await async_setup_component(hass, "websocket_api", {})
    return await async_set_up_home(hass, {"families": FAMILIES})


@pytest.fixture
def admin(hass: HomeAssistant) -> User:
    """Return an administrator."""
    return MockUser(name="Olga", is_owner=True).add_to_hass(hass)


@pytest.fixture
def as_user(hass: HomeAssistant, hass_ws_client: WebSocketGenerator) -> As:
    """Return a function that logs a user in and returns what sends commands for them."""

    async def log_in(user: User) -> Send:
        refresh = await hass.auth.async_create_refresh_token(user, CLIENT_ID)
        client = await hass_ws_client(hass, hass.auth.async_create_access_token(refresh))

        async def send(command: str, **fields: Any) -> Any:
            await client.send_json_auto_id({"type": f"{DOMAIN}/{command}", **fields})
            answer = await client.receive_json()
            if not answer["success"]:
                error = answer["error"]
                raise Refused(error.get("translation_key") or error["code"])
            return answer["result"]

        return send

    return log_in
