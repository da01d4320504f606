"""Times in an answer that a model gave before its calls: code says them, or finds that they do not fit the results.

A model misjudges what day it is, or what a rule or "next friday" comes to. The names of times are those of time_words.json, in
all its languages at once: a name that is found by mistake costs one more request, and one that is missed a wrong promise.
"""

from collections.abc import Iterable, Mapping
from functools import cache
import json
from pathlib import Path
import re
from typing import Any, Final
import unicodedata

from homeassistant.util import dt as dt_util

from ..calls.change_recorder import Due
from ..confirmation.wording import known_language, words_for
from ..results import round_second

NEXT: Final = "{next}"
"""Stands in an answer for the moment at which what was planned happens next."""

_WORDS: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (Path(__file__).parent / "time_words.json").read_text(encoding="utf-8")
)
_VALUES: Final = (*range(2, 21), 25, 30, 40, 45, 50, 60, 70, 80, 90)
"""The numbers that the words of each "numbers" list in time_words.json name, in the same order."""
_AMBIGUOUS: Final = frozenset({"once", "due", "sei"})
"""Numbers in one language that are other words in another: they count in a length of time only."""
_NOT_ONLY_NUMBER: Final = "一"
"""The Chinese character for one, which is a part of many words: with a unit or another name of a time, it is found by that."""
_UNSPACED: Final = frozenset({"ko", "zh-Hans"})
"""Languages in which a name is found inside of a word, too."""
_TOLERANCE: Final = 10.0
"""Seconds that may pass between a call and its answer."""


def with_times(answer: str, dues: Iterable[Due], language: str | None) -> str | None:
    """Return an answer with the moment in the place of NEXT; None where it may say another time than the results do."""
    moments = {due.moment for due in dues}
    if not moments:
        return None if NEXT in answer else answer
    moment = next(iter(moments)) if len(moments) == 1 else None
    # Of a language whose words are not known, nobody can tell what it says.
    if words_for(language) is None or _names_time(answer.replace(NEXT, " "), moment):
        return None
    if NEXT not in answer:
        return answer
    return None if moment is None else answer.replace(NEXT, said_when(moment, language))


def said_when(moment: float, language: str | None) -> str:
    """Return a moment as it is said: today, tomorrow with its weekday, or a date with its weekday, and the time."""
    words = _WORDS[known_language(language) or "en"]
    local, today = dt_util.as_local(round_second(moment)), dt_util.now().date()
    key = {0: "today", 1: "tomorrow"}.get((local.date() - today).days, "day")
    weekday, month = words["weekdays"][local.weekday()], words["months"][local.month - 1]
    said: str = words["says"][key].format(time=f"{local:%H:%M}", weekday=weekday, month=month, day=local.day)
    return said


def _names_time(text: str, moment: float | None) -> bool:
    """Return whether a text names a time, but for how long it is until a moment."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("o'clock", "oclock")
    names, numbers, lengths, counts, units = _patterns()
    found = [*lengths.finditer(plain)]
    seconds = sum(_count(one["count"], counts) * units[one["unit"]] for one in found)
    if (
        found
        and moment is not None
        and abs(moment - dt_util.utcnow().timestamp() - seconds) <= _TOLERANCE + seconds / 100
    ):
        plain = lengths.sub(" ", plain)
    return (
        # Normalizing makes letters of Roman numerals.
        any(unicodedata.category(char) in {"Nl", "No"} for char in text)
        or any(char.isnumeric() and char != _NOT_ONLY_NUMBER for char in plain)
        or names.search(plain) is not None
        or numbers.search(plain) is not None
    )


def _count(text: str, counts: Mapping[str, int]) -> int:
    """Return a number in figures or in words."""
    return int(text) if text.isdecimal() else counts[text]


def _name_pattern(name: str) -> str:
    """Return the pattern for a name; a star at its start or end stands for the rest of a word."""
    start = "" if name.startswith("*") else r"(?<!\w)"
    return rf"{start}{re.escape(name.strip('*'))}{'' if name.endswith('*') else r'(?!\w)'}"


type _Patterns = tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], Mapping[str, int], Mapping[str, int]]


@cache
def _patterns() -> _Patterns:
    """Return the patterns for names of times, for numbers and for lengths, with what numbers and units count."""
    names, numbers = list[str](), list[str]()
    counts, units = dict[str, int](), dict[str, int]()
    in_words: list[str] = []
    for language, words in _WORDS.items():
        found = [*words["names"], *(unit for forms in words["units"].values() for unit in forms)]
        counts |= dict.fromkeys(words["one"], 1) | dict(zip(words["numbers"], _VALUES, strict=True))
        units |= {unit: int(seconds) for seconds, forms in words["units"].items() for unit in forms}
        if language in _UNSPACED:
            names += map(re.escape, found)
            in_words += [unit for forms in words["units"].values() for unit in forms]
        else:
            names += map(_name_pattern, found)
            numbers += [number for number in words["numbers"] if number not in _AMBIGUOUS]
    either = "|".join(map(re.escape, sorted(counts, key=len, reverse=True)))
    spaced = "|".join(map(re.escape, sorted(set(units) - set(in_words), key=len, reverse=True)))
    unspaced = "|".join(map(re.escape, sorted(in_words, key=len, reverse=True)))
    lengths = rf"(?<![\w.,:])(?P<count>\d{{1,5}}|{either})\s*(?P<unit>(?:{spaced})(?!\w)|{unspaced})"
    return (
        re.compile("|".join(names)),
        re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, numbers))})(?!\w)"),
        re.compile(lengths),
        counts,
        units,
    )
