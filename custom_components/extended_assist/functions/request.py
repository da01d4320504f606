"""Requests that users wrote, over HTTP: to any host that they name, within the limits of all fetching."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import aiohttp
from aiohttp import hdrs
import voluptuous as vol
from yarl import URL

from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.aiohttp_client import async_create_clientsession
from homeassistant.helpers.template import is_template_string
from homeassistant.util.ssl import SSLCipherList

from ..results import ToolError
from ..web.fetch import MAX_BODY, MAX_REDIRECTS, FetchedResponse, async_fetch, redirect_target
from ..web.guard import Guard
from ..web.read import Document, async_read
from .address import Address, to_address, to_header
from .base import FunctionRun
from .payload import to_payload
from .rendering import async_check_template, async_render_pieces
from .yaml_source import PartError

TIMEOUT: Final = 10
"""Seconds of a request, where its user says nothing else."""
MAX_TIMEOUT: Final = 25
_CHUNK = 65_536
_MAX_SHOWN = 300
_BECOME_GET = frozenset({301, 302, 303})
_LEADS_AWAY = "{host} redirects what is sent to it to another host, where it is not sent. Tell the user to write the other address."
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
_TEMPLATES = ("resource", "resource_template", "payload_template", "value_template")
_TEXT = vol.Any(str, vol.All(vol.Any(int, float, bool), vol.Coerce(str)))

RESOURCE_SCHEMA: Final[dict[Any, Any]] = {
    vol.Exclusive("resource", "resource"): cv.string,
    vol.Exclusive("resource_template", "resource"): cv.string,
    vol.Optional("method", default="GET"): vol.All(cv.string, vol.Upper, vol.In(_METHODS)),
    vol.Optional("authentication"): vol.In(["basic", "digest"]),
    vol.Optional("username"): cv.string,
    vol.Optional("password"): cv.string,
    vol.Optional("headers"): {cv.string: _TEXT},
    vol.Optional("params"): {cv.string: _TEXT},
    vol.Exclusive("payload", "payload"): cv.string,
    vol.Exclusive("payload_template", "payload"): cv.string,
    vol.Optional("verify_ssl", default=True): cv.boolean,
    vol.Optional("ssl_cipher_list", default="python_default"): vol.In([each.value for each in SSLCipherList]),
    vol.Optional("timeout", default=TIMEOUT): vol.All(cv.positive_int, vol.Range(min=1)),
    vol.Optional("encoding"): cv.string,
    vol.Optional("scan_interval"): object,
    vol.Optional("value_template"): cv.string,
}
"""Settings of a request, as in Home Assistant's rest integration."""


async def async_check_resource(hass: HomeAssistant, settings: Mapping[str, Any]) -> None:
    """Raise PartError for an address or a template that is none."""
    address = settings.get("resource")
    if address is None and "resource_template" not in settings:
        raise PartError("'resource' or 'resource_template' must say which address is meant")
    if address is not None:
        try:
            url = URL(address)
        except ValueError as err:
            raise PartError(f"'{address}' is not an address", ["resource"]) from err
        if url.scheme not in ("http", "https") or not url.host:
            raise PartError(f"'{address}' is not an address like https://example.com/", ["resource"])
    for key in _TEMPLATES:
        if key in settings:
            await async_check_template(hass, settings[key], [key])
    for key in ("headers", "params"):
        for name, value in settings.get(key, {}).items():
            await async_check_template(hass, value, [key, name])


def sends_templates(settings: Mapping[str, Any]) -> bool:
    """Return whether arguments can be in what is sent."""
    sent = [settings.get("resource_template"), settings.get("payload_template")]
    sent += [*settings.get("headers", {}).values(), *settings.get("params", {}).values()]
    return any(text is not None and is_template_string(text) for text in sent)


async def async_request[R](
    run: FunctionRun, settings: Mapping[str, Any], read: Callable[[FetchedResponse, Document], R]
) -> R:
    """Send the request of a function and return what `read` makes of the response, in a thread with a time limit."""
    if "resource" in settings:
        # Only a template is rendered: an address with braces in it stays as it is.
        address = Address(settings["resource"], host_is_written=True)
    else:
        address = to_address(await async_render_pieces(run, settings["resource_template"]))
    if address.host_is_written:
        answer = await _async_request(run, settings, address.text)
    elif settings["method"] == "GET":
        options = run.call.options
        answer = await async_fetch(run.hass, Guard.of(options.web_hosts, options.web_ports), address.text)
    else:
        raise ToolError("This function lets an argument choose the host, and then it may only GET. Tell the user.")

    def checked(document: Document) -> R:
        if answer.status >= 400:
            shown = document.text[:_MAX_SHOWN].strip()
            raise ToolError(f"{URL(answer.url).host} answered {answer.reason}{f': {shown}' if shown else ''}.")
        return read(answer, document)

    return await async_read(run.hass, answer, checked)


