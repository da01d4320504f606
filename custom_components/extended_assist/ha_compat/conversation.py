"""Internals of conversations, voice pipelines and timers."""

from typing import Any, Final

from homeassistant.components.assist_pipeline.pipeline import async_get_pipeline
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.intent.const import TIMER_DATA
from homeassistant.components.intent.timers import TimerManager
from homeassistant.core import HomeAssistant, callback

__all__ = (
    "ASSIST_OVERVIEW",
    "ASSIST_STATE_QUESTIONS",
    "TIMER_DATA",
    "TimerManager",
    "async_get_pipeline",
    "current_chat_log",
    "is_spoken",
)

ASSIST_OVERVIEW: Final = "Static Context: An overview of the areas and the devices in this smart home:\n"
"""The line before Assist's list of exposed entities, word for word."""
ASSIST_STATE_QUESTIONS: Final = (
    "You ARE equipped to answer questions about the current state of\n"
    "the home by retrieving live context. This is a primary function. Do not state you lack the\n"
    "functionality if the question requires live data.\n"
    'If the user asks about device existence/type (e.g., "Do I have lights in the bedroom?"): Answer\n'
    "from the static context below.\n"
    'If the user asks about the CURRENT state, value, or mode (e.g., "Is the lock locked?",\n'
    '"Is the fan on?", "What mode is the thermostat in?", "What is the temperature outside?"):\n'
    "    1.  Recognize this requires live data.\n"
    "    2.  You MUST use the provided tool to retrieve live context. This tool will provide the needed real-time "
    "information (like temperature from the local weather, lock status, etc.).\n"
)
"""Assist's instructions for questions about states, word for word."""


@callback
def is_spoken(hass: HomeAssistant, conversation_id: str) -> bool:
    """Return whether the answers of a conversation are spoken, or no running pipeline of it is known."""
    pipelines: Any = hass.data.get("assist_pipeline")
    runs = [run.events for runs in pipelines.pipeline_debug.values() for run in runs.values()] if pipelines else []
    begun = [
        events[0].data or {}
        for events in runs
        if events and events[0].type == "run-start" and all(event.type != "run-end" for event in events)
    ]
    ours = [data for data in begun if data.get("conversation_id") == conversation_id]
    return not ours or any("tts_output" in data for data in ours)
