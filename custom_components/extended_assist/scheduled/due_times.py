"""Due times by clock: converts rules in local time to timestamps, across changes of daylight saving time.

A local time that clocks skip becomes the first time after the gap; a repeated local time means its first occurrence.
"""

from datetime import date, datetime, time, timedelta

from homeassistant.util import dt as dt_util

from ..results import ToolError
from .recurrence import ONE_DAY, Recurrence, recurrence
from .scheduled_task import When


def local_time(moment: float) -> datetime:
    """Return a timestamp as local time without offset; the second occurrence of a repeated time has `fold` set."""
    return datetime.fromtimestamp(moment, dt_util.get_default_time_zone()).replace(tzinfo=None)


def moment_of(local: datetime) -> float:
    """Return the timestamp of a local time, in seconds since the epoch."""
    aware = local.replace(tzinfo=dt_util.get_default_time_zone())
    moment = aware.timestamp()
    if local_time(moment) == local:
        return moment
    # Clocks skip this time. Its fold selects the offset before or after the gap, and the gap's end lies between the two
    # timestamps, so a binary search for the change of offset finds it.
    early, late = sorted(int(aware.replace(fold=fold).timestamp()) for fold in (0, 1))
    offset = _offset_at(early)
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (middle, late) if _offset_at(middle) == offset else (early, middle)
    return float(late)


def rule_of(when: When) -> Recurrence | None:
    """Return the recurrence rule of a task; None if it has none or the rule is not valid."""
    if when.rule is None or when.start is None:
        return None
    try:
        return recurrence(when.rule, datetime.fromisoformat(when.start))
    except ToolError, ValueError:
        return None


def next_moment(when: When, after: float) -> float | None:
    """Return the next due time by clock after a timestamp; None if there is none, or only triggers are left."""
    rule = rule_of(when)
    found = (when.moment, next_of(rule, after) if rule else None)
    return min((moment for moment in found if moment is not None and moment > after), default=None)


def missed(when: When, after: float, until: float) -> tuple[float | None, int]:
    """Return the last due time after `after` and up to `until`, and the number of due times in that span."""
    rule = rule_of(when)
    newest, count = _missed(rule, after, until) if rule and until > after else (None, 0)
    if when.moment is not None and after < when.moment <= until:
        is_of_rule = rule is not None and next_of(rule, when.moment - 1) == when.moment
        newest, count = max(when.moment, newest or when.moment), count + (not is_of_rule)
    return newest, count


def next_of(rule: Recurrence, after: float) -> float | None:
    """Return the next time of a rule after a timestamp."""
    # In a repeated hour, a later local time can have an earlier timestamp, so the timestamps are compared again.
    moments = map(moment_of, rule.times(local_time(after)))
    return next((moment for moment in moments if moment > after), None)


def _missed(rule: Recurrence, after: float, until: float) -> tuple[float | None, int]:
    """Return the last time of a rule in a span, and the number of its times in the span."""
    first, last = max(local_time(after), rule.start).date(), local_time(until).date()
    last_whole = min(last, rule.until.date() if rule.until else last)
    newest, count = None, 0
    for day, minutes in rule.days(first):
        if day > last + ONE_DAY:  # The next day may belong to a repeated hour.
            break
        if first < day < last_whole - ONE_DAY and _is_plain(day):  # Count without checking each time.
            count += len(minutes) - (_moment_on(day, minutes[0]) == newest)
            newest = _moment_on(day, minutes[-1])
            continue
        for minute in minutes:
            local, moment = _at(day, minute), _moment_on(day, minute)
            is_of_rule = rule.start <= local and (rule.until is None or local <= rule.until)
            if is_of_rule and after < moment <= until and moment != newest:
                newest, count = moment, count + 1
    return newest, count


def _is_plain(day: date) -> bool:
    zone = dt_util.get_default_time_zone()
    ends = [datetime.combine(day + ONE_DAY, time(fold=fold), zone) for fold in (0, 1)]
    return {end.utcoffset() for end in ends} == {datetime.combine(day, time(), zone).utcoffset()}


def _at(day: date, minute: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(minutes=minute)


def _moment_on(day: date, minute: int) -> float:
    return moment_of(_at(day, minute))


def _offset_at(moment: float) -> timedelta | None:
    return datetime.fromtimestamp(moment, dt_util.get_default_time_zone()).utcoffset()
