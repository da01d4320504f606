"""A home that can be told things: a phone, a voice satellite, and a speaker with a voice."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from homeassistant.components import assist_satellite, media_player, notify, tts
from homeassistant.components.assist_pipeline import async_get_pipeline, async_update_pipeline
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.setup import async_setup_component

PHONE, SATELLITE, PLAYER, VOICE = "notify.phone", "assist_satellite.kitchen", "media_player.kitchen", "tts.voice"


@dataclass
class Told:
    """What was sent and spoken where."""

    messages: list[tuple[str | None, str]] = field(default_factory=list)
    announced: list[str] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unreachable: bool = False
    """Whether the phone and the satellite fail."""

    def check(self) -> None:
        """Fail, if what is told things is to fail."""
        if self.unreachable:
            raise HomeAssistantError("It is out of reach.")

    def everywhere(self, title: str, words: str) -> bool:
        """Return whether exactly these words arrived everywhere, once."""
        return self == Told([(title, words)], [words], [words], [words])


class Phone(notify.NotifyEntity):
    """Keeps messages."""

    entity_id = PHONE
    _attr_supported_features = notify.NotifyEntityFeature.TITLE

    def __init__(self, told: Told) -> None:
        self._told = told

    async def async_send_message(self, message: str, title: str | None = None) -> None:
        self._told.check()
        self._told.messages.append((title, message))


class Satellite(assist_satellite.AssistSatelliteEntity):
    """Keeps announcements."""

    entity_id = SATELLITE
    _attr_supported_features = assist_satellite.AssistSatelliteEntityFeature.ANNOUNCE

    def __init__(self, told: Told) -> None:
        self._told = told

    async def async_announce(self, announcement: assist_satellite.AssistSatelliteAnnouncement) -> None:
        self._told.check()
        assert announcement.media_id_source == "tts"
        self._told.announced.append(announcement.message)

    def async_get_configuration(self) -> assist_satellite.AssistSatelliteConfiguration:
        raise NotImplementedError

    async def async_set_configuration(self, config: assist_satellite.AssistSatelliteConfiguration) -> None:
        raise NotImplementedError

    def on_pipeline_event(self, event: Any) -> None:
        raise NotImplementedError


class Player(media_player.MediaPlayerEntity):
    """Keeps what it is to speak."""

    entity_id = PLAYER
    _attr_supported_features = media_player.MediaPlayerEntityFeature.PLAY_MEDIA

    def __init__(self, told: Told) -> None:
        self._told = told

    async def async_play_media(self, media_type: str, media_id: str, **_: Any) -> None:
        self._told.spoken += parse_qs(urlsplit(media_id).query)["message"]


class Voice(tts.TextToSpeechEntity):
    """Speaks, a byte for everything."""

    entity_id = VOICE
    _attr_name = "Voice"
    _attr_default_language = "en"
    _attr_supported_languages = ["en"]  # noqa: RUF012 - as Home Assistant has it

    async def async_get_tts_audio(self, message: str, language: str, options: dict[str, Any]) -> tts.TtsAudioType:
        return "mp3", b"."


@pytest.fixture
async def told(hass: HomeAssistant, tmp_path: Path) -> Told:
    """Furnish the home, and return what is told from now on."""
    hass.config.config_dir = str(tmp_path)  # What was spoken is kept there.
    told = Told()
    for domain in ("notify", "tts", "assist_pipeline", "media_player", "assist_satellite"):
        assert await async_setup_component(hass, domain, {})
    for component, entity in ((notify, Phone), (media_player, Player), (assist_satellite, Satellite)):
        await hass.data[component.DATA_COMPONENT].async_add_entities([entity(told)])
    await hass.data[tts.DATA_COMPONENT].async_add_entities([Voice()])
    await async_update_pipeline(hass, async_get_pipeline(hass), tts_engine=VOICE, tts_language="en")
    hass.bus.async_listen("told", callback(lambda event: told.others.append(event.data["words"])))
    return told
