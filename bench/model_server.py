"""The offline planner as a process, which also calls ten tools at once when it is asked to."""

import asyncio
import sys
from typing import Any, override

from tests.claude_server import ClaudeServer, OfflinePlanner, Turn, planner_models, text, tool_use

TEN_AT_ONCE = "Look ten times"
_CALLS = 10


class Model(OfflinePlanner):
    """Answers like the planner, but for one request."""

    @override
    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Answer a request."""
        said = [_last(message) for message in request_body["messages"] if message["role"] == "user"]
        if said[-1] == TEN_AT_ONCE:
            return Turn([tool_use("homeassistant__GetLiveContext", {"name": f"Lamp {n}"}) for n in range(_CALLS)])
        if TEN_AT_ONCE in said and said[-1] is None:
            return Turn([text("I have looked.")])
        return await super().respond(request_body)


def _last(message: dict[str, Any]) -> str | None:
    """Return what was said last in a message, or None for the result of a tool."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return str(content[-1]["text"]) if content[-1]["type"] == "text" else None


async def main(api_key: str) -> None:
    """Serve until the process ends."""
    async with ClaudeServer(Model(), api_key=api_key, models=planner_models()) as server:
        print(f"listening on {server.url}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
