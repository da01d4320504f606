"""What is said about wishes by code, in the languages whose words are known."""

from collections.abc import Mapping
from datetime import datetime
import json
from pathlib import Path
from typing import Any, Final

from homeassistant.util import dt as dt_util

from ..results import format_minute, round_second
from ..toolbox.localization import known_language, words_for

_WORDS: Final[Mapping[str, Mapping[str, str]]] = json.loads(
    (Path(__file__).parent / "words.json").read_text(encoding="utf-8")
)
_ENGLISH = "en"


def say(key: str, language: str | None, **values: Any) -> str:
    """Return the text of a key, in a language whose words are known, otherwise in English."""
    # Where a question would not be asked in a language, such as one of another script, nothing is said in it.
    known = known_language(language) if words_for(language) is not None else None
    return _WORDS[known or _ENGLISH][key].format(**values)


def said_time(moment: float, now: datetime | None = None) -> str:
    """Return a moment, in seconds since the epoch, as it is said: of today the clock alone."""
    text = format_minute(moment)
    today = dt_util.as_local(now or dt_util.utcnow()).date()
    is_today = dt_util.as_local(round_second(moment)).date() == today
    return text.partition(" ")[2] if is_today else text
