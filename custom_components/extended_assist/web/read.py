"""Decode responses: charset, type of document, and a time limit for all parsing."""

import asyncio
import codecs
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
import re
from typing import Any, Final

import orjson

from homeassistant.core import HomeAssistant
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..results import ToolError
from ..worker.interruptible import async_run_interruptible
from .fetch import FetchedResponse, decompress
from .page import seen

MAX_SECONDS: Final = 4.0
"""The time limit of parsing, several times that of the largest allowed document."""

_ONE_AT_A_TIME: HassKey[asyncio.Lock] = HassKey(f"{DOMAIN}_web_reading")
_LOOK_AT = 1_024
"""The first bytes, in which a document declares its charset, as in browsers."""
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# What the web uses. Others that Python knows are no charsets (idna, punycode), and take endless time.
_CHARSETS = re.compile(
    r"utf-(8|16(-[lb]e)?)|ascii|iso8859-\d+|cp(125\d|866|874|932|949)|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gbk|gb2312|gb18030|big5|euc_(jp|kr)|shift_jis|iso2022_jp"
)
_HTML = re.compile(r"<(!doctype html|html|head|body)\b", re.IGNORECASE)


class DocumentType(Enum):
    """The type of a document, which decides how it is read."""

    PAGE = auto()
    JSON = auto()
    TEXT = auto()
    BINARY = auto()


@dataclass(frozen=True, slots=True)
class Document:
    """A text and its type."""

    kind: DocumentType
    text: str
    cut: bool
    """True if only the first part was read."""


async def async_read[R](hass: HomeAssistant, answer: FetchedResponse, read: Callable[[Document], R]) -> R:
    """Decode a response and return the result of `read`, which runs in a thread for at most MAX_SECONDS."""
    async with hass.data.setdefault(_ONE_AT_A_TIME, asyncio.Lock()):
        try:
            return await async_run_interruptible(hass, "web", MAX_SECONDS, lambda: read(decode(answer)))
        except TimeoutError as err:
            raise ToolError(f"{answer.url} is too complicated to be read within {MAX_SECONDS:g} seconds.") from err
        except RecursionError as err:
            raise ToolError(f"{answer.url} is nested too deeply to be read.") from err


def decode(answer: FetchedResponse) -> Document:
    """Return a response as text."""
    body, cut = decompress(answer)
    if (
        not answer.media_type
        and b"\0" in body[:_LOOK_AT]
        and not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    ):
        return Document(DocumentType.BINARY, "", cut)
    text = seen(_decoded(body, answer))
    return Document(_document_type(answer.media_type, text), text, cut)


def _decoded(body: bytes, answer: FetchedResponse) -> str:
    """Return bytes as text: by the byte order mark, the header, the document's declaration, or UTF-8."""
    for mark, charset in _MARKS:
        if body.startswith(mark):
            return body.removeprefix(mark).decode(charset, "replace")
    declared = _DECLARED.search(body[:_LOOK_AT])
    for name in (answer.charset, declared and declared[1].decode("ascii", "replace")):
        if name and (known := _charset(name)):
            return body.decode(known, "replace")
    try:
        # A body that was cut may end in the middle of a character.
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _charset(name: str) -> str | None:
    """Return Python's name of a web charset, or None."""
    try:
        known = codecs.lookup(name.strip("\"' ")).name
    except LookupError, ValueError:
        return None
    if not _CHARSETS.fullmatch(known):
        return None
    # As all browsers read them.
    return {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}.get(known, known)


def _document_type(media_type: str, text: str) -> DocumentType:
    """Return the type of a document by its media type or, if that is not specific, by its text."""
    if media_type in ("text/html", "application/xhtml+xml"):
        return DocumentType.PAGE
    if media_type == "application/json" or media_type.endswith("+json"):
        return DocumentType.JSON
    if media_type in ("", "text/plain"):
        if not media_type and _HTML.search(text[:_LOOK_AT]):
            return DocumentType.PAGE
        if text.lstrip()[:1] in ("{", "["):
            try:
                orjson.loads(text)
            except orjson.JSONDecodeError:
                return DocumentType.TEXT
            return DocumentType.JSON
    return DocumentType.TEXT


def parse_json(document: Document, url: str) -> Any:
    """Return the value of a JSON document."""
    if document.cut:
        raise ToolError(f"The JSON at {url} is too large to be read. Ask this service for less, by its parameters.")
    try:
        value = orjson.loads(document.text)
        # An escape in JSON stands for what the text itself does not hold.
        return orjson.loads(seen(orjson.dumps(value).decode())) if "\\u" in document.text else value
    except orjson.JSONDecodeError as err:
        raise ToolError(f"{url} says that it is JSON and is not.") from err
