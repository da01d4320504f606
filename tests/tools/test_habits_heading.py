"""Tests of what is said before habits: what was looked through, what counts, and what is not known."""

from datetime import datetime

import pytest

from custom_components.extended_assist.habits.changes import MOST_OF_ONE, By, Changes
from custom_components.extended_assist.habits.days import Days
from custom_components.extended_assist.habits.find import FoundHabits
from custom_components.extended_assist.simulation.historical_state import Stretch
from custom_components.extended_assist.tools.habits import _heading, _none_told, _noted
from homeassistant.util import dt as dt_util

START = datetime(2026, 10, 1, 12, tzinfo=dt_util.UTC).timestamp()
DAY = 86_400.0
END = START + 20 * DAY


def found(**known: object) -> FoundHabits:
    """Return what was found in twenty days."""
    changes = Changes()
    for number, by in enumerate((By.USER, By.DEVICE, By.MACHINE, By.NOBODY_KNOWN, By.NO_CONTEXT)):
        changes.add(START + number, "light.hall", "on", by)
    return FoundHabits(changes, Days(START, END, [Stretch(START, START, END)]), **known)  # type: ignore[arg-type]


def test_all_is_known() -> None:
    """What was done by hand is counted, and what was not, by whom it was."""
    heading = _heading(found(since=START - DAY), START, END)
    assert heading.keys() == {"start", "end", "counted", "not_counted"}
    assert str(heading["counted"]).startswith("2 changes by hand")
    assert str(heading["not_counted"]).startswith("1 by automations, scripts, scenes and assistants, 1 by callers")
    assert "1 whose contexts are missing" in str(heading["not_counted"])


def test_not_all_is_known() -> None:
    """A late beginning, an early end, days without anybody and what changes too often are said."""
    some = found(since=START + DAY, until=END - DAY, is_whole=False)
    some.days.left_out.add(some.days.all[3])
    for number in range(MOST_OF_ONE + 1):
        some.changes.add(START + number, "switch.pump", "on", By.MACHINE)
    heading = _heading(some, START, END)
    assert heading["recorded_since"] == "2026-10-02 05:00"
    assert str(heading["only_until"]).startswith("2026-10-20 05:00; it took too long")
    assert str(heading["left_out_days"]).startswith("1 on which")
    assert str(heading["left_out_entities"]).startswith("1 that change too often")
    assert "no time for everything" in str(heading["note"])


@pytest.mark.parametrize(
    ("over", "said"), [(0, "more than chance"), (2, "was declined, or an automation does it already")]
)
def test_nothing_is_told(over: int, said: str) -> None:
    """Why nothing is told is said as it is."""
    assert said in _none_told(found(over=over))
    assert "cannot be automated here" in _none_told(found(over=over, habits=[object()]))


def test_cut_off_is_not_complete() -> None:
    """Where time was over, finding nothing is said of what there was time for only, beside that there was none for the rest."""
    for cut in (found(is_whole=False), found(until=END - DAY)):
        assert _none_told(cut).startswith("In what there was time for")
    assert _none_told(found()).startswith("Nothing is done by hand")
    cut = found(is_whole=False)
    note = str(_noted(_heading(cut, START, END), _none_told(cut))["note"])
    assert "no time for everything" in note
    assert "more than chance" in note
    assert _noted(_heading(found(), START, END), "Alone.")["note"] == "Alone."
