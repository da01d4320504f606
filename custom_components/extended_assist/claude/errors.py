"""Errors of turns and connections, with their keys in strings.json."""

import anthropic

from homeassistant.core import HomeAssistant
from homeassistant.helpers import translation

from ..const import DOMAIN

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
