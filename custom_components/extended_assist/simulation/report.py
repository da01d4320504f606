"""The report of a simulation: how often and when the automation ran, for how long, and what looks wrong."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..confirmation.wording import say
from ..results import format_duration, format_minute, size
from .historical_state import Ran, SimulationOutcome

MOST: Final = 1_500
"""Characters of an answer."""
NIGHT: Final = range(5)
"""Hours of the night, in which hardly anybody wants to be woken."""
_SAYS_SOMETHING: Final = 4
"""Number of runs from which on hours and weekdays are reported."""
_SOON: Final = 10.0
"""Two runs within this number of seconds look wrong."""
_NEAR: Final = 60.0
"""Seconds around a run within which another automation did the same."""
_SHOWN: Final = 5
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def told(
    outcome: SimulationOutcome,
    name_of: Callable[[str], str],
    elsewhere: Sequence[float] = (),
) -> JsonObjectType:
    """Return the answer about one automation.

    elsewhere: the times at which another automation turned the same entities on, oldest first.
    """
    runs = outcome.runs
    answer: JsonObjectType = {"runs": outcome.count}
    if len(runs) >= _SAYS_SOMETHING:
        answer["first"], answer["last"] = format_minute(runs[0].moment), format_minute(runs[-1].moment)
        moments = [dt_util.as_local(dt_util.utc_from_timestamp(run.moment)) for run in runs]
        answer["by_hour"] = _counts(Counter(moment.hour for moment in moments), str)
        answer["by_weekday"] = _counts(Counter(moment.weekday() for moment in moments), _WEEKDAYS.__getitem__)
    elif runs:
        answer["all"] = ", ".join(format_minute(run.moment) for run in runs)
    if on := {name_of(entity_id): format_duration(seconds) for entity_id, seconds in outcome.on_time.items()}:
        answer["on_for"] = dict(sorted(on.items())[:_SHOWN])
    if outcome.open_since:
        names = ", ".join(sorted(map(name_of, outcome.open_since))[:_SHOWN])
        answer["never_turned_off_again"] = f"{names}: nothing would have done so by the end"
    answer |= _beside(outcome, elsewhere)
    if wrong := looks_wrong(outcome):
        answer["looks_wrong"] = "; ".join(wrong)
    if outcome.followed:
        answer["note"] = "Nothing was done. It reads what it sets: that was taken to be as it would have set it."
    if outcome.events:
        answer["calendars"] = _of_calendars(outcome, name_of)
    if outcome.later:
        since = [f"{name_of(entity_id)} since {format_minute(first)}" for entity_id, first in outcome.later.items()]
        answer["recorded_later"] = f"{', '.join(since[:_SHOWN])}; of before it is not known whether it would have run"
    if outcome.not_replayed:
        answer["not_replayed"] = "; ".join(list(outcome.not_replayed)[:_SHOWN])
    for key in ("by_weekday", "by_hour", "on_for", "not_replayed"):  # The least useful first.
        if size(answer) > MOST:
            answer.pop(key, None)
    return answer


def _of_calendars(outcome: SimulationOutcome, name_of: Callable[[str], str]) -> str:
    """Return the note about the limits of past calendar events."""
    empty = [name_of(entity_id) for entity_id, count in outcome.events.items() if not count]
    note = "Events as they are kept today; what was deleted or moved since is not known."
    return (
        f"{note} None of that time: {', '.join(empty[:_SHOWN])}; some calendars forget what is over." if empty else note
    )


def _beside(outcome: SimulationOutcome, elsewhere: Sequence[float]) -> Mapping[str, str]:
    """Return how many runs changed nothing, coincided with others, or were held back."""
    found = {}
    if already := sum(run.already for run in outcome.runs):
        found["already"] = f"{_times(already)} what it switches first was so already"
    if near := sum(_is_near(run, elsewhere) for run in outcome.runs):
        found["also_automated"] = f"{_times(near)} another automation or script did the same within a minute"
    reasons = ((outcome.refused, "a condition was false"), (outcome.blocked, "it was still running"))
    if held := [f"{_times(count)} {why}" for count, why in reasons if count]:
        found["held_back"] = ", ".join(held)
    return found


def looks_wrong(outcome: SimulationOutcome) -> list[str]:
    """Return the findings that look wrong."""
    runs = outcome.runs
    if not outcome.count:
        is_all = not outcome.not_replayed and not outcome.later
        never = "never" if is_all else "never, as far as it could be replayed"
        return [never + ("; the triggers fired, but a condition was always false" if outcome.refused else "")]
    found = []
    gaps = [later.moment - earlier.moment for earlier, later in pairwise(runs)]
    if len(gaps) >= _SAYS_SOMETHING and median(gaps) < _SOON:
        found.append("every few seconds")
    elif soon := sum(gap < _SOON for gap in gaps):
        found.append(f"{_times(soon)} within {_SOON:g} seconds of the run before")
    if night := at_night(runs):
        some = ", ".join(format_minute(run.moment) for run in night[:2])
        found.append(f"{_times(len(night))} in the night, such as {some}")
    return found


def at_night(runs: Sequence[Ran]) -> list[Ran]:
    """Return the runs at which somebody may be asleep."""
    return [run for run in runs if dt_util.as_local(dt_util.utc_from_timestamp(run.moment)).hour in NIGHT]


def _times(count: int) -> str:
    """Return a number of times in words."""
    return "once" if count == 1 else f"{count} times"


def _is_near(run: Ran, moments: Sequence[float]) -> bool:
    """Return whether one of the times is within a minute of a run."""
    index = bisect_left(moments, run.moment - _NEAR)
    return index < len(moments) and moments[index] <= run.moment + _NEAR


def _counts(counts: Counter[int], name: Callable[[int], str]) -> str:
    """Return how often each hour or weekday occurs."""
    return ", ".join(f"{name(key)}: {counts[key]}" for key in sorted(counts))


_NAMED: Final = 2
"""Number of entities whose time is in the sentence."""
_MINUTE: Final = 60


def remark_of(outcome: SimulationOutcome, names: dict[str, str], language: str | None) -> str:
    """Return one sentence about a simulation; names are those of entities."""
    if not outcome.count:
        return say("ran_never", language)
    longest = sorted(outcome.on_time, key=lambda one: -outcome.on_time[one])[:_NAMED]
    more = [
        say("was_on", language, name=names[one], time=_spoken(outcome.on_time[one], language))
        for one in longest
        if outcome.on_time[one] >= _MINUTE
    ]
    if night := len(at_night(outcome.runs)):
        more.append(_counted("night", night, language))
    return _counted("ran", outcome.count, language, more="".join(more))


def _counted(key: str, count: int, language: str | None, **values: str) -> str:
    """Return the phrase for a number of times."""
    return say(f"{key}_once" if count == 1 else f"{key}_often", language, count=str(count), **values)


def _spoken(seconds: float, language: str | None) -> str:
    """Return a duration in words, to the minute."""
    hours, minutes = divmod(round(seconds / _MINUTE), 60)
    return say("hours" if hours else "minutes", language, hours=str(hours), minutes=str(minutes))
