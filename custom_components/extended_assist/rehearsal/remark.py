"""What a rehearsal found, in one sentence that is said with a question, in the language of whoever is asked."""

from typing import Final

from ..toolbox.localization import say
from .account import at_night
from .past import RehearsalOutcome

_NAMED: Final = 2
"""Entities of which it is said for how long they would have been on."""
_MINUTE: Final = 60


def remark_of(outcome: RehearsalOutcome, names: dict[str, str], language: str | None) -> str:
    """Return the sentence; names are those of entities."""
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
    """Return the words for something that happens so many times."""
    return say(f"{key}_once" if count == 1 else f"{key}_often", language, count=str(count), **values)


def _spoken(seconds: float, language: str | None) -> str:
    """Return a length as it is said: to the minute."""
    hours, minutes = divmod(round(seconds / _MINUTE), 60)
    return say("hours" if hours else "minutes", language, hours=str(hours), minutes=str(minutes))
