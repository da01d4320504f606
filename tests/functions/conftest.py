"""Fixtures for tests of functions."""

from collections.abc import AsyncGenerator, Awaitable, Callable
import json
from types import MappingProxyType
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.const import SUBENTRY_FUNCTION
from custom_components.extended_assist.functions.manager import async_validate_function
from custom_components.extended_assist.functions.yaml_source import split_functions
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import Converse

type Install = Callable[..., Awaitable[None]]
type Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def install(hass: HomeAssistant, entry: MockConfigEntry) -> Install:
    """Return a function that adds functions to the entry as the editor does: validated first.

    With `anew`, those that are there are removed before: for cases that share a home.
    """

    async def add(written: str, *, anew: bool = False, **data: Any) -> None:
        for known in list(entry.subentries.values()) if anew else ():
            if known.subentry_type == SUBENTRY_FUNCTION:
                hass.config_entries.async_remove_subentry(entry, known.subentry_id)
        for item in split_functions(written):
            definition = await async_validate_function(hass, entry, item.text)
            subentry = ConfigSubentry(
                data=MappingProxyType({"function": item.text, "enabled": True, **data}),
                subentry_type=SUBENTRY_FUNCTION,
                title=definition.name,
                unique_id=None,
            )
            hass.config_entries.async_add_subentry(entry, subentry)
            await hass.async_block_till_done()

    return add


@pytest.fixture
def ask(converse: Converse, claude_server: ClaudeServer) -> Ask:
    """Return a function with which the model calls a function; it returns the result, or the error."""

    async def call(name: str, arguments: dict[str, Any] | None = None, *, error: bool = False, **more: Any) -> Any:
        await converse(
            "Do it.",
            Turn([tool_use(name, arguments or {})], invents=more.pop("invents", False)),
            Turn([text("Done.")]),
            **({"device_id": "a satellite"} | more),
        )
        block = claude_server.message_requests[-1]["messages"][-1]["content"][-1]
        data = json.loads(block["content"])
        assert block.get("is_error", False) is error, data
        return data["error"] if error else data.get("result", data)

    return call


class Site:
    """A server on loopback that remembers what it was asked."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.requests: list[tuple[str, str, dict[str, str], str]] = []
        self.answers: dict[str, tuple[str, str]] = {}
        self.status = 200
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        """Answer what was prepared for a path."""
        body = await request.text()
        self.requests.append((request.method, request.raw_path, dict(request.headers), body))
        found = self.answers.get(request.path.strip("/").split("/")[0], ("{}", "application/json"))
        return web.Response(text=found[0], content_type=found[1], status=self.status)


@pytest.fixture
async def site(socket_enabled: None) -> AsyncGenerator[Site]:
    """Return a running server."""
    here = Site()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", here.answer)
    async with TestServer(application, host="127.0.0.1") as server:
        here.url = f"http://127.0.0.1:{server.port}"
        yield here
