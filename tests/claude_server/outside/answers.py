"""What the server answers, as the SDK reads it."""

import time

from tests.claude_server import Turn, text, tool_use
from tests.claude_server.models import default_models

from .client import ARGUMENTS, EVERY_BLOCK, MODEL, QUESTION, SDK_2, TOOLS, ask, fails, follow_up, serving, stream


async def check_stream_of_every_block() -> None:
    """Every block arrives whole from several deltas, and is accepted when sent back."""
    async with serving(EVERY_BLOCK, Turn([text("At 8:01.")])) as (server, client):
        options = {"model": MODEL, "max_tokens": 500, "tools": TOOLS}
        async with client.messages.stream(messages=QUESTION, **options) as open_stream:
            pieces = [event.delta.type async for event in open_stream if event.type == "content_block_delta"]
            message = await open_stream.get_final_message()
        for kind, least in (("text_delta", 2), ("thinking_delta", 2), ("signature_delta", 1), ("input_json_delta", 4)):
            assert pieces.count(kind) >= least, (kind, pieces)
        kinds = [block.type for block in message.content]
        assert kinds == ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]
        assert message.content[0].thinking == EVERY_BLOCK.content[0]["thinking"]
        assert message.content[2].text == "Let me look that up."
        assert message.content[3].input == ARGUMENTS
        assert message.content[4].input == {}
        ids = [block.id for block in message.content[3:]]
        assert len(set(ids)) == 2
        assert all(call.startswith("toolu_") for call in ids)
        assert message.stop_reason == "tool_use"
        answer = await ask(client, follow_up(message))
        assert answer.content[0].text == "At 8:01."
        assert answer.stop_reason == "end_turn"
        assert [len(body["messages"]) for body in server.message_requests] == [1, 3]
        assert all(item.type_checked for item in server.requests)


async def check_whole_message() -> None:
    """The same turn without streaming, accepted when sent back."""
    async with serving(EVERY_BLOCK, Turn([text("Done.")])) as (_, client):
        message = await ask(client)
        assert message.content[3].input == ARGUMENTS
        assert message.model == MODEL
        assert (await ask(client, follow_up(message))).content[0].text == "Done."


async def check_stop_reasons_and_usage() -> None:
    """Every stop reason and every number given in a turn reaches the client."""
    reasons = [
        "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded",
    ]  # fmt: skip
    usage = {"input_tokens": 7, "output_tokens": 9, "cache_read_input_tokens": 5}
    turns = [Turn([text("Well.")], stop_reason=reason, usage=usage) for reason in reasons]
    async with serving(*turns) as (_, client):
        for reason in reasons:
            events = await stream(client)
            assert events[-2].delta.stop_reason == reason
            assert events[-2].usage.output_tokens == 9
            assert events[0].message.usage.input_tokens == 7
            assert events[0].message.usage.cache_read_input_tokens == 5


async def check_input_json_as_it_stands() -> None:
    """Arguments that are no JSON are streamed as written; without streaming they cannot be."""
    broken = Turn([tool_use("look", input_json='{"entities": ["front')], stop_reason="max_tokens")
    async with serving(broken, broken) as (_, client):
        events = await stream(client)
        parts = [event.delta.partial_json for event in events if event.type == "content_block_delta"]
        assert "".join(parts) == '{"entities": ["front'
        assert (await ask(client)).content[0].input == {}


async def check_delay_and_chunk() -> None:
    """The delay comes before the first event; a chunk is the length of a delta."""
    async with serving(Turn([text("abcdefgh")], delay=0.1, chunk=3)) as (_, client):
        before = time.monotonic()
        events = await stream(client)
        assert time.monotonic() - before >= 0.1
        assert [e.delta.text for e in events if e.type == "content_block_delta"] == ["abc", "def", "gh"]


async def check_models() -> None:
    """The list in pages, each model by id and by alias, with all its capabilities."""
    async with serving() as (server, client):
        listed = [model async for model in await client.models.list(limit=1)]
        assert [model.id for model in listed] == [model["id"] for model in default_models()]
        assert len(server.requests) == len(listed)
        page = await client.models.list(limit=2, before_id=listed[-1].id)
        assert [model.id for model in page.data] == [model.id for model in listed[1:3]]
        assert page.has_more
        model = await client.models.retrieve("claude-haiku-4-5")
        assert model.id == "claude-haiku-4-5-20251001"
        assert model.max_tokens == 64_000
        assert model.capabilities is not None
        assert model.capabilities.thinking.types.enabled.supported
        assert not model.capabilities.effort.supported
        await fails(client.models.retrieve("claude-none"), "NotFoundError")
        await fails(client.models.list(limit=0), "BadRequestError")


async def check_life_cycles() -> None:
    """The list by life cycle; the deprecated model is in it unless it is left out."""
    async with serving() as (_, client):
        query = {"lifecycle": ["deprecated", "retired"]}
        page = await client.models.list(extra_query=query)
        assert [model.id for model in page.data] == ["claude-sonnet-4-5-20250929"]
        await fails(client.models.list(extra_query={"lifecycle": "born"}), "BadRequestError")
        if SDK_2:
            active = await client.models.list(lifecycle=["active"])  # type: ignore[call-arg] # known since SDK 2
            assert {model.lifecycle for model in active.data} == {"active"}


async def check_count_tokens() -> None:
    """More text costs more; the same checks apply as to a message."""
    async with serving() as (_, client):
        short = await client.messages.count_tokens(messages=QUESTION, model=MODEL)
        long = await client.messages.count_tokens(messages=QUESTION, model=MODEL, system="Be brief. " * 40, tools=TOOLS)
        assert 0 < short.input_tokens < long.input_tokens
        await fails(client.messages.count_tokens(messages=[], model=MODEL), "BadRequestError")


async def check_same_ids_every_time() -> None:
    """Two servers with one scenario give the same ids and signatures."""
    messages = []
    for _ in range(2):
        async with serving(EVERY_BLOCK) as (_, client):
            messages.append(await ask(client))
    assert messages[0] == messages[1]


async def check_restart_on_the_same_port() -> None:
    """After a restart the server is where it was."""
    async with serving(Turn([text("One.")]), Turn([text("Two.")])) as (server, client):
        url = server.url
        await ask(client)
        await server.stop()
        await fails(ask(client), "APIConnectionError")
        await server.start()
        assert server.url == url
        assert (await ask(client)).content[0].text == "Two."
