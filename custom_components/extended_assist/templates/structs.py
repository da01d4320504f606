"""Values as bytes. Home Assistant's own functions write into the log what they could not pack."""

import re
from struct import error, pack as packed, unpack_from
from typing import Any

from homeassistant.exceptions import TemplateError

from .limits import Budget

_FORMAT = re.compile(r"[@=<>!]?(?:\d{0,3}[a-zA-Z?]){1,16}")


def pack(_: Budget, value: Any, format_string: str) -> bytes | None:
    """A value as bytes, or None where the format does not fit it."""
    try:
        return packed(_checked(format_string), value)
    except error:
        return None


def unpack(_: Budget, value: Any, format_string: str, offset: int = 0) -> Any:
    """The first value in bytes, or None where the format does not fit them."""
    try:
        return unpack_from(_checked(format_string), value, offset)[0]
    except error:
        return None


def _checked(format_string: Any) -> str:
    """The format, if what it describes is small."""
    if not isinstance(format_string, str) or not _FORMAT.fullmatch(format_string):
        raise TemplateError("The format is not one of bytes, such as '>h', or describes too many")
    return format_string
