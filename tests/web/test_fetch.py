"""Tests of fetching: redirects, sizes, times, compression, TLS and broken servers, all of them real."""

import asyncio
from collections.abc import Awaitable, Callable
import gzip
from pathlib import Path
import re
import ssl
import time
import tracemalloc
from typing import Any
import zlib

import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.web import fetch
from custom_components.extended_assist.web.fetch import FetchedResponse, async_fetch, decompress
from custom_components.extended_assist.web.guard import Guard
from homeassistant.core import HomeAssistant
from homeassistant.util import ssl as ssl_util

from .conftest import Admit
from .site import Names, Site, certificate, chunked, http, redirect

type Get = Callable[..., Awaitable[FetchedResponse]]


@pytest.fixture
def get(hass: HomeAssistant, site: Site) -> Get:
    """Return a function that fetches a page of the site."""

    async def fetch_page(path: str = "/", **more: Any) -> FetchedResponse:
        return await async_fetch(hass, Guard.of((), [site.port]), site.url(path), **more)

    return fetch_page


def body(answer: FetchedResponse) -> bytes:
    """Return what an answer says, in full."""
    content, cut = decompress(answer)
    assert not cut
    return content


async def test_a_plain_page(site: Site, get: Get) -> None:
    """The answer is as the server sent it; the request says who asks, and carries nothing else."""
    site.pages["/"] = http("hello", "text/plain; charset=latin1")
    answer = await get()
    assert (answer.status, answer.media_type, answer.charset, body(answer)) == (200, "text/plain", "latin1", b"hello")
    assert answer.url == site.url("/")
    headers = dict(line.split(": ", 1) for line in site.requests[0].strip().split("\r\n")[1:])
    assert set(headers) == {"Host", "Accept", "Accept-Encoding", "User-Agent", "Connection"}
    assert re.fullmatch(r"ExtendedAssist/[\d.]+ \(Home Assistant\)", headers["User-Agent"])


