"""The allowed addresses of the web, checked for the exact IP address of each connection before it is opened."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
import errno
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
import re
import socket
from typing import Final, Self, override

from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
import ifaddr
from yarl import URL

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import HomeAssistantTCPConnector, async_get_clientsession
from homeassistant.util import ssl as ssl_util

from ..results import ToolError

PORTS: Final = frozenset({80, 443})
MAX_ADDRESS: Final = 2_000
"""The most characters of an address: enough for pages, and a limit on the data that an address can send out."""
TEST_SERVERS: frozenset[tuple[str, int]] = frozenset()
"""Addresses and ports that are always allowed. Only tests set it, for servers on loopback."""

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

_CREDENTIALS = re.compile(r"[a-z]+:/*[^/?#]*@", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
"""The prefix with which networks without IPv4 reach IPv4 addresses, which are the last 32 bits."""
_NOT_PUBLIC: Final[tuple[Network, ...]] = (
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("2001::/23"),  # Teredo, ORCHID, benchmarks and other protocols
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4 carries any IPv4 address
    IPv6Network("3fff::/20"),  # documentation
)
_HOME: Final[tuple[Network, ...]] = (
    *map(IPv4Network, ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16")),
    IPv6Network("fc00::/7"),
)
"""Private networks of homes, including those of overlay networks."""


class NotReachableError(ToolError):
    """An address is not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """The rules for one request with its redirects."""

    ports: frozenset[int] = PORTS
    hosts: frozenset[str] = frozenset()
    """Allowed hosts of the user's own network, as host or host:port."""
    anywhere: bool = False
    """True to allow any host and port: for addresses that the user wrote, never for those of a model."""

    only: str | None = None
    """The only allowed host, for a link that is followed without a request of the user."""

    @classmethod
    def of(cls, hosts: Iterable[str], ports: Iterable[int]) -> Self:
        """Return the guard for the hosts and additional ports of the options."""
        return cls(hosts=frozenset(hosts), ports=PORTS | frozenset(ports))

    def check_url(self, text: str) -> URL:
        """Return an address in the form of the request; raises NotReachableError if it is not allowed."""
        text = text.strip()
        if len(text) > MAX_ADDRESS:
            raise NotReachableError(f"The address has {len(text)} characters; at most {MAX_ADDRESS} are allowed.")
        if _UNSAFE.search(text):
            raise NotReachableError("The address holds spaces, backslashes or control characters. Encode them with %.")
        try:
            url = URL(text).with_fragment(None)
            host, port = url.raw_host, url.port
        except (ValueError, TypeError) as err:
            raise NotReachableError(f"'{text}' is not a web address. Write it like https://example.com/page.") from err
        if url.scheme not in ("http", "https") or not host or not port:
            raise NotReachableError("Only complete http and https addresses can be fetched, like https://example.com/.")
        if _CREDENTIALS.match(text):
            raise NotReachableError("An address must not hold a user name or password.")
        host = host.lower().removesuffix(".")
        _literal(host)
        if self.anywhere:
            return url
        if self.only not in (None, host):
            raise NotReachableError(
                f"This link leads away from {self.only}. Fetch the address itself, if the user wants it."
            )
        if port not in self.ports and _with_port(host, port) not in self.hosts and (host, port) not in TEST_SERVERS:
            raise NotReachableError(f"Port {port} is not allowed. An administrator can allow it in the options.")
        return url.with_host(host)

    def lists(self, host: str, port: int) -> bool:
        """Return whether the options list a host with this port."""
        return _with_port(host, port) in self.hosts or (host in self.hosts and port in self.ports)

    def public_only(self) -> Guard:
        """Return the same rules without hosts of the home's network."""
        return replace(self, hosts=frozenset())

    def check(self, host: str, port: int, address: Address, own: Iterable[Network]) -> None:
        """Raise NotReachableError unless a host may be reached at an IP address."""
        if self.anywhere or (str(address), port) in TEST_SERVERS:
            return
        own = [*own]
        if is_public(address) and not _within(_meant(address), own):
            return
        if not (self.lists(host, port) and is_of_home(address, own)):
            raise NotReachableError(
                f"{host} is not a public host. Hosts of the home's own network can be fetched only if an administrator "
                "lists them in the options."
            )


def normalized_host(text: str) -> str | None:
    """Return a host, or host and port, in the form of Guard.hosts; None if it is neither."""
    try:
        url = URL(f"http://{text.strip()}")
        host = (url.raw_host or "").lower().removesuffix(".")
        address = _literal(host)
    except ValueError, NotReachableError:
        return None
    if not url.port or url.path != "/" or url.query_string or url.raw_fragment or "@" in text:
        return None
    if address is not None and not (is_public(address) or is_of_home(address, ())):
        return None
    if host.rpartition(".")[2] == "localhost":
        return None  # It could be listed, and would never be reached.
    return host if url.explicit_port is None else _with_port(host, url.port)


