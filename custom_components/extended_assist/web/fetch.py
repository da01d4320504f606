"""Fetching over HTTP within limits: redirects, size and time, compression, and no state kept between requests."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal
import zlib

import aiohttp
from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, hdrs
from yarl import URL

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import MAXIMUM_HEADER_SIZE
from homeassistant.loader import async_get_integration
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..results import ToolError
from .guard import Guard, async_connector

MAX_REDIRECTS: Final = 5
MAX_BODY: Final = 2_000_000
"""Bytes of a body that are read, before and after decompression: a long article has a tenth of it."""
MAX_SECONDS: Final = 10.0
"""Seconds of a request from the look-up to the last byte, redirects included."""
AT_ONCE: Final = 4
"""Requests side by side, which together hold this many bodies in memory."""

_CHUNK = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_COMPRESSIONS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_HEADERS: Final = {
    hdrs.ACCEPT: "text/html, application/json, text/*;q=0.9, */*;q=0.5",
    hdrs.ACCEPT_ENCODING: "gzip, deflate",
}
_TEXT_TYPES = frozenset(
    {"application/javascript", "application/json", "application/toml", "application/x-ndjson", "application/xml"}
    | {"application/yaml", "application/x-yaml", ""}
)
_SLOTS: HassKey[asyncio.Semaphore] = HassKey(f"{DOMAIN}_web_slots")

type Method = Literal["GET", "HEAD"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedResponse:
    """The response of a server, with its body not yet decompressed or decoded."""

    url: str
    """The address after all redirects."""
    status: int
    media_type: str
    """Without parameters, in lower case; empty when the server did not say."""
    charset: str | None
    length: int | None
    """Bytes of the body before decompression, where the server said how many."""
    compression: str
    body: bytes | None
    """None where it was not asked for or is not text."""
    cut: bool = False
    """Whether the body goes on beyond MAX_BODY."""

    @property
    def reason(self) -> str:
        """Return the status in words: ours, not the server's."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


async def async_fetch(hass: HomeAssistant, guard: Guard, address: str, method: Method = "GET") -> FetchedResponse:
    """Request an address; raise ToolError with what went wrong."""
    url = guard.check_url(address)
    version = (await async_get_integration(hass, DOMAIN)).version
    slots = hass.data.setdefault(_SLOTS, asyncio.Semaphore(AT_ONCE))
    try:
        async with asyncio.timeout(MAX_SECONDS), slots:
            connector = await async_connector(hass, guard)
            async with ClientSession(
                connector=connector,
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                headers={**_HEADERS, hdrs.USER_AGENT: f"ExtendedAssist/{version} (Home Assistant)"},
                timeout=ClientTimeout(total=None),
                max_line_size=MAXIMUM_HEADER_SIZE,
                max_field_size=MAXIMUM_HEADER_SIZE,
            ) as session:
                for _ in range(MAX_REDIRECTS + 1):
                    connector.admit(guard, url)
                    async with session.request(method, url, allow_redirects=False) as response:
                        if (target := redirect_target(url, response)) is None:
                            return await _async_read(response, method)
                        target = _checked(guard, url, target)
                        if target.host != url.host:
                            # Others do not lead into the home: a link there may do something.
                            guard = guard.public_only()
                        url = target
    except TimeoutError as err:
        raise ToolError(f"{url.host} did not answer within {MAX_SECONDS:g} seconds. Try another address.") from err
    except aiohttp.ClientError as err:
        raise ToolError(_explain(url, err)) from err
    raise ToolError(f"{address} redirects more than {MAX_REDIRECTS} times. Try another address.")


def redirect_target(url: URL, response: ClientResponse) -> URL | None:
    """Return where a response leads, or None where it is one."""
    if response.status not in _REDIRECTS or hdrs.LOCATION not in response.headers:
        return None
    try:
        return url.join(URL(response.headers[hdrs.LOCATION]))
    except ValueError as err:
        raise ToolError(f"{url} redirects to something that is no address.") from err


def _checked(guard: Guard, url: URL, target: URL) -> URL:
    """Return the target of a redirect, checked as the first address was."""
    try:
        return guard.check_url(str(target))
    except ToolError as err:
        raise ToolError(f"{url} redirects to where it may not be followed. {err}") from err


async def _async_read(response: ClientResponse, method: Method) -> FetchedResponse:
    """Read a body that is text, no further than needed to know that it is too long."""
    media_type, charset = response.content_type.lower(), response.charset
    if hdrs.CONTENT_TYPE not in response.headers:
        media_type = ""
    compression = response.headers.get(hdrs.CONTENT_ENCODING, "").strip().lower()
    body: bytearray | None = None
    if method == "GET" and _is_text(media_type):
        if compression not in _COMPRESSIONS:
            raise ToolError(f"{response.url} answered with a compression that was not asked for. Try another address.")
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK):
            body += chunk
            if len(body) > MAX_BODY:
                break
    return FetchedResponse(
        url=str(response.url),
        status=response.status,
        media_type=media_type,
        charset=charset,
        length=response.content_length,
        compression=compression,
        body=None if body is None else bytes(body[:MAX_BODY]),
        cut=body is not None and len(body) > MAX_BODY,
    )


def _is_text(media_type: str) -> bool:
    """Return whether a media type is text; what has none is looked at."""
    return media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+json", "+xml"))


def decompress(answer: FetchedResponse) -> tuple[bytes, bool]:
    """Return the body of an answer, at most MAX_BODY bytes of it, and whether there was more."""
    body = answer.body or b""
    if answer.compression in ("", "identity") or not body:
        return body, answer.cut
    # 32 recognizes gzip and zlib; some servers send deflate without zlib's header.
    for window in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
        stream = zlib.decompressobj(window)
        try:
            text = stream.decompress(body, MAX_BODY + 1)
        except zlib.error:
            continue
        if not (stream.eof or answer.cut or len(text) > MAX_BODY):
            raise ToolError(f"{answer.url} broke off in the middle of its answer. Try again.")
        return text[:MAX_BODY], answer.cut or len(text) > MAX_BODY
    raise ToolError(f"{answer.url} answered with broken compression. Try another address.")


def _explain(url: URL, error: aiohttp.ClientError) -> str:
    """Return a sentence of ours about a network error: the words of a server or a library may be a stranger's."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return f"There is no host named '{url.host}', or its name could not be looked up. Check the address."
        case aiohttp.ClientSSLError():
            return f"{url.host} has no valid certificate for this name, so it is not trusted. Try another address."
        case aiohttp.ClientConnectorError():
            return f"{url.host} could not be reached at port {url.port}. Try another address, or later."
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return f"{url.host} broke off in the middle of its answer. Try again."
        case _:
            return f"{url.host} did not answer with proper HTTP. Try another address."
