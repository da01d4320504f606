"""The blueprints, and a model that looks things up as they ask it to."""

from collections.abc import Callable
import json
from pathlib import Path
from typing import Any

from tests.claude_server import Fault, Turn, text, tool_use

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "blueprints" / "automation" / "extended_assist"
NAMES = ("morning_report", "unusual_today", "weekly_energy")

type Json = Any


class Model:
    """Calls tools one after the other, says what it makes of their results, and judges what a task gives it."""

    def __init__(
        self,
        calls: list[tuple[str, dict[str, Json]]],
        say: Callable[..., str],
        judge: Callable[[str], Json] | None = None,
        delay: float = 0,
    ) -> None:
        self._calls = [(f"extended_assist__{name}", arguments) for name, arguments in calls]
        self._say = say
        self._judge = judge
        self._delay = delay
        self.asked: list[str] = []

    async def respond(self, request_body: dict[str, Json]) -> Turn:
        """Answer a request."""
        messages = request_body["messages"]
        blocks = [block for message in messages for block in message["content"] if isinstance(block, dict)]
        if "output_config" in request_body:
            instructions = _words(messages[0])
            self.asked.append(instructions)
            if self._judge is None:
                return Turn(fault=Fault("http", status=400))
            return Turn([text(json.dumps(self._judge(instructions)))])
        results = [json.loads(block["content"]) for block in blocks if block["type"] == "tool_result"]
        if not results:
            self.asked.append(_words(messages[0]))
        if len(results) < len(self._calls):
            return Turn([text("Let me look."), tool_use(*self._calls[len(results)])], delay=self._delay)
        return Turn([text(self._say(*results))])


def _words(message: dict[str, Json]) -> str:
    """Return the text of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
