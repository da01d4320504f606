"""Whether a message says yes or no to a question, read by code: no model is asked.

In doubt it is neither, which costs a second question and nothing else.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
import json
from pathlib import Path
import re
from typing import Any, Final
import unicodedata

_WORDS: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (Path(__file__).parent / "words.json").read_text(encoding="utf-8")
)
"""For each language: what is heard, and what a question is made of."""
LANGUAGES: Final = frozenset(_WORDS)
_ENGLISH = "en"
# Chinese and Korean are read by the character, because neither is sure to put spaces between words.
_TOKEN = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3400-\u9fff\uac00-\ud7a3]+")
_APOSTROPHES = "'`\u2019\u00b4\u02bc"
_LONG = re.compile(r"([^\W\d_])\1{2,}")

type _Tokens = tuple[str, ...]


class Heard(Enum):
    """What a message says to a question."""

    YES = "yes"
    NO = "no"
    OTHER = "other"


def hear(message: str, language: str | None, repeatable: str = "") -> Heard:
    """Return whether a message is nothing but a yes, is a refusal, or something else.

    English words count in every language. A yes may repeat words of what was asked, where that was one thing.
    """
    tokens = _tokens(message)
    heard = {kind: _phrases(kind, known_language(language)) for kind in ("yes", "polite", "no", "negation", "unclear")}
    polite = heard["polite"] | ({(word,) for word in (*_tokens(repeatable), "it", "the")} if repeatable else set())
    if not any(mark in message for mark in "?\uff1f") and _is_only(tokens, heard["yes"], polite):
        return Heard.YES
    start = 0
    while skipped := _length_at(tokens, start, heard["polite"] - heard["no"]):
        start += skipped
    unclear, refusal = (max(_length_at(tokens, at, heard[kind]) for at in (0, start)) for kind in ("unclear", "no"))
    agreed = _length_at(tokens, start, heard["yes"])
    if refusal > max(unclear, agreed):
        return Heard.NO
    if unclear or agreed or any(_occurrences(tokens, heard["unclear"])):
        return Heard.OTHER
    return Heard.NO if any(_occurrences(tokens, heard["negation"])) else Heard.OTHER


def words_for(language: str | None) -> Mapping[str, str] | None:
    """Return what a question is made of in a language; None where the words are not known."""
    if (known := known_language(language)) is None or (language or "").lower() in ("zh-hant", "zh-tw", "zh-hk"):
        return None
    says: Mapping[str, str] = _WORDS[known]["says"]
    return says


def known_language(language: str | None) -> str | None:
    """Return the language, of those whose words are known, that a tag such as de-AT means, or None."""
    wanted = (language or _ENGLISH).replace("_", "-").casefold()
    for known in _WORDS:
        if wanted == known.casefold() or wanted.split("-")[0] == known.split("-")[0].casefold():
            return known
    return None


def _tokens(text: str) -> _Tokens:
    """Return the words of a text, without case, accents, apostrophes and drawn-out letters."""
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn" and char not in _APOSTROPHES)
    return tuple(_TOKEN.findall(_LONG.sub(r"\1", unicodedata.normalize("NFC", plain))))


@cache
def _phrases(kind: str, language: str | None) -> frozenset[_Tokens]:
    """Return the phrases of a kind in a language and in English."""
    languages = {_ENGLISH, language or _ENGLISH}
    return frozenset(_tokens(phrase) for each in languages for phrase in _WORDS[each]["hears"][kind])


def _length_at(tokens: _Tokens, start: int, phrases: frozenset[_Tokens]) -> int:
    """Return the length of the longest phrase at a place, 0 for none."""
    return max((len(phrase) for phrase in phrases if tokens[start : start + len(phrase)] == phrase), default=0)


def _occurrences(tokens: _Tokens, phrases: frozenset[_Tokens]) -> Iterator[int]:
    """Yield the length of the longest phrase at each place."""
    return (_length_at(tokens, start, phrases) for start in range(len(tokens)))


def _is_only(tokens: _Tokens, yes: frozenset[_Tokens], polite: frozenset[_Tokens]) -> bool:
    """Return whether a message is made of a yes and politeness, and of nothing else."""
    reached = {(0, False)}
    for start in range(len(tokens)):
        for agreed in [agreed for at, agreed in reached if at == start]:
            for phrases, says_yes in ((yes, True), (polite, agreed)):
                reached |= {
                    (start + len(phrase), agreed or says_yes)
                    for phrase in phrases
                    if tokens[start : start + len(phrase)] == phrase
                }
    return (len(tokens), True) in reached
