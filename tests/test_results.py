"""Tests of cutting answers to size."""

from datetime import UTC, datetime, timedelta

import pytest

from custom_components.extended_assist import results
from homeassistant.helpers.json import json_dumps
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


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (21.123456789, "°C", "21.1"),
        (-7.06, "°C", "-7.1"),
        (21.0, "°C", "21"),
        (1234.5678, "kWh", "1234.57"),
        (1234567, "W", "1234567"),
        (3.44, "W", "3.4"),
        (0.28341, "EUR/kWh", "0.2834"),
        (12.3456, "µg/m³", "12"),
        (12.34567, "m³", "12.346"),
        (20.16666, None, "20.17"),
        (0.00012, "kWh", "0.00012"),
        (-0.000123456, "°C", "-0.000123"),
        (0.9996, "lx", "1"),
        (0.1 + 0.2 - 0.3, "kWh", "0"),
        (-0.0, None, "0"),
        (1e20, None, "1e+20"),
        (1e16, None, "1e+16"),
        (-1e15, None, "-1000000000000000"),
        (10**30, None, "1e+30"),
        (float("nan"), "W", "null"),
        (float("-inf"), "W", "null"),
    ],
)
def test_numbers_by_unit(value: float, unit: str | None, shown: str) -> None:
    """As many decimals as the unit deserves; small ones keep three digits, whole ones have no decimals, all are JSON."""
    assert json_dumps(results.number(value, unit)) == shown


def test_number_as_the_user_sees_it() -> None:
    """The decimals that the user chose come before those of the unit."""
    assert results.number(21.126, "°C", 2) == 21.13
    assert results.number(21.6, "°C", 0) == 22


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00:00"),
        (59.6, "0:01:00"),
        (86399, "23:59:59"),
        (86399.7, "1 d 0:00:00 (24.00 h)"),
        (236400, "2 d 17:40:00 (65.67 h)"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    """A clock; from a day on, the hours too, which nobody should have to add up."""
    assert results.duration(seconds) == text


@pytest.mark.parametrize("state", ["on", "", "unknown", "1.2.3", "2026.10.4", "1_000.5", "nan", "inf", "1e999", "٣"])
def test_states_that_stay(state: str) -> None:
    """A state that is no finite number stays as it is."""
    assert results.shown(state, None) == state
    assert results.shown(state, "W") == state


@pytest.mark.parametrize("state", ["12", "0031", "2026.10", "21.5"])
def test_states_without_a_unit(state: str) -> None:
    """What looks like a number and has no unit may be a version or a code."""
    assert results.shown(state, None) == state


@pytest.mark.parametrize(
    ("state", "unit", "decimals", "number"),
    [
        ("21.123456789", None, None, 21.12),
        ("21.123456789", "°C", None, 21.1),
        ("21.123456789", "°C", 2, 21.12),
        ("0031", "W", None, 31),
        ("5", "", None, 5),
        ("-.5e1", "kWh", None, -5),
    ],
)
def test_states_that_are_numbers(state: str, unit: str | None, decimals: int | None, number: float) -> None:
    """They are numbers in the answer."""
    assert results.shown(state, unit, decimals) == number


def test_local_times() -> None:
    """Times are local; the offset appears only in the hour that occurs twice."""
    dt_util.set_default_time_zone(dt_util.get_time_zone("Europe/Berlin"))
    assert results.format_time(datetime(2026, 7, 1, 12, 0, 5, 600, UTC)) == "2026-07-01 14:00:05"
    assert results.format_time(datetime(2026, 10, 25, 0, 30, tzinfo=UTC)) == "2026-10-25 02:30:00+02:00"
    assert results.format_time(datetime(2026, 10, 25, 1, 30, tzinfo=UTC)) == "2026-10-25 02:30:00+01:00"
    assert results.format_time(0) == "1970-01-01 01:00:00"


@pytest.mark.parametrize("late", [0, 2e-7, 1e-4, 0.49])
def test_rounded_times(late: float) -> None:
    """What a float or a span lost of a whole second comes back, at the end of a day too; a minute is one that has begun."""
    dt_util.set_default_time_zone(dt_util.get_time_zone("Europe/Berlin"))
    moment = datetime(2026, 3, 10, 16, 5, tzinfo=UTC)
    for early in (moment.timestamp() - late, moment - timedelta(seconds=late)):
        assert results.format_time(early) == "2026-03-10 17:05:00"
        assert results.format_minute(early) == "2026-03-10 17:05"
    assert results.format_minute(moment.timestamp() + 59.4) == "2026-03-10 17:05"
    midnight = datetime(2026, 3, 10, 23, tzinfo=UTC).timestamp()
    assert results.format_time(midnight - late) == "2026-03-11 00:00:00"
    back = datetime(2026, 10, 25, 1, tzinfo=UTC).timestamp()
    assert results.format_time(back - late) == "2026-10-25 02:00:00+01:00"
    assert results.format_minute(back - late) == "2026-10-25 02:00+01:00"


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
