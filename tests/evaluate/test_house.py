"""The house and its truth."""

from datetime import datetime, timedelta
from statistics import fmean

import pytest

from evaluate.house import DAYS, ZONE, House, midnight
from evaluate.questions import KINDS, Question, questions

END = datetime(2026, 11, 20, 14, 30, tzinfo=ZONE)


@pytest.fixture(scope="module")
def house() -> House:
    """A house, up to an afternoon."""
    return House.generate(5, END)


def asked(house: House) -> list[Question]:
    return questions(house, END)


def test_questions_are_many_and_their_truth_can_be_said(house: House) -> None:
    """More than a hundred, half of them German, each with something to be judged by."""
    found = asked(house)
    assert len(found) > 100
    assert tuple(dict.fromkeys(question.kind for question in found)) == KINDS
    assert sum(question.language == "de" for question in found) * 2 == len(found)
    for question in found:
        assert question.facts or question.acts or question.written or question.reply or question.before
        assert all(fact.holds(fact.told(question.language)) for fact in question.facts), question


def test_a_seed_is_a_house(house: House) -> None:
    """The same seed gives the same questions, another one gives other names, and what is hidden differs too."""
    texts = [question.text for question in asked(house)]
    assert [question.text for question in asked(House.generate(5, END))] == texts
    others = [House.generate(seed, END) for seed in range(6, 9)]
    assert all({question.text for question in asked(other)} != {*texts} for other in others)
    assert len({other.things["hidden light"].name for other in others}) > 1


def test_the_past_does_not_depend_on_when_it_ends(house: House) -> None:
    """What happened before stays the same a while later."""
    later = House.generate(5, END + timedelta(minutes=50))
    for role, past in house.past.items():
        assert later.past[role][: len(past)] == past, role
    assert len(later.past["outdoor"]) > len(house.past["outdoor"])


def test_truth_is_what_the_changes_say(house: House) -> None:
    """Counts, lengths and amounts are those of a plain walk over the changes."""
    start, end = midnight((END - timedelta(days=1)).date()), midnight(END.date())
    changes = [(at, state) for at, state in house.past["door"] if start <= at < end]
    assert house.times("door", "on", start, end) == [at for at, state in changes if state == "on"]
    pairs = zip(changes[::2], changes[1::2], strict=True)
    assert house.seconds("door", "on", start, end) == sum((off - on).total_seconds() for (on, _), (off, _) in pairs)
    assert house.seconds("door", "on", start, end) + house.seconds("door", "off", start, end) == 86400
    readings = [float(state) for at, state in house.past["outdoor"] if start <= at < end]
    assert len(readings) == 24 * 6
    assert fmean(value for value, _ in house.values("outdoor", start, end)) == fmean(readings)
    meter = [float(state) for at, state in house.past["grid import"] if at < end]
    assert house.used("grid import", midnight(house.first_day), end) == meter[-1] - meter[0]
    assert len(house.times("light 1", "on", midnight(house.first_day), END)) == DAYS


def test_what_is_hidden_is_secret(house: House) -> None:
    """Its ids and values, as either language writes them."""
    hidden = house.state("hidden temperature")
    assert {hidden, hidden.replace(".", ",")} < set(house.secrets)
    assert house.things["hidden lock"].entity_id in house.secrets
