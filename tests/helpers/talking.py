"""What tests of turns ask of them."""

from collections.abc import Callable
from typing import Any

from pytest_homeassistant_custom_component.common import MockConfigEntry

from homeassistant.components import conversation
from homeassistant.core import HomeAssistant

LOOK_LIKE_YES = [
    ("Let's go", "en"),
    ("Right, let's go", "en"),
    ("~~yes~~", "en"),
    ("~yes~", "en"),
    ("Aufgemacht!", "de"),
    ("Jo mei, ja", "de"),
    ("Ich sag ja", "de"),
    ("Pode ir", "pt-BR"),
    ("Fechado", "pt-BR"),
    ("¡Ya está bien!", "es"),
    ("¡Vale ya!", "es"),
    ("¡Venga ya!", "es"),
    ("得了吧", "zh-Hans"),
    ("行了行了", "zh-Hans"),
    ("好了好了", "zh-Hans"),
    ("Na ja.", "de"),
    ("Ja, ähm...", "de"),
    ("Nou ja...", "nl"),
    ("C'est bon, merci.", "fr"),
    ("Já tá bom.", "pt-BR"),
    ("Bene, grazie.", "it"),
    ("Fine, thanks", "en"),
    ("Why not", "en"),
    ("bueno", "es"),
]
"""Replies that look like a yes and are none, each with its language."""

type FindLog = Callable[[str], conversation.ChatLog]


def speech(result: conversation.ConversationResult) -> str:
    """Return what is said."""
    return str(result.response.speech["plain"]["speech"])


def roles(log: conversation.ChatLog) -> list[str]:
    """Return the roles in a log, without the system prompt."""
    return [content.role for content in log.content[1:]]


def assert_every_call_has_a_result(log: conversation.ChatLog) -> None:
    """Check what the provider demands of the next request."""
    called = [call.id for item in log.content if item.role == "assistant" for call in item.tool_calls or ()]
    answered = [item.tool_call_id for item in log.content if item.role == "tool_result"]
    assert sorted(called) == sorted(answered)


async def change_agent(hass: HomeAssistant, entry: MockConfigEntry, **data: Any) -> None:
    """Change options of the entry's first agent; the entry reloads."""
    subentry = next(iter(entry.subentries.values()))
    hass.config_entries.async_update_subentry(entry, subentry, data={**subentry.data, **data})
    await hass.async_block_till_done()
