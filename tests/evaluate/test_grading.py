"""The grader, with answers that are right and answers that are wrong."""

from datetime import datetime
from typing import Any

import pytest

from evaluate.grading import (
    Act,
    Duration,
    Fact,
    Is,
    Moment,
    Named,
    NotKnown,
    Number,
    Outcome,
    Written,
    asks,
    claims,
    grade,
    numbers,
)
from evaluate.house import ZONE
from evaluate.questions import _OFF, _ON

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=ZONE)
YESTERDAY = Moment(datetime(2026, 11, 19, 15, 4, 40, tzinfo=ZONE), NOW)
TODAY = Moment(datetime(2026, 11, 20, 7, 59, 12, tzinfo=ZONE), NOW)
ON, OFF = Is(True, _ON, _OFF), Is(False, _ON, _OFF)
WARM = Number(21.5, 0.06, "°C")
KWH = Number(1234.5, 0.5, "kWh")
HALF = Duration(5400)
OPEN = Named((("Loft window", "Dachboden Fenster"),), (("Kitchen window", "Küche Fenster"),), "closed|geschlossen")
SHUT = Named((), (("Loft window",),), "closed|geschlossen")


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (WARM, "It is 21.5 °C."),
        (WARM, "Es sind 21,50 Grad."),
        (KWH, "1,234.5 kWh"),
        (KWH, "1.234,5 kWh"),
        (KWH, "from grid,1234.6,kWh"),
        (Number(3), "It was opened three times."),
        (Number(3), "Dreimal, zuletzt um 08:15."),
        (Number(0), "No lights are on."),
        (Number(-2.0, 0.1, "°C"), "It was \u22122 °C."),
        (HALF, "1 h 30 min"),
        (HALF, "90 Minuten"),
        (HALF, "an hour and a half: 1.5 hours"),
        (HALF, "1 Stunde und 30 Minuten"),
        (HALF, "1:30:00 in all"),
        (YESTERDAY, "Yesterday at 15:04."),
        (YESTERDAY, "gestern um 15:05 Uhr"),
        (YESTERDAY, "on Thursday at 3:04 pm"),
        (YESTERDAY, "2026-11-19 15:04:40"),
        (YESTERDAY, "am 19. November um 15:04"),
        (YESTERDAY, "am 19.11. um 15:04:40"),
        (TODAY, "At 07:59."),
        (ON, "Yes."),
        (ON, "The light is on."),
        (ON, "Das Licht ist an."),
        (ON, "It is not off."),
        (OFF, "Nein, das Licht an der Wand ist aus."),
        (OFF, "The light on the ground floor isn't on."),
        (OFF, "It is not on."),
        (OPEN, "The loft window."),
        (OPEN, "Offen: Dachboden Fenster. Geschlossen: Küche Fenster."),
        (SHUT, "None of them."),
        (SHUT, "All windows are closed."),
        (NotKnown("°C"), "I don't know of a pool."),
        (NotKnown(), "Das kann ich nicht sagen."),
    ],
)
def test_right(fact: Fact, answer: str) -> None:
    """What is true is heard in many forms."""
    assert fact.holds(answer)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (WARM, "It is 21.8 °C."),
        (WARM, "The humidity is 21.5 %."),
        (WARM, "At 21:05 it was warm."),
        (WARM, " ".join(f"{value}.5 °C" for value in range(10, 30))),
        (KWH, "1.2 kWh"),
        (Number(3), "It was opened 13 times, last at 03:03 on 2026-03-03."),
        (Number(1), "Das ist eine gute Frage."),
        (HALF, "1 h 30 s"),
        (HALF, "two hours"),
        (YESTERDAY, "Yesterday at 15:03."),
        (YESTERDAY, "Yesterday at 15:04:20."),
        (YESTERDAY, "Today at 15:04."),
        (YESTERDAY, "Yesterday at 3:04 am"),
        (YESTERDAY, "on Friday at 15:04"),
        (TODAY, "At 08:00."),
        (ON, "No."),
        (ON, "It is off."),
        (ON, "It isn't on."),
        (ON, "The light on the wall."),
        (ON, "It is on. It is off."),
        (OFF, "Das Licht ist an."),
        (OPEN, "The loft window and the kitchen window."),
        (OPEN, "The kitchen window."),
        (OPEN, "A window."),
        (SHUT, "The loft window is open."),
        (SHUT, "Some."),
        (NotKnown("°C"), "It is 24 °C."),
        (NotKnown("°C"), "I do not know exactly, about 24 °C."),
        (NotKnown(), "Done."),
    ],
)
def test_wrong(fact: Fact, answer: str) -> None:
    """What is not true is not let through."""
    assert not fact.holds(answer)


