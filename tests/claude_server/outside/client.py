"""A server, a client of it, and what the checks say to them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import anthropic
from anthropic import AsyncAnthropic

from tests.claude_server import ClaudeServer, Scenario, Turn, redacted_thinking, text, thinking, tool_use

SDK_2 = int(anthropic.__version__.partition(".")[0]) >= 2
MODEL = "claude-haiku-5-5"
TOOLS: list[Any] = [
    {"name": name, "description": "…", "input_schema": {"type": "object", "properties": {}}}
    for name in ("look", "wait")
]
QUESTION: list[Any] = [{"role": "user", "content": "When did the front door last open?"}]
TIMEOUT = 20
"""Seconds in which a loaded machine answers, too."""
IN_VAIN = 0.5
"""Seconds of a client that waits for what does not come."""
# More than the generators that the SDK nests around a response's bytes.
LAYERS = 20
ARGUMENTS = {"entities": ["front door", "Küche"], "hours": 720}
EVERY_BLOCK = Turn(
    [
        thinking("The history has that, I should look."),
        redacted_thinking(),
        text("Let me look that up."),
        tool_use("look", ARGUMENTS),
        tool_use("wait"),
    ]
)


@asynccontextmanager
async def serving(
    *turns: Turn, strict: bool = True, retries: int = 0, **options: Any
) -> AsyncIterator[tuple[ClaudeServer, AsyncAnthropic]]:
    """Run a server with a scenario, and a client of it."""
    async with (
        ClaudeServer(Scenario(list(turns)), **options) as server,
        AsyncAnthropic(
            base_url=server.url,
            api_key="test-key",
            _strict_response_validation=strict,
            max_retries=retries,
            timeout=TIMEOUT,
        ) as client,
    ):
        yield server, client


async def ask(client: AsyncAnthropic, messages: list[Any] | None = None, **options: Any) -> Any:
    """Ask without streaming."""
    options = {"model": MODEL, "max_tokens": 500, "tools": TOOLS} | options
    return await client.messages.create(messages=messages or QUESTION, **options)


async def stream(client: AsyncAnthropic, messages: list[Any] | None = None, **options: Any) -> list[Any]:
    """Ask and return every event of the stream."""
    return [event async for event in await ask(client, messages, stream=True, **options)]


async def fails(awaitable: Awaitable[Any], name: str) -> Exception:
    """Return the exception that must come, told by its name: httpx goes by another module in SDK 2."""
    try:
        await awaitable
    except Exception as err:
        if type(err).__name__ != name:
            raise
        failure = err.with_traceback(None)
    else:
        raise AssertionError(f"No {name} came")
    # The SDK leaves the generators of a failed stream to the event loop, which closes one layer in each pass.
    for _ in range(LAYERS):
        await asyncio.sleep(0)
    return failure


def follow_up(message: Any) -> list[Any]:
    """Send a message back with a result for each of its tool calls."""
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "done"}
        for block in message.content
        if block.type == "tool_use"
    ]
    # As a client must send them back: without the SDK's own additions, such as a parsed output.
    blocks = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in message.content]
    return [*QUESTION, {"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
