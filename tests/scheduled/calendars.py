"""What a rule and a clock mean, found out the long way: every minute of a span is looked at."""

from collections import defaultdict
from datetime import date, datetime, time, timedelta
from functools import cache, lru_cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

CHANGES = {
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),
    "Africa/Casablanca": ("2026-02-15", "2026-03-22"),
    "Africa/Cairo": ("2026-04-24", "2026-10-30"),
    "Pacific/Apia": ("2011-12-30", "2011-09-24"),
    "America/St_Johns": ("2006-10-29", "2006-04-02"),
    "Asia/Kathmandu": ("2026-06-01",),
}
"""Days on which clocks are changed: at midnight, by half an hour, for Ramadan, over the date line, or never."""
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
DAYS = {"MINUTELY": 3, "HOURLY": 3, "DAILY": 12, "WEEKLY": 12, "MONTHLY": 40, "YEARLY": 40}
"""Days before and after a change of clocks that are looked at."""
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)

type Parts = dict[str, list[Any]]


@lru_cache(maxsize=6)
def clock_of(zone: str, middle: str, days: int) -> dict[datetime, float]:
    """Return when each local time of some days comes: the first time, and one that is skipped when clocks go on."""
    info, shown = ZoneInfo(zone), dict[datetime, float]()
    moment = datetime.combine(date.fromisoformat(middle), time(), info).timestamp() - days * 86400
    before = None
    for _ in range(2 * days * 1440):
        local = datetime.fromtimestamp(moment, info).replace(tzinfo=None, fold=0)
        skipped = before + MINUTE if before else local
        while skipped < local:
            shown.setdefault(skipped, moment)
            skipped += MINUTE
        shown.setdefault(local, moment)
        before, moment = local, moment + 60
    return shown


def text_of(parts: Parts) -> str:
    """Return a rule as it is written."""
    return ";".join(f"{key}={','.join(map(str, values))}" for key, values in parts.items())


def expand(parts: Parts, start: datetime, end: datetime) -> list[datetime]:
    """Return the local times of a rule up to an end, by asking each minute."""
    frequency, interval = parts["FREQ"][0], parts.get("INTERVAL", [1])[0]
    by = {key: values for key, values in parts.items() if key.startswith("BY")}
    if not {"BYMONTHDAY", "BYDAY"} & by.keys():
        if frequency == "YEARLY":
            by.setdefault("BYMONTH", [start.month])
        if frequency in ("YEARLY", "MONTHLY"):
            by["BYMONTHDAY"] = [start.day]
        elif frequency == "WEEKLY":
            by["BYDAY"] = [WEEKDAYS[start.weekday()]]
    if frequency != "MINUTELY":
        by.setdefault("BYMINUTE", [start.minute])
        if frequency != "HOURLY":
            by.setdefault("BYHOUR", [start.hour])
    minutes = [
        minute
        for minute in range(1440)
        if minute // 60 in by.get("BYHOUR", range(24)) and minute % 60 in by.get("BYMINUTE", range(60))
    ]
    periods = defaultdict[int, list[datetime]](list)
    first = _period(start.date(), frequency)
    around = 366 if frequency == "YEARLY" else 31  # Positions are counted in whole periods.
    day = start.date() - around * DAY
    while day <= end.date() + around * DAY:
        counts = (_period(day, frequency) - first) % interval == 0 or frequency in ("HOURLY", "MINUTELY")
        if counts and _fits(day, by, frequency):
            whole = [datetime.combine(day, time()) + minute * MINUTE for minute in minutes]
            periods[_period(day, frequency)] += [one for one in whole if _in_step(one, start, frequency, interval)]
        day += DAY
    found = []
    for times in periods.values():
        wanted = [position - 1 if position > 0 else len(times) + position for position in by.get("BYSETPOS", [])]
        found += [one for index, one in enumerate(times) if "BYSETPOS" not in by or index in wanted]
    found = sorted(one for one in found if start <= one)[: parts.get("COUNT", [None])[0]]
    return [
        one for one in found if one <= end and ("UNTIL" not in parts or f"{one:%Y%m%dT%H%M}00" <= parts["UNTIL"][0])
    ]


