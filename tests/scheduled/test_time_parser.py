"""Words for times: the moment is always still to come, on the day that is named."""

from datetime import datetime, timedelta
import random
import re
from zoneinfo import ZoneInfo

import pytest

from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.due_times import local_time, moment_of
from custom_components.extended_assist.scheduled.time_parser import read_end, read_local
from homeassistant.util import dt as dt_util

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# 2026-03-06 is a Friday. In Berlin, clocks go forward on Sunday 2026-03-29 and back on Sunday 2026-10-25.
READ = {
    # Said on a Friday, "next friday" is the one after.
    ("2026-03-06 12:00", "next friday 18:00"): "2026-03-13 18:00",
    ("2026-03-06 12:00", "next friday 09:00"): "2026-03-13 09:00",
    ("2026-03-06 19:00", "next friday at 18:00"): "2026-03-13 18:00",
    ("2026-03-06 12:00", "on next Friday, 18:00"): "2026-03-13 18:00",
    ("2026-03-06 12:00", "friday 18:00"): "2026-03-06 18:00",
    ("2026-03-06 12:00", "this friday 18:00"): "2026-03-06 18:00",
    ("2026-03-06 19:00", "friday 18:00"): "2026-03-13 18:00",
    ("2026-03-04 12:00", "next friday 18:00"): "2026-03-06 18:00",
    ("2026-03-05 23:59", "next friday 18:00"): "2026-03-06 18:00",
    ("2026-03-07 00:01", "next friday 18:00"): "2026-03-13 18:00",
    ("2026-03-08 23:30", "next monday 07:00"): "2026-03-09 07:00",
    ("2026-03-09 00:30", "next monday 07:00"): "2026-03-16 07:00",
    ("2026-03-09 00:30", "next sunday 07:00"): "2026-03-15 07:00",
    ("2026-12-31 12:00", "next thursday 07:00"): "2027-01-07 07:00",
    # A night goes on after midnight.
    ("2026-03-06 23:30", "tonight 01:00"): "2026-03-07 01:00",
    ("2026-03-06 20:00", "tonight 00:30"): "2026-03-07 00:30",
    ("2026-03-06 20:00", "tonight at 00:00"): "2026-03-07 00:00",
    ("2026-03-06 09:00", "tonight 05:59"): "2026-03-07 05:59",
    ("2026-03-07 00:30", "tonight 23:00"): "2026-03-07 23:00",
    ("2026-03-07 00:30", "tonight 01:00"): "2026-03-07 01:00",
    ("2026-03-07 03:00", "tonight 01:00"): "2026-03-08 01:00",
    ("2026-03-31 23:30", "tonight 01:00"): "2026-04-01 01:00",
    ("2026-03-06 20:00", "tomorrow night 01:00"): "2026-03-08 01:00",
    ("2026-03-06 20:00", "tomorrow night 22:00"): "2026-03-07 22:00",
    ("2026-03-07 00:30", "tomorrow night 01:00"): "2026-03-09 01:00",
    ("2026-03-06 20:00", "friday night 01:00"): "2026-03-07 01:00",
    ("2026-03-06 00:30", "friday night 01:00"): "2026-03-07 01:00",
    ("2026-03-07 00:30", "friday night 01:00"): "2026-03-07 01:00",
    ("2026-03-07 02:00", "friday night 01:00"): "2026-03-14 01:00",
    ("2026-03-06 00:30", "next friday night 01:00"): "2026-03-14 01:00",
    ("2026-03-06 12:00", "this friday night 23:00"): "2026-03-06 23:00",
    # Other parts of a day, and days after midnight.
    ("2026-03-06 12:00", "this evening 19:00"): "2026-03-06 19:00",
    ("2026-03-06 12:00", "this afternoon 15:00"): "2026-03-06 15:00",
    ("2026-03-06 05:00", "this morning 07:00"): "2026-03-06 07:00",
    ("2026-03-06 12:00", "tomorrow morning 07:00"): "2026-03-07 07:00",
    ("2026-03-06 12:00", "Tomorrow evening at 19:00"): "2026-03-07 19:00",
    ("2026-03-06 12:00", "wednesday evening 19:00"): "2026-03-11 19:00",
    ("2026-03-06 12:00", "friday morning 07:00"): "2026-03-13 07:00",
    ("2026-03-07 00:30", "tomorrow 01:00"): "2026-03-08 01:00",
    ("2026-03-07 00:30", "tomorrow 07:00"): "2026-03-08 07:00",
    ("2026-03-07 00:30", "today 01:00"): "2026-03-07 01:00",
    ("2026-03-06 12:00", "the day after tomorrow 07:00"): "2026-03-08 07:00",
    # Days on which clocks are changed.
    ("2026-03-28 23:30", "tonight 02:30"): "2026-03-29 03:00",
    ("2026-03-28 23:30", "sunday 02:30"): "2026-03-29 03:00",
    ("2026-03-22 12:00", "next sunday 18:00"): "2026-03-29 18:00",
    ("2026-10-24 23:30", "tonight 02:30"): "2026-10-25 02:30",
    ("2026-10-25 12:00", "next sunday 18:00"): "2026-11-01 18:00",
}
REFUSED = {
    ("2026-03-06 12:00", "today 11:00"): "2026-03-06 11:00 is over",
    ("2026-03-06 23:30", "tonight 23:00"): "2026-03-06 23:00 is over",
    ("2026-03-06 19:00", "this friday 18:00"): "2026-03-06 18:00 is over",
    ("2026-03-06 12:00", "this morning 07:00"): "2026-03-06 07:00 is over",
    ("2026-03-06 20:00", "tonight 07:00"): "07:00 is not in the night. Give the day without a part of it, such as",
    ("2026-03-06 20:00", "tonight 12:00"): "12:00 is not in the night",
    ("2026-03-06 12:00", "this evening 01:00"): "01:00 is not in the evening",
    ("2026-03-06 12:00", "tomorrow morning 19:00"): "19:00 is not in the morning",
    ("2026-03-06 12:00", "next friday"): "add the time of day, such as next friday 07:00",
    ("2026-03-06 12:00", "next tomorrow 07:00"): "is not a time",
    ("2026-03-06 12:00", "next week 07:00"): "is not a time",
    ("2026-03-06 12:00", "tonight 25:00"): "is not a time",
}
ENDS = {
    ("2026-03-06 12:00", "friday"): "2026-03-07 00:00",
    ("2026-03-06 12:00", "this friday"): "2026-03-07 00:00",
    ("2026-03-06 12:00", "next friday"): "2026-03-14 00:00",
    ("2026-03-04 12:00", "next friday"): "2026-03-07 00:00",
    ("2026-03-06 12:00", "next friday 18:00"): "2026-03-13 18:00",
    ("2026-03-06 23:30", "tonight 01:00"): "2026-03-07 01:00",
    ("2026-03-06 23:30", "tonight"): "2026-03-07 00:00",
    ("2026-03-06 12:00", "this evening"): "2026-03-07 00:00",
    ("2026-03-06 12:00", "tomorrow night"): "2026-03-08 00:00",
    ("2026-03-06 12:00", "tomorrow morning"): "2026-03-07 12:00",
    ("2026-03-07 00:30", "tomorrow"): "2026-03-09 00:00",
    ("2026-03-28 12:00", "sunday"): "2026-03-30 00:00",
    ("2026-10-24 12:00", "sunday"): "2026-10-26 00:00",
}


