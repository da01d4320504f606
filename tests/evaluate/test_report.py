"""What a run is reported as."""

from collections import Counter
import json
import xml.etree.ElementTree as ET

import pytest

from evaluate.grading import Outcome, Verdict
from evaluate.questions import Question
from evaluate.report import COLUMNS, kinds, picture, price, row_of, table, to_json
from evaluate.run import Answered, Turn

TOKENS = Counter(input=1_000_000, cached=2_000_000, written=3_000_000, written_for_an_hour=1_000_000, output=1_000_000)


def answered(outcome: Outcome, kind: str = "past") -> Answered:
    turn = Turn("It is on.", "", 2, 1, Counter(input=1500, output=20), 0.5, 1.0)
    unasked = ("lock.front",) if outcome == "wrong" else ()
    return Answered(Question(kind=kind, text="Is it?"), Verdict(outcome=outcome, unasked=unasked), [turn])


FOUND = {"<model>": [answered("right"), answered("right", "energy"), answered("wrong")], "b": [answered("claimed")]}


def test_price() -> None:
    """Reading, twice the cache, writing to it for five minutes and for an hour, and what the model wrote."""
    assert price("claude-sonnet-5-5", TOKENS) == pytest.approx(2 + 2 * 0.1 + 2 * 2.5 + 4 + 10)
    assert price("somebody's model", TOKENS) is None


def test_table() -> None:
    """Each column holds what it is named after."""
    row = dict(zip(COLUMNS, row_of("<model>", FOUND["<model>"]), strict=True))
    assert (row["questions"], row["right"], row["wrong"], row["unasked"]) == ("3", "2", "1", "1")
    assert (row["requests"], row["a message"], row["tokens in"], row["US$"]) == ("6", "2.00", "4,500", "not known")
    assert table([["x"]], ["a"]).splitlines() == ["| a |", "|---|", "| x |"]
    assert kinds(FOUND["<model>"]).splitlines()[2].split("|")[1:4] == [" past   ", " 2         ", " 1     "]


def test_picture() -> None:
    """An SVG whose bars are as long as the answers are many."""
    drawn = ET.fromstring(picture(FOUND))  # noqa: S314 - our own
    bars = [float(bar.attrib["width"]) for bar in drawn if bar.tag.endswith("rect") and bar.attrib["height"] == "24"]
    assert len(bars) == 8
    assert bars[0] == pytest.approx(2 * bars[2], abs=0.2)
    assert sum(bars[:4]) == pytest.approx(sum(bars[4:]), abs=0.2)


def test_file() -> None:
    """Every question is there, with what was said."""
    first, *_ = rows = json.loads(to_json(FOUND))
    assert len(rows) == 4
    assert first["said"] == ["Is it?"]
    assert first["turns"][0]["answer"] == "It is on."
