"""Tests of looking at servers that keep no list of models and answer a request without messages in odd ways."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from custom_components.extended_assist.claude.client import (
    ANTHROPIC_URL,
    ConnectionFailedError,
    async_create_client,
    async_list_models,
)
from homeassistant.core import HomeAssistant

type Handler = Callable[[web.Request], Awaitable[web.Response]]


async def hang_up(request: web.Request) -> web.Response:
    """Close the connection."""
    assert request.transport
    request.transport.close()
    return web.Response()


async def broken(_: web.Request) -> web.Response:
    """Answer with JSON that is none."""
    return web.Response(text="{", content_type="application/json")


async def agreeable(_: web.Request) -> web.Response:
    """Answer with a message, as a server does that takes anything."""
    usage = {"input_tokens": 0, "output_tokens": 0}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "none", "content": [], "usage": usage}
    return web.json_response(message)


@pytest.mark.parametrize(
    ("handler", "key"), [(hang_up, "cannot_connect"), (broken, "not_messages_api"), (agreeable, None)]
)
async def test_probe(hass: HomeAssistant, socket_enabled: None, handler: Handler, key: str | None) -> None:
    """What is no Messages API is told from what is gone; what answers with a message is one, without a list."""

    async def no_list(_: web.Request) -> web.Response:
        return web.Response(status=404)

    application = web.Application()
    application.router.add_get("/v1/models", no_list)
    application.router.add_post("/v1/messages", handler)
    async with TestServer(application) as server:
        client = await async_create_client(hass, "", str(server.make_url("")).rstrip("/"))
        if key is None:
            assert await async_list_models(client) == []
            return
        with pytest.raises(ConnectionFailedError) as failed:
            await async_list_models(client)
        assert failed.value.key == key


@pytest.mark.parametrize(("key", "both"), [("home-key", True), ("", False)])
async def test_the_key_goes_in_both_ways(hass: HomeAssistant, socket_enabled: None, key: str, both: bool) -> None:
    """Some servers take it as x-api-key and some as a bearer token; where there is none, no token is made up."""
    seen: list[dict[str, str]] = []

    async def models(request: web.Request) -> web.Response:
        seen.append({name.lower(): value for name, value in request.headers.items()})
        return web.json_response({"data": [], "has_more": False})

    application = web.Application()
    application.router.add_get("/v1/models", models)
    async with TestServer(application) as server:
        client = await async_create_client(hass, key, str(server.make_url("")).rstrip("/"))
        assert await async_list_models(client) == []
    assert (seen[0].get("authorization") == f"Bearer {key}") is both
    assert (seen[0].get("x-api-key") == key) is both


async def test_anthropic_gets_its_own_header_only(hass: HomeAssistant) -> None:
    """As the SDK sends it."""
    client = await async_create_client(hass, "key", ANTHROPIC_URL)
    sent = {name.lower() for name in client.default_headers}
    assert len(sent & {"authorization", "x-api-key"}) == 1


async def test_a_key_that_may_list_nothing(hass: HomeAssistant, socket_enabled: None) -> None:
    """What is forbidden where no model is named is forbidden to the key."""

    async def forbidden(_: web.Request) -> web.Response:
        return web.json_response({"type": "error", "error": {"type": "permission_error", "message": "No."}}, status=403)

    application = web.Application()
    application.router.add_get("/v1/models", forbidden)
    async with TestServer(application) as server:
        client = await async_create_client(hass, "key", str(server.make_url("")).rstrip("/"))
        with pytest.raises(ConnectionFailedError) as failed:
            await async_list_models(client)
    assert failed.value.key == "invalid_auth"
