"""One automation over a span of the recorded past; runs in the recorder's executor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from time import monotonic
from typing import Any, Final

from homeassistant.components.calendar import CalendarEvent
from homeassistant.core import HomeAssistant, State

from ..exposure.entities import Exposure
from .automation import RehearsedAutomation
from .historical_state import NotReplayableError, OutOfTimeError, RehearsalOutcome, Row, Stretch
from .replay import SOONEST, Replay
from .row_reader import RecordedRows, read_stretches

TIME_LIMIT: Final = 20.0
"""Seconds of one rehearsal, after which it tells how far it came."""
_SLACK: Final = 3600.0
"""Seconds by which an entity may be recorded later than others without a word about it."""
_ANY: Final = "sensor.any"
"""Stands for whatever entity has some attributes."""


@dataclass(frozen=True, slots=True)
class RehearsedSpan:
    """How much of the past a rehearsal goes through; in seconds since the epoch."""

    start: float
    end: float
    stops_at: float = field(default_factory=lambda: monotonic() + TIME_LIMIT)
    """When it has to end, as time.monotonic() tells it, however long it had to wait for its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What is to be rehearsed."""

    config: Mapping[str, Any]
    """The automation, as Home Assistant validated it."""
    reads: frozenset[str]
    """The entities that its triggers, conditions and templates read."""
    uses: Mapping[str, frozenset[str]]
    """All entities in it, those that it only sets too, each with the attributes that the recorder does not keep."""
    entity_id: str = ""
    """Its own, where it is there already."""
    events: Mapping[str, Sequence[CalendarEvent]] = field(default_factory=dict)
    """The events of the calendars that set it off."""
    has_free_text: bool = False
    """True if text from outside can decide when it runs."""


def rehearse(hass: HomeAssistant, exposure: Exposure, subject: Rehearsed, span: RehearsedSpan) -> RehearsalOutcome:
    """Return the runs that an automation would have had in a span.

    Raises NotReplayableError, or NotOfThePastError, with what cannot be known where nothing can be told without it.
    """
    replay = Replay(hass, exposure, subject.uses, subject.events)
    replay.now, replay.stops_at = span.start, span.stops_at
    if subject.entity_id:  # What it really did is recorded.
        replay.late = SOONEST
    automation = RehearsedAutomation(replay, subject.config, subject.reads, subject.entity_id)
    automation.outcome.events = {one: len(events) for one, events in subject.events.items()}
    try:
        rows = RecordedRows(
            hass,
            subject.uses,
            lambda attributes: exposure.visible_attributes(State(_ANY, "", attributes)),
            span.stops_at,
        )
        first, stretches = rows.first(), read_stretches(hass, span.start, span.end)
        if stretches and (missing := sorted(one for one in subject.reads if first.get(one, inf) >= span.end)):
            raise NotReplayableError(", ".join(f"{entity_id}, of which nothing is recorded" for entity_id in missing))
        for stretch in stretches:
            _through(replay, automation, rows, stretch, span)
    except OutOfTimeError:
        automation.outcome.is_whole = False
    else:
        since = (automation.outcome.since or span.start) + _SLACK
        automation.outcome.later = {one: first[one] for one in sorted(subject.reads) if first.get(one, 0.0) > since}
    return automation.finish()


def _through(
    replay: Replay, automation: RehearsedAutomation, rows: RecordedRows, stretch: Stretch, span: RehearsedSpan
) -> None:
    """Go through a time in which Home Assistant ran."""
    begin, armed = max(span.start, stretch.begin), max(span.start, stretch.armed)
    if automation.outcome.since is None:
        automation.outcome.since = begin
    else:  # It ended before, and began anew.
        automation.stop()
        replay.stop()
    replay.advance(begin)
    for _, entity_id, past in rows.at(begin, stretch.begin):
        replay.feed(entity_id, past)
    # The first rows are of the time in which Home Assistant still starts.
    rows_of_it = rows.between(begin, stretch.end)
    following: Row | None = None
    for row in rows_of_it:
        if row[0] >= armed:
            following = row
            break
        replay.go_on([row])
    if armed > stretch.end:
        return
    replay.advance(armed)
    replay.is_starting = stretch.armed > begin
    automation.start()
    replay.is_starting = False
    if following is not None:
        replay.go_on(chain([following], rows_of_it))
    replay.advance(stretch.end)
