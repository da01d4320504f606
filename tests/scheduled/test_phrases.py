"""Tests of what is said about tasks by code."""

from datetime import datetime, timedelta
import re
from string import Formatter
from typing import Any

import pytest

from custom_components.extended_assist.confirmation.wording import LANGUAGES
from custom_components.extended_assist.scheduled.phrases import _WORDS, said_time, say
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.test_translations import SCRIPTS, words

ENGLISH = _WORDS["en"]


def placeholders(text: str) -> list[str]:
    """Return the names of what is filled in."""
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_languages() -> None:
    """The languages are those in which questions are asked."""
    assert _WORDS.keys() == LANGUAGES


@pytest.mark.parametrize("language", sorted(LANGUAGES - {"en"}))
def test_every_language_says_everything(language: str) -> None:
    """Nothing is missing, filled in differently, or left in English."""
    said = _WORDS[language]
    assert said.keys() == ENGLISH.keys()
    assert {key: placeholders(text) for key, text in said.items()} == {
        key: placeholders(text) for key, text in ENGLISH.items()
    }
    assert not [key for key, text in said.items() if len(words(ENGLISH[key])) >= 2 and text == ENGLISH[key]]
    assert not [key for key, text in said.items() if text != text.strip() or not text]
    assert said["done"] != said["snooze"]


def test_buttons_are_what_is_asked_for() -> None:
    """Somebody who is asked to say a word finds that word on the button."""
    for language, said in _WORDS.items():
        asked = said["say_done"].casefold()
        assert said["done"].casefold() in asked, language
        assert said["snooze"].casefold() in asked, language


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Reminder: milk"),
        ("en-GB", "Reminder: milk"),
        (None, "Reminder: milk"),
        ("tlh", "Reminder: milk"),
        ("de-AT", "Erinnerung: milk"),
        ("pt", "Lembrete: milk"),
        ("zh-CN", "提醒：milk"),  # noqa: RUF001 - as it is written there
        ("zh-TW", "Reminder: milk"),
    ],
)
def test_language(language: str | None, words: str) -> None:
    """A variant of a language is that language; what is not known is English."""
    assert say("reminder", language, text="milk") == words


def test_scripts() -> None:
    """Languages with a script of their own are written in it."""
    for language, script in SCRIPTS.items():
        assert not [key for key, text in _WORDS[language].items() if not re.search(script, text)]


@pytest.mark.parametrize("text", ["{name}", "{0.__class__}", "%s", "{", "100 %"])
def test_what_is_filled_in_is_text(text: str) -> None:
    """Braces in what somebody said are no placeholders."""
    assert say("again", "en", text=text) == f"I may have told you already: {text}"


async def test_times(hass: HomeAssistant) -> None:
    """Of today the clock is said, of another day the date as well; a time that occurs twice says which."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    zone = dt_util.get_default_time_zone()
    now = datetime(2026, 10, 25, 12, tzinfo=zone)
    for moment, said in (
        (datetime(2026, 10, 25, 7, tzinfo=zone), "07:00"),
        (datetime(2026, 10, 24, 23, 59, tzinfo=zone), "2026-10-24 23:59"),
        (datetime(2026, 10, 24, 23, 59, 59, 700_000, tzinfo=zone), "00:00"),
        (datetime(2026, 10, 25, 2, 30, tzinfo=zone), "02:30+02:00"),
        (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=zone), "02:30+01:00"),
    ):
        assert said_time(moment.timestamp(), now) == said
    assert said_time((dt_util.utcnow() - timedelta(days=2)).timestamp()).startswith("20")


def test_late_in_german() -> None:
    """The time stands where the language has it."""
    values: dict[str, Any] = {"time": "07:00", "text": "Denk an die Milch."}
    assert say("late", "de", **values) == "Das war um 07:00 fällig: Denk an die Milch."
