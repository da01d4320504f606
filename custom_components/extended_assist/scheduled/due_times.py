"""Due times by the clock: recurrence rules in local time, mapped to a clock that is set forward and back.

A local time that the clock skips is the first one after the gap; one that it repeats is the first of both.
"""

from datetime import date, datetime, time, timedelta

from homeassistant.util import dt as dt_util

from ..results import ToolError
from .recurrence import ONE_DAY, Recurrence, recurrence
from .scheduled_task import When


def local_time(moment: float) -> datetime:
    """Return the local time of a timestamp without its offset; `fold` marks the second of two equal times."""
    return datetime.fromtimestamp(moment, dt_util.get_default_time_zone()).replace(tzinfo=None)


def moment_of(local: datetime) -> float:
    """Return the timestamp of a local time."""
    aware = local.replace(tzinfo=dt_util.get_default_time_zone())
    moment = aware.timestamp()
    if local_time(moment) == local:
        return moment
    # Skipped. Its offset is that of before or of after the gap, by its fold: these two moments lie around the gap's end.
    early, late = sorted(int(aware.replace(fold=fold).timestamp()) for fold in (0, 1))
    offset = _offset_at(early)
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (middle, late) if _offset_at(middle) == offset else (early, middle)
    return float(late)


def rule_of(when: When) -> Recurrence | None:
    """Return the recurrence rule of a task; None if it has none, or one that cannot be parsed."""
    if when.rule is None or when.start is None:
        return None
    try:
        return recurrence(when.rule, datetime.fromisoformat(when.start))
    except ToolError, ValueError:
        return None


def next_moment(when: When, after: float) -> float | None:
    """Return the next due time after a timestamp; None if there is none or only triggers start the task."""
    rule = rule_of(when)
    found = (when.moment, next_of(rule, after) if rule else None)
    return min((moment for moment in found if moment is not None and moment > after), default=None)


def missed(when: When, after: float, until: float) -> tuple[float | None, int]:
    """Return the latest due time in a span, and the number of due times in it."""
    rule = rule_of(when)
    newest, count = _missed(rule, after, until) if rule and until > after else (None, 0)
    if when.moment is not None and after < when.moment <= until:
        is_of_rule = rule is not None and next_of(rule, when.moment - 1) == when.moment
        newest, count = max(when.moment, newest or when.moment), count + (not is_of_rule)
    return newest, count


def next_of(rule: Recurrence, after: float) -> float | None:
    """Return the next due time of a rule after a timestamp."""
    # No local time before that of a moment lies after it; some after it, of an hour that is repeated, lie before it.
    moments = map(moment_of, rule.times(local_time(after)))
    return next((moment for moment in moments if moment > after), None)


def _missed(rule: Recurrence, after: float, until: float) -> tuple[float | None, int]:
    """Return the latest due time of a rule in a span, and their number."""
    first, last = max(local_time(after), rule.start).date(), local_time(until).date()
    last_whole = min(last, rule.until.date() if rule.until else last)
    newest, count = None, 0
    for day, minutes in rule.days(first):
        if day > last + ONE_DAY:  # The one after may be of an hour that is repeated.
            break
        if first < day < last_whole - ONE_DAY and _is_plain(day):  # Counted without a look at each.
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
    """Return whether the clock is not changed on a day or at its end."""
    zone = dt_util.get_default_time_zone()
    ends = [datetime.combine(day + ONE_DAY, time(fold=fold), zone) for fold in (0, 1)]
    return {end.utcoffset() for end in ends} == {datetime.combine(day, time(), zone).utcoffset()}


def _at(day: date, minute: int) -> datetime:
    """Return the local time of a minute of a day."""
    return datetime.combine(day, time()) + timedelta(minutes=minute)


def _moment_on(day: date, minute: int) -> float:
    """Return the timestamp of a minute of a day."""
    return moment_of(_at(day, minute))


def _offset_at(moment: float) -> timedelta | None:
    """Return the offset of local time at a timestamp."""
    return datetime.fromtimestamp(moment, dt_util.get_default_time_zone()).utcoffset()
