"""Parse the reply to a question: a yes, a no, or something else. No model takes part.

A yes follows a small grammar of whole phrases, listed for each language in replies.json. All other replies go to the model,
and the user is asked again: a missed yes costs one more question, a false yes could open a door.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
import json
from pathlib import Path
import re
from typing import Final
import unicodedata

from ..calls.plan import Step
from .wording import ENGLISH, known_language

_PHRASES: Final[Mapping[str, Mapping[str, list[str]]]] = json.loads(
    (Path(__file__).parent / "replies.json").read_text(encoding="utf-8")
)
"""For each language, phrases by kind.

Of a yes: `yes` and `emphasis` agree, and so does `yes_at_start` at the beginning. `consent`, such as "OK", agrees
unless thanks follow, because "OK, thanks" may decline. `command` orders the action; `unlock` and `unlock_door` order it
for a lock. An `opener` has no meaning and may precede these. `please`, `thanks`, `now` and `article` may accompany a
yes. `door` has words for a door; after a hyphen, a word matches as the end of a longer word.

Against a yes: a `lookalike` anywhere makes the reply no yes. `doubt` has words that no repetition of the question may
hold. `direction` has words for a direction: if a name holds one, a repetition may mean the opposite.

Of a no: `no` at the beginning, after `filler`; `negation` anywhere; `unclear` has phrases with such words that refuse
nothing.

Of a long question: `more` asks for the rest of it.
"""
# Chinese and Korean are split into characters, because neither always puts spaces between words.
_TOKEN = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]|[^\W_\u3400-\u9fff\uac00-\ud7a3]+")
_UNSPACED = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3]")
_APOSTROPHES = "'`\u2019\u00b4\u02bc"
_MAX_LENGTH = 10_000
"""Maximum characters of a reply that are parsed."""
_MAX_YES_LENGTH = 200
"""Maximum characters of a yes, which may repeat the question."""
_UNLOCKING: Final = frozenset({"lock.unlock", "lock.open"})
_VALUE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)* \d+(?: %)?")
"""A field with a whole number, as a question words it. A yes may not repeat other values."""
_LONG = re.compile(r"([^\W\d_])\1{2,}")
# "Yesss" is a yes. A drawn-out vowel hesitates, and a syllable said three times in Chinese or Korean is often ironic.
_DRAWN_OUT = re.compile(r"([aeiouy]|[^\W\d_a-z])\1{2,}")
# Only one word keeps its accent: "sí" is a yes in Spanish and Italian, "si" also means "if".
_ACCENTED_YES = re.compile(r"\bs[\u00ec\u00ed]\b")
# The characters that a yes may have besides letters. Question marks, quotes, brackets and emoji, in any script, can
# change its meaning, and invisible characters could hide text.
_YES_MARKS = frozenset(".,!\u00a1-~\u3001\u3002" + _APOSTROPHES)
# An apostrophe that joins no letters is a quotation mark; Dutch "'t" is a word.
_QUOTE = re.compile(rf"(?<![^\W\d_])[{_APOSTROPHES}](?!t\b)|[{_APOSTROPHES}](?![^\W\d_])")
# Two full stops, a comma at the end or a dash that joins no words: the reply was broken off.
_BROKEN_OFF = re.compile(r"[.\u3002,\u3001-]\s*[.\u3002,\u3001-]|[,\u3001]\s*$|(?<!\w)-|-(?!\w)")

type _Tokens = tuple[str, ...]


class Reply(Enum):
    """The meaning of a reply to a question."""

    YES = "yes"
    NO = "no"
    MORE = "more"
    """Asks for the next part of a long question; only if there is one."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class AskedWords:
    """Words of a question about one action that a yes may repeat, as in "Yes, unlock the front door"."""

    action: frozenset[str] = frozenset()
    """The words that name the action. A repetition must have one of them, because a name may hold any word."""
    phrases: frozenset[_Tokens] = frozenset()
    """The words of the action, the whole name of the entity, and each field with its value."""
    kinds: frozenset[str] = frozenset()
    """Kinds of phrases that repeat the action under any title: "open it" for a lock, "open the door" for a door."""


