"""The HTTP client of a server that speaks the Messages API."""

from collections.abc import Sequence
from functools import partial

import anthropic
from anthropic.types import Message, ModelInfo

from homeassistant.core import HomeAssistant
from homeassistant.helpers.httpx_client import get_async_client

from .retry import key_of

CONNECT_TIMEOUT = 5.0
"""Seconds to connect: a healthy server answers within one, and a speaker is waiting."""
EVENT_TIMEOUT = 20.0
"""Seconds without any event: the service sends pings more often, so silence means a dead connection."""
OWN_EVENT_TIMEOUT = 120.0
"""The same for other servers: one in the home may read a long prompt for a minute without an event."""
CHECK_TIMEOUT = 10.0
"""Seconds for a check of the server during a dialog or the start of Home Assistant."""

ANTHROPIC_URL = "https://api.anthropic.com"
_NO_KEY = "none"
"""Sent to servers without a key, because the SDK insists on one; it also keeps the SDK from reading the environment."""


class ConnectionFailedError(Exception):
    """The server cannot be used; the key is an error of the config flow."""

    def __init__(self, key: str) -> None:
        """Store the key under `config.error` in strings.json."""
        super().__init__(key)
        self.key = key


async def async_create_client(hass: HomeAssistant, api_key: str, base_url: str) -> anthropic.AsyncAnthropic:
    """Return a client for a server; base_url is its address without the trailing /v1."""
    return await hass.async_add_executor_job(
        partial(
            anthropic.AsyncAnthropic,
            api_key=api_key or _NO_KEY,
            base_url=base_url,
            http_client=get_async_client(hass),
            timeout=anthropic.Timeout(event_timeout(base_url), connect=CONNECT_TIMEOUT),
            default_headers=_headers(api_key, base_url),
            # The SDK would wait up to a minute before it tries again, in silence.
            max_retries=0,
        )
    )


def event_timeout(base_url: str) -> float:
    """Return the seconds without any event after which the connection counts as dead."""
    return EVENT_TIMEOUT if base_url == ANTHROPIC_URL else OWN_EVENT_TIMEOUT


def _headers(api_key: str, base_url: str) -> dict[str, str]:
    """Return the headers with the API key, beside the one that the SDK sends itself.

    Ollama's cloud and vLLM accept it as a bearer token only, other servers as x-api-key only; each ignores the other header.
    """
    if not api_key or base_url == ANTHROPIC_URL:
        return {}
    return {"Authorization": f"Bearer {api_key}", "X-Api-Key": api_key}


async def async_stream(
    client: anthropic.AsyncAnthropic, body: bytes, betas: Sequence[str] = (), silence: float | None = None
) -> anthropic.AsyncStream[object]:
    """Send a request for a message and return its events; `silence` is the most seconds between two events.

    The body and the events are passed on unparsed. The SDK's own method walks through all their values on the event loop,
    which takes longer than the rest of a turn in a long conversation.
    """
    options: anthropic.RequestOptions = {"headers": {"anthropic-beta": ",".join(betas)}} if betas else {}
    if silence is not None:
        options["timeout"] = anthropic.Timeout(silence, connect=CONNECT_TIMEOUT)
    return await client.post(
        "/v1/messages",
        content=body,
        cast_to=object,
        options=options,
        stream=True,
        stream_cls=anthropic.AsyncStream[object],
    )


async def async_list_models(client: anthropic.AsyncAnthropic) -> list[ModelInfo]:
    """Return the models of the server, newest first as it lists them; empty if it has no list.

    Raises ConnectionFailedError if the server does not speak the Messages API, is unreachable or refuses the key.
    """
    try:
        return [model async for model in client.models.list(timeout=CHECK_TIMEOUT)]
    except anthropic.APIStatusError as err:
        if (key := _key_of(err)) not in ("model_not_found", "server_error", "invalid_request"):
            raise ConnectionFailedError(key) from err
    except anthropic.APIConnectionError as err:
        raise ConnectionFailedError(key_of(err)) from err
    except AttributeError, TypeError, ValueError, anthropic.AnthropicError:
        pass  # Something else than a list came back, such as the web page of another kind of server.
    await _async_probe(client)
    return []


def _key_of(error: anthropic.APIStatusError) -> str:
    """Return the error key for a request without a model, where a refusal is about the API key."""
    return "invalid_auth" if (key := key_of(error)) == "model_forbidden" else key


async def _async_probe(client: anthropic.AsyncAnthropic) -> None:
    """Send a request without messages: a Messages API server refuses it with an error object."""
    try:
        answer = await client.messages.create(model="none", max_tokens=1, messages=[], timeout=CHECK_TIMEOUT)
    except anthropic.APIStatusError as err:
        if (key := _key_of(err)) in ("invalid_auth", "quota", "rate_limited", "overloaded"):
            raise ConnectionFailedError(key) from err
        if not isinstance(err.body, dict) or "error" not in err.body:
            raise ConnectionFailedError("server_error" if err.status_code >= 500 else "not_messages_api") from err
    except anthropic.APIConnectionError as err:
        raise ConnectionFailedError(key_of(err)) from err
    except (AttributeError, TypeError, ValueError, anthropic.AnthropicError) as err:
        raise ConnectionFailedError("not_messages_api") from err
    else:
        if not isinstance(answer, Message):
            raise ConnectionFailedError("not_messages_api")
