"""Tests of cutting answers to size."""

from datetime import UTC, datetime

import pytest

from custom_components.extended_assist import results
from homeassistant.util import dt as dt_util


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (21.123456789, "21.1235"),
        (1234567.0, "1234567"),
        (0.1 + 0.2, "0.3"),
        (-0.000012345, "-1.2345e-05"),
        (5, "5"),
        (1e20, "1e+20"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    """Six significant digits, and no exponent for everyday sizes."""
    assert results.format_number(value) == text


@pytest.mark.parametrize("state", ["on", "", "unknown", "1.2.3", "2026.10.4", "12", "0031", "1_000.5"])
def test_states_that_stay(state: str) -> None:
    """A state that is no decimal fraction stays as it is."""
    assert results.format_state(state) == state


def test_state_with_many_digits() -> None:
    """A decimal fraction is shortened."""
    assert results.format_state("21.123456789") == "21.1235"


def test_local_times() -> None:
    """Times are local; the offset appears only in the hour that occurs twice."""
    dt_util.set_default_time_zone(dt_util.get_time_zone("Europe/Berlin"))
    assert results.format_time(datetime(2026, 7, 1, 12, 0, 5, 600, UTC)) == "2026-07-01 14:00:05"
    assert results.format_time(datetime(2026, 10, 25, 0, 30, tzinfo=UTC)) == "2026-10-25 02:30:00+02:00"
    assert results.format_time(datetime(2026, 10, 25, 1, 30, tzinfo=UTC)) == "2026-10-25 02:30:00+01:00"
    assert results.format_time(0) == "1970-01-01 01:00:00"


def test_rows_that_fit() -> None:
    """As many rows as fit are kept, at least one, and no more are read than needed."""
    rows = iter([["12345", "789"]] * 100)
    assert len(results.fit_rows(rows, 55)) == 5
    assert len(list(rows)) == 94
    assert results.fit_rows([["x" * 100]], 10) == [["x" * 100]]
    assert results.fit_rows([], 10) == []


def test_csv_quotes() -> None:
    """Commas, quotes and line breaks survive."""
    assert results.to_csv(("a", "b"), [['x,"y"', "z\n"]]) == 'a,b\n"x,""y""","z\n"\n'