def is_public(address: Address) -> bool:
    """Return whether an IP address is public and does not embed another address."""
    address = _meant(address)
    if isinstance(address, IPv6Address) and (
        address not in _GLOBAL_UNICAST or address.scope_id is not None or _is_isatap(address)
    ):
        return False
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved or address.is_unspecified)
        and not _within(address, _NOT_PUBLIC)
    )


def is_of_home(address: Address, own: Iterable[Network]) -> bool:
    """Return whether an IP address can belong to a host in the home, other than this machine's loopback."""
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    return _within(address, _HOME) or (is_public(address) and _within(address, own))


def own_networks() -> list[Network]:
    """Return the networks of this machine's adapters; blocks for a moment.

    With IPv6, devices of a home have public addresses, so they are recognised by these networks.
    """
    found: set[Network] = set()
    for adapter in ifaddr.get_adapters():
        for ip in adapter.ips:
            text = ip.ip if isinstance(ip.ip, str) else ip.ip[0]
            interface: IPv4Interface | IPv6Interface = ip_interface(f"{text.partition('%')[0]}/{ip.network_prefix}")
            found.update((interface.network, ip_network(interface.ip)))
    return list(found)


def _meant(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address embeds, or the address itself."""
    if isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _is_isatap(address: IPv6Address) -> bool:
    """Return whether an IPv6 address embeds an IPv4 address in its interface identifier."""
    return (int(address) >> 32) & 0xFDFFFFFF == 0x00005EFE


def _within(address: Address, networks: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks."""
    return any(network.version == address.version and address in network for network in networks)


def _with_port(host: str, port: int) -> str:
    """Return a host with a port in the form of Guard.hosts."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _literal(host: str) -> Address | None:
    """Return the IP address that a host is written as, or None for a name.

    Raises NotReachableError for forms that other programs read as an address, such as 127.1 or 0x7f000001.
    """
    if ":" in host:
        try:
            return ip_address(host)
        except ValueError as err:
            raise NotReachableError(f"'{host}' is not an address.") from err
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return IPv4Address(host)
        except ValueError as err:
            raise NotReachableError(f"'{host}' is not an address. Write four decimal numbers.") from err
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise NotReachableError(f"'{host}' is not the name of a host.")
    return None


class _Resolver(AbstractResolver):
    """Resolves names to addresses that the guard allows, and stores these."""

    def __init__(
        self, guard: Guard, own: list[Network], look_up: Callable[[str], Awaitable[list[ResolveResult]]]
    ) -> None:
        """Store the guard, the home's own networks, and the resolver."""
        self.guard = guard
        self._own = own
        self._look_up = look_up
        self._checked: set[tuple[str, int]] = set()

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name; it is refused if one of its addresses is not allowed."""
        results = [ResolveResult(**{**result, "port": port}) for result in await self._look_up(host)]
        for result in results:
            self.admit(host, port, ip_address(result["host"]))
        return results

    def admit(self, host: str, port: int, address: Address) -> None:
        """Check and store an address of a host."""
        self.guard.check(host, port, address, self._own)
        self._checked.add((str(address), port))

    def open_socket(self, info: AddrInfoType) -> socket.socket:
        """Return a socket for a checked address only, whatever the library passes."""
        family, kind, protocol, _, sockaddr = info
        host, port = sockaddr[:2]
        if (str(ip_address(str(host))), port) not in self._checked:
            raise OSError(errno.EACCES, "This address was not checked")
        return socket.socket(family, kind, protocol)

    @override
    async def close(self) -> None:
        """Do nothing: no connection is kept."""


class GuardedConnector(TCPConnector):
    """Connects for one request and its redirects, to addresses that its guard allowed.

    It is not shared: a connection that was opened under one guard must not serve another.
    """

    def __init__(self, resolver: _Resolver) -> None:
        """Use Home Assistant's certificates."""
        super().__init__(
            resolver=resolver,
            socket_factory=resolver.open_socket,
            use_dns_cache=False,
            force_close=True,  # what was open under other rules is not used again
            ssl=ssl_util.client_context(ssl_util.SSLCipherList.PYTHON_DEFAULT, ssl_util.SSL_ALPN_HTTP11),
        )
        self._guarded = resolver

    def admit(self, guard: Guard, url: URL) -> None:
        """Store the rules for the next request, and check an IP address in it, which no resolver sees."""
        self._guarded.guard = guard
        if url.raw_host and url.port and (address := _literal(url.raw_host)) is not None:
            self._guarded.admit(url.raw_host, url.port, address)


async def async_connector(hass: HomeAssistant, guard: Guard) -> GuardedConnector:
    """Return a connector with Home Assistant's resolver."""
    shared = async_get_clientsession(hass).connector
    if not isinstance(shared, HomeAssistantTCPConnector):
        raise TypeError("Home Assistant's connector has another type")
    own: list[Network] = []
    if not guard.anywhere:
        own = await hass.async_add_executor_job(own_networks)
        # From inside, the home's address on the internet leads to its router, or back into the home.
        if host := URL(hass.config.external_url or "").raw_host:
            with suppress(OSError, ValueError):
                own += [ip_network(result["host"]) for result in await shared.async_resolve_host(host)]
    return GuardedConnector(_Resolver(guard, own, shared.async_resolve_host))
