"""Every fault, as the SDK reports it."""

import asyncio
import json
import time
from typing import Any

from anthropic import AsyncAnthropic

from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use

from .client import ARGUMENTS, IN_VAIN, MODEL, SDK_2, TIMEOUT, ask, fails, serving, stream


async def check_http_errors() -> None:
    """Each status is the SDK's own exception, with the API's error type and the headers given."""
    names = {
        400: "BadRequestError",
        401: "AuthenticationError",
        403: "PermissionDeniedError",
        404: "NotFoundError",
        413: "RequestTooLargeError",
        429: "RateLimitError",
        500: "InternalServerError",
        529: "OverloadedError",
    }
    faults = [Fault("http", status=status, headers={"retry-after": "7"}, message="No.") for status in names]
    async with serving(*(Turn(fault=fault) for fault in faults)) as (_, client):
        for fault, (status, name) in zip(faults, names.items(), strict=True):
            err: Any = await fails(stream(client), name)
            assert err.status_code == status
            assert err.body["error"] == fault.error
            assert err.response.headers["retry-after"] == "7"


async def check_garbage() -> None:
    """A body that is no JSON, as a proxy sends it: with an error status, and with 200."""
    html = "<html><body>Bad gateway</body></html>"
    bad, fine = (Turn(fault=Fault("http", status=status, body=html)) for status in (502, 200))
    async with serving(bad, fine) as (_, client):
        err: Any = await fails(ask(client), "InternalServerError")
        assert "Bad gateway" in str(err.body)
        await fails(ask(client), "APIResponseValidationError")


async def check_retry() -> None:
    """A fault takes one turn; the SDK's next try meets the next one."""
    busy = Fault("http", status=529, headers={"retry-after-ms": "1"})
    async with serving(Turn(fault=busy), Turn([text("Back.")]), retries=1) as (server, client):
        assert (await ask(client)).content[0].text == "Back."
        assert [item.headers["x-stainless-retry-count"] for item in server.requests] == ["0", "1"]


async def check_error_event() -> None:
    """An error under HTTP 200 in the middle of a stream, which the SDK does not retry."""
    fault = Fault("sse_error", after=4, error_type="overloaded_error", message="Overloaded")
    async with serving(Turn([text("Let me see.")], fault=fault), Turn([text("unused")]), retries=2) as (server, client):
        err: Any = await fails(stream(client), "APIStatusError")
        assert err.status_code == 200
        assert err.body["error"] == {"type": "overloaded_error", "message": "Overloaded"}
        assert len(server.requests) == 1


async def check_stall() -> None:
    """Nothing more comes; the client's own timeout ends it, and the server is free again."""
    async with serving(Turn([text("Let me see.")], fault=Fault("stall", after=4)), Turn([text("On.")])) as (_, client):
        await fails(stream(client, timeout=IN_VAIN), "ReadTimeout")
        assert (await ask(client)).content[0].text == "On."


async def check_stop_releases_a_stall() -> None:
    """A server that stops hangs up on those who wait."""
    scenario = Scenario([Turn([text("Let me see.")], fault=Fault("stall", after=3))])
    async with (
        ClaudeServer(scenario) as server,
        AsyncAnthropic(base_url=server.url, api_key="test-key", max_retries=0, timeout=30) as client,
    ):
        begun = await ask(client, stream=True)
        before = time.monotonic()
        stopping = asyncio.create_task(server.stop())
        await fails(anext(event async for event in begun if event.type == "content_block_stop"), "RemoteProtocolError")
        await stopping
        assert time.monotonic() - before < 2


async def check_disconnect_in_a_tool_call() -> None:
    """The connection breaks after the first deltas of the arguments."""
    fault = Fault("disconnect", after=3, within="tool_use")
    async with serving(Turn([text("One moment."), tool_use("look", ARGUMENTS)], fault=fault)) as (_, client):
        seen: list[Any] = []
        open_stream = await ask(client, stream=True)

        async def collect() -> None:
            async for event in open_stream:
                seen.append(event)  # noqa: PERF401 - what came before the break counts

        await fails(collect(), "RemoteProtocolError")
        assert [event.type for event in seen[-3:]] == [
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
        ]
        assert seen[-3].content_block.name == "look"
        assert json.dumps(ARGUMENTS).startswith(seen[-1].delta.partial_json)


async def check_unknown_events() -> None:
    """What is unknown can be passed over; everything known is there."""
    turn = Turn([text("All is well."), tool_use("look", ARGUMENTS)], fault=Fault("unknown_events"))
    async with serving(turn, turn, strict=False) as (_, client):
        events = await stream(client)
        types = {event.type for event in events}
        assert "content_block_start" in types
        if SDK_2:
            assert "message_annotation" in types
        starts = [event.content_block.type for event in events if event.type == "content_block_start"]
        assert starts == ["annotation", "text", "tool_use"]
        deltas = [event.delta for event in events if event.type == "content_block_delta"]
        assert "annotation_delta" in {delta.type for delta in deltas}
        assert "".join(delta.text for delta in deltas if delta.type == "text_delta") == "All is well."
        whole = await ask(client)
        assert [block.type for block in whole.content] == ["annotation", "text", "tool_use"]


async def check_faults_without_streaming() -> None:
    """The same faults where no stream was asked for."""
    turns = [
        Turn([text("x")], fault=Fault("sse_error", error_type="overloaded_error")),
        Turn([text("x")], fault=Fault("disconnect")),
        Turn([text("x")], fault=Fault("stall")),
    ]
    async with serving(*turns) as (_, client):
        await fails(ask(client), "OverloadedError")
        await fails(ask(client), "APIConnectionError")
        await fails(ask(client, timeout=IN_VAIN), "APITimeoutError")


async def check_models_faults() -> None:
    """Everything that can be wrong with an address and a key, as a set-up meets it."""
    faults = [
        (Fault("http", status=401), "AuthenticationError"),
        (Fault("http", status=404), "NotFoundError"),
        (Fault("http", status=429), "RateLimitError"),
        (Fault("http", status=503, error_type="api_error"), "InternalServerError"),
        (Fault("http", status=200, body="<html></html>"), "APIResponseValidationError"),
        (Fault("disconnect"), "APIConnectionError"),
        (Fault("stall"), "APITimeoutError"),
    ]
    async with serving() as (server, client):
        for server.models_fault, name in faults:
            waits = IN_VAIN if server.models_fault.kind == "stall" else TIMEOUT
            err: Any = await fails(client.models.list(timeout=waits), name)
            assert server.models_fault.kind != "http" or err.status_code == server.models_fault.status
        server.models_fault = Fault("http", status=404)
        await fails(client.models.retrieve(MODEL), "NotFoundError")
        server.models_fault = None
        assert (await client.models.list()).data


async def check_exhausted_scenario() -> None:
    """A request too many is told so, at once even by a client that retries."""
    async with serving(Turn([text("One.")]), retries=2) as (server, client):
        await ask(client)
        err: Any = await fails(ask(client), "InternalServerError")
        assert "exhausted: all 1 turns were used" in err.body["error"]["message"]
        assert len(server.requests) == 2
