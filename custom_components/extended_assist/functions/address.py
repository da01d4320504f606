"""From rendered templates to what a request is made of: no value can end the part that it stands in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
import json
import re
from typing import Final
from urllib.parse import quote, unquote

from ..results import ToolError
from .rendering import Encoded, Piece, Value

_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*[/?#]", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORM = re.compile(r"[\w.\[\]%-]+=")
_XML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}


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
            text += _encoded(piece, "/" if "?" in text else "")
            path = text.partition("?")[0].partition("://")[2]
            if any(unquote(segment) in (".", "..") for segment in path.split("/")[1:]):
                raise ToolError("An argument must not be a way to another address, such as '..'. Give a plain value.")
    return Address(text.strip(), host_is_written)


def _encoded(value: Value, safe: str) -> str:
    """Return a value as a part of an address; one that is encoded already stays so."""
    text = value.text
    if isinstance(value.value, Encoded):
        return text
    if "%" in text and text.count("%") == len(_ESCAPE.findall(text)):
        safe += "%"
    return quote(text, safe=safe)


def to_header(pieces: Iterable[Piece]) -> str:
    """Return the value of a header."""
    text = "".join(piece.text if isinstance(piece, Value) else piece for piece in pieces).strip()
    if _CONTROL.search(text):
        raise ToolError(
            "An argument holds line breaks or control characters, which cannot be sent here. Leave them out."
        )
    return text


def to_payload(pieces: Sequence[Piece]) -> str:
    """Return the body of a request; in JSON, XML and forms, values are written as that language writes them."""
    literal = "".join(piece for piece in pieces if isinstance(piece, str)).lstrip()
    if literal[:1] in ("{", "["):
        return _to_json(pieces)
    if literal.startswith("<"):
        return "".join(_in_xml(piece) if isinstance(piece, Value) else piece for piece in pieces)
    if _FORM.match(literal):
        return "".join(_encoded(piece, "") if isinstance(piece, Value) else piece for piece in pieces)
    return "".join(piece.text if isinstance(piece, Value) else piece for piece in pieces)


def _in_xml(value: Value) -> str:
    """Return a value as text in XML."""
    return "".join(_XML.get(character, character) for character in value.text)


def _to_json(pieces: Iterable[Piece]) -> str:
    """Return JSON in which each value stays inside its quotes, or is one value where there are none."""
    parts: list[str] = []
    quoted = False
    for piece in pieces:
        if isinstance(piece, Value):
            parts.append(json.dumps(piece.text)[1:-1] if quoted else _json_value(piece))
            continue
        escaped = False
        for character in piece:
            if character == '"' and not escaped:
                quoted = not quoted
            escaped = character == "\\" and not escaped
        parts.append(piece)
    return "".join(parts)


def _json_value(value: Value) -> str:
    """Return a value outside of quotes: as it is where it is one JSON value, otherwise as a text."""
    if not isinstance(value.value, str):
        try:
            return json.dumps(value.value)
        except TypeError, ValueError:
            return json.dumps(value.text)
    try:
        json.loads(value.text)
    except ValueError, RecursionError:
        return json.dumps(value.text)
    return value.text
