"""A real pipeline from text to speech: when each word of the model reaches what speaks it."""

from collections.abc import AsyncGenerator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from homeassistant.components import tts
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.conftest import AGENT
from tests.helpers.talking import change_agent

pytestmark = pytest.mark.usefixtures("no_deprecations")

ENGINE = "tts.recorder"
FIRST = "The front door was opened at eight this morning, and it was closed again a minute after that. "
REST = "The kitchen window has been open since yesterday evening, so it may have become cold in there by now."
PACE = 0.03
"""Seconds between two deltas of the model."""


class Recorder(tts.TextToSpeechEntity):
    """Speaks nothing, and keeps what it is given with the time."""

    _attr_name = "Recorder"
    _attr_default_language = "en"
    _attr_supported_languages = ["en"]  # noqa: RUF012 - as Home Assistant has it
    entity_id = ENGINE

    def __init__(self) -> None:
        """Start with nothing heard."""
        self.heard: list[tuple[float, str]] = []
        self.finished = 0.0

    @property
    def words(self) -> str:
        """Return all that was heard."""
        return "".join(part for _, part in self.heard)

    async def async_stream_tts_audio(self, request: tts.TTSAudioRequest) -> tts.TTSAudioResponse:
        """Take text as it comes; each part is a byte of audio."""

        async def data() -> AsyncGenerator[bytes]:
            async for part in request.message_gen:
                self.heard.append((monotonic(), part))
                yield b"."
            self.finished = monotonic()

        return tts.TTSAudioResponse("mp3", data())


@pytest.fixture
async def recorder(hass: HomeAssistant, entry: MockConfigEntry, tmp_path: Path) -> Recorder:
    """Return what speaks, in a home with voice that has never spoken before."""
    hass.config.config_dir = str(tmp_path)  # What was spoken is kept there.
    for component in ("tts", "assist_pipeline", "intent"):
        assert await async_setup_component(hass, component, {})
    recorder = Recorder()
    await hass.data[tts.DATA_COMPONENT].async_add_entities([recorder])
    return recorder


async def speak(hass: HomeAssistant, hass_ws_client: WebSocketGenerator, words: str) -> list[dict[str, Any]]:
    """Run a pipeline to its end and return its events."""
    client = await hass_ws_client(hass)
    pipeline = {"name": "Voice", "language": "en", "conversation_engine": AGENT, "conversation_language": "en"}
    pipeline |= {"tts_engine": ENGINE, "tts_language": "en", "tts_voice": None}
    nothing = dict.fromkeys(("stt_engine", "stt_language", "wake_word_entity", "wake_word_id"))
    await client.send_json_auto_id({"type": "assist_pipeline/pipeline/create", **pipeline, **nothing})
    pipeline_id = (await client.receive_json())["result"]["id"]
    await client.send_json_auto_id(
        {
            "type": "assist_pipeline/run",
            "start_stage": "intent",
            "end_stage": "tts",
            "input": {"text": words},
            "pipeline": pipeline_id,
        }
    )
    assert (await client.receive_json())["success"]
    events = []
    while not events or events[-1]["type"] != "run-end":
        events.append((await client.receive_json())["event"])
    await hass.async_block_till_done(wait_background_tasks=True)
    return events


async def test_words_are_spoken_while_the_model_still_writes(
    hass: HomeAssistant, recorder: Recorder, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """The first sentence is with the engine long before the last one is written, and nothing is lost or said twice."""
    claude_server.responder = Scenario([Turn([text(FIRST + REST)], pace=PACE)])
    start = monotonic()
    events = await speak(hass, hass_ws_client, "What is open?")
    assert recorder.words == FIRST + REST
    writing = recorder.finished - start
    deltas = len(FIRST + REST) / 12
    assert writing > deltas * PACE
    spoken_by = next(time for index, (time, _) in enumerate(recorder.heard) if len(_all(recorder, index)) >= len(FIRST))
    # How long it takes to begin says nothing; that it was said while most of the rest was not written does.
    assert recorder.finished - spoken_by > 0.7 * len(REST) / 12 * PACE
    assert len(recorder.heard) > 5
    assert any(event["data"].get("tts_start_streaming") for event in events if event["type"] == "intent-progress")


def _all(recorder: Recorder, index: int) -> str:
    """Return what was heard up to a part."""
    return "".join(part for _, part in recorder.heard[: index + 1])


async def test_words_before_a_tool_are_spoken_while_it_runs(
    hass: HomeAssistant, recorder: Recorder, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """What is said on the way is heard right away, not after the tools and the second request."""
    look = Turn([text("One moment, I look."), tool_use("extended_assist__get_user_name")])
    claude_server.responder = Scenario([look, Turn([text("You are Ann.")], delay=0.5)])
    await speak(hass, hass_ws_client, "Who am I?")
    assert recorder.words == "One moment, I look. You are Ann."
    assert recorder.heard[-1][0] - recorder.heard[0][0] > 0.4


@pytest.mark.parametrize("fallback", [None, "conversation.home_assistant"])
async def test_the_end_is_heard_too(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    recorder: Recorder,
    claude_server: ClaudeServer,
    hass_ws_client: WebSocketGenerator,
    fallback: str | None,
) -> None:
    """When the connection breaks in mid-speech, the cause, or the stand-in's answer, is spoken after it."""
    await change_agent(hass, entry, fallback_agent=fallback)
    broken = Turn([text(FIRST + REST)], fault=Fault("disconnect", after=11))
    claude_server.responder = Scenario([broken])
    events = await speak(hass, hass_ws_client, "What time is it?")
    (end,) = (event["data"]["intent_output"] for event in events if event["type"] == "intent-end")
    said = end["response"]["speech"]["plain"]["speech"]
    assert ("broke off" in said) is (fallback is None)
    assert recorder.words.startswith(FIRST[:60])
    assert recorder.words.endswith(said)


async def test_failure_is_shown_and_spoken_once(
    hass: HomeAssistant, recorder: Recorder, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """Where nothing was said yet, the cause is the whole answer and no part of one: dialogs would show it twice."""
    claude_server.responder = Scenario([Turn(fault=Fault("http", status=402))])
    events = await speak(hass, hass_ws_client, "Who am I?")
    (end,) = (event["data"]["intent_output"] for event in events if event["type"] == "intent-end")
    assert recorder.words == end["response"]["speech"]["plain"]["speech"]
    assert "no credit" in recorder.words
    assert not [event for event in events if event["type"] == "intent-progress" and "chat_log_delta" in event["data"]]


async def test_short_answers_are_spoken_once(
    hass: HomeAssistant, recorder: Recorder, claude_server: ClaudeServer, hass_ws_client: WebSocketGenerator
) -> None:
    """An answer too short to stream is spoken whole."""
    claude_server.responder = Scenario([Turn([text("You are Ann.")])])
    await speak(hass, hass_ws_client, "Who am I?")
    assert recorder.words == "You are Ann."
