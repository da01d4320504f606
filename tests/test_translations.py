"""Every language says everything that English says, with the same placeholders and links."""

import re
from string import Formatter

import pytest

from homeassistant.helpers import config_validation as cv

from .publishing.files import INTEGRATION, leaves, read_json

FOLDER = INTEGRATION / "translations"
LANGUAGES = {"de", "en", "es", "fr", "it", "ko", "nl", "pl", "pt-BR", "zh-Hans"}
ENGLISH = leaves(read_json(FOLDER / "en.json"))
OTHERS = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "en")
SCRIPTS = {"ko": "[\uac00-\ud7a3]", "zh-Hans": "[\u4e00-\u9fff]"}
"""What words look like in languages with a script of their own."""
A_SENTENCE = 3
"""Words from which on two languages hardly ever say a thing in the same way."""


@pytest.fixture(autouse=True)
def _custom_integrations() -> None:
    """Make no Home Assistant, as the tests beside this one want it."""


def placeholders(text: str) -> set[str]:
    """Return the names of what is filled in."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def links(text: str) -> list[str]:
    """Return where the links of a text lead."""
    return sorted(re.findall(r"\]\(([^)]*)\)", text))


def words(text: str) -> list[str]:
    """Return what is there to translate: no placeholders, links, addresses or code."""
    return re.findall(r"[^\W\d_]{3,}", re.sub(r"\{\w+\}|\]\([^)]*\)|https?://\S+|```.*?```|\w+[._]\w+", " ", text))


def test_languages() -> None:
    """The languages are those that were promised."""
    assert {path.stem for path in FOLDER.iterdir()} == LANGUAGES


@pytest.mark.parametrize("language", OTHERS)
def test_keys(language: str) -> None:
    """Nothing is missing, and nothing is left from an older English text."""
    found = leaves(read_json(FOLDER / f"{language}.json"))
    assert sorted(ENGLISH.keys() - found.keys()) == []
    assert sorted(found.keys() - ENGLISH.keys()) == []


@pytest.mark.parametrize("language", OTHERS)
def test_texts(language: str) -> None:
    """Placeholders and links are those of the English text, and nothing in a text breaks the dialog that shows it."""
    wrong = {}
    for key, text in leaves(read_json(FOLDER / f"{language}.json")).items():
        english = ENGLISH.get(key, "")
        problems = {
            "placeholders": placeholders(text) != placeholders(english),
            "links": links(text) != links(english),
            "code": text.count("```") != english.count("```"),
            "reference": "[%" in text,
            "spaces": text != text.strip() or not text,
            # The frontend takes an apostrophe in front of a brace as the begin of a text that is shown as it is.
            "apostrophe": re.search(r"'[{}<>|#]", text) is not None,
        }
        cv.string_with_no_html(text)
        if found := [name for name, is_wrong in problems.items() if is_wrong]:
            wrong[key] = (found, text)
    assert not wrong


@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_left_in_english(language: str) -> None:
    """A sentence is not the English one, has no English article, and is in the language's script."""
    left = {}
    for key, text in leaves(read_json(FOLDER / f"{language}.json")).items():
        if len(words(ENGLISH.get(key, ""))) < A_SENTENCE:  # A key that English has not is told above.
            continue
        script = SCRIPTS.get(language)
        is_english = text == ENGLISH[key] or re.search(r"\b(the|and|which|with)\b", text, re.IGNORECASE)
        if is_english or (script and not re.search(script, text)):
            left[key] = text
    assert not left
