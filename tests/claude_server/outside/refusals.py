"""What the server refuses, and that it lets its like through."""

from typing import Any

from anthropic import AsyncAnthropic

from tests.claude_server import Turn, text

from .client import EVERY_BLOCK, TOOLS, ask, fails, follow_up, serving, stream


async def check_keys() -> None:
    """The key counts in either header; a wrong one and none are refused."""
    async with serving(api_key="right") as (server, client):
        err: Any = await fails(client.models.list(), "AuthenticationError")
        assert err.body["error"] == {"type": "authentication_error", "message": "invalid x-api-key"}
        for options in ({"api_key": "right"}, {"api_key": None, "auth_token": "right"}):
            async with AsyncAnthropic(base_url=server.url, **options) as other:
                assert (await other.models.list()).data


async def check_request_types() -> None:
    """Bodies are held against the SDK's own types; those of another version of the SDK are not."""
    refused: list[tuple[dict[str, Any], str]] = [
        ({"extra_body": {"colour": "red"}}, "colour: Extra inputs are not permitted"),
        ({"max_tokens": "many"}, "max_tokens: Input should be a valid integer"),
        ({"tools": [{"name": "look"}]}, "tools.0.custom.input_schema: Field required"),
        ({"tools": [TOOLS[0] | {"colour": "red"}]}, "tools.0.custom.colour: Extra inputs are not permitted"),
        ({"system": [{"type": "text"}]}, "system.0.text: Field required"),
        ({"thinking": {"type": "sometimes"}}, "thinking: Input tag 'sometimes'"),
    ]
    async with serving(Turn([text("Fine.")])) as (server, client):
        for options, message in refused:
            err: Any = await fails(ask(client, **options), "BadRequestError")
            assert err.body["error"]["message"].startswith(message), err.body
        content = [{"type": "text", "text": "Hello", "colour": "red"}]
        err = await fails(ask(client, [{"role": "user", "content": content}]), "BadRequestError")
        assert err.body["error"]["message"].endswith("content.0.text.colour: Extra inputs are not permitted"), err.body
        other = {"X-Stainless-Package-Version": "99.0.0"}
        await ask(client, extra_body={"colour": "red"}, extra_headers=other)
        assert [item.type_checked for item in server.requests[-2:]] == [True, False]


async def check_capabilities() -> None:
    """What a model's listed capabilities exclude is refused; an unknown model is not found."""
    large = {"model": "claude-opus-5-5"}
    small = {"model": "claude-haiku-4-5"}
    refused: list[tuple[dict[str, Any], str]] = [
        (small | {"thinking": {"type": "adaptive"}}, "thinking.type: adaptive is not supported"),
        (small | {"output_config": {"effort": "low"}}, "output_config.effort: low is not supported"),
        (small | {"max_tokens": 64_001}, "max_tokens: 64001 > 64000"),
        (small | {"thinking": {"type": "enabled", "budget_tokens": 1024}}, "`max_tokens` must be greater"),
        (small | {"thinking": {"type": "enabled", "budget_tokens": 100}}, "thinking.enabled.budget_tokens"),
    ]
    async with serving(Turn([text("Fine.")]), Turn([text("Fine.")])) as (_, client):
        for options, message in refused:
            err: Any = await fails(stream(client, **options), "BadRequestError")
            assert err.body["error"]["message"].startswith(message), err.body
        err = await fails(ask(client, model="claude-none"), "NotFoundError")
        assert err.body["error"]["message"] == "model: claude-none"
        await stream(client, **large, thinking={"type": "adaptive"}, output_config={"effort": "low"})
        await stream(client, **small, thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000)


