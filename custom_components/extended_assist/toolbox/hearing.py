"""Whether a message says yes or no to a question, read by code: no model is asked.

In doubt it is neither, which costs a second question and nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache, lru_cache
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
_MAX_HEARD = 10_000
"""Characters of a message that are heard; what is longer is no clear yes."""
_UNSPACED = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")
_TURNS = frozenset(
    [
        "arm",
        "away",
        "close",
        "disable",
        "disarm",
        "down",
        "enable",
        "home",
        "lock",
        "off",
        "on",
        "open",
        "start",
        "stop",
        "unlock",
        "up",
    ]
)
"""Words that say which way something goes. A name may hold one, such as that of a lock: repeated, it may mean the opposite."""
_LONG = re.compile(r"([^\W\d_])\1{2,}")

type _Tokens = tuple[str, ...]


class Heard(Enum):
    """What a message says to a question."""

    YES = "yes"
    NO = "no"
    MORE = "more"
    """Go on telling; heard only where there is more to tell."""
    OTHER = "other"


def hear(message: str, language: str | None, repeatable: frozenset[str] = frozenset()) -> Heard:
    """Return whether a message is nothing but a yes, is a refusal, or something else.

    English words count in every language. A yes may repeat words of what was asked, where that was one thing.
    """
    tokens = _tokens(message[:_MAX_HEARD])
    heard = {kind: _phrases(kind, known_language(language)) for kind in ("yes", "polite", "no", "negation", "unclear")}
    polite = heard["polite"] | ({(word,) for word in repeatable} - heard["no"] - heard["negation"])
    is_short = len(message) <= _MAX_HEARD and not any(mark in message for mark in "?\uff1f")
    if is_short and _is_only(tokens, heard["yes"], polite):
        return Heard.YES
    start, before = 0, heard["polite"] - heard["no"]
    while skipped := _length_at(tokens, start, before):
        start += skipped
    unclear, refusal = (max(_length_at(tokens, at, heard[kind]) for at in (0, start)) for kind in ("unclear", "no"))
    agreed = _length_at(tokens, start, heard["yes"])
    if refusal > max(unclear, agreed):
        return Heard.NO
    if unclear or agreed or any(_occurrences(tokens, heard["unclear"])):
        return Heard.OTHER
    return Heard.NO if any(_occurrences(tokens, heard["negation"])) else Heard.OTHER


def wants_more(message: str, language: str | None) -> bool:
    """Return whether a message asks for what is left to be told, and for nothing else: "more", "yes, go on"."""
    known = known_language(language)
    polite = _phrases("polite", known) | _phrases("yes", known)
    return len(message) <= _MAX_HEARD and _is_only(_tokens(message), _phrases("more", known), polite)


def repeatable_of(action: str, lines: Iterable[str], without: Iterable[str] = ()) -> frozenset[str]:
    """Return the words of a question about one thing that a yes to it may repeat, without those of some texts."""
    others = _TURNS - {*action.partition(".")[2].split("_")} | {word for text in without for word in _tokens(text)}
    words = {word for line in lines for word in _tokens(line)} - others
    return frozenset({"it", "the", *(word for word in words if not _UNSPACED.match(word))})


def words_for(language: str | None) -> Mapping[str, str] | None:
    """Return the words of questions in a language; None where they are not known."""
    if (known := known_language(language)) is None or (language or "").lower() in ("zh-hant", "zh-tw", "zh-hk"):
        return None
    says: Mapping[str, str] = _WORDS[known]["says"]
    return says


def say(key: str, language: str | None, **values: str) -> str:
    """Return the text of a key, in a language whose words are known, otherwise in English."""
    return (words_for(language) or _WORDS[_ENGLISH]["says"])[key].format(**values)


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
    """Return the phrases of a kind in a language and in English, but for English ones that are a no in it."""
    own, english = (_WORDS[each]["hears"] for each in (language or _ENGLISH, _ENGLISH))
    others = {*map(_tokens, english[kind])} - ({*map(_tokens, own["no"])} if kind == "yes" else set())
    return frozenset({*map(_tokens, own[kind])} | others)


def _length_at(tokens: _Tokens, start: int, phrases: frozenset[_Tokens]) -> int:
    """Return the length of the longest phrase at a place, 0 for none."""
    return max(_lengths_at(tokens, start, phrases), default=0)


def _lengths_at(tokens: _Tokens, start: int, phrases: frozenset[_Tokens]) -> list[int]:
    """Return the lengths of the phrases at a place."""
    ends = range(1, min(_longest(phrases), len(tokens) - start) + 1)
    return [length for length in ends if tokens[start : start + length] in phrases]


@lru_cache(maxsize=200)
def _longest(phrases: frozenset[_Tokens]) -> int:
    return max(map(len, phrases), default=0)


def _occurrences(tokens: _Tokens, phrases: frozenset[_Tokens]) -> Iterator[int]:
    """Yield the length of the longest phrase at each place."""
    return (_length_at(tokens, start, phrases) for start in range(len(tokens)))


def _is_only(tokens: _Tokens, yes: frozenset[_Tokens], polite: frozenset[_Tokens]) -> bool:
    """Return whether a message is made of a yes and politeness, and of nothing else."""
    reached: list[set[bool]] = [{False}, *(set[bool]() for _ in tokens)]
    for start, before in enumerate(reached[:-1]):
        for agreed in before:
            for phrases, says_yes in ((yes, True), (polite, agreed)):
                for length in _lengths_at(tokens, start, phrases):
                    reached[start + length].add(says_yes)
    return True in reached[-1]
