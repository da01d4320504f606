"""Tests of looking at servers that keep no list of models and answer a request without messages in odd ways."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest

from custom_components.extended_assist.claude.client import (
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
