"""Tests of rules in local time: what they mean to others, what they cost, and what is refused."""

from datetime import datetime, timedelta
from itertools import islice
from unittest.mock import patch

from dateutil.rrule import rrulestr
import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.due_times import missed, next_moment
from custom_components.extended_assist.scheduled.recurrence import MAX_COUNT, SEARCHED, Recurrence, recurrence
from custom_components.extended_assist.scheduled.scheduled_task import When

START = datetime.fromisoformat("2026-01-28T09:20")


@pytest.mark.parametrize("start", [START, *map(datetime.fromisoformat, ("2024-02-29", "2026-12-31T23:55"))])
@pytest.mark.parametrize(
    "rule",
    [
        *("FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=MONTHLY", "FREQ=YEARLY", "FREQ=HOURLY"),
        *("FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=7;BYMINUTE=30", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO"),
        *("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;WKST=SU", "FREQ=WEEKLY;INTERVAL=3;BYDAY=WE,FR;BYSETPOS=-1"),
        *("FREQ=MONTHLY;BYDAY=1MO", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=5WE", "FREQ=MONTHLY;BYMONTHDAY=31"),
        *("FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYMONTHDAY=1,15,-1;INTERVAL=5", "FREQ=MONTHLY;BYDAY=2TU,-1TH"),
        *("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13"),
        *("FREQ=MONTHLY;BYDAY=SA;BYHOUR=8,20;BYMINUTE=0,30;BYSETPOS=2,-3", "FREQ=MONTHLY;INTERVAL=14;BYMONTHDAY=5"),
        *("FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "FREQ=YEARLY;BYDAY=20MO", "FREQ=YEARLY;BYDAY=-1SU"),
        *("FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU;BYHOUR=2", "FREQ=YEARLY;BYMONTHDAY=1", "FREQ=YEARLY;BYMONTH=1,7"),
        *("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYDAY=TH;BYSETPOS=4,-1", "FREQ=YEARLY;INTERVAL=3"),
        *("FREQ=HOURLY;INTERVAL=5", "FREQ=HOURLY;BYHOUR=9,12,15;BYDAY=MO,FR", "FREQ=HOURLY;INTERVAL=7;BYMINUTE=0,30"),
        *("FREQ=MINUTELY;INTERVAL=35", "FREQ=MINUTELY;INTERVAL=20;BYHOUR=22,23", "FREQ=MINUTELY;INTERVAL=1001"),
        *("FREQ=DAILY;BYMONTH=12;BYDAY=SA,SU", "FREQ=DAILY;BYHOUR=7,19;BYMINUTE=0,10", "FREQ=DAILY;COUNT=12"),
        *("FREQ=MONTHLY;BYDAY=1MO;COUNT=5", "FREQ=DAILY;UNTIL=20260210T092000", "FREQ=WEEKLY;UNTIL=20270101T000000"),
        *("freq=daily; interval=2", "RRULE:FREQ=DAILY;INTERVAL=2;"),
    ],
)
def test_as_calendars_have_it(rule: str, start: datetime) -> None:
    """A rule has the times that Home Assistant's calendars find."""
    plain = rule.upper().replace(" ", "").strip(";")
    expected = list(islice(rrulestr(plain, dtstart=start).xafter(start, count=40), 40))
    within = [time for time in expected if time < start + timedelta(days=4000)]
    found = list(islice(recurrence(rule, start).times(start), len(within)))
    assert found == within
    for asked in (start + timedelta(days=400, minutes=7), start + timedelta(days=1)):
        after = rrulestr(plain, dtstart=start).after(asked)
        if after is None or after < asked + SEARCHED:
            assert next(recurrence(rule, start).times(asked), None) == after


NEVER = (
    *("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=WEEKLY;BYSETPOS=8"),
    *("FREQ=MONTHLY;BYMONTHDAY=30;BYMONTH=2", "FREQ=HOURLY;INTERVAL=24;BYHOUR=7", "FREQ=DAILY;BYDAY=MO;INTERVAL=7"),
    *("FREQ=MINUTELY;INTERVAL=60;BYMINUTE=30", "FREQ=MINUTELY;INTERVAL=5;BYMONTH=2;BYMONTHDAY=31"),
    *("FREQ=YEARLY;BYSETPOS=300", "FREQ=YEARLY;BYDAY=53MO;BYMONTH=3", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=31;COUNT=100"),
    "FREQ=YEARLY;INTERVAL=9999;BYMONTH=2;BYMONTHDAY=30",
)


@pytest.mark.parametrize("rule", NEVER)
def test_what_never_comes(rule: str) -> None:
    """A rule without any time is given up after a few years, whatever it asks for."""
    with counted() as looked_at:
        assert next(recurrence(rule, START).times(START), None) is None
        assert next_moment(When(rule=rule, start=START.isoformat()), START.timestamp()) is None
        assert missed(When(rule=rule, start=START.isoformat()), 0, START.timestamp() + 1e8) == (None, 0)
    assert looked_at.call_count <= 4 * (SEARCHED.days + 366)


@pytest.mark.parametrize("rule", ["FREQ=DAILY", "FREQ=MINUTELY;INTERVAL=5", "FREQ=HOURLY", "FREQ=WEEKLY;BYDAY=MO"])
def test_long_ago(rule: str) -> None:
    """A rule that has counted for years costs what a new one does."""
    when = When(rule=rule, start="1996-01-01T00:00")
    with counted() as looked_at:
        assert next_moment(when, START.timestamp()) is not None
    assert looked_at.call_count <= 8


def test_count_is_bounded() -> None:
    """What a COUNT means is looked for within ten years, once."""
    with counted() as looked_at, pytest.raises(ToolError, match="more than ten years"):
        recurrence(f"FREQ=YEARLY;INTERVAL=2;BYDAY=-1SU;COUNT={MAX_COUNT}", START)
    assert looked_at.call_count <= 12 * 366


def counted():
    """Count the days that are looked at."""
    return patch.object(Recurrence, "_fits", autospec=True, side_effect=Recurrence._fits)


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        *(
            (rule, "write a rule like")
            for rule in ("", "daily", "every day", "FREQ=SECONDLY", "FREQ", "FREQ=", "BYDAY=MO")
        ),
        *((f"FREQ=DAILY;{wrong}", "write a rule like") for wrong in ("BYDAY", "7", "=", ";BYHOUR=7")),
        ("DTSTART:20260101T070000\nRRULE:FREQ=DAILY", "leave DTSTART out; say from when on with 'at'"),
        ("FREQ=DAILY;DTSTART=20260101T070000", "leave DTSTART out"),
        *(
            (f"FREQ=DAILY;{key}=1", f"{key} cannot be used")
            for key in ("BYSECOND", "BYWEEKNO", "BYYEARDAY", "BYEASTER")
        ),
        ("FREQ=DAILY;BYDAY=MO;BYDAY=TU", "each part once"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "COUNT or UNTIL, not both"),
        *((f"FREQ=DAILY;INTERVAL={wrong}", "a number from 1 to 9999") for wrong in ("0", "-1", "x", "10000", "1.5")),
        *((f"FREQ=DAILY;COUNT={wrong}", "a number from 1 to 100") for wrong in ("0", "101", "99999999999")),
        *((f"FREQ=DAILY;BYHOUR={wrong}", "numbers from 0 to 23") for wrong in ("24", "-1", "7:00", "7,,8", "٣")),
        *((f"FREQ=DAILY;BYMINUTE={wrong}", "numbers from 0 to 59") for wrong in ("60", "-5")),
        *((f"FREQ=DAILY;BYMONTHDAY={wrong}", "from the end like -1") for wrong in ("0", "32", "-32")),
        *((f"FREQ=DAILY;BYDAY={wrong}", "weekdays are MO,TU") for wrong in ("MONDAY", "0MO", "54MO", "MO TU X", "MO,")),
        ("FREQ=WEEKLY;BYDAY=1MO", "goes with MONTHLY or YEARLY only"),
        ("FREQ=HOURLY;BYSETPOS=1", "leave BYSETPOS out"),
        *(
            (f"FREQ=DAILY;UNTIL={wrong}", "write local time like 20261231")
            for wrong in ("20260230", "20261231T180000Z", "2026-12-31", "20261231T2500", "soon")
        ),
        *(
            (rule, "comes more often than every 5 minutes")
            for rule in (
                *("FREQ=MINUTELY", "FREQ=MINUTELY;INTERVAL=4", "FREQ=DAILY;BYMINUTE=0,1", "FREQ=HOURLY;BYMINUTE=0,58"),
                "FREQ=DAILY;BYHOUR=0,23;BYMINUTE=0,59",
            )
        ),
    ],
)
def test_wrong_rules(rule: str, error: str) -> None:
    """What is no rule, or one that would come too often, is refused with what to write instead."""
    with pytest.raises(ToolError) as raised:
        recurrence(rule, START)
    assert str(raised.value).startswith("repeat: ")
    assert error in str(raised.value)


@pytest.mark.parametrize("year", [9901, 9996, 9999])
@pytest.mark.parametrize("rule", ["FREQ=DAILY", "FREQ=DAILY;COUNT=3", "FREQ=WEEKLY;INTERVAL=9999", "FREQ=YEARLY"])
def test_at_the_end_of_the_calendar(rule: str, year: int) -> None:
    """A rule that would begin where dates end is refused in a sentence; one that begins at the latest has its times."""
    with pytest.raises(ToolError, match=f"cannot begin in the year {year}. Let it begin by 9900"):
        recurrence(rule, datetime.fromisoformat(f"{year}-12-30T09:00"))
    start = datetime.fromisoformat("9900-12-30T09:00")
    counted = 2 if "COUNT" in rule else 0 if "INTERVAL" in rule else 3
    assert len([*islice(recurrence(rule, start).times(start), 3)]) == counted