_NOTHING: Final = AskedWords()


def parse_reply(message: str, language: str | None, asked: AskedWords = _NOTHING) -> Reply:
    """Return the meaning of a reply in a language. English phrases count in every language."""
    known = known_language(language)
    tokens = _tokens(message[:_MAX_LENGTH])
    if _is_yes(message, tokens, known, asked):
        return Reply.YES
    phrases = {kind: _phrases(kind, known) for kind in ("no", "negation", "unclear", "filler")}
    start, before = 0, phrases["filler"] - phrases["no"]
    while skipped := _length_at(tokens, start, before):
        start += skipped
    unclear, refusal = (max(_length_at(tokens, at, phrases[kind]) for at in (0, start)) for kind in ("unclear", "no"))
    agreed = _length_at(tokens, start, _all_phrases(_AGREEING_KINDS, known))
    if refusal > max(unclear, agreed):
        return Reply.NO
    if unclear or agreed or _has(tokens, phrases["unclear"]):
        return Reply.OTHER
    return Reply.NO if _has(tokens, phrases["negation"]) else Reply.OTHER


def asks_for_more(message: str, language: str | None) -> bool:
    """Return whether a reply asks for the rest of the question and says nothing else: "more", "yes, go on"."""
    known = known_language(language)
    around = _all_phrases(frozenset({"yes", "yes_at_start", "emphasis", "consent", "filler"}), known)
    return len(message) <= _MAX_LENGTH and _consists_of(_tokens(message), _phrases("more", known), around)


def asked_words(action: str, lines: Iterable[str], name: str | None = None) -> AskedWords:
    """Return the words of a question about one action that a yes may repeat.

    Each line is the title of the action, a colon, the name of the entity, and the field values, separated by commas.
    Pass `name` if the name may hold a comma. A part of a name is not accepted: it may be a time or the opposite.
    """
    titles, names, values = set[_Tokens](), set[_Tokens](), set[_Tokens]()
    has_name = False
    for line in lines:
        head, _, fields = line.partition(", ")
        title, colon, named = head.partition(": ")
        if colon:
            has_name = True
            rest = line.partition(": ")[2]
            if name is not None and rest.startswith(name):
                named, fields = name, rest.removeprefix(name).removeprefix(", ")
            names.add(_tokens(named))
        titles.add(_tokens(title))
        values.update(_tokens(part) for part in fields.split(", ") if _VALUE.fullmatch(part))
    words = {word for title in titles for word in title if not word.isdecimal()}
    # The title may be the free name of a script, where no entity is named.
    phrases = {("it",), *titles, *values, *({(word,) for word in words} if has_name else ())}
    kinds = set[str]()
    if action in _UNLOCKING:
        kinds = {"unlock", "unlock_door"} if any(map(_names_door, lines)) else {"unlock"}
        # Users say "Front Door" for the lock "Front Door Lock".
        names |= {one[:-1] for one in names if one[-1:] == ("lock",) and _names_door(" ".join(one[-2:-1]))}
    numbered = words | {word for value in values for word in value}
    turns = {word for language in _PHRASES for phrase in _own_phrases("direction", language) for word in phrase} - words
    for one in names:
        digits = {word for word in one if word.isnumeric()}
        # "Position 5" may be a value, and "Close" the opposite.
        if turns.isdisjoint(one) and not (digits and (len(digits) == len(one) or not numbered.isdisjoint(one))):
            phrases.add(one)
    readable = {phrase for phrase in phrases if phrase and not any(_UNSPACED.match(word) for word in phrase)}
    return AskedWords(frozenset(words), frozenset(readable), frozenset(kinds))