CALLS: list[Any] = [{"type": "tool_use", "id": f"toolu_{n}", "name": "look", "input": {}} for n in (1, 2)]
RESULTS: list[Any] = [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": "done"} for n in (1, 2)]
SAID: Any = {"type": "text", "text": "Hello"}


def user(*blocks: Any) -> dict[str, Any]:
    """A user message."""
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    """An assistant message."""
    return {"role": "assistant", "content": list(blocks)}


async def check_conversations() -> None:
    """Calls and results pair up, texts say something, and the user begins."""
    refused: list[tuple[list[Any], str]] = [
        ([assistant(SAID)], "first message must use the `user` role"),
        ([user()], "user messages must have non-empty content"),
        ([user(SAID | {"text": ""})], "text content blocks must be non-empty"),
        ([user(SAID | {"text": " \n"})], "text content blocks must contain non-whitespace text"),
        ([{"role": "user", "content": " "}], "text content blocks must contain non-whitespace text"),
        ([user(SAID), assistant(*CALLS)], "without `tool_result` blocks immediately after: toolu_1, toolu_2"),
        (
            [user(SAID), assistant(*CALLS), user(SAID)],
            "without `tool_result` blocks immediately after: toolu_1, toolu_2",
        ),
        ([user(SAID), assistant(*CALLS), user(RESULTS[0])], "without `tool_result` blocks immediately after: toolu_2"),
        ([user(SAID), assistant(*CALLS), user(SAID, *RESULTS)], "unexpected `tool_use_id` found"),
        ([user(SAID, RESULTS[0])], "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"),
        (
            [user(SAID), assistant(CALLS[0]), user(*RESULTS)],
            "unexpected `tool_use_id` found in `tool_result` blocks: toolu_2",
        ),
        (
            [user(SAID), assistant(CALLS[0]), user(RESULTS[0]), assistant(SAID), user(RESULTS[0])],
            "unexpected `tool_use_id`",
        ),
        ([user(SAID), assistant(CALLS[0]), user(RESULTS[0], RESULTS[0])], "each tool_use must have a single result"),
        ([user(SAID), assistant(CALLS[0], CALLS[0]), user(RESULTS[0])], "`tool_use` ids must be unique"),
        (
            [user(SAID), assistant(CALLS[0]), user(RESULTS[0]), assistant(CALLS[0]), user(RESULTS[0])],
            "`tool_use` ids must be unique",
        ),
        (
            [user(SAID), assistant(CALLS[0]), user(RESULTS[0] | {"content": [SAID | {"text": ""}]})],
            "text content blocks must be non-empty",
        ),
    ]
    async with serving(Turn([text("Fine.")])) as (_, client):
        for messages, words in refused:
            err: Any = await fails(ask(client, messages), "BadRequestError")
            assert err.body["error"]["type"] == "invalid_request_error"
            assert words in err.body["error"]["message"], err.body
        err = await fails(
            client.messages.create(messages=[], model="claude-haiku-5-5", max_tokens=5), "BadRequestError"
        )
        assert err.body["error"]["message"] == "messages: at least one message is required"
        err = await fails(ask(client, system=[SAID | {"text": ""}]), "BadRequestError")
        assert err.body["error"]["message"] == "system: text content blocks must be non-empty"
        # Messages of one role in a row are one message; text may follow results; a result may be empty.
        answers = user(RESULTS[0] | {"content": ""}), user(RESULTS[1], SAID)
        await ask(client, [user(SAID), user(SAID), assistant(CALLS[0]), assistant(CALLS[1]), *answers])


async def check_tools() -> None:
    """Tool names and schemas that the API refuses."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"tools": [TOOLS[0], TOOLS[0]]}, "tools: Tool names must be unique."),
        ({"tools": [{"name": "look.up", "input_schema": schema}]}, "tools.0.custom.name: String should match pattern"),
        ({"tools": [{"name": "x" * 129, "input_schema": schema}]}, "tools.0.custom.name: String should match pattern"),
        ({"tools": [{"name": "", "input_schema": schema}]}, "tools.0.custom.name: String should match pattern"),
        ({"tools": [{"name": "look", "input_schema": {"type": "array"}}]}, "tools.0.custom.input_schema"),
        ({"tools": [{"name": "look", "input_schema": {}}]}, "tools.0.custom.input_schema"),
        ({"tool_choice": {"type": "tool", "name": "gone"}}, "tool_choice: Tool 'gone' not found"),
        ({"tools": [], "tool_choice": {"type": "auto"}}, "tool_choice: may only be specified while providing tools"),
    ]
    for key in ("oneOf", "anyOf", "allOf"):
        tool = {"name": "look", "input_schema": schema | {key: [{"required": []}]}}
        refused.append(({"tools": [tool]}, "tools.0.custom.input_schema: input_schema does not support"))
    async with serving(Turn([text("Fine.")])) as (_, client):
        for options, words in refused:
            err: Any = await fails(ask(client, **options), "BadRequestError")
            assert err.body["error"]["message"].startswith(words), err.body
        nested = schema | {"properties": {"when": {"anyOf": [{"type": "string"}, {"type": "number"}]}}}
        await ask(client, tools=[{"name": "x" * 128, "input_schema": nested}], tool_choice={"type": "none"})


async def check_thinking() -> None:
    """Thinking comes back as it was sent, with the signature that was issued for it."""
    async with serving(EVERY_BLOCK, Turn([text("Fine.")])) as (_, client):
        message = await ask(client)
        whole = follow_up(message)
        blocks = whole[1]["content"]

        def changed(index: int, **change: Any) -> list[Any]:
            new = [*blocks[:index], blocks[index] | change, *blocks[index + 1 :]]
            return [whole[0], assistant(*new), whole[2]]

        refused = [
            (changed(0, signature="forged"), "messages.1.content.0: Invalid `signature` in `thinking` block"),
            (changed(0, thinking="Something else."), "messages.1.content.0: `thinking` blocks cannot be modified"),
            (changed(1, data="forged"), "messages.1.content.1: Invalid `data` in `redacted_thinking` block"),
        ]
        for messages, words in refused:
            err: Any = await fails(ask(client, messages), "BadRequestError")
            assert err.body["error"]["message"].startswith(words), err.body
        unsigned = {key: value for key, value in blocks[0].items() if key != "signature"}
        err = await fails(ask(client, [whole[0], assistant(unsigned, *blocks[1:]), whole[2]]), "BadRequestError")
        assert err.body["error"]["message"].endswith("content.0.thinking.signature: Field required"), err.body
        # Left out altogether it is no error: a client may drop the thinking of earlier turns.
        await ask(client, [whole[0], assistant(*blocks[2:]), whole[2]])