async def _async_request(run: FunctionRun, settings: Mapping[str, Any], address: str) -> FetchedResponse:
    """Send a request to a host that the user wrote."""
    headers = {
        name: to_header(await async_render_pieces(run, value)) for name, value in settings.get("headers", {}).items()
    }
    params = {
        name: "".join(
            piece if isinstance(piece, str) else piece.text for piece in await async_render_pieces(run, value)
        )
        for name, value in settings.get("params", {}).items()
    }
    payload = settings.get("payload")
    if "payload_template" in settings:
        media_type = next((text for name, text in headers.items() if name.lower() == "content-type"), "")
        payload = to_payload(await async_render_pieces(run, settings["payload_template"]), media_type)
    more: dict[str, Any] = {}
    if (username := settings.get("username")) is not None:
        password = settings.get("password", "")
        if settings.get("authentication") == "digest":
            more["middlewares"] = (aiohttp.DigestAuthMiddleware(username, password),)
        elif hdrs.AUTHORIZATION.lower() not in map(str.lower, headers):
            headers[hdrs.AUTHORIZATION] = aiohttp.encode_basic_auth(username, password)
    if payload is not None:
        more["data"] = payload.encode()
    try:
        url = URL(address)
    except ValueError as err:
        raise ToolError("The address of this function is none with these arguments. Give plain values.") from err
    timeout = min(settings["timeout"], MAX_TIMEOUT)
    session = async_create_clientsession(
        run.hass,
        verify_ssl=settings["verify_ssl"],
        auto_cleanup=False,
        ssl_cipher=SSLCipherList(settings["ssl_cipher_list"]),
        cookie_jar=aiohttp.DummyCookieJar(),
    )
    try:
        async with asyncio.timeout(timeout):
            return await _async_follow(run, session, settings, url, {"params": params, "headers": headers, **more})
    except TimeoutError as err:
        raise ToolError(f"{url.host} did not answer within {timeout} seconds.") from err
    except (aiohttp.ClientError, ValueError) as err:
        raise ToolError(f"{url.host} could not be asked: {type(err).__name__}. Tell the user.") from err
    finally:
        session.detach()


async def _async_follow(
    run: FunctionRun, session: aiohttp.ClientSession, settings: Mapping[str, Any], url: URL, sent: dict[str, Any]
) -> FetchedResponse:
    """Send a request and follow where it leads, each time with what is meant for who is asked."""
    method = settings["method"]
    for _ in range(MAX_REDIRECTS + 1):
        async with session.request(method, url, allow_redirects=False, **sent) as response:
            if (target := redirect_target(url, response)) is None:
                return await _async_answer(response, settings.get("encoding"))
            if method != "HEAD" and response.status in _BECOME_GET:
                method = "GET"
                sent.pop("data", None)
        sent.pop("params", None)
        if not _is_same_origin(url, target):
            # Headers and passwords are for whom the user wrote.
            sent = {key: value for key, value in sent.items() if key == "data"}
        if target.host != url.host:
            if "data" in sent or method not in ("GET", "HEAD"):
                raise ToolError(_LEADS_AWAY.format(host=url.host))
            return await async_fetch(run.hass, _public(run), str(target))
        url = target
    raise ToolError(f"{url.host} redirects more than {MAX_REDIRECTS} times. Tell the user.")


def _public(run: FunctionRun) -> Guard:
    """Return the rules for where a redirect leads: a link of others into the home may do something there."""
    return Guard.of((), run.call.options.web_ports)


def _is_same_origin(one: URL, other: URL) -> bool:
    """Return whether two addresses are of one origin; the safe form of the same host is."""
    if one.host != other.host:
        return False
    is_upgrade = (one.scheme, one.port, other.scheme, other.port) == ("http", 80, "https", 443)
    return is_upgrade or (one.scheme, one.port) == (other.scheme, other.port)


async def _async_answer(response: aiohttp.ClientResponse, encoding: str | None) -> FetchedResponse:
    """Read an answer, no further than allowed, as text whatever it says that it is."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > MAX_BODY:
            break
    media_type = response.content_type.lower()
    return FetchedResponse(
        url=str(response.url),
        status=response.status,
        media_type=media_type if media_type.startswith("text/") or media_type.endswith("xml") else "text/plain",
        charset=response.charset or encoding,
        length=response.content_length,
        compression="",
        body=bytes(body[:MAX_BODY]),
        cut=len(body) > MAX_BODY,
    )
