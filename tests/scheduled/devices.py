"""Satellites that keep what they say, and phones that register and answer as the companion apps do."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
import pytest
from pytest_homeassistant_custom_component.common import (
    CLIENT_ID,
    MockConfigEntry,
    MockModule,
    MockPlatform,
    mock_config_flow,
    mock_integration,
    mock_platform,
)

from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled.scheduled_task import Owner, ScheduledTask, What, When
from homeassistant.auth.const import GROUP_ID_USER
from homeassistant.auth.models import User
from homeassistant.components import assist_satellite, tts
from homeassistant.components.assist_pipeline import async_get_pipeline, async_update_pipeline
from homeassistant.components.assist_satellite import AssistSatelliteEntityFeature as Feature
from homeassistant.config_entries import ConfigEntry, ConfigFlow
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.setup import async_setup_component
from tests.helpers.telling import VOICE, Voice

KITCHEN, BEDROOM, HALL = (f"assist_satellite.{name}" for name in ("kitchen", "bedroom", "hall"))
ANSWERED = "mobile_app_notification_action"


class Speaker(assist_satellite.AssistSatelliteEntity):
    """A satellite that keeps what it says."""

    def __init__(self, name: str, features: Feature) -> None:
        """Take its name and what it supports."""
        self.entity_id = f"assist_satellite.{name}"
        self._attr_unique_id = name
        self._attr_supported_features = features
        self._attr_device_info = DeviceInfo(identifiers={("rooms", name)}, name=name)
        self.announced: list[str] = []
        self.started: list[str] = []
        self.error: Exception | None = None

    async def async_announce(self, announcement: assist_satellite.AssistSatelliteAnnouncement) -> None:
        """Keep what is announced, which takes a while."""
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        self.announced.append(announcement.message)

    async def async_start_conversation(self, start_announcement: assist_satellite.AssistSatelliteAnnouncement) -> None:
        """Keep what a conversation begins with."""
        if self.error:
            raise self.error
        self.started.append(start_announcement.message)

    @property
    def prompt(self) -> str | None:
        """Return what the agent is told in the conversation that was started."""
        return self._extra_system_prompt

    def async_get_configuration(self) -> assist_satellite.AssistSatelliteConfiguration:
        """Have nothing to configure."""
        raise NotImplementedError

    async def async_set_configuration(self, config: assist_satellite.AssistSatelliteConfiguration) -> None:
        """Have nothing to configure."""
        raise NotImplementedError

    def on_pipeline_event(self, event: Any) -> None:
        """Hear of a pipeline."""


type Speakers = dict[str, Speaker]


@pytest.fixture
async def speakers(hass: HomeAssistant, assist: None, tmp_path: Path) -> Speakers:
    """Return three satellites: one that converses, one that announces, and one that belongs to a telephone."""
    hass.config.config_dir = str(tmp_path)  # What was spoken is kept there.
    both = Feature.ANNOUNCE | Feature.START_CONVERSATION
    made = {"kitchen": both, "bedroom": Feature.ANNOUNCE, "hall": both}
    speakers = {f"assist_satellite.{name}": Speaker(name, features) for name, features in made.items()}
    for domain in ("tts", "assist_pipeline", "assist_satellite"):
        assert await async_setup_component(hass, domain, {})
    await hass.data[tts.DATA_COMPONENT].async_add_entities([Voice()])
    await async_update_pipeline(hass, async_get_pipeline(hass), tts_engine=VOICE, tts_language="en")
    for domain, names in (("rooms", (KITCHEN, BEDROOM)), ("voip", (HALL,))):
        await _async_add(hass, domain, [speakers[name] for name in names])
    assert {*hass.states.async_entity_ids("assist_satellite")} == {*speakers}
    return speakers


async def _async_add(hass: HomeAssistant, domain: str, speakers: Iterable[Speaker]) -> None:
    """Add satellites as those of an integration."""

    async def forward(hass: HomeAssistant, entry: ConfigEntry) -> bool:
        await hass.config_entries.async_forward_entry_setups(entry, ["assist_satellite"])
        return True

    async def add(hass: HomeAssistant, entry: ConfigEntry, add_entities: AddConfigEntryEntitiesCallback) -> None:
        add_entities(speakers)

    mock_integration(hass, MockModule(domain, async_setup_entry=forward))
    mock_platform(hass, f"{domain}.assist_satellite", MockPlatform(async_setup_entry=add))
    mock_platform(hass, f"{domain}.config_flow")
    entry = MockConfigEntry(domain=domain)
    entry.add_to_hass(hass)
    with mock_config_flow(domain, ConfigFlow):
        assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()


@callback
def device_of(hass: HomeAssistant, entity_id: str) -> str:
    """Return the id of the device of a satellite."""
    entry = er.async_get(hass).async_get(entity_id)
    assert entry
    assert entry.device_id
    return entry.device_id


@dataclass
class CompanionApp:
    """A phone with the companion app, on which a user is logged in."""

    user: User
    entry: ConfigEntry
    client: TestClient[Any, Any]
    shown: list[dict[str, Any]] = field(default_factory=list)
    """What was pushed to it."""

    pushed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def async_show(self, push: dict[str, Any]) -> None:
        """Show what is pushed."""
        async with self.pushed:
            self.shown.append(push)
            self.pushed.notify_all()

    async def async_shows(self, message: str) -> None:
        """Wait until a message is shown."""
        async with self.pushed:
            await self.pushed.wait_for(lambda: any(push["message"] == message for push in self.shown))

    def buttons(self) -> dict[str, dict[str, Any]]:
        """Return the buttons under what was shown last that has any, by their titles."""
        actions = next(push["data"]["actions"] for push in reversed(self.shown) if "actions" in push.get("data", {}))
        return {action["title"]: action for action in actions}

    async def async_press(self, title: str) -> None:
        """Press a button."""
        await self.async_fire(ANSWERED, {"action": self.buttons()[title]["action"]})

    async def async_fire(self, event_type: str, data: dict[str, Any]) -> None:
        """Fire an event in the way of the apps."""
        webhook = f"/api/webhook/{self.entry.data['webhook_id']}"
        sent = {"type": "fire_event", "data": {"event_type": event_type, "event_data": data}}
        response = await self.client.post(webhook, json=sent)
        assert response.status == HTTPStatus.OK


type AddPhone = Callable[..., Awaitable[CompanionApp]]


@pytest.fixture
async def add_phone(
    hass: HomeAssistant, assist: None, hass_client_no_auth: Callable[[], Any]
) -> AsyncGenerator[AddPhone]:
    """Return a function that registers a phone for a user; what is pushed to it arrives at a server on loopback."""
    assert await async_setup_component(hass, "mobile_app", {})
    # The tests' server takes no views once it is there, which Home Assistant's does.
    assert await async_setup_component(hass, DOMAIN, {})
    await hass.async_block_till_done()
    client = await hass_client_no_auth()
    phones: dict[str, CompanionApp] = {}

    async def push(request: web.Request) -> web.Response:
        """Take what is pushed, as the service between Home Assistant and the phones does."""
        pushed = await request.json()
        await phones[pushed["push_token"]].async_show(pushed)
        return web.json_response({}, status=HTTPStatus.CREATED)

    app = web.Application()
    app.router.add_post("/push", push)
    server = TestServer(app)
    await server.start_server()

    async def add(user: User, name: str, *, system: str = "Android", local: bool = False) -> CompanionApp:
        refresh = await hass.auth.async_create_refresh_token(user, CLIENT_ID)
        token = hass.auth.async_create_access_token(refresh)
        app_data = {"push_token": name, "push_url": str(server.make_url("/push"))}
        response = await client.post(
            "/api/mobile_app/registrations",
            headers={"Authorization": f"Bearer {token}"},
            json={
                "app_data": {"push_websocket_channel": True} if local else app_data,
                "app_id": "io.robbie.HomeAssistant",
                "app_name": "Home Assistant",
                "app_version": "2026.10.1",
                "device_id": f"{user.id} {name}",
                "device_name": name,
                "manufacturer": "Apple" if system == "iOS" else "Fairphone",
                "model": "A phone",
                "os_name": system,
                "os_version": "18",
                "supports_encryption": False,
            },
        )
        assert response.status == HTTPStatus.CREATED
        webhook_id = (await response.json())["webhook_id"]
        await hass.async_block_till_done()
        (entry,) = [
            entry for entry in hass.config_entries.async_entries("mobile_app") if entry.data["webhook_id"] == webhook_id
        ]
        phones[name] = CompanionApp(user, entry, client)
        return phones[name]

    yield add
    await server.close()


@pytest.fixture
async def anna(hass: HomeAssistant) -> User:
    """Return a user, who is not the first one, to whom the home belongs."""
    await hass.auth.async_create_user("Olga")
    return await hass.auth.async_create_user("Anna", group_ids=[GROUP_ID_USER])


@pytest.fixture
async def ben(hass: HomeAssistant, anna: User) -> User:
    """Return another user."""
    return await hass.auth.async_create_user("Ben", group_ids=[GROUP_ID_USER])


def a_task(**parts: Any) -> ScheduledTask:
    """Return a task of nobody in particular, said by a satellite or not."""
    owner: dict[str, Any] = {"entry_id": "gone", "platform": "test", "assistant": "conversation", "language": "en"}
    owner |= {"device_id": None, "user_id": None} | parts.pop("owner", {})
    return ScheduledTask(
        name="the milk",
        owner=Owner(**owner),
        when=parts.pop("when", When(moment=0)),
        what=What(say="Think of the milk."),
        **parts,
    )