def _names_door(text: str) -> bool:
    """Return whether a text has a word for a door, in any language. Its accents count: "Tür", but not "Natur"."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    doors = [door for phrases in _PHRASES.values() for door in phrases["door"]]
    return any(word == door or (door[0] == "-" and word.endswith(door[1:])) for word in words for door in doors)


def asked_words_of(steps: Sequence[Step], lines: Sequence[str]) -> AskedWords:
    """Return the words that a yes may repeat, if the question is about one action that runs now and unconditionally.

    With several actions, the words of one could select only it; with a time or a condition, they could mean now.
    """
    if len(steps) != 1 or len(steps[0].entity_ids) > 1 or steps[0].frame:
        return AskedWords()
    (step,) = steps
    if len(step.parts) > 1:
        # The name in quotes is left out; it may be new.
        return asked_words(step.action, [f"{step.title.partition("'")[0]}: "])
    action = f" ({step.action})"
    name = step.words.partition(": ")[2].partition(action)[0]
    return asked_words(step.action, [step.words.replace(action, ""), *lines], name)


# The grammar of a yes: from each place, the kinds of phrases that may follow, and the place that each leads to.
_CLOSING: Final = {"please": "closed", "thanks": "thanks", "now": "closed", "yes": "thanks"}
_DOING: Final = {"command": "done", "unlock": "done", "unlock_door": "done"}
_REPEATING: Final = {"article": "article", "repeated": "done"}
_AFTER: Final[Mapping[str, Mapping[str, str]]] = {
    "start": _DOING
    | {"yes": "yes", "yes_at_start": "yes or if", "emphasis": "agreed", "consent": "consent"}
    | {"opener": "opener", "please": "polite", "thanks": "polite"},
    "polite": _DOING | {"yes": "yes", "emphasis": "agreed"},
    "opener": _DOING | {"please": "before doing", "now": "before doing"},
    "before doing": _DOING,
    "yes": _DOING | _REPEATING | {"emphasis": "agreed", "please": "please", "now": "now", "thanks": "thanks"},
    # Without its accent, "sí" means "if" when more words follow.
    "yes or if": {"please": "closed", "thanks": "thanks"},
    "agreed": _DOING | _REPEATING | {"yes": "agreed", "please": "please", "now": "now", "thanks": "thanks"},
    "consent": _DOING
    | _REPEATING
    | {"yes": "agreed", "emphasis": "agreed", "please": "please", "thanks": "before doing", "now": "before doing"},
    "please": _DOING | _REPEATING | {"now": "now", "thanks": "thanks"},
    "now": _DOING | {"please": "closed", "thanks": "thanks"},
    "article": _REPEATING,
    "done": _DOING | _REPEATING | _CLOSING,
    "closed": _CLOSING,
    "thanks": {},
}
_ENDS: Final = frozenset({"yes", "yes or if", "agreed", "consent", "please", "now", "done", "closed", "thanks"})
"""The places of the grammar where a yes may end."""
_AGREEING_KINDS: Final = frozenset({"yes", "yes_at_start", "emphasis", "consent", "command"})
_UNLOCK_KINDS: Final = frozenset({"unlock", "unlock_door"})
_YES_KINDS: Final = frozenset(kind for after in _AFTER.values() for kind in after) - {"repeated"}
_NO_YES_KINDS: Final = frozenset({"lookalike", "no", "negation"})


def _is_yes(message: str, tokens: _Tokens, language: str | None, asked: AskedWords) -> bool:
    """Return whether a reply is a yes by the grammar, in its language or in English, and nothing rules it out."""
    if len(message) > _MAX_YES_LENGTH or not _is_written_like_a_yes(message):
        return False
    if _has_beside(tokens, _all_phrases(_NO_YES_KINDS, language), _all_phrases(_YES_KINDS, language)):
        return False
    doubt = {word for phrase in _phrases("doubt", language) for word in phrase}
    kinds = _YES_KINDS - _UNLOCK_KINDS | asked.kinds
    # A name may hold any word: "Yes, morning" does not repeat the question, "Yes, unlock" does.
    names_action = not (asked.action - doubt).isdisjoint(tokens) or any(
        _has(tokens, _phrases(kind, language)) for kind in asked.kinds
    )
    phrases = {"repeated": frozenset(one for one in asked.phrases if names_action and doubt.isdisjoint(one))}
    return any(
        _follows_grammar(tokens, {kind: _own_phrases(kind, each) for kind in kinds} | phrases)
        for each in {language or ENGLISH, ENGLISH}
    )


def _is_written_like_a_yes(message: str) -> bool:
    """Return whether the characters of a reply are those of a plain statement that was not broken off."""
    text = unicodedata.normalize("NFKC", message).casefold().strip()
    plain = _without_accents(text)
    # Combining marks that do not compose with a letter strike it out or are invisible.
    return not (
        any(unicodedata.category(char) == "Mn" for char in unicodedata.normalize("NFC", text))
        or _QUOTE.search(text)
        or plain.startswith("~")
        or any(not (char.isalnum() or char.isspace() or char in _YES_MARKS) for char in plain)
        or _BROKEN_OFF.search(text)
        or _DRAWN_OUT.search(plain)
    )


def _follows_grammar(tokens: _Tokens, phrases: Mapping[str, frozenset[_Tokens]]) -> bool:
    """Return whether tokens are a yes by the grammar."""
    reached: list[set[str]] = [{"start"}, *(set[str]() for _ in tokens)]
    for start, places in enumerate(reached[:-1]):
        for place in places:
            for kind, after in _AFTER[place].items():
                for length in _lengths_at(tokens, start, phrases.get(kind, frozenset())):
                    reached[start + length].add(after)
    return not _ENDS.isdisjoint(reached[-1])


def _tokens(text: str) -> _Tokens:
    """Return the words of a text, without case, accents, apostrophes and drawn-out letters."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())
    plain = _without_accents(_ACCENTED_YES.sub("sii", plain))
    return tuple(_TOKEN.findall(_LONG.sub(r"\1", "".join(char for char in plain if char not in _APOSTROPHES))))