@pytest.fixture(autouse=True)
def berlin() -> None:
    """Set the time zone of the home."""
    dt_util.set_default_time_zone(ZoneInfo("Europe/Berlin"))


def at(text: str) -> float:
    """Return the moment of a local time."""
    return moment_of(datetime.fromisoformat(text))


def told(moment: float) -> str:
    """Return a moment as local time."""
    return f"{local_time(moment):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(("now", "text"), READ)
def test_read(now: str, text: str) -> None:
    """Each of these means one moment."""
    assert told(moment_of(read_local(text, "at", at(now)))) == READ[now, text]


@pytest.mark.parametrize(("now", "text"), REFUSED)
def test_refused(now: str, text: str) -> None:
    """What is over, or cannot be, is refused with what to write instead."""
    with pytest.raises(ToolError, match=re.escape(REFUSED[now, text])):
        read_local(text, "at", at(now))


@pytest.mark.parametrize(("now", "text"), ENDS)
def test_ends(now: str, text: str) -> None:
    """The same words say until when."""
    assert told(read_end(text, "until", at(now))) == ENDS[now, text]


def test_always_to_come_and_on_the_named_day() -> None:
    """At any moment of a year, in zones that change their clocks at midnight too."""
    rng = random.Random(42)
    found, over = 0, []
    for _ in range(6_000):
        zone = rng.choice(
            ["Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"]
        )
        dt_util.set_default_time_zone(ZoneInfo(zone))
        now = at("2026-01-01 00:00") + rng.randrange(366 * 24 * 60) * 60
        which, day = rng.choice(["", "on ", "this ", "next ", "on next "]), rng.choice(WEEKDAYS)
        clock = f"{rng.randrange(24):02}:{rng.choice((0, 15, 30, 59)):02}"
        words, today = f"{which}{day} {clock}", local_time(now).date()
        try:
            moment = moment_of(read_local(words, "at", now))
        except ToolError as err:
            over.append((str(err), which, WEEKDAYS[today.weekday()] == day))
            continue
        found += 1
        local = local_time(moment)
        assert moment > now, (zone, words, now)
        assert WEEKDAYS[local.weekday()] == day, (zone, words, now)
        ahead = local.date() - today
        assert ahead <= timedelta(days=7), (zone, words, now)
        if "next" in which:
            assert ahead >= timedelta(days=1), (zone, words, now)
        if "this" in which:
            assert ahead < timedelta(days=7), (zone, words, now)
    assert found > 5_000
    assert all("is over" in error and which == "this " and is_today for error, which, is_today in over)


def test_tonight_is_always_the_coming_night() -> None:
    """At any moment, a time between midnight and six comes within a day, and one of the evening today or not at all."""
    rng, over = random.Random(43), []
    for _ in range(3_000):
        now = at("2026-01-01 00:00") + rng.randrange(366 * 24 * 60) * 60
        early = read_local(f"tonight {rng.randrange(6):02}:{rng.randrange(60):02}", "at", now)
        assert 0 < moment_of(early) - now <= 25 * 3600
        try:
            late = read_local(f"tonight {rng.randrange(17, 24):02}:00", "at", now)
        except ToolError as err:
            over.append(str(err))
            continue
        assert late.date() == local_time(now).date()
        assert moment_of(late) > now
    assert all("is over" in error for error in over)
