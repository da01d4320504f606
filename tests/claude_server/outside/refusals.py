"""Who is let in, and that the types of a request are those of the SDK."""

from typing import Any

from anthropic import AsyncAnthropic

from tests.claude_server import Turn, text
from tests.claude_server.known_fields import new_in_this_sdk

from .client import TOOLS, ask, fails, serving


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


async def check_nothing_new_in_the_sdk() -> None:
    """A field, a tool or a kind of thinking that no rule knows of is to be looked at before it is used."""
    assert new_in_this_sdk() == {}
