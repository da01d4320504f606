"""One automation over a span of the recorded past; runs in the recorder's executor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from homeassistant.core import HomeAssistant

from ..exposure import Exposure
from .automation import RehearsedAutomation
from .conditions import NotReplayableError
from .past import RehearsalOutcome, Stretch
from .replay import Replay
from .rows import RecordedRows, Row, read_stretches

TIME_LIMIT: Final = 20.0
"""Seconds of one rehearsal, after which it tells how far it came."""
_LOOK_AT_CLOCK: Final = 512
"""Rows between two looks at the clock."""
_STEP: Final = 6 * 3600.0
"""Seconds of the past that timers alone may run through between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class RehearsedSpan:
    """How much of the past a rehearsal goes through; in seconds since the epoch."""

    start: float
    end: float
    limit: float = TIME_LIMIT
    """Seconds that it may take."""


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


def rehearse(hass: HomeAssistant, exposure: Exposure, subject: Rehearsed, span: RehearsedSpan) -> RehearsalOutcome:
    """Return what an automation would have done in a span.

    Raises NotReplayableError, or NotOfThePastError, with what cannot be known where nothing can be told without it.
    """
    stops_at = monotonic() + span.limit
    rows = RecordedRows(hass, subject.uses)
    if missing := sorted(subject.reads - rows.entity_ids):
        raise NotReplayableError(", ".join(f"{entity_id}, of which nothing is recorded" for entity_id in missing))
    replay = Replay(hass, exposure, subject.uses)
    automation = RehearsedAutomation(replay, subject.config, subject.reads, subject.entity_id)
    replay.now = span.start
    for stretch in read_stretches(hass, span.start, span.end):
        if replay.world:  # Home Assistant ended, and began anew.
            automation.stop()
            replay.stop()
        begin = max(span.start, stretch.begin)
        if automation.outcome.since is None:
            automation.outcome.since = begin
        replay.advance(begin)
        for _, entity_id, past in rows.at(begin, stretch.begin):
            replay.feed(entity_id, past)
        arming = _Arming(replay, automation, stretch, span.start, stops_at)
        if not _through(replay, arming, rows.between(begin, stretch.end), stretch.end):
            automation.outcome.is_whole = False
            break
    return automation.finish()


def _through(replay: Replay, arming: _Arming, rows: Iterator[Row], end: float) -> bool:
    """Go through a time in which Home Assistant ran; return whether there was time for all of it."""
    for count, (moment, entity_id, past) in enumerate(rows):
        if not arming.advance(moment, look=count % _LOOK_AT_CLOCK == 0):
            return False
        replay.feed(entity_id, past)
    return arming.advance(end, look=True)


class _Arming:
    """Lets the time of a replay go on, arms the automation when Home Assistant had started, and looks how long it takes."""

    def __init__(
        self, replay: Replay, automation: RehearsedAutomation, stretch: Stretch, start: float, stops_at: float
    ) -> None:
        """Take when Home Assistant started, and when the rehearsal starts."""
        self._replay = replay
        self._automation = automation
        self._armed: float | None = max(start, stretch.armed)
        self._stops_at = stops_at
        self._is_starting = stretch.armed > max(start, stretch.begin)

    def advance(self, until: float, *, look: bool) -> bool:
        """Let everything happen up to a moment; return whether there was time for it."""
        if self._armed is not None and self._armed <= until:
            armed, self._armed = self._armed, None
            self._replay.advance(armed)
            self._replay.is_starting = self._is_starting
            self._automation.start()
            self._replay.is_starting = False
        while until - self._replay.now > _STEP:
            self._replay.advance(self._replay.now + _STEP)
            if monotonic() > self._stops_at:
                return False
        self._replay.advance(until)
        return not look or monotonic() <= self._stops_at
