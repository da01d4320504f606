"""Errors of turns and connections, and how soon each is retried: quickly while a user waits, patiently for a task."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

import anthropic

from homeassistant.core import HomeAssistant
from homeassistant.helpers import translation

from ..const import DOMAIN

RETRY_TIME = 8.0
"""Seconds of a turn after which nothing is retried: about as long as a user waits in silence."""
RESPONSE_TIMEOUT = 180.0
"""The timeout of one response, in seconds: enough for the default length from a slow server."""

TASK_RETRY_TIME = 300.0
"""RETRY_TIME of an AI task, for which nobody waits: longer than the pause of a per-minute rate limit."""
TASK_TIMEOUT = 900.0
"""RESPONSE_TIMEOUT of an AI task, whose answer may be long."""
TASK_EVENT_TIMEOUT = 180.0
"""The most seconds without an event in an AI task: a long document or long thinking takes time."""

_PAUSES: Mapping[str, tuple[float, ...]] = {
    "cannot_connect": (0.0, 1.0),
    "interrupted": (0.0, 1.0),
    "server_error": (0.5, 2.0),
    "overloaded": (0.5, 1.0, 2.0, 4.0),
    "rate_limited": (1.0, 2.0, 4.0),
}
"""Seconds before each retry, by error. The first retry of a lost connection is immediate, because a kept connection may have
been stale; if there is no connection at all, waiting longer does not help. Errors that are not listed are not retried.
"""
_TASK_PAUSES: Mapping[str, tuple[float, ...]] = {
    "cannot_connect": (0.0, 1.0, 5.0),
    "interrupted": (0.0, 1.0, 5.0),
    "server_error": (0.5, 2.0, 10.0),
    "overloaded": (1.0, 5.0, 15.0, 30.0, 60.0),
    "rate_limited": (5.0, 15.0, 30.0, 60.0),
}


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts of a turn."""

    retry_time: float = RETRY_TIME
    """Seconds after which nothing is retried."""
    response_time: float = RESPONSE_TIMEOUT
    """The timeout of one response, in seconds."""
    silence: float | None = None
    """The most seconds without an event, or None for the default of the connection."""
    pauses: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: _PAUSES)


def task_timeouts(silence: float) -> Timeouts:
    """Return the timeouts of an AI task on a connection that allows so many seconds without an event."""
    return Timeouts(TASK_RETRY_TIME, TASK_TIMEOUT, max(silence, TASK_EVENT_TIMEOUT), _TASK_PAUSES)


class Retry:
    """The retries of one turn."""

    def __init__(self, patience: Timeouts | None = None) -> None:
        """Start the clock, right before the first request."""
        patience = patience or Timeouts()
        self._pauses = patience.pauses
        self._ends = monotonic() + patience.retry_time
        self._tries: dict[str, int] = {}

    def pause(self, key: str, error: Exception) -> float | None:
        """Return the seconds before the next retry, or None for no retry."""
        pauses = self._pauses.get(key, ())
        tried = self._tries[key] = self._tries.get(key, -1) + 1
        if (
            tried >= len(pauses)
            or isinstance(error, anthropic.APITimeoutError)
            or _header(error, "x-should-retry") == "false"
        ):
            return None
        seconds = pauses[tried] if (asked := _asked_pause(error)) is None else asked
        return seconds if monotonic() + seconds <= self._ends else None


def _asked_pause(error: Exception) -> float | None:
    """Return the seconds of the Retry-After header, or None; a date, which some proxies send, is ignored."""
    try:
        return max(0.0, float(_header(error, "retry-after")))
    except ValueError:
        return None


def _header(error: Exception, name: str) -> str:
    return str(error.response.headers.get(name, "")) if isinstance(error, anthropic.APIStatusError) else ""


# https://platform.claude.com/docs/en/api/errors; the same types come as an event inside a stream, under HTTP 200.
_KEY_OF_TYPE = {
    "authentication_error": "invalid_auth",
    "permission_error": "model_forbidden",
    "billing_error": "quota",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "not_found_error": "model_not_found",
    "request_too_large": "too_long",
    "invalid_request_error": "invalid_request",
    "timeout_error": "timeout",
}
_KEY_OF_STATUS = {
    400: "invalid_request",
    401: "invalid_auth",
    402: "quota",
    403: "model_forbidden",
    404: "model_not_found",
    408: "timeout",
    413: "too_long",
    429: "rate_limited",
    529: "overloaded",
}
# These are worded as invalid requests, by the service and by vLLM and llama.cpp; to the user they are something else.
_KEY_OF_WORDS = {
    "prompt is too long": "too_long",
    "context limit": "too_long",
    "context length": "too_long",
    "context size": "too_long",
    "credit balance": "quota",
}


class TurnError(Exception):
    """The turn has no answer; the key names a sentence under `exceptions` in strings.json."""

    def __init__(self, key: str, **placeholders: str) -> None:
        """Store the key and the placeholders of the sentence."""
        super().__init__(key)
        self.key = key
        self.placeholders = placeholders


def key_of(error: Exception) -> str:
    """Return the key of the sentence for an error of the SDK or of its transport."""
    match error:
        case anthropic.APITimeoutError() if type(error.__cause__).__name__ == "ConnectTimeout":
            return "cannot_connect"
        case anthropic.APITimeoutError() | TimeoutError():
            return "timeout"
        case anthropic.APIConnectionError():
            return "cannot_connect"
        case anthropic.APIStatusError():
            return _key_of_status_error(error)
    # The transport raises its own timeouts while a stream is read; its package differs between SDK versions.
    return "timeout" if "Timeout" in type(error).__name__ else "interrupted"


def _key_of_status_error(error: anthropic.APIStatusError) -> str:
    """Return the key for an error response: the service's own error type comes before the HTTP status."""
    details = error.body.get("error") if isinstance(error.body, dict) else None
    kind = details.get("type") if isinstance(details, dict) else None
    key = _KEY_OF_TYPE.get(str(kind)) or _KEY_OF_STATUS.get(error.status_code, "server_error")
    if key == "invalid_request":
        words = str(details).lower()
        return next((special for phrase, special in _KEY_OF_WORDS.items() if phrase in words), key)
    return key


async def async_sentence(hass: HomeAssistant, language: str, error: TurnError) -> str:
    """Return the sentence for an error in the user's language, or in English if it is not translated."""
    texts = await translation.async_get_translations(hass, language, "exceptions", [DOMAIN])
    text = texts.get(f"component.{DOMAIN}.exceptions.{error.key}.message", error.key)
    return text.format(**error.placeholders)
