"""Finding facts by their words, without a model or a service.

Words are compared without case and accents, by their stems, by pieces of three letters, which find parts of compounds and
other forms, and by what people call the same thing, in the languages of the options. What is rare says more.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
import json
from math import log, sqrt
from pathlib import Path
import re
from typing import Final
import unicodedata

_DATA: Final[Mapping[str, str]] = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))
_LETTERS: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "\u0131": "i"})
_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[\uac00-\ud7a3]+|[^\W_\u3400-\u9fff\uac00-\ud7a3]+")
_UNSPACED: Final = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")
_ENDINGS: Final = re.compile(
    r"(?:ungen|ingly|ation|amente|mente|ing|ung|ies|ied|ern|est|ere|ent|ons|ais|ait|ant|ado|ada|ido|ida|are|ere|ire|ego|ach"
    r"|ami|ow|en|er|es|ed|em|et|ly|ar|ir|os|as|ie|te|s|e|n|y|a|o|i|u)$"
)
_LEAST: Final = 3
"""The least letters of a stem."""
_COMPOUND: Final = 4
"""The least letters of a stem that is searched inside longer words."""
_WEIGHTS: Final = {"w": 1.0, "s": 1.0, "c": 2.2, "t": 0.22}
"""The weights of a word, its stem, its concept, and each of its pieces."""
_LENGTH: Final = 0.35
"""How much a long fact loses against a short one."""

type Features = frozenset[str]
"""The search keys of a text: words, stems, concepts and pieces, each with a letter for its kind in front."""


def search(query: str, facts: Sequence[Features], least: float = 0.0) -> list[tuple[int, float]]:
    """Return the places of the facts that a query is about, with how well they fit, best first; runs off the event loop.

    How well is from 0 to about 1, where the whole query is found. Those below least are left out.
    """
    wanted = features(query)
    found = [wanted & each for each in facts]
    counts = Counter(chain.from_iterable(found))
    rare = {name: log(1 + len(facts) / (1 + counts[name])) * _WEIGHTS[name[0]] for name in wanted}
    whole = sum(rare.values()) or 1.0
    middle = sum(map(len, facts)) / len(facts) if facts else 1.0
    fits = (
        (place, sum(rare[name] for name in each) / whole / (1 + _LENGTH * (sqrt(len(facts[place]) / middle) - 1)))
        for place, each in enumerate(found)
        if each
    )
    # Of two that fit alike, the newer one is likelier to be meant.
    return sorted(((place, fit) for place, fit in fits if fit > least), key=lambda one: (-one[1], -one[0]))


def features(text: str) -> Features:
    """Return the search keys of a text; takes about 0.1 ms for a sentence."""
    tokens = [token for token in _tokens(text) if token not in _STOP] or list(_tokens(text))
    names = {name for token in tokens for name in _of_token(token)}
    names |= {f"w{one}{two}" for one, two in pairwise(tokens) if _UNSPACED.match(one)}
    folded = text.casefold()
    return frozenset(names | {f"c{concept}" for phrase, concept in _PHRASES.items() if phrase in folded})


def _of_token(token: str) -> Iterator[str]:
    """Yield a word's search keys."""
    yield f"w{token}"
    root = _stem(token)
    yield f"s{root}"
    yield from (f"c{concept}" for concept in _concepts(token, root))
    if len(token) >= _COMPOUND:
        padded = f"_{token}_"
        yield from (f"t{padded[start : start + 3]}" for start in range(len(padded) - 2))


def _stem(token: str) -> str:
    """Return a word without its ending."""
    shorter = _ENDINGS.sub("", token)
    return shorter if len(shorter) >= _LEAST else token


def _concepts(token: str, root: str) -> set[str]:
    """Return the concepts of a word that has synonyms; a compound has those of its parts."""
    found = {_ROOTS[one] for one in (token, root) if one in _ROOTS}
    if not found and len(token) > _COMPOUND + 1:
        found = {_ROOTS[part] for part in _parts(token) if part in _ROOTS}
    return found


def _parts(token: str) -> Iterator[str]:
    """Yield the parts of a word that can be words; short ones only at its ends."""
    if len(token) >= _COMPOUND + _LEAST:
        yield from (token[:_COMPOUND], token[-_COMPOUND:])
    for length in range(_COMPOUND + 1, min(len(token), _LONGEST_ROOT) + 1):
        yield from (token[start : start + length] for start in range(len(token) - length + 1))


def _tokens(text: str) -> Iterable[str]:
    """Return the words of a text without case, accents and joining characters."""
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return _TOKEN.findall(unicodedata.normalize("NFC", bare).replace("'s ", " "))


def _read() -> tuple[frozenset[str], dict[str, str], dict[str, str]]:
    """Return the stop words, the concepts of words, and the words of unspaced scripts."""
    roots: dict[str, str] = {}
    phrases: dict[str, str] = {}
    for concept, words in _DATA.items():
        for word in words.split() if concept != "stop" else ():
            if _UNSPACED.search(word):
                phrases[word] = concept
                continue
            for token in _tokens(word):
                roots[token] = roots[_stem(token)] = concept
    return frozenset(_tokens(_DATA["stop"])), roots, phrases


_STOP, _ROOTS, _PHRASES = _read()
_LONGEST_ROOT: Final = max(map(len, _ROOTS))
