"""Questions that are too long to be heard at once."""

from itertools import pairwise, product
import json
from pathlib import Path
from random import Random
import re

import pytest

from custom_components.extended_assist.confirmation.reply_parser import Reply, asks_for_more, parse_reply
from custom_components.extended_assist.confirmation.wording import (
    LANGUAGES,
    MAX_HEARD,
    Item,
    PortionedQuestion,
    length,
    question_of,
    words_for,
)

LISTED = json.loads(Path("custom_components/extended_assist/confirmation/replies.json").read_text("utf-8"))
UNLOCK = Item("unlock Front Door", matters=True)


def asked(
    items: list[Item], language: str = "en", *, before: tuple[str, ...] = (), room: int = MAX_HEARD
) -> PortionedQuestion:
    """Return the question about items."""
    says = words_for(language)
    assert says
    lines = [item.words for item in items]
    return question_of(says, before, lines, items, title="Add the automation 'Night'", room=room)


def lamps(count: int) -> list[Item]:
    """Return harmless things, each with a name of its own."""
    return [Item(f"turn on Lamp {number:03} in the living room", matters=False) for number in range(count)]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_matters_comes_first(language: str) -> None:
    """What it is and how much, then the one thing that matters, though it is the last of many."""
    question = asked([*lamps(40), UNLOCK], language)
    first = question.portions[0].splitlines()
    assert first[0] == "Add the automation 'Night'"
    assert "41" in first[1]
    assert first[2] == "- unlock Front Door"
    assert question.needed == 1
    says = words_for(language)
    assert says
    assert all(portion.endswith(says["shall"]) for portion in question.portions)
    assert all(length(portion) <= MAX_HEARD for portion in question.portions)
    told = "\n".join(question.portions)
    assert all(told.count(f"- {item.words}\n") == 1 for item in lamps(40))
    left = [int(re.findall(r"\d+", portion.splitlines()[-2])[-1]) for portion in question.portions[:-1]]
    assert all(one > other for one, other in pairwise(left))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_many_that_matter(language: str) -> None:
    """While any is left that matters, a portion asks whether to go on, and never whether to do it."""
    items = [Item(f"unlock Door {number:03} at the back of the house", matters=True) for number in range(20)]
    question = asked([*lamps(5), *items], language)
    assert 2 <= question.needed <= len(question.portions)
    says = words_for(language)
    assert says
    for number, portion in enumerate(question.portions, 1):
        assert portion.endswith(("?", "\uff1f"))
        assert portion.endswith(says["shall"]) is (number >= question.needed)
    heard = "\n".join(question.portions[: question.needed])
    assert all(item.words in heard for item in items)


def test_short_ones_are_told_whole() -> None:
    """What has room is told as one, whatever matters in it."""
    assert asked([UNLOCK, *lamps(1)]) == PortionedQuestion(
        ("I would do 2 things:\n- unlock Front Door\n- turn on Lamp 000 in the living room\nShall I do that?",),
        1,
    )


def test_one_long_thing() -> None:
    """One that takes longer than a portion is told in pieces, all of them before a yes."""
    words = " ".join(f"word{number}" for number in range(300))
    question = asked([Item(words, matters=True)])
    assert question.needed == len(question.portions) > 3
    told = " ".join(
        line.removeprefix("- ") for portion in question.portions for line in portion.splitlines() if "word" in line
    )
    assert told == words


def test_what_it_was_before_leaves_room() -> None:
    """What was told before a change is cut, so that it cannot push out what is told now."""
    question = asked([*lamps(20), UNLOCK], before=("x" * 5_000,))
    assert "- unlock Front Door" in question.portions[0]
    assert "…" in question.portions[0]
    assert length(question.portions[0]) <= MAX_HEARD


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_more(language: str) -> None:
    """Asking for more is heard in each language, alone and with a yes, and never where something else is said."""
    for words in (*LISTED[language]["more"], "more", "go on"):
        assert asks_for_more(words, language), words
        assert asks_for_more(f"{words}!", language), words
        assert parse_reply(words, language) is not Reply.NO, words
    yes = LISTED[language]["yes"][0]
    more = LISTED[language]["more"][0]
    assert asks_for_more(f"{yes}, {more}", language)
    for words, no in product((yes, "Front Door", ""), ("no", "stop", "")):
        assert not asks_for_more(f"{no} {words}", language)
    assert not asks_for_more(f"{more} Front Door", language)


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_left_out(seed: int) -> None:
    """Any number of things of any length: each is told whole, once, and what matters before a yes can agree."""
    random = Random(seed)
    items = []
    for number in range(100, 100 + random.randint(1, 60)):
        word = random.choice(["lamp", "前门", "현관문", "x" * 50])
        words = " ".join(f"{word}{number}.{part}." for part in range(random.randint(1, random.choice([3, 90]))))
        items.append(Item(words, matters=random.random() < 0.3))
    room = random.choice([MAX_HEARD, 1_000, 4_000])
    question = asked(items, random.choice(sorted(LANGUAGES)), room=room)
    told, needed = (
        "".join(
            line for portion in portions for line in portion.splitlines() if line.startswith("- ") or len(items) == 1
        )
        for portions in (question.portions, question.portions[: question.needed])
    )
    for item in items:
        words = re.sub(r"[- ]", "", item.words)
        assert re.sub(r"[- ]", "", told).count(words) == 1
        assert not item.matters or words in re.sub(r"[- ]", "", needed)
    if len(question.portions) > 1:
        assert max(map(length, question.portions)) <= room * 1.5
