"""The arguments of a call as a model wrote them: read, and whether they can be sent back."""

import json
from typing import Any, Final

from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes
from homeassistant.util.json import JSON_ENCODE_EXCEPTIONS

from ..toolbox.call import failure

UNFINISHED: Final = "{"
"""Stands for the arguments of a call that was not finished, even if they look whole."""
_CUT_OFF: Final = (
    "The arguments were cut off before their end, so nothing was called. Call again with shorter arguments."
)
_NOT_AN_OBJECT: Final = "The arguments are not a JSON object, so nothing was called. Correct them and call again."
_NOT_WRITABLE: Final = (
    "The arguments hold half a character, a number of more than 64 bits or too many levels, so nothing was called. Correct them "
    "and call again."
)


def is_writable(value: Any) -> bool:
    """Return whether a value can be sent back: JSON may hold what no request can."""
    try:
        json_bytes(value)
    except (*JSON_ENCODE_EXCEPTIONS, RecursionError):
        return False
    return True


def read_arguments(text: str, given: dict[str, Any]) -> tuple[dict[str, Any], llm.ToolResult | None]:
    """Return the arguments of a call, and why it cannot be made.

    given are those that came with the beginning of the call; they hold where no text followed.
    """
    try:
        arguments = json.loads(text) if text else given
    except ValueError:
        return {}, failure(_CUT_OFF)
    except RecursionError:
        return {}, failure(_NOT_WRITABLE)
    if not isinstance(arguments, dict):
        return {}, failure(_NOT_AN_OBJECT)
    return (arguments, None) if is_writable(arguments) else ({}, failure(_NOT_WRITABLE))
