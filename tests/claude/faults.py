"""What can go wrong with a response, and what the user hears of it; for every version of the SDK."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anthropic

from tests.claude_server import Fault, Turn, text, thinking, tool_use
from tests.claude_server.stream import Issuer, events

CONTENT = [
    thinking("Which lamp?"),
    text("I look."),
    tool_use("extended_assist__get_user_name"),
    tool_use("extended_assist__get_entities", {"name": "lamp"}),
]
WHOLE = events(Issuer().message(Turn(CONTENT), {"model": "m"}, {"input_tokens": 1}), Turn(CONTENT))
FIRST_SHOWN = next(index for index, event in enumerate(WHOLE) if event.get("delta", {}).get("type") == "text_delta")
"""How many events a user has heard nothing of."""

IN_A_STREAM: list[tuple[dict[str, Any], str, bool]] = [
    ({"kind": "sse_error", "error_type": "overloaded_error"}, "overloaded", True),
    ({"kind": "sse_error", "error_type": "rate_limit_error"}, "too many requests", True),
    ({"kind": "sse_error", "error_type": "api_error"}, "had an error", True),
    ({"kind": "sse_error", "error_type": "invalid_request_error"}, "did not accept", False),
    ({"kind": "disconnect"}, "broke off", True),
    ({"kind": "stall"}, "did not answer in time", False),
]
"""A fault, words of its sentence, and whether it is tried anew while nobody has heard anything."""

IN_PLACE_OF_A_STREAM: list[tuple[Fault, str, int]] = [
    (Fault("http", status=401), "refuses the key", 1),
    (Fault("http", status=403), "may not use the language model", 1),
    (Fault("http", status=402), "no credit left", 1),
    (Fault("http", status=404), "does not exist on its server", 1),
    (Fault("http", status=413), "too long", 1),
    (Fault("http", status=400, message="prompt is too long: 300000 tokens > 200000"), "too long", 1),
    (Fault("http", status=400, message="Your credit balance is too low"), "no credit left", 1),
    (Fault("http", status=400), "did not accept the request", 1),
    (Fault("http", status=429), "too many requests", 2),
    (Fault("http", status=529), "overloaded", 2),
    (Fault("http", status=500), "server had an error", 2),
    (Fault("http", status=500, headers={"x-should-retry": "false"}), "server had an error", 1),
    (Fault("http", status=502, body="<html>Bad gateway</html>"), "server had an error", 2),
    (Fault("disconnect", after=-1), "cannot be reached", 2),
]
"""A fault, words of its sentence, and how often it is tried when one further try is allowed."""

SILENCE = 0.3
"""Seconds without an event after which a server that fell silent on purpose counts as gone."""


def tries(after: int, tried_anew: bool) -> int:
    """Return how often a response is asked for that fails after so many events, when one further try is allowed."""
    return 2 if tried_anew and after <= FIRST_SHOWN else 1


@contextmanager
def impatient(client: anthropic.AsyncAnthropic, fault: Fault | None) -> Iterator[None]:
    """Wait only for SILENCE where a server falls silent on purpose; whatever else may be slow on a loaded machine."""
    waits = client.timeout
    if fault is not None and fault.kind == "stall":
        client.timeout = SILENCE
    try:
        yield
    finally:
        client.timeout = waits
