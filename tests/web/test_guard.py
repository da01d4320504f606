"""Tests of the guard: nothing connects where it must not, and what it decides follows the registries of addresses."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from hypothesis import example, given, strategies as st
import ifaddr
from ifaddr._posix import get_adapters as posix_get_adapters
import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.web import guard
from custom_components.extended_assist.web.fetch import async_fetch
from custom_components.extended_assist.web.guard import Guard, is_of_home, is_public, normalized_host
from homeassistant.core import HomeAssistant
from tests.attacks.addresses import LITERALS, NAMES, OUTSIDE

from .site import Names, Site, redirect

SPECIAL = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "::/8", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"),
    *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10"),
    *("ff00::/8", "4000::/3"),
]


def test_the_collection_is_large() -> None:
    """As many as were promised, each once."""
    assert len(set(LITERALS)) == len(LITERALS)
    assert len(LITERALS) + len(NAMES) >= 120


@pytest.mark.parametrize("url", LITERALS)
async def test_no_literal_connects(hass: HomeAssistant, names: Names, connections: list[Any], url: str) -> None:
    """Whatever is written, no connection is tried."""
    with pytest.raises(ToolError):
        await async_fetch(hass, Guard(), url)
    assert connections == []


@pytest.mark.parametrize(("name", "addresses"), NAMES.items())
async def test_no_name_connects(
    hass: HomeAssistant, names: Names, connections: list[Any], name: str, addresses: list[str]
) -> None:
    """Wherever a name leads, no connection is tried, not even to those of its addresses that are public."""
    plain = name.encode("idna").decode() if name.isascii() is False else name
    for spelling in {name, plain, name.lower().rstrip("."), plain.lower()}:
        names.answers[spelling] = [addresses]
    for scheme in ("http", "https"):
        with pytest.raises(ToolError):
            await async_fetch(hass, Guard(), f"{scheme}://{name}/")
    assert connections == []


async def test_the_same_would_connect_without_the_guard(
    hass: HomeAssistant, names: Names, connections: list[Any]
) -> None:
    """Without a guard many of the collection are tried, so the tests above can fail."""
    names.answers.update({name: [addresses] for name, addresses in NAMES.items()})
    urls = [*LITERALS, *(f"http://{name}/" for name in NAMES)]
    reached = 0
    for url in urls:
        before = len(connections)
        with pytest.raises(ToolError):
            await async_fetch(hass, Guard(anywhere=True), url)
        reached += len(connections) > before
    assert reached > 90


@pytest.mark.parametrize("url", [f"http://{OUTSIDE}/", "https://public.test/", "http://public.test./x?y=1#z"])
async def test_public_hosts_are_tried(hass: HomeAssistant, names: Names, connections: list[Any], url: str) -> None:
    """What is public is connected to, at the address that was looked up."""
    names.answers["public.test"] = [[OUTSIDE]]
    with pytest.raises(ToolError, match="could not be reached"):
        await async_fetch(hass, Guard(), url)
    assert [address[:2] for address in connections] == [(OUTSIDE, 443 if url.startswith("https") else 80)]


async def test_the_second_answer_is_never_asked_for(hass: HomeAssistant, names: Names, connections: list[Any]) -> None:
    """A name is looked up once, and the connection goes to that answer."""
    names.answers["rebind.test"] = [[OUTSIDE], ["127.0.0.1"]]
    with pytest.raises(ToolError, match="could not be reached"):
        await async_fetch(hass, Guard(), "http://rebind.test/")
    assert names.asked == ["rebind.test"]
    assert [address[0] for address in connections] == [OUTSIDE]


async def test_a_later_answer_is_checked_again(
    hass: HomeAssistant, names: Names, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a redirect to the same host, another answer is another decision."""
    names.answers["site.test"] = [["127.0.0.1"], ["127.0.0.2"]]
    site.pages["/"] = redirect("http://site.test:1/")
    # Home Assistant's own look-ups are kept for some seconds; here they are not.
    monkeypatch.setattr("aiohttp.connector._DNSCacheTable.expired", lambda *_: True)
    with pytest.raises(ToolError, match="is not a public host"):
        await async_fetch(hass, Guard(ports=frozenset({1, site.port})), site.url("/"))
    assert len(site.requests) == 1


async def test_a_socket_is_opened_for_checked_addresses_only(hass: HomeAssistant, socket_enabled: None) -> None:
    """Should the library ever connect elsewhere, there is no socket for it."""
    connector = await guard.async_connector(hass, Guard())
    connector._guarded.admit("x", 80, ip_address(OUTSIDE))
    for host, port in ((OUTSIDE, 81), ("127.0.0.1", 80), ("8.8.4.4", 80)):
        with pytest.raises(OSError, match="not checked"):
            connector._guarded.open_socket((2, 1, 6, "", (host, port)))
    connector._guarded.open_socket((2, 1, 6, "", (OUTSIDE, 80))).close()
    await connector.close()


