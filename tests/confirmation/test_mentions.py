"""Tests of what counts as said by the user."""

from typing import Any

import pytest

from custom_components.extended_assist.confirmation.mentions import is_said
from homeassistant.components.conversation import AssistantContent, ChatLog, UserContent
from homeassistant.core import HomeAssistant


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("milk", True),
        ("Milk", True),
        (7, True),
        (8, False),
        ("bread", False),
        (None, True),
        (True, False),
        ({"item": "milk", "count": 7}, True),
        ({"item": "milk", "note": "bread"}, False),
        (["milk", ["seven", 7]], False),
        (("milk", 7), True),
    ],
)
def test_said(hass: HomeAssistant, value: Any, said: bool) -> None:
    """All that a value holds must be in the user's own words; what the assistant said does not count."""
    log = ChatLog(hass, "one")
    log.content += [
        UserContent(content="Put 7 cartons of milk on the list"),
        AssistantContent(agent_id="conversation.claude", content="And bread, or 8 of seven?"),
    ]
    assert is_said(log, value) is said
