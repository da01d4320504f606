"""What counts as a yes, what as a no, and what as neither, in every language that the words are known of."""

from itertools import product
import json
from pathlib import Path
from time import perf_counter

import pytest

from custom_components.extended_assist.toolbox.caller import Caller
from custom_components.extended_assist.toolbox.hearing import LANGUAGES, Heard, hear, repeatable_of, words_for
from custom_components.extended_assist.toolbox.plan import Plan, Step
from custom_components.extended_assist.toolbox.question import AskedCall, OpenQuestion
from homeassistant.helpers import llm

TRANSLATIONS = Path("custom_components/extended_assist/translations")

MESSAGES: dict[str, dict[str, list[str]]] = json.loads((Path(__file__).parent / "hearing.json").read_text("utf-8"))
TABLE = [
    (Heard(heard), language, message)
    for heard, table in MESSAGES.items()
    for language, messages in table.items()
    for message in messages
]


@pytest.mark.parametrize(("heard", "language", "message"), TABLE)
def test_hear(heard: Heard, language: str, message: str) -> None:
    """A clear yes, a clear no, and everything else."""
    assert hear(message, language) is heard


def test_the_languages_are_those_of_the_translations() -> None:
    """Where the options speak a language, a yes and a no are heard in it, and a question is asked in it."""
    assert {path.stem for path in TRANSLATIONS.glob("*.json")} == LANGUAGES
    for language in LANGUAGES:
        words = words_for(language)
        assert words
        assert words.keys() == (words_for("en") or {}).keys()
        assert words["shall"].endswith(("?", "\uff1f"))


def test_no_word_is_a_yes_and_a_no() -> None:
    """Whatever is said after it, a refusal is none of the things that agree, in any language together with English."""
    for language, no in product(LANGUAGES, ("no", "stop", "cancel", "don't")):
        assert hear(no, language) is Heard.NO
        for yes in MESSAGES["yes"][language][:3]:
            assert hear(f"{no}, {yes}", language) is not Heard.YES
            assert hear(f"{yes}, {no}", language) is not Heard.YES


@pytest.mark.parametrize(
    ("action", "line", "language", "message", "heard"),
    [
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, unlock the front door", Heard.YES),
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, lock the front door", Heard.OTHER),
        ("lock.open", "Open: Front Door", "en", "yes, open it", Heard.YES),
        ("cover.open_cover", "Open cover: Close-up blind", "en", "ok, close the blind", Heard.OTHER),
        ("notify.send", "Send: Phone, message do not stop", "en", "yes, do not send it", Heard.OTHER),
        ("lock.unlock", "解锁: 前门", "zh-Hans", "好 锁前门", Heard.OTHER),
        ("lock.unlock", "잠금 해제: 문", "ko", "네, 문 잠금", Heard.OTHER),
        ("lock.unlock", "Schloss entriegeln: Haustür", "de", "Ja, Haustür entriegeln", Heard.YES),
    ],
)
def test_what_a_yes_may_repeat(action: str, line: str, language: str, message: str, heard: Heard) -> None:
    """The words of what was asked, but none that could say the opposite of it."""
    assert hear(message, language, repeatable_of(action, [line])) is heard


@pytest.mark.parametrize("words", ["yes ", "please ", "word ", "no problem ", "好啊", "a", "né", "的"])
def test_long_messages_are_heard_at_once(words: str) -> None:
    """They are no clear yes, and are not read for longer than short ones."""
    begun = perf_counter()
    assert hear(words * 200_000, "zh-Hans", frozenset({"word"})) is not Heard.YES
    hear(words * (9_000 // len(words)), "zh-Hans", frozenset({"word"}))
    assert perf_counter() - begun < 2


@pytest.mark.parametrize(
    ("tag", "known"),
    [("de-AT", True), ("pt", True), ("en_GB", True), ("zh-CN", True), ("zh-Hant", False), ("sv", False)],
)
def test_tags(tag: str, known: bool) -> None:
    """A tag means its language; traditional Chinese is heard, and not spoken."""
    assert (words_for(tag) is not None) is known
    assert hear("好", "zh-Hant") is Heard.YES


@pytest.mark.parametrize(
    ("message", "heard"),
    [
        ("Yes, send it", Heard.YES),
        ("Yes, send the message", Heard.YES),
        ("Yes, but only tomorrow", Heard.OTHER),
        ("Yes, after dinner", Heard.OTHER),
        ("Yes, instead of Anna", Heard.OTHER),
    ],
)
def test_free_text_is_not_repeated(message: str, heard: Heard) -> None:
    """The words of a message say nothing of what a yes means, whoever chose them."""
    text = "But dinner is only tomorrow, after six, instead of today. Anna"
    words = f"Send message: Phone (notify.send_message), message {text}"
    step = Step("notify.send_message", ("notify.phone",), {"message": text}, words)
    asked = AskedCall("1", Plan((step,), words), [words], [], "", [])
    caller = Caller(llm.LLMContext("test", None, "en", "conversation", None))
    question = OpenQuestion([asked], caller, 1, 0.0, None, 1)
    assert question.hear(message, "en") is heard