@pytest.mark.parametrize(
    ("hosts", "url", "address", "allowed"),
    [
        ({"nas.local"}, "http://nas.local/", "192.168.1.5", True),
        ({"nas.local"}, "http://NAS.local./", "192.168.1.5", True),
        ({"nas.local"}, "http://nas.local/", "fd00::5", True),
        ({"nas.local"}, "http://nas.local/", "100.64.1.5", True),
        ({"nas.local"}, "http://nas.local/", "127.0.0.1", False),
        ({"nas.local"}, "http://nas.local/", "169.254.169.254", False),
        ({"nas.local"}, "http://nas.local/", "::1", False),
        ({"nas.local"}, "http://nas.local/", "0.0.0.0", False),
        ({"nas.local"}, "http://nas.local/", "::ffff:192.168.1.5", False),
        ({"nas.local"}, "http://nas.local:5000/", "192.168.1.5", False),
        ({"nas.local:5000"}, "http://nas.local:5000/", "192.168.1.5", True),
        ({"nas.local:5000"}, "http://nas.local/", "192.168.1.5", False),
        ({"nas.local:5000"}, "http://other.local:5000/", "192.168.1.5", False),
        ({"nas.local"}, "http://x.nas.local/", "192.168.1.5", False),
        ({"nas.local"}, "http://192.168.1.5/", "192.168.1.5", False),
        ({"192.168.1.5"}, "http://192.168.1.5/", "192.168.1.5", True),
        ({"192.168.1.5"}, "http://192.168.1.6/", "192.168.1.6", False),
        ({"192.168.1.5"}, "http://nas.local/", "192.168.1.5", False),
        ({"192.168.1.5:8080"}, "http://192.168.1.5:8080/", "192.168.1.5", True),
        ({"127.0.0.1"}, "http://127.0.0.1/", "127.0.0.1", False),
        ({"[fd00::1]:81"}, "http://[fd00::1]:81/", "fd00::1", True),
        ({"[fd00::1]:81"}, "http://[fd00::1:81]/", "fd00::1:81", False),
    ],
)
async def test_hosts_of_the_own_network(
    hass: HomeAssistant, names: Names, connections: list[Any], hosts: set[str], url: str, address: str, allowed: bool
) -> None:
    """A listed host is reached by its name and port, where it is in the home."""
    names.answers |= {"nas.local": [[address]], "x.nas.local": [[address]], "other.local": [[address]]}
    with pytest.raises(ToolError):
        await async_fetch(hass, Guard.of(hosts, ()), url)
    assert [tried[0] for tried in connections] == ([address] if allowed else [])


async def test_neighbours_with_public_addresses(
    hass: HomeAssistant, names: Names, connections: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices of the home that have public addresses are no public hosts; they can be listed."""
    own: list[Any] = [ip_network("2a01:4f8:1:2::/64"), ip_network("8.8.8.0/24")]
    monkeypatch.setattr(guard, "own_networks", lambda: own)
    names.answers |= {"six.test": [["2a01:4f8:1:2::99"]], "four.test": [[OUTSIDE]]}
    urls = ["http://six.test/", "http://four.test/", f"http://{OUTSIDE}/", "http://[2a01:4f8:1:2::1]/"]
    for url in (*urls, f"http://[::ffff:{OUTSIDE}]/", f"http://[64:ff9b::{OUTSIDE}]/"):
        with pytest.raises(ToolError, match="not a public host"):
            await async_fetch(hass, Guard(), url)
    assert connections == []
    with pytest.raises(ToolError, match="could not be reached"):
        await async_fetch(hass, Guard.of({"six.test"}, ()), "http://six.test/")
    assert [tried[0] for tried in connections] == ["2a01:4f8:1:2::99"]


async def test_the_homes_address_on_the_internet(hass: HomeAssistant, names: Names, connections: list[Any]) -> None:
    """The name under which the home is reached from outside leads back into it."""
    hass.config.external_url = "https://home.test:8123"
    names.answers |= {"home.test": [[OUTSIDE]], "alias.test": [[OUTSIDE]]}
    for url in ("http://home.test/", "http://alias.test/", f"https://{OUTSIDE}/"):
        with pytest.raises(ToolError, match="not a public host"):
            await async_fetch(hass, Guard(), url)
    assert connections == []


def test_own_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's adapters are found, loopback among them."""
    monkeypatch.setattr(ifaddr, "get_adapters", posix_get_adapters)  # not the harness's stand-in
    networks = guard.own_networks()
    assert any(IPv4Address("127.0.0.1") in network for network in networks if network.version == 4)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("nas.local", "nas.local"),
        (" NAS.local. ", "nas.local"),
        ("192.168.1.10:8080", "192.168.1.10:8080"),
        ("[fd00::1]:81", "[fd00::1]:81"),
        ("[fd00::1:81]", "fd00::1:81"),
        ("münchen.test", "xn--mnchen-3ya.test"),
        *(
            (text, None)
            for text in ("", " ", "http://nas.local", "nas.local/x", "a b", "user@nas.local", "nas.local:0")
        ),
        *((text, None) for text in ("localhost", "LocalHost.:8080", "nas.localhost")),
        *(
            (text, None)
            for text in (
                "127.0.0.1",
                "127.1",
                "0x7f.1",
                "[fe80::1%25eth0]",
                "[fd00::zz]",
                "nas.local:x",
                "nas.local?x",
                "[::1]",
                "169.254.1.1",
            )
        ),
    ],
)
def test_hosts_in_options(text: str, host: str | None) -> None:
    """Hosts are stored as they are compared."""
    assert normalized_host(text) == host


