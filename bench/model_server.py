"""The offline planner as a process, which also calls ten tools at once, or thinks first, when it is asked to.

What it has said is written to a file, one response a line: the tokens before its first word, and whether there was one.
"""

import asyncio
from collections.abc import Callable
import gc
from itertools import takewhile
import json
from pathlib import Path
import sys
from typing import Any, override

from aiohttp import web

from tests.claude_server import ClaudeServer, OfflinePlanner, Turn, planner_models, text, tool_use
from tests.claude_server.cache import PromptCache
from tests.claude_server.models import find_model
from tests.claude_server.rules.rule import Request
from tests.claude_server.stream import tokens
from tests.claude_server.thoughtful import Thoughtful

THINK_FIRST = "Think first."
"""Ends what is to be answered as the model does by itself, with its thinking."""
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


class Speaker:
    """Lets the model think where it is asked to, and writes down how long it took to the first word."""

    def __init__(self, record: Path) -> None:
        """Take the file."""
        self._record = record
        self._model = Model()
        self._thoughtful = Thoughtful(self._model)

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Answer a request."""
        said = next(filter(None, (_last(message) for message in reversed(request_body["messages"]))), "")
        if not said.endswith(THINK_FIRST):
            return await self._model.respond(request_body)
        turn = await self._thoughtful.respond({**request_body, "messages": _asked(request_body["messages"])})
        silent = list(takewhile(lambda block: block["type"] != "text", turn.content))
        row = {"tokens": tokens(silent) if silent else 0, "spoke": len(silent) < len(turn.content)}
        with self._record.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(row)}\n")
        return turn


class Uncached(PromptCache):
    """Counts the messages alone: to work out what a cache would find takes time that is neither agent's."""

    @override
    def usage(self, body: dict[str, Any]) -> dict[str, int]:
        """Return the tokens of a request, as if a message had a hundred."""
        tokens = 100 * len(body["messages"])
        return {"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


class Server(ClaudeServer):
    """Checks a request of each length once and keeps none: the time that it takes is neither agent's."""

    _checked: frozenset[tuple[int, ...]] = frozenset()

    def __init__(self, responder: Speaker, api_key: str) -> None:
        """Take who answers."""
        super().__init__(responder, api_key=api_key, models=planner_models())
        self.cache = Uncached()

    @override
    def _check(self, request: web.Request, check_types: Callable[..., str | None]) -> Request:
        """Return a request."""
        self.requests.clear()
        body = request["recorded"].body
        length = (len(body["messages"]), len(body["tools"]), len(body))
        if length in self._checked:
            return Request(body, find_model(planner_models(), body["model"]) or {}, self.memory)
        known = super()._check(request, check_types)
        self._checked |= {length}
        return known


def _asked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages without what asks to think, so that the question is as it would be."""
    return json.loads(json.dumps(messages).replace(f" {THINK_FIRST}", ""))  # type: ignore[no-any-return]


def _last(message: dict[str, Any]) -> str | None:
    """Return what was said last in a message, or None for the result of a tool."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return str(content[-1]["text"]) if content[-1]["type"] == "text" else None


async def main(api_key: str, record: str) -> None:
    """Serve until the process ends."""
    async with Server(Speaker(Path(record)), api_key) as server:
        gc.collect()
        gc.freeze()
        print(f"listening on {server.url}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
