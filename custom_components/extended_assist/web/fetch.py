"""HTTP requests with limits on redirects, size and time, and without state between them."""

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
"""The most bytes of a body, before and after decompression: ten times a long article."""
MAX_SECONDS: Final = 10.0
"""The timeout of a request in seconds, from DNS to the last byte, with redirects."""
AT_ONCE: Final = 4
"""The most parallel requests, whose bodies are in memory together."""

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
    """A response with its raw body."""

    url: str
    """The address after all redirects."""
    status: int
    media_type: str
    """The media type in lower case without parameters; empty if the server named none."""
    charset: str | None
    length: int | None
    """The Content-Length, or None."""
    compression: str
    body: bytes | None
    """None if it was not requested or is not text."""
    cut: bool = False
    """True if the body is longer than MAX_BODY."""

    @property
    def reason(self) -> str:
        """Return the status in our own words."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


async def async_fetch(hass: HomeAssistant, guard: Guard, address: str, method: Method = "GET") -> FetchedResponse:
    """Request an address; raises ToolError with the reason of a failure."""
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
    """Return the target of a redirect, or None for any other response."""
    if response.status not in _REDIRECTS or hdrs.LOCATION not in response.headers:
        return None
    try:
        return url.join(URL(response.headers[hdrs.LOCATION]))
    except ValueError as err:
        raise ToolError(f"{url} redirects to something that is no address.") from err


def _checked(guard: Guard, url: URL, target: URL) -> URL:
    """Return the target of a redirect after the same check as the first address."""
    try:
        return guard.check_url(str(target))
    except ToolError as err:
        raise ToolError(f"{url} redirects to where it may not be followed. {err}") from err


async def _async_read(response: ClientResponse, method: Method) -> FetchedResponse:
    """Read a text body, up to the limit."""
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
    """Return whether a media type is text; a missing one counts as text."""
    return media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith(("+json", "+xml"))


def decompress(answer: FetchedResponse) -> tuple[bytes, bool]:
    """Return the body of a response, at most MAX_BODY bytes, and whether there was more."""
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
    """Return our own sentence for a network error: the words of a server or library may be a stranger's."""
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
