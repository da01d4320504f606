"""Tests of when something is due: whatever the rule and the clocks, each moment once."""

from bisect import bisect_right
from datetime import date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from hypothesis import given, settings, strategies as st
import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.due_times import missed, moment_of, next_moment
from custom_components.extended_assist.scheduled.recurrence import recurrence
from custom_components.extended_assist.scheduled.scheduled_task import When
from homeassistant.util import dt as dt_util

from .calendars import CHANGES, DAYS, clock_of, expand, random_rule, text_of


def use(zone: str) -> None:
    """Let the home be in a time zone."""
    dt_util.set_default_time_zone(ZoneInfo(zone))


def told(moment: float | None) -> str | None:
    """Return a moment as local time with its offset."""
    return (
        None if moment is None else dt_util.as_local(dt_util.utc_from_timestamp(moment)).isoformat(timespec="minutes")
    )


def at(text: str) -> float:
    """Return the moment of a local time, or of one with an offset."""
    return dt_util.as_utc(dt_util.parse_datetime(text, raise_on_error=True)).timestamp()


def following(when: When, after: float, number: int) -> list[str | None]:
    """Return so many moments, one after the other."""
    found: list[str | None] = []
    for _ in range(number):
        moment = next_moment(when, after)
        found.append(told(moment))
        if moment is None:
            break
        after = moment
    return found


def is_allowed(rule: str, start: datetime) -> bool:
    """Return whether a rule does not come too often or with a COUNT that reaches too far."""
    try:
        recurrence(rule, start)
    except ToolError as err:
        if "Make it rarer" in str(err) or "COUNT" in str(err):
            return False
        raise
    return True


@pytest.mark.parametrize("zone", CHANGES)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_each_moment_once(zone: str, seed: int) -> None:
    """Each moment of a rule comes once, in order and never before it is asked for, and none is counted twice when missed."""
    random = Random(seed)  # Hypothesis would take too many choices of its own for a rule.
    use(zone)
    middle = random.choice(CHANGES[zone])
    parts, start = random_rule(random, date.fromisoformat(middle))
    when = When(rule=text_of(parts), start=start.isoformat())
    if not is_allowed(text_of(parts), start):
        return
    clock = clock_of(zone, middle, DAYS[parts["FREQ"][0]])
    begin, end = min(clock.values()), max(clock.values())
    expected = sorted({clock[local] for local in expand(parts, start, max(clock)) if local in clock})
    expected = [moment for moment in expected if moment > begin]
    found, after = [], begin
    while (moment := next_moment(when, after)) is not None and moment <= end:
        assert moment > after
        found.append(moment)
        after = moment
    assert found == expected
    for _ in range(20):
        asked = random.uniform(begin, end)
        index = bisect_right(expected, asked)
        if index < len(expected):
            assert next_moment(when, asked) == expected[index]
        until = random.uniform(asked, end)
        between = [moment for moment in expected if asked < moment <= until]
        assert missed(when, asked, until) == (between[-1] if between else None, len(between))


