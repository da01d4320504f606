"""Fixtures of the web."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import aiodns
from aiohttp.resolver import AsyncResolver
import pytest

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.web import guard
from homeassistant.core import HomeAssistant
from homeassistant.helpers import aiohttp_client

from .site import Names, Site


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Answer look-ups of names."""
    names = Names()

    async def getaddrinfo(_: aiodns.DNSResolver, host: str, **more: Any) -> Any:
        return await names.getaddrinfo(host, **more)

    def make_resolver(_: HomeAssistant) -> AsyncResolver:
        resolver = AsyncResolver()
        resolver.real_close = resolver.close
        return resolver

    monkeypatch.setattr(aiodns.DNSResolver, "getaddrinfo", getaddrinfo)
    # The harness shares one resolver, which ends with the first Home Assistant that used it.
    monkeypatch.setattr(aiohttp_client, "_async_make_resolver", make_resolver)
    return names


type Admit = Callable[[Site], Site]


@pytest.fixture
def admit(names: Names, monkeypatch: pytest.MonkeyPatch) -> Admit:
    """Return a function that lets the guard through to a site, and names it site.test."""

    def let(site: Site) -> Site:
        monkeypatch.setattr(guard, "TEST_SERVERS", guard.TEST_SERVERS | {("127.0.0.1", site.port)})
        names.answers["site.test"] = [["127.0.0.1"]]
        return site

    return let


@pytest.fixture
async def site(hass: HomeAssistant, socket_enabled: None, admit: Admit) -> AsyncGenerator[Site]:
    """Return a site that can be reached."""
    async with Site() as site:
        yield admit(site)


@pytest.fixture
def options(site: Site) -> ToolboxOptions:
    """Return options that allow the site's port, and that trust who calls without a conversation."""
    return ToolboxOptions(web_ports=frozenset({site.port}), policy=Policy(allow_without_chat=True))


@pytest.fixture
def connections(hass: HomeAssistant, socket_enabled: None, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the addresses to which a connection is tried; none is made."""
    tried: list[Any] = []

    async def sock_connect(_: object, address: Any) -> None:
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(hass.loop, "sock_connect", sock_connect)
    return tried
