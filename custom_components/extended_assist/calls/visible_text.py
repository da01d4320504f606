"""Make names and values safe for questions: one visible line that cannot pass for words of the question itself."""

from functools import lru_cache
import re
from typing import Final
import unicodedata

from ..exposure.entities import ExposedEntity

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\U00013430-\U0001345f\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
"""Invisible characters that Python counts as printable."""
_MAX_MARKS: Final = 3
"""Maximum accents on one letter: more would be drawn over other lines."""
_MAX_NAMES: Final = 16_384
"""Size of the caches: large homes have thousands of names, and each answer searches all names for equal ones."""
_QUOTES = re.compile(
    '["\u00ab\u00bb\u02ba\u02dd\u02ee\u2033\u2036\u2039\u203a\u201c-\u201f\u275d\u275e\u2760\u276e\u276f\u2e42'
    "\u300a-\u300f\u3003\u301d-\u301f\ufe41-\ufe44\uff02\U0001f676-\U0001f678]"
)
_SENTENCE = re.compile(
    r"[.!?;:\u2026](?=\s)|[\u0589\u05c3\u061b\u061f\u06d4\u0700-\u0702\u0964\u0965\u1362\u1367\u1368\u104a\u104b\u166e\u1803\u1809"
    r"\u17d4\u17d5\u203c\u203d\u2047-\u2049\u2cf9-\u2cfb\u2e2e\u2e3c\u3002\ua4ff\ua60e\ua6f3\ua8ce\ua8cf\uaa5d-\uaa5f\ufe52-\ufe57"
    r"\uff01\uff0e\uff1a\uff1b\uff1f\uff61]"
)
"""The end of a sentence or label that more text follows."""


@lru_cache(_MAX_NAMES)
def one_line(text: str) -> str:
    """Return a text as one line without invisible characters, with one space between words."""
    return " ".join(seen(text).split())


def seen(text: str) -> str:
    """Return a text without characters that are invisible or reorder others, such as right-to-left marks."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", _UNSEEN.sub("", text)):
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if marks <= _MAX_MARKS:
            shown.append(char if char.isprintable() else _in_place_of(char))
    return "".join(shown)


@lru_cache(_MAX_NAMES)
def quoted(text: str) -> str:
    """Return a text as one line, in quotation marks if it could be misread.

    This is so if it has quotation marks, was not one visible line, or reads like several sentences.
    """
    line = one_line(text)
    if len(line) > 1 and line[0] == line[-1] == '"':
        line = line[1:-1]
    elif line == text and line and not _SENTENCE.search(line) and not _QUOTES.search(line):
        return line
    return f'"{_QUOTES.sub("'", line)}"'


def name_shown(entity: ExposedEntity) -> str:
    """Return the name of an entity for a question; the entity id if the name is invisible."""
    return quoted(entity.name if one_line(entity.name) else entity.entity_id)


def _in_place_of(char: str) -> str:
    """Return an empty text for a format character, and a space for one that separates words or lines."""
    return "" if unicodedata.category(char) == "Cf" else " "
