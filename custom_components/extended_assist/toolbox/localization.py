"""Texts that code says to users, in their language."""

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Final

_TEXTS: Final[Mapping[str, Mapping[str, Mapping[str, str]]]] = json.loads(
    (Path(__file__).parent / "words.json").read_text(encoding="utf-8")
)
LANGUAGES: Final = frozenset(_TEXTS)
"""The languages of the options. Replies are parsed in them, too."""
ENGLISH: Final = "en"


def known_language(language: str | None) -> str | None:
    """Return the language, of those whose words are known, that a tag such as de-AT means, or None."""
    wanted = (language or ENGLISH).replace("_", "-").casefold()
    for known in _TEXTS:
        if wanted == known.casefold() or wanted.split("-")[0] == known.split("-")[0].casefold():
            return known
    return None


def words_for(language: str | None) -> Mapping[str, str] | None:
    """Return the texts of a language; None where they are not known."""
    if (known := known_language(language)) is None or (language or "").lower() in ("zh-hant", "zh-tw", "zh-hk"):
        return None
    return _TEXTS[known]["says"]


def say(key: str, language: str | None, **values: str) -> str:
    """Return the text of a key, in a language whose words are known, otherwise in English."""
    return (words_for(language) or _TEXTS[ENGLISH]["says"])[key].format(**values)
