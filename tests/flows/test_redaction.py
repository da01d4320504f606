"""Tests of what of the settings may be told."""

from typing import Any

import pytest

from custom_components.extended_assist.flows import redaction
from homeassistant.components.diagnostics import REDACTED
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.llm import DEFAULT_INSTRUCTIONS_PROMPT

CANARY = "canary"
"""Stands in every text that a person has chosen, and in what these bring about."""


def leaks(data: Any, *more: str) -> list[str]:
    """Return the places at which something got out."""
    told = json_dumps(data).lower()
    return [
        told[max(0, told.find(word) - 80) :][:120] for word in (CANARY, "127.0.0.1", "31337", *more) if word in told
    ]


@pytest.mark.parametrize(
    ("base_url", "kind"),
    [
        ("https://api.anthropic.com", {"kind": "anthropic"}),
        (f"https://{CANARY}.example.org/{CANARY}", {"scheme": "https", "host": "a name", "usual_port": True}),
        (f"http://{CANARY}:11434", {"host": "a name of the home", "usual_port": False, "path": False}),
        (f"http://{CANARY}.local", {"host": "a name of the home"}),
        ("http://localhost:1", {"host": "loopback"}),
        ("http://[::1]:1", {"host": "loopback"}),
        ("http://192.168.7.9", {"host": "a private address"}),
        ("http://8.8.4.4/x", {"host": "a public address", "path": True}),
        (f"{CANARY}://x", {"scheme": REDACTED}),
        (f"http://[{CANARY}", {"kind": "unreadable"}),
        (None, {"kind": "unreadable"}),
    ],
)
def test_server(base_url: str | None, kind: dict[str, Any]) -> None:
    """Where a server is can be told without telling its address."""
    found = redaction.describe_server(base_url)
    assert found.items() >= kind.items()
    assert leaks(found, "192.168", "8.8") == []


@pytest.mark.parametrize("rules", [redaction.OPTION_RULES, redaction.SUBENTRY_RULES])
@pytest.mark.parametrize("value", [CANARY, [CANARY], {CANARY: CANARY}, None, f"{CANARY} {CANARY}", object()])
def test_every_rule_stands_unexpected_values(rules: dict[str, redaction.RedactionRule], value: Any) -> None:
    """A setting that is not what it should be is not told, nor does it break anything."""
    named = dict.fromkeys(rules, value)
    if value == CANARY:
        named.pop("model", None)
    assert leaks(redaction.redacted(named, rules)) == []


def test_what_helps_is_told() -> None:
    """Kinds of tools, and whether the instructions are those that Home Assistant gives."""
    settings = {"llm_hass_api": ["assist", f"extended_assist-{CANARY}", CANARY], "prompt": DEFAULT_INSTRUCTIONS_PROMPT}
    assert redaction.redacted(settings, redaction.SUBENTRY_RULES) == {
        "llm_hass_api": ["assist", "toolbox", "other"],
        "prompt": "default",
    }