def _edges(texts: list[str]) -> st.SearchStrategy[IPv4Address | IPv6Address]:
    """Return addresses in, at the ends of and beside networks."""
    strategies = []
    for network in map(ip_network, texts):
        first, last = int(network.network_address), int(network.broadcast_address)
        kind = type(network.network_address)
        top = 2**network.max_prefixlen - 1
        strategies.append(st.integers(max(first - 2, 0), min(last + 2, top)).map(kind))
        strategies.append(st.sampled_from([first, last, max(first - 1, 0), min(last + 1, top)]).map(kind))
    return st.one_of(strategies)


ANY = st.ip_addresses(v=4) | st.ip_addresses(v=6) | _edges(SPECIAL)
SIX_TO_FOUR = IPv6Network("2002::/16")


@given(ANY)
@example(IPv6Address("::ffff:8.8.8.8"))
@example(IPv6Address("64:ff9b::8.8.8.8"))
@example(IPv4Address("192.0.0.9"))
def test_public_is_what_the_registries_call_global(address: IPv4Address | IPv6Address) -> None:
    """What counts as public is global in Python's registries, and stands for no address that is not."""
    if not is_public(address):
        return
    assert not any((address.is_private, address.is_loopback, address.is_link_local, address.is_multicast))
    assert not address.is_unspecified
    assert address.version == 6 or not address.is_reserved
    assert address.is_global
    if isinstance(address, IPv6Address):
        assert address.sixtofour is None
        assert address.teredo is None
        assert not address.is_site_local
        inner = address.ipv4_mapped
        if address in IPv6Network("64:ff9b::/96"):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        assert inner is None or is_public(inner)


@given(st.ip_addresses(v=4) | _edges([text for text in SPECIAL if ":" not in text]))
def test_every_global_ipv4_address_is_public(address: IPv4Address) -> None:
    """The guard refuses no more of IPv4 than it must."""
    relay = address in IPv4Network("192.88.99.0/24")
    assert is_public(address) == (address.is_global and not address.is_multicast and not relay)


@given(st.ip_addresses(v=6, network="2000::/3"))
def test_every_usual_ipv6_address_is_public(address: IPv6Address) -> None:
    """Of what is given out in IPv6 nothing is refused but what carries other addresses."""
    carries = address in SIX_TO_FOUR or address.teredo is not None or guard._is_isatap(address)
    reserved = not address.is_global or address in IPv6Network("2001::/23") or address in IPv6Network("3fff::/20")
    assert is_public(address) == (not carries and not reserved)


@given(ANY)
def test_a_listed_host_is_never_this_machine(address: IPv4Address | IPv6Address) -> None:
    """What can be listed is in the home, and neither loopback nor link-local nor many."""
    if is_of_home(address, ()):
        assert address.is_private or address in IPv4Network("100.64.0.0/10")
        assert not any((address.is_loopback, address.is_link_local, address.is_multicast, address.is_unspecified))
        assert not is_public(address)


@given(ANY)
def test_literals_are_decided_as_addresses(address: IPv4Address | IPv6Address) -> None:
    """An address in a URL, in any of its spellings, gets the decision of the address."""
    spellings = [str(address), address.exploded]
    for text in spellings:
        host = f"[{text}]" if address.version == 6 else text
        url = Guard().check_url(f"http://{host}/")
        assert guard._literal(url.raw_host or "") == address


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}", "{}."]))
def test_numbers_are_no_hosts(number: int, form: str) -> None:
    """A number alone is no address, however it is written."""
    with pytest.raises(ToolError):
        Guard().check_url(f"http://{form.format(number)}/")


def test_as_it_comes_the_guard_knows_no_exception() -> None:
    """Only tests name servers that are reached whatever the rules say."""
    assert not guard.TEST_SERVERS
