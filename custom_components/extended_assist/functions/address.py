"""From rendered templates to what a request is made of: no value can end the part that it stands in."""

from collections.abc import Iterable
from dataclasses import dataclass
import re
from typing import Final
import unicodedata
from urllib.parse import quote, unquote_to_bytes

from ..results import ToolError
from .rendering import Encoded, Piece, Value

_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*[/?#]", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SPLITS = re.compile(r"[/\\]")
_DECODED: Final = 6
"""How often an address is decoded by those who receive it, at most."""
_STRUCTURED = re.compile(r"[;,=]")
_ENDS_PART = re.compile(r"[;,]")


@dataclass(frozen=True, slots=True)
class Address:
    """An address, and whether its host is the user's own choice."""

    text: str
    host_is_written: bool


def to_address(pieces: Iterable[Piece]) -> Address:
    """Return the address that pieces write.

    Values in the path and the query are encoded unless they are already. Where a value says which host is meant, the
    address stands as it is: it may lead anywhere, and is to be treated so.
    """
    text = ""
    host_is_written = True
    for piece in pieces:
        if not isinstance(piece, Value):
            text += piece
        elif not _HOST.match(text):
            host_is_written = False
            text += piece.text
        else:
            has_query = "?" in text
            part = encoded(piece, "/" if has_query else "")
            text += part if has_query else part.replace("/", "%2F")
            if _leads_up(text.partition("?")[0].partition("://")[2].partition("/")[2]):
                raise ToolError("An argument must not be a way to another address, such as '..'. Give a plain value.")
    return Address(text.strip(), host_is_written)


def _leads_up(path: str) -> bool:
    """Return whether a path leads up or nowhere in any of the ways in which servers read it."""
    raw = path.encode()
    for _ in range(_DECODED):
        text = unicodedata.normalize("NFKC", raw.decode("utf-8", "replace"))
        if "\ufffd" in text or "\0" in text:
            return True  # Half characters are read in ways of their own.
        if any(part.partition(";")[0].strip() in (".", "..") for part in _SPLITS.split(text)):
            return True
        if (decoded := unquote_to_bytes(raw)) == raw:
            return False
        raw = decoded
    return True


def encoded(value: Value, safe: str = "") -> str:
    """Return a value as a part of an address or a form; one that is encoded already stays so."""
    text = value.text
    if isinstance(value.value, Encoded):
        return text
    if "%" in text and text.count("%") == len(_ESCAPE.findall(text)):
        safe += "%"
    return quote(text, safe=safe)


def to_header(pieces: Iterable[Piece]) -> str:
    """Return the value of a header."""
    pieces = list(pieces)
    literal = "".join(piece for piece in pieces if isinstance(piece, str))
    text = ""
    for piece in pieces:
        if isinstance(piece, Value):
            if text.count('"') % 2 and re.search(r'["\\]', piece.text):
                raise ToolError("An argument holds a quote, which cannot be sent here. Leave it out.")
            if _STRUCTURED.search(literal) and not text.count('"') % 2 and _ENDS_PART.search(piece.text):
                raise ToolError(
                    "An argument holds ';' or ',', which would be read as more than a value here. Leave it out."
                )
            text += piece.text
        else:
            text += piece
    text = text.strip()
    if _CONTROL.search(text):
        raise ToolError(
            "An argument holds line breaks or control characters, which cannot be sent here. Leave them out."
        )
    return text