def _period(day: date, frequency: str) -> int:
    """Return the number of the day, week, month or year that a day is in."""
    match frequency:
        case "YEARLY":
            return day.year
        case "MONTHLY":
            return day.year * 12 + day.month
        case "WEEKLY":
            return (day.toordinal() - 1) // 7
    return day.toordinal()


def _in_step(one: datetime, start: datetime, frequency: str, interval: int) -> bool:
    """Return whether a time is so many hours or minutes after the start."""
    if frequency == "HOURLY":
        return (one.replace(minute=0) - start.replace(minute=0)) // timedelta(hours=1) % interval == 0
    return frequency != "MINUTELY" or (one - start) // MINUTE % interval == 0


def _fits(day: date, by: Parts, frequency: str) -> bool:
    """Return whether a day has the month, the day of the month and the weekday."""
    if "BYMONTH" in by and day.month not in by["BYMONTH"]:
        return False
    of_month = _of_month(day.year, day.month)
    if "BYMONTHDAY" in by and not {day.day, day.day - len(of_month) - 1} & set(by["BYMONTHDAY"]):
        return False
    weekday = WEEKDAYS[day.weekday()]
    if "BYDAY" not in by or weekday in by["BYDAY"]:
        return True
    if weekday not in "".join(by["BYDAY"]):
        return False
    within = of_month
    if frequency == "YEARLY" and "BYMONTH" not in by:
        within = [date(day.year, 1, 1) + back * DAY for back in range(366)]
    alike = [other for other in within if other.weekday() == day.weekday() and other.year == day.year]
    names = {f"{alike.index(day) + 1}", f"{alike.index(day) - len(alike)}"}
    return any(f"{name}{weekday}" in by["BYDAY"] for name in names)


@cache
def _of_month(year: int, month: int) -> list[date]:
    """Return the days of a month."""
    days = [date(year, month, 1) + passed * DAY for passed in range(31)]
    return [day for day in days if day.month == month]


def random_rule(random: Random, around: date) -> tuple[Parts, datetime]:
    """Return a rule of any form, and a start some time before a day on which clocks are changed."""
    frequency = random.choice(list(DAYS))
    sub_daily = frequency in ("HOURLY", "MINUTELY")
    parts: Parts = {"FREQ": [frequency]}
    if frequency == "MINUTELY" or random.random() < 0.5:
        most = {"MINUTELY": 200, "HOURLY": 30, "DAILY": 9, "WEEKLY": 4, "MONTHLY": 4, "YEARLY": 2}[frequency]
        parts["INTERVAL"] = [random.randint(5 if frequency == "MINUTELY" else 1, most)]
    if random.random() < 0.3:
        parts["BYMONTH"] = sorted({around.month, *random.sample(range(1, 13), random.randint(0, 8))})
    if frequency != "WEEKLY" and random.random() < 0.3:
        days = random.sample([*range(1, 32), *range(-31, 0)], random.randint(1, 12))
        parts["BYMONTHDAY"] = days + [around.day] * (sub_daily and around.day not in days)
    if random.random() < 0.4:
        counted = ["", "", "", "1", "2", "-1", "5", "-5"] if frequency in ("MONTHLY", "YEARLY") else [""]
        parts["BYDAY"] = [
            f"{random.choice(counted)}{weekday}" for weekday in random.sample(WEEKDAYS, random.randint(1, 5))
        ]
    # Mostly in the night, when clocks are changed.
    hours = [0, 0, 1, 1, 2, 2, 2, 3, 23, *range(24)]
    if random.random() < 0.7:
        parts["BYHOUR"] = sorted({random.choice(hours) for _ in range(random.randint(1, 5))})
    if frequency != "MINUTELY" and random.random() < 0.5:
        parts["BYMINUTE"] = sorted(random.sample(range(0, 60, 5), random.randint(1, 5)))
    if not sub_daily and random.random() < 0.3:
        parts["BYSETPOS"] = random.sample([1, 2, 3, 5, -1, -2, -4], random.randint(1, 3))
    back = random.randint(0, 20 if sub_daily else 300)
    start = datetime.combine(around, time(random.choice(hours), random.randint(0, 59))) - back * DAY
    if random.random() < 0.2:
        parts["UNTIL"] = [f"{start + timedelta(days=random.randint(0, 2 * back + 3), minutes=17):%Y%m%dT%H%M}00"]
    elif random.random() < 0.15:
        parts["COUNT"] = [random.randint(1, 100)]
    return parts, start