@pytest.mark.parametrize(
    ("zone", "rule", "start", "after", "expected"),
    [
        # Skipped: the first time after the gap, once.
        *(
            ("Europe/Berlin", rule, "2026-03-01T02:30", "2026-03-28 01:00", expected)
            for rule, expected in [
                ("FREQ=DAILY", ["2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]),
                (
                    "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30",
                    [
                        *("2026-03-28T02:00+01:00", "2026-03-28T02:30+01:00", "2026-03-28T03:00+01:00"),
                        *("2026-03-28T03:30+01:00", "2026-03-29T03:00+02:00", "2026-03-29T03:30+02:00"),
                    ],
                ),
            ]
        ),
        # Repeated: the first of both, once.
        (
            *("Europe/Berlin", "FREQ=DAILY", "2026-03-01T02:30", "2026-10-24 12:00"),
            ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"],
        ),
        (
            *("Australia/Lord_Howe", "FREQ=DAILY", "2026-03-01T02:10", "2026-10-03 12:00"),
            ["2026-10-04T02:30+11:00", "2026-10-05T02:10+11:00"],
        ),
        # A day that never was.
        (
            *("Pacific/Apia", "FREQ=DAILY", "2011-12-01T07:00", "2011-12-29 00:00"),
            ["2011-12-29T07:00-10:00", "2011-12-31T00:00+14:00", "2011-12-31T07:00+14:00"],
        ),
        ("UTC", "FREQ=MONTHLY;BYMONTHDAY=31", "2026-01-31T09:00", "2026-02-01", ["2026-03-31T09:00+00:00"]),
        ("UTC", "FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31T09:00", "2026-02-01", ["2026-02-28T09:00+00:00"]),
        ("UTC", "FREQ=MONTHLY;BYDAY=-1FR", "2026-01-31T09:00", "2026-02-01", ["2026-02-27T09:00+00:00"]),
        ("UTC", "FREQ=YEARLY", "2024-02-29T09:00", "2024-03-01", ["2028-02-29T09:00+00:00"]),
        ("UTC", "FREQ=DAILY;COUNT=2", "2026-01-01T09:00", "2026-01-01 09:00", ["2026-01-02T09:00+00:00", None]),
        ("UTC", "FREQ=DAILY;UNTIL=20260102", "2026-01-01T09:00", "2026-01-01 09:00", ["2026-01-02T09:00+00:00", None]),
        ("UTC", "FREQ=YEARLY;INTERVAL=2", "2026-01-01T09:00", "2026-01-01 09:00", ["2028-01-01T09:00+00:00"]),
    ],
)
def test_known_moments(zone: str, rule: str, start: str, after: str, expected: list[str | None]) -> None:
    """Moments that people worked out."""
    use(zone)
    assert following(When(rule=rule, start=start), at(after), len(expected)) == expected


@pytest.mark.parametrize(
    ("zone", "rule", "after", "until", "newest", "count"),
    [
        # The day that was skipped and the one after it begin with the same moment.
        (
            *("Pacific/Apia", "FREQ=DAILY;BYHOUR=0,12;BYMINUTE=0", "2011-12-29T13:00-10:00", "2012-01-05T01:00+14:00"),
            *("2012-01-05T00:00+14:00", 11),
        ),
        # Clocks are set back over midnight: it was the next day already.
        (
            *("America/St_Johns", "FREQ=DAILY;BYHOUR=0;BYMINUTE=0", "2006-10-28T12:00-02:30", "2006-10-28T23:30-03:30"),
            *("2006-10-29T00:00-02:30", 1),
        ),
        (
            *("Europe/Berlin", "FREQ=MINUTELY;INTERVAL=5", "2026-01-01T00:00+01:00", "2027-01-01T00:00+01:00"),
            # An hour was skipped, and one repeated in which nothing happened.
            *("2027-01-01T00:00+01:00", 365 * 288 - 12),
        ),
    ],
)
def test_known_missed(zone: str, rule: str, after: str, until: str, newest: str, count: int) -> None:
    """What was missed, as people worked it out."""
    use(zone)
    found, number = missed(When(rule=rule, start="2006-01-01T00:00"), at(after), at(until))
    assert (told(found), number) == (newest, count)


def test_home_moves() -> None:
    """A rule is one of the clock on the wall, wherever the home is."""
    when = When(rule="FREQ=DAILY", start="2026-01-01T07:00")
    use("Europe/Berlin")
    assert told(next_moment(when, at("2026-06-01 12:00"))) == "2026-06-02T07:00+02:00"
    use("America/New_York")
    assert told(next_moment(when, at("2026-06-01 12:00"))) == "2026-06-02T07:00-04:00"


def test_moment_alone() -> None:
    """A moment is due once, after it was asked for; a trigger alone never by the clock."""
    when = When(moment=100.0)
    assert (next_moment(when, 99.9), next_moment(when, 100.0)) == (100.0, None)
    assert (missed(when, 0, 100), missed(when, 100, 200), missed(when, 0, 99)) == ((100, 1), (None, 0), (None, 0))
    assert next_moment(When(triggers=[{"trigger": "sun"}]), 0) is None
    assert missed(When(triggers=[{"trigger": "sun"}]), 0, 1e9) == (None, 0)


def test_moment_beside_a_rule() -> None:
    """What is due both at a moment and by a rule comes at each, and once where they are the same."""
    use("UTC")
    when = When(moment=at("2026-01-02 12:00"), rule="FREQ=DAILY", start="2026-01-01T09:00")
    assert following(when, at("2026-01-02 08:00"), 3) == [
        *("2026-01-02T09:00+00:00", "2026-01-02T12:00+00:00", "2026-01-03T09:00+00:00"),
    ]
    assert missed(when, at("2026-01-01 08:00"), at("2026-01-02 13:00")) == (at("2026-01-02 12:00"), 3)
    when.moment = at("2026-01-02 09:00")
    assert missed(when, at("2026-01-01 08:00"), at("2026-01-02 13:00")) == (at("2026-01-02 09:00"), 2)


@pytest.mark.parametrize(
    ("rule", "start"), [("FREQ=SOMETIMES", "2026-01-01"), ("FREQ=DAILY", None), ("FREQ=DAILY", "x")]
)
def test_unreadable(rule: str, start: str | None) -> None:
    """What cannot be read any more is never due, and stops nothing else."""
    assert next_moment(When(rule=rule, start=start), 0) is None
    assert missed(When(rule=rule, start=start), 0, 1e9) == (None, 0)


def test_second_time() -> None:
    """A local time of an hour that is repeated can be said to be the second one."""
    use("Europe/Berlin")
    first = moment_of(datetime.fromisoformat("2026-10-25T02:30"))
    assert moment_of(datetime.fromisoformat("2026-10-25T02:30").replace(fold=1)) - first == 3600
    # In a gap both are the time after it.
    assert {moment_of(datetime.fromisoformat("2026-03-29T02:30").replace(fold=fold)) for fold in (0, 1)} == {
        at("2026-03-29 03:00")
    }
    assert timedelta(seconds=at("2026-03-29 03:00") - at("2026-03-29 01:59")) == timedelta(minutes=1)
