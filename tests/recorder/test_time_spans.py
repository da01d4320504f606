"""Tests of spans in words, resolved in local time."""

from datetime import datetime
from typing import Any

import pytest

from custom_components.extended_assist.recorder.periods import parse_time, time_span
from custom_components.extended_assist.results import ToolError, format_time
from homeassistant.util import dt as dt_util

NOW = "2026-03-11 14:30:05"
"""A Wednesday, before clocks are put forward in Berlin."""


@pytest.fixture(autouse=True)
def in_berlin() -> None:
    dt_util.set_default_time_zone(dt_util.get_time_zone("Europe/Berlin"))


def at(local: str) -> datetime:
    """Return a local time in UTC."""
    return dt_util.as_utc(dt_util.parse_datetime(local, raise_on_error=True))


def told(now: str = NOW, **arguments: Any) -> tuple[str, str]:
    """Return a span as it is echoed."""
    start, end = time_span(arguments, at(now))
    return format_time(start), format_time(end)


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("today", "2026-03-11 00:00:00", NOW),
        ("yesterday", "2026-03-10 00:00:00", "2026-03-11 00:00:00"),
        ("Day before  yesterday", "2026-03-09 00:00:00", "2026-03-10 00:00:00"),
        ("wednesday", "2026-03-11 00:00:00", NOW),
        ("on Wednesday", "2026-03-11 00:00:00", NOW),
        ("last wednesday", "2026-03-04 00:00:00", "2026-03-05 00:00:00"),
        ("Friday", "2026-03-06 00:00:00", "2026-03-07 00:00:00"),
        ("last friday", "2026-03-06 00:00:00", "2026-03-07 00:00:00"),
        ("this monday", "2026-03-09 00:00:00", "2026-03-10 00:00:00"),
        ("this week", "2026-03-09 00:00:00", NOW),
        ("last week", "2026-03-02 00:00:00", "2026-03-09 00:00:00"),
        ("current month", "2026-03-01 00:00:00", NOW),
        ("last month", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("this year", "2026-01-01 00:00:00", NOW),
        ("previous year", "2025-01-01 00:00:00", "2026-01-01 00:00:00"),
        ("february", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("dec", "2025-12-01 00:00:00", "2026-01-01 00:00:00"),
        ("March 2025", "2025-03-01 00:00:00", "2025-04-01 00:00:00"),
        ("2026-02", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("2025", "2025-01-01 00:00:00", "2026-01-01 00:00:00"),
        ("last 7 days", "2026-03-04 14:30:05", NOW),
        ("7d", "2026-03-04 14:30:05", NOW),
        ("last 24 hours", "2026-03-10 14:30:05", NOW),
        ("past 90 min", "2026-03-11 13:00:05", NOW),
        ("last hour", "2026-03-11 13:30:05", NOW),
        ("last 2 weeks", "2026-02-25 14:30:05", NOW),
        ("last 3 months", "2025-12-11 14:30:05", NOW),
        ("last 2 years", "2024-03-11 14:30:05", NOW),
        ("march", "2026-03-01 00:00:00", NOW),
        ("last march", "2025-03-01 00:00:00", "2025-04-01 00:00:00"),
        ("last april", "2025-04-01 00:00:00", "2025-05-01 00:00:00"),
        ("previous february", "2026-02-01 00:00:00", "2026-03-01 00:00:00"),
        ("3 hours ago", "2026-03-11 11:30:05", NOW),
        ("yesterday 18:00", "2026-03-10 18:00:00", NOW),
        ("monday at 7:30:10", "2026-03-09 07:30:10", NOW),
        ("06:00", "2026-03-11 06:00:00", NOW),
        ("2026-03-10", "2026-03-10 00:00:00", NOW),
        ("2026-03-10 17:00:00", "2026-03-10 17:00:00", NOW),
        ("2026-03-10T17:00:00Z", "2026-03-10 18:00:00", NOW),
        ("last 99999 hours", "2016-03-03 14:30:05", NOW),
    ],
)
def test_words(words: str, start: str, end: str) -> None:
    """A word for a span means all of it, up to now; a moment is where the span begins."""
    assert told(start=words) == (start, end)


@pytest.mark.parametrize(
    ("arguments", "start", "end"),
    [
        ({}, "2026-03-10 14:30:05", NOW),
        ({"start": "last week", "end": "now"}, "2026-03-02 00:00:00", NOW),
        ({"start": "monday", "end": "today"}, "2026-03-09 00:00:00", "2026-03-11 00:00:00"),
        ({"start": "yesterday", "end": "yesterday"}, "2026-03-10 00:00:00", "2026-03-11 00:00:00"),
        ({"start": "yesterday 18:00", "end": "yesterday"}, "2026-03-10 18:00:00", "2026-03-11 00:00:00"),
        ({"start": "yesterday 18:00", "end": "yesterday 23:00"}, "2026-03-10 18:00:00", "2026-03-10 23:00:00"),
        ({"hours": 2, "end": "today"}, "2026-03-10 22:00:00", "2026-03-11 00:00:00"),
        ({"hours": 1e9}, "2016-03-03 14:30:05", NOW),
        ({"start": "2026-03-01", "end": "2030-01-01"}, "2026-03-01 00:00:00", NOW),
        # A date as both ends means that day.
        ({"start": "2026-03-09", "end": "2026-03-09"}, "2026-03-09 00:00:00", "2026-03-10 00:00:00"),
        ({"start": "2026-03-09 18:00", "end": "2026-03-09"}, "2026-03-09 18:00:00", "2026-03-10 00:00:00"),
        ({"start": "2026-03-11", "end": "2026-03-11"}, "2026-03-11 00:00:00", NOW),
        ({"start": "2026-03-08", "end": "2026-03-09"}, "2026-03-08 00:00:00", "2026-03-09 00:00:00"),
    ],
)
def test_two_ends(arguments: dict[str, Any], start: str, end: str) -> None:
    """In the end a word is its first moment, as a date is, unless nothing would be left."""
    assert told(**arguments) == (start, end)


@pytest.mark.parametrize(
    ("now", "words", "start", "hours"),
    [
        # A day of 23 hours, one of 25, and what lies across them.
        ("2026-03-29 20:00:00", "today", "2026-03-29 00:00:00", 19),
        ("2026-03-30 12:00:00", "yesterday", "2026-03-29 00:00:00", 23),
        ("2026-10-26 12:00:00", "yesterday", "2026-10-25 00:00:00", 25),
        ("2026-10-26 12:00:00", "last week", "2026-10-19 00:00:00", 169),
        ("2026-10-26 12:00:00", "last 2 days", "2026-10-24 12:00:00", 49),
        ("2026-10-26 12:00:00", "last 48 hours", "2026-10-24 13:00:00", 48),
        ("2026-10-25 02:30:00+01:00", "last hour", "2026-10-25 02:30:00+02:00", 1),
        ("2026-03-31 12:00:00", "last 1 month", "2026-02-28 12:00:00", 743),
        ("2024-02-29 12:00:00", "last 1 year", "2023-02-28 12:00:00", 8784),
    ],
)
def test_days_of_other_lengths(now: str, words: str, start: str, hours: float) -> None:
    """Days are those of the calendar, hours those that passed."""
    begin, end = time_span({"start": words}, at(now))
    assert format_time(begin) == start
    assert (end - begin).total_seconds() == hours * 3600


def test_day_without_midnight() -> None:
    """Where clocks are put forward at midnight, the day begins at one."""
    dt_util.set_default_time_zone(dt_util.get_time_zone("Africa/Cairo"))
    start, end = time_span({"start": "friday"}, at("2026-04-25 12:00:00"))
    assert (format_time(start), format_time(end)) == ("2026-04-24 01:00:00", "2026-04-25 00:00:00")


@pytest.mark.parametrize(
    "text",
    [
        *("soon", "", "last night", "tomorrow", "next week", "last 7 apples", "2026-02-30", "2026-02-30 10:00"),
        *("2026-13", "25:00", "soon 18:00", "at 18:00", "now 99:99", "0000", "last 99999999999999 days"),
        *("0001", "0005-01-01", "0001-01-01 00:30", "9999-12-31T23:59:59-01:00", "1899"),
        "last 99999999999 hours",
    ],
)
def test_wrong_words(text: str) -> None:
    """What is no time is refused with words that are."""
    with pytest.raises(ToolError, match=r"^start '.*' is not a time\. Write local time like .* or words: today, "):
        time_span({"start": text}, at(NOW))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"start": "this friday"}, "The span lies in the future; it is now 2026-03-11 14:30:05."),
        ({"start": "18:00"}, "The span lies in the future; it is now 2026-03-11 14:30:05."),
        ({"start": "2027-01-01", "end": "2027-02-01"}, "The span lies in the future; it is now 2026-03-11 14:30:05."),
        ({"start": "today", "end": "last week"}, "The span is backwards: start must be before end."),
        ({"start": "now"}, "The span lies in the future; it is now 2026-03-11 14:30:05."),
    ],
)
def test_wrong_spans(arguments: dict[str, Any], sentence: str) -> None:
    """Spans that are backwards or in the future are refused."""
    with pytest.raises(ToolError) as caught:
        told(**arguments)
    assert str(caught.value) == sentence


def test_moments() -> None:
    """Of a word for a span, the moment is the first one."""
    assert parse_time("2026-03-10 07:00", "when") == at("2026-03-10 07:00")
    assert parse_time("last 1 hour", "when") < parse_time("now", "when")