async def test_nothing_is_kept_between_requests(
    hass: HomeAssistant, site: Site, get: Get, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No cookies, no credentials of the machine's user, no proxy of its environment."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine site.test login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.pages["/"] = redirect("/next")
    site.pages["/next"] = http("x", Set_Cookie="a=b")
    for _ in range(2):
        await get()
    assert len(site.requests) == 4
    assert not [request for request in site.requests if re.search("cookie|authorization", request, re.IGNORECASE)]


@pytest.mark.parametrize(
    ("pages", "path"),
    [
        ([redirect("/b"), http("end")], "/b"),
        ([redirect("b?x=1#part"), http("end")], "/b?x=1"),
        ([redirect("/b", status) for status in ("301 Moved",)] + [http("end")], "/b"),
        ([redirect("/b", "303 See Other"), redirect("/c", "307 Temporary"), http("end")], "/c"),
        ([*(redirect(f"/{number}", "308 Permanent") for number in range(1, 6)), http("end")], "/5"),
    ],
)
async def test_redirects_are_followed(site: Site, get: Get, pages: list[bytes], path: str) -> None:
    """Up to five, relative or absolute; the answer names where they led."""
    paths = ["/"]
    for page in pages[:-1]:
        match = re.search(rb"Location: ([^#\r]+)", page)
        assert match
        target = match[1].decode()
        paths.append(target if target.startswith("/") else f"/{target}")
    site.pages.update(zip(paths, pages, strict=True))
    answer = await get()
    assert answer.url == site.url(path)
    assert body(answer) == b"end"


@pytest.mark.parametrize(
    "target",
    [
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://2130706433/",
        "http://home.test/",
        "//home.test/",
        "http://localhost/",
        "http://site.test:22/",
        "https://user:password@site.test/",
        "file:///etc/passwd",
        "ftp://site.test/",
        "javascript:alert(1)",
        "data:text/plain,hello",
        "http://[",
        "http://a b/",
        "http://site.test\\@127.0.0.1/",
        "http://" + "a" * 3_000,
    ],
)
async def test_redirects_are_checked(site: Site, get: Get, names: Names, target: str) -> None:
    """A redirect leads nowhere that the first address may not lead."""
    names.answers["home.test"] = [["192.168.1.1"]]
    names.answers["localhost"] = [["127.0.0.1"]]
    site.pages["/"] = redirect(target)
    with pytest.raises(ToolError, match=r"redirects to|not a public host"):
        await get()
    assert len(site.requests) == 1


@pytest.mark.parametrize("ring", [1, 2, 7])
async def test_redirects_in_a_ring_end(site: Site, get: Get, ring: int) -> None:
    """After five redirects it is over."""
    for number in range(ring):
        site.pages[f"/{number}"] = redirect(f"/{(number + 1) % ring}")
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        await get("/0")
    assert len(site.requests) == 6


async def test_the_internet_does_not_lead_into_the_home(
    hass: HomeAssistant, site: Site, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listed host may lead to itself; another host may not lead to it."""
    tried: list[Any] = []
    connect = hass.loop.sock_connect

    async def sock_connect(sock: Any, address: Any) -> None:
        tried.append(address[0])
        if address[0] != "127.0.0.1":
            raise ConnectionRefusedError
        await connect(sock, address)

    monkeypatch.setattr(hass.loop, "sock_connect", sock_connect)
    names.answers["nas.local"] = [["192.168.1.5"]]
    guard = Guard.of({"nas.local"}, [site.port])
    site.pages["/"] = redirect(site.url("/restart", "nas.local"))
    with pytest.raises(ToolError, match=r"nas\.local is not a public host"):
        await async_fetch(hass, guard, site.url("/"))
    assert tried == ["127.0.0.1"]
    with pytest.raises(ToolError, match="could not be reached"):
        await async_fetch(hass, guard, site.url("/", "nas.local"))
    assert tried == ["127.0.0.1", "192.168.1.5"]


async def test_a_redirect_without_a_target_is_an_answer(site: Site, get: Get) -> None:
    """There is nothing to follow."""
    site.pages["/"] = http("here", status="302 Found")
    assert (await get()).status == 302


@pytest.mark.parametrize(
    "status", ["204 No Content", "400 Bad", "404 Not Found", "429 Slow down", "500 Oops", "503 x", "599 x"]
)
async def test_errors_are_answers(site: Site, get: Get, status: str) -> None:
    """What the server says with an error can be read; the reason is in our words."""
    site.pages["/"] = http("" if status.startswith("204") else "why", status=status)
    answer = await get()
    assert answer.status == int(status[:3])
    assert "Oops" not in answer.reason
    assert answer.reason.startswith(status[:3])
    assert body(answer) == (b"" if answer.status == 204 else b"why")


TEXT = "Grüße aus München. ".encode() * 500


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (TEXT, "identity"),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT), "x-gzip"),
        (gzip.compress(TEXT), "GZIP"),
        (zlib.compress(TEXT), "deflate"),
        (zlib.compress(TEXT)[2:-4], "deflate"),
    ],
)
@pytest.mark.parametrize("in_chunks", [False, True])
async def test_compression(site: Site, get: Get, content: bytes, encoding: str, in_chunks: bool) -> None:
    """Gzip and both kinds of deflate, whole and in chunks."""
    if in_chunks:
        pieces = [content[start : start + 97] for start in range(0, len(content), 97)]
        site.pages["/"] = http(chunked(*pieces), Content_Encoding=encoding, Transfer_Encoding="chunked")
    else:
        site.pages["/"] = http(content, Content_Encoding=encoding)
    assert body(await get()) == TEXT


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress", "nonsense"])
async def test_other_compression_is_refused(site: Site, get: Get, encoding: str) -> None:
    """What was not asked for is not unpacked."""
    site.pages["/"] = http(b"\x00\x01", Content_Encoding=encoding)
    with pytest.raises(ToolError, match="compression"):
        await get()


@pytest.mark.parametrize("content", [b"plain", gzip.compress(TEXT)[:-20], gzip.compress(TEXT)[:40], b"\x1f\x8b"])
async def test_broken_compression(site: Site, get: Get, content: bytes) -> None:
    """A body that cannot be unpacked to its end is no answer."""
    site.pages["/"] = http(content, Content_Encoding="gzip")
    with pytest.raises(ToolError, match=r"broke off|broken compression"):
        decompress(await get())


async def test_a_bomb_takes_no_more_than_it_may(site: Site, get: Get) -> None:
    """200 MB that come as 200 kB end at 2 MB, in memory too."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(200)) + packer.flush()
    assert len(bomb) < 300_000
    site.pages["/"] = http(bomb, Content_Encoding="gzip")
    answer = await get()
    tracemalloc.start()
    content, cut = decompress(answer)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(content), cut) == (fetch.MAX_BODY, True)
    assert peak < 3 * fetch.MAX_BODY


@pytest.mark.parametrize("length", [None, "100000000"])
async def test_endless_bodies_end(site: Site, get: Get, length: str | None) -> None:
    """A body is read up to the limit, and the server notices that nobody listens any more."""
    sent = 0
    ended = asyncio.Event()

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        head = f"Content-Length: {length}" if length else "Connection: close"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\n\r\n".encode())
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
                sent += 65_536
        except OSError:
            ended.set()
            raise

    site.pages["/"] = endless
    answer = await get()
    assert answer.cut
    assert answer.body == b"x" * fetch.MAX_BODY
    await asyncio.wait_for(ended.wait(), 5)
    assert sent < 30 * fetch.MAX_BODY


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def _silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _slow_head(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await asyncio.sleep(0.05)
        writer.write(b"X")
        await writer.drain()


async def _continue(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("page", [_drip, _silent, _slow_head, _continue])
async def test_slow_servers_end(site: Site, get: Get, monkeypatch: pytest.MonkeyPatch, page: Any) -> None:
    """However a server keeps us waiting, it is over in time."""
    monkeypatch.setattr(fetch, "MAX_SECONDS", 0.4)
    site.pages["/"] = page
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"did not answer within 0\.4 seconds"):
        await get()
    assert time.monotonic() - began < 2


async def test_redirects_share_the_time(site: Site, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is for all of them together."""
    monkeypatch.setattr(fetch, "MAX_SECONDS", 0.5)

    async def slow_redirect(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(redirect("/"))
        await writer.drain()

    site.pages["/"] = slow_redirect
    with pytest.raises(ToolError, match="did not answer"):
        await get()


async def _endless_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while True:
        number += 1
        writer.write(f"X-{number}: {'y' * 1000}\r\n".encode())
        await writer.drain()


@pytest.mark.parametrize(
    "sends",
    [
        b"",
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 two hundred\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 500\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhe",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        _endless_headers,
    ],
)
async def test_broken_answers(site: Site, get: Get, sends: Any) -> None:
    """A broken answer is an error in our words."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(sends)
        await writer.drain()

    site.pages["/"] = sends if callable(sends) else send
    with pytest.raises(ToolError, match=r"broke off|proper HTTP|could not be reached") as error:
        await get()
    assert "nonsense" not in str(error.value)


async def test_a_closed_port(hass: HomeAssistant, site: Site, get: Get) -> None:
    """Nobody listens."""
    assert site._server
    site._server.close()
    with pytest.raises(ToolError, match=f"could not be reached at port {site.port}"):
        await get()


async def test_an_unknown_name(hass: HomeAssistant, names: Names, socket_enabled: None) -> None:
    """There is no such host."""
    with pytest.raises(ToolError, match=r"There is no host named 'nowhere\.test'"):
        await async_fetch(hass, Guard(), "http://nowhere.test/")


async def test_what_is_no_text_is_not_read(site: Site, get: Get) -> None:
    """An image is named, not loaded."""
    site.pages["/"] = http(b"\x89PNG" * 1000, "image/png")
    answer = await get()
    assert (answer.media_type, answer.length, answer.body) == ("image/png", 4000, None)


async def test_head(site: Site, get: Get) -> None:
    """Only what is about the body."""
    site.pages["/"] = http("x" * 777)
    answer = await get(method="HEAD")
    assert (answer.status, answer.length, answer.body) == (200, 777, None)
    assert site.requests[0].startswith("HEAD / ")


@pytest.mark.parametrize(
    ("name", "days", "trusted", "works"),
    [
        ("site.test", 1, True, True),
        ("site.test", 1, False, False),
        ("other.test", 1, True, False),
        ("site.test", -1, True, False),
    ],
    ids=["good", "unknown issuer", "other name", "expired"],
)
async def test_certificates(
    hass: HomeAssistant,
    socket_enabled: None,
    admit: Admit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    days: int,
    trusted: bool,
    works: bool,
) -> None:
    """A certificate must be for the name, in time, and from somebody trusted."""
    server_context, authority = certificate(tmp_path, name, days=days)
    if trusted:
        client_context = ssl.create_default_context(cafile=str(authority))
        monkeypatch.setattr(ssl_util, "client_context", lambda *_: client_context)
    report = hass.loop.get_exception_handler()
    assert report

    def leave_out_the_servers_own(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), ConnectionResetError):
            report(loop, context)

    hass.loop.set_exception_handler(leave_out_the_servers_own)
    async with Site(server_context) as site:
        admit(site)
        site.pages["/"] = http("secret", "text/plain")
        request = async_fetch(hass, Guard.of((), [site.port]), site.url("/"))
        if works:
            assert body(await request) == b"secret"
        else:
            with pytest.raises(ToolError, match="has no valid certificate"):
                await request
            assert site.requests == []


async def test_no_tls_where_it_is_expected(hass: HomeAssistant, site: Site, admit: Admit) -> None:
    """A server that speaks plain HTTP is not trusted at https."""

    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http("x"))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    admit(site)
    with pytest.raises(ToolError, match="has no valid certificate"):
        await async_fetch(hass, Guard.of((), [site.port]), f"https://site.test:{site.port}/")
    server.close()


async def test_not_too_many_at_once(hass: HomeAssistant, site: Site, get: Get) -> None:
    """Requests wait for each other beyond a few."""
    now = most = 0

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.05)
        now -= 1
        writer.write(http("x"))
        await writer.drain()

    site.pages["/"] = slow
    await asyncio.gather(*(get() for _ in range(12)))
    assert most == fetch.AT_ONCE


async def test_connections_of_one_guard_serve_no_other(hass: HomeAssistant, site: Site) -> None:
    """A host that a looser guard reached is not reached by a stricter one."""
    site.pages["/"] = http("x")
    await async_fetch(hass, Guard(anywhere=True), f"http://127.0.0.2:{site.port}/".replace("127.0.0.2", "127.0.0.1"))
    with pytest.raises(ToolError, match="not a public host"):
        await async_fetch(hass, Guard(ports=frozenset({80})), "http://127.0.0.1:80/")