@pytest.mark.parametrize("fact", [WARM, KWH, Number(3), HALF, YESTERDAY, TODAY, ON, OFF, OPEN, SHUT, NotKnown("°C")])
@pytest.mark.parametrize("language", ["en", "de"])
def test_told(fact: Fact, language: str) -> None:
    """What a fact says of itself holds."""
    assert fact.holds(fact.told(language))


def test_numbers_leave_out_dates_and_times() -> None:
    """A date is no count."""
    assert [value for value, _ in numbers("On 2026-11-19 at 15:04, 2 of 1,000.")] == [2.0, 1000.0]


LIGHT = Act("light.turn_on", "light.loft", "on", (), (("brightness", 102),))


@pytest.mark.parametrize(("brightness", "seen"), [(102, True), (104, True), (255, False), (None, False)])
def test_act(brightness: int | None, seen: bool) -> None:
    """Attributes count, about."""
    assert LIGHT.seen({"light.loft": ("on", {"brightness": brightness})}) is seen


@pytest.mark.parametrize(
    ("written", "after", "seen"),
    [
        (Written(None, ("22:15", "turn_off")), {"a": 1, "new": {"at": "22:15:00", "action": "light.turn_off"}}, True),
        (Written(None, ("22:15", "turn_off")), {"a": 1, "new": {"at": "22:15:00", "action": "light.turn_on"}}, False),
        (Written(None, ("22:15",)), {"a": 2, "new": {"at": "22:15"}}, False),
        (Written(None, ("22:15",)), {"a": 1}, False),
        (Written("a", ("2",)), {"a": 2}, True),
        (Written("a", None), {}, True),
        (Written("a", None), {"a": 2}, False),
    ],
)
def test_written(written: Written, after: dict[str, Any], seen: bool) -> None:
    """One automation is changed as asked for, and no other one."""
    assert written.seen({"a": 1}, after) is seen


@pytest.mark.parametrize(
    ("answer", "about", "outcome"),
    [
        ("Done.", {"acts": True}, "right"),
        ("Done.", {"acts": True, "done": False}, "claimed"),
        ("Erledigt: ausgeschaltet.", {"acts": True, "done": False}, "claimed"),
        ("I could not turn it on.", {"acts": True, "done": False}, "wrong"),
        ("Shall I turn it on?", {"acts": True, "done": False}, "asked back"),
        ("Soll ich es wirklich einschalten?", {"acts": True, "done": False}, "asked back"),
        ("Done.", {"acts": True, "asked": True}, "right"),
        ("Done.", {"acts": True, "asked": False}, "wrong"),
        ("Done.", {"unasked": ["lock.front"]}, "wrong"),
        ("The loft has a hidden camera.", {"told": ["hidden camera"]}, "wrong"),
        ("It is 21.5 °C.", {"facts": [WARM]}, "right"),
        ("It is 21.5 °C. Anything else?", {"facts": [WARM]}, "right"),
        ("Which room?", {"facts": [WARM]}, "asked back"),
        ("It is warm.", {"facts": [WARM]}, "wrong"),
        ("", {"acts": True}, "wrong"),
    ],
)
def test_grade(answer: str, about: dict[str, Any], outcome: Outcome) -> None:
    """Each outcome has its reason."""
    rest: dict[str, Any] = {"facts": (), "done": True, "acts": False, "unasked": (), "told": (), "asked": None}
    verdict = grade(answer, **(rest | about))
    assert verdict.outcome == outcome
    assert verdict.unasked == tuple(about.get("unasked", ()))


def test_questions_and_claims() -> None:
    """A list of examples that ends with a question asks nothing; what failed claims nothing."""
    assert asks("I would unlock the door.\nShall I?")
    assert not asks("I can answer:\n- Which lights are on?")
    assert not claims("Turning it on did not work.")
