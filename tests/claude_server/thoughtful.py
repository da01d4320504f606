"""A model that thinks as its documentation says: unless it is told otherwise, and the more the higher the effort.

Which models think unasked, and at which effort, is documented (models.py); how many tokens that takes is not. The numbers here
are examples that keep the order which is documented: at low effort little or nothing for a simple question, and more from
level to level. https://platform.claude.com/docs/en/build-with-claude/effort
"""

from dataclasses import replace
from typing import Any

from .models import traits_of
from .turn import Responder, Turn, thinking

TOKENS_BY_EFFORT = {"low": 40, "medium": 300, "high": 900, "xhigh": 2_000, "max": 4_000}
_TOKEN = "Hm. "
"""Four characters, which the server counts as one token."""


def thinking_tokens(body: dict[str, Any]) -> int:
    """Return how many tokens a model thinks before it says or does something."""
    traits = traits_of(body["model"])
    asked = body.get("thinking") or {}
    kind = asked.get("type") or traits.thinks_unasked
    if kind == "enabled":
        return int(asked["budget_tokens"]) // 2
    if kind != "adaptive":
        return 0
    effort = (body.get("output_config") or {}).get("effort") or traits.default_effort
    return TOKENS_BY_EFFORT[effort]


class Thoughtful:
    """A responder that thinks before another one answers."""

    def __init__(self, responder: Responder) -> None:
        """Take who answers."""
        self._responder = responder

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Think, and answer."""
        turn = await self._responder.respond(request_body)
        if turn.fault or not (count := thinking_tokens(request_body)):
            return turn
        return replace(turn, content=[thinking(_TOKEN * count), *turn.content])