def _without_accents(text: str) -> str:
    """Return a text without accents; the syllables of Korean stay whole."""
    plain = "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", plain)


@cache
def _own_phrases(kind: str, language: str) -> frozenset[_Tokens]:
    return frozenset(map(_tokens, _PHRASES[language][kind]))


@cache
def _phrases(kind: str, language: str | None) -> frozenset[_Tokens]:
    return _own_phrases(kind, language or ENGLISH) | _own_phrases(kind, ENGLISH)


@cache
def _all_phrases(kinds: frozenset[str], language: str | None) -> frozenset[_Tokens]:
    return frozenset(phrase for kind in kinds for phrase in _phrases(kind, language))


def _length_at(tokens: _Tokens, start: int, phrases: frozenset[_Tokens]) -> int:
    """Return the length of the longest phrase at a place, 0 for none."""
    return max(_lengths_at(tokens, start, phrases), default=0)


def _lengths_at(tokens: _Tokens, start: int, phrases: frozenset[_Tokens]) -> list[int]:
    ends = range(1, min(_longest(phrases), len(tokens) - start) + 1)
    return [length for length in ends if tokens[start : start + length] in phrases]


@lru_cache(maxsize=500)
def _longest(phrases: frozenset[_Tokens]) -> int:
    return max(map(len, phrases), default=0)


def _has(tokens: _Tokens, phrases: frozenset[_Tokens]) -> bool:
    return any(_length_at(tokens, start, phrases) for start in range(len(tokens)))


def _has_beside(tokens: _Tokens, phrases: frozenset[_Tokens], listed: frozenset[_Tokens]) -> bool:
    """Return whether one of the phrases occurs in the tokens, except as a part of a longer listed phrase."""
    reached = [0] * len(tokens)
    """For each token, the end of the longest listed phrase that begins with it."""
    for start in range(len(tokens)):
        reached[start] = start + _length_at(tokens, start, listed)
    for start in range(len(tokens)):
        for length in _lengths_at(tokens, start, phrases):
            end = start + length
            if not any(after >= end and after - before > length for before, after in enumerate(reached[: start + 1])):
                return True
    return False


def _consists_of(tokens: _Tokens, needed: frozenset[_Tokens], around: frozenset[_Tokens]) -> bool:
    """Return whether the tokens are at least one needed phrase, optional phrases around it, and nothing else."""
    reached: list[set[bool]] = [{False}, *(set[bool]() for _ in tokens)]
    for start, before in enumerate(reached[:-1]):
        for has_needed in before:
            for phrases, then in ((needed, True), (around, has_needed)):
                for length in _lengths_at(tokens, start, phrases):
                    reached[start + length].add(then)
    return True in reached[-1]
