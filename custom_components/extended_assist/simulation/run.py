"""Simulate an automation or a script over the recorded past."""

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import inf
from time import monotonic
from typing import Any, Final

from homeassistant.components.calendar import CalendarEvent
from homeassistant.core import HomeAssistant, State
from homeassistant.exceptions import TemplateError
from homeassistant.util import dt as dt_util

from ..exposure.entities import Exposure
from ..templates.historical import NotOfThePastError
from .conditions import Check, all_hold, condition
from .historical_state import NotReplayableError, OutOfTimeError, PastChange, Ran, Row, SimulationOutcome, Stretch
from .replay import SOONEST, Remove, Replay
from .row_reader import RecordedRows, read_stretches
from .steps import Pause, Steps, trigger_data
from .triggers import attach, check_trigger

TIME_LIMIT: Final = 20.0
"""Seconds of one rehearsal, after which it tells how far it came."""
_SLACK: Final = 3600.0
"""Seconds by which the first row of an entity may be later than the start without being reported."""
_ANY: Final = "sensor.any"
"""The entity id for attributes of any entity."""


@dataclass(frozen=True, slots=True)
class RehearsedSpan:
    """The span of time to simulate; in seconds since the epoch."""

    start: float
    end: float
    stops_at: float = field(default_factory=lambda: monotonic() + TIME_LIMIT)
    """Value of time.monotonic() at which the simulation has to end, even if it had to wait for its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """The automation to simulate."""

    config: Mapping[str, Any]
    """The automation, as Home Assistant validated it."""
    reads: frozenset[str]
    """The entities that its triggers, conditions and templates read."""
    uses: Mapping[str, frozenset[str]]
    """All its entities, also those that it only sets, each with the attributes that are not recorded."""
    entity_id: str = ""
    """The entity id of the automation, if it exists already."""
    events: Mapping[str, Sequence[CalendarEvent]] = field(default_factory=dict)
    """The events of the calendars that trigger it."""
    has_free_text: bool = False
    """True if text from outside can decide when it runs."""


def rehearse(hass: HomeAssistant, exposure: Exposure, subject: Rehearsed, span: RehearsedSpan) -> SimulationOutcome:
    """Return the runs that an automation would have had in a span; blocks.

    Raises NotReplayableError or NotOfThePastError, if a part that decides everything cannot be simulated.
    """
    replay = Replay(hass, exposure, subject.uses, subject.events)
    replay.now, replay.stops_at = span.start, span.stops_at
    if subject.entity_id:  # Its real effects are recorded.
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
    """Simulate a stretch in which Home Assistant ran."""
    begin, armed = max(span.start, stretch.begin), max(span.start, stretch.armed)
    if automation.outcome.since is None:
        automation.outcome.since = begin
    else:  # Home Assistant was restarted.
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


MAX_KEPT: Final = 20_000
"""Number of runs that are stored; further ones are counted."""
MAX_AT_ONCE: Final = 1_000
"""Largest number of runs at the same time."""
_ON: Final = frozenset({"on", "open", "opening", "playing", "heat", "cool", "cleaning"})


@dataclass(slots=True, eq=False)
class Run:
    """A run that has not ended."""

    steps: Generator[Pause, Any] | None
    ran: Ran
    is_executing: bool = False
    is_stopped: bool = False
    waits: list[Remove] = field(default_factory=list)
    first_act: object = None
    """The first action that set an entity."""

    def end_waits(self) -> None:
        """Cancel all waits."""
        while self.waits:
            self.waits.pop()()


class RehearsedAutomation:
    """A validated automation in a replay."""

    def __init__(self, replay: Replay, config: Mapping[str, Any], reads: frozenset[str], entity_id: str = "") -> None:
        """Take the configuration, and the entities that it reads.

        Raises NotReplayableError if no trigger, or one of its conditions, can be simulated.
        """
        self.outcome = SimulationOutcome()
        self._replay = replay
        self._config = config
        self._reads = reads
        self._entity_id = entity_id
        self._mode: str = config.get("mode", "single")
        self._max: int = config.get("max", 10)
        self._triggers: list[tuple[int, Mapping[str, Any]]] = []
        for index, trigger in enumerate(config["triggers"]):
            try:
                check_trigger(trigger, f"triggers[{index}]")
            except NotReplayableError as err:
                self.outcome.not_replayed[str(err)] = None
                continue
            if trigger.get("enabled", True):
                self._triggers.append((index, trigger))
        if not self._triggers:
            raise NotReplayableError(", ".join(self.outcome.not_replayed) or "triggers: none of them is enabled")
        self._conditions: list[Check] = [
            condition(replay, one, f"conditions[{index}]") for index, one in enumerate(config.get("conditions") or [])
        ]
        self._steps = Steps(replay, self._set, self._not_known)
        self._runs: list[Run] = []
        self._current: Run | None = None
        self._last: float | None = None
        self._on_since: dict[str, float] = {}
        self._watched: set[str] = set()

    # Home Assistant starts and ends

    def start(self) -> None:
        """Arm the triggers."""
        self._watched.clear()
        variables = {"this": self._this()}
        if "trigger_variables" in self._config:
            try:
                self._replay.define(self._config["trigger_variables"], variables)
            except TemplateError:
                return
        for index, trigger in self._triggers:
            attach(self._replay, trigger, partial(self._fired, index, trigger), variables)

    def _fired(self, index: int, trigger: Mapping[str, Any], description: str, told: dict[str, Any]) -> None:
        """Run with the variables of a trigger."""
        variables = {"trigger": trigger_data(trigger, index, description) | told}
        if "variables" in trigger:
            try:
                self._replay.define(trigger["variables"], variables)
            except TemplateError:
                return
        self.fire(index, variables)

    def stop(self) -> None:
        """End all runs, as at the shutdown of Home Assistant."""
        for run in self._runs.copy():
            self._end(run)
        for entity_id in list(self._on_since):
            self._is_off(entity_id)

    def finish(self) -> SimulationOutcome:
        """Complete and return the outcome."""
        self.outcome.until = self._replay.now
        self.outcome.open_since = dict(self._on_since)
        for entity_id, since in self._on_since.items():
            self.outcome.on_time[entity_id] = self.outcome.on_time.get(entity_id, 0) + self._replay.now - since
        return self.outcome

    # Runs

    def fire(self, index: int, variables: dict[str, Any]) -> None:
        """Start a run, if the conditions hold and the mode allows it."""
        try:
            variables = {"this": self._this(), **variables}
            for key in ("trigger_variables", "variables"):
                if key in self._config:
                    self._replay.define(self._config[key], variables)
        except TemplateError:
            return
        if not all_hold(self._conditions, variables):
            self.outcome.refused += 1
            return
        if self._runs and (self._mode == "single" or (self._mode != "restart" and len(self._runs) >= self._max)):
            self.outcome.blocked += 1
            return
        if len(self._runs) >= MAX_AT_ONCE:
            raise NotReplayableError(f"more than {MAX_AT_ONCE} runs at the same time")
        ran = Ran(self._replay.now, index, variables["trigger"]["description"])
        self.outcome.count += 1
        if len(self.outcome.runs) < MAX_KEPT:
            self.outcome.runs.append(ran)
        self._last = self._replay.now
        run = Run(None, ran)
        run.steps = self._steps.run(self._config["actions"], variables)
        others = self._runs.copy()
        self._runs.append(run)
        if self._mode == "restart":
            for other in others:
                self._end(other)
        if not others or self._mode == "parallel":
            self._go_on(run, None)
        elif self._mode == "restart":
            self._go_on_soon(run, None)

    def _go_on(self, run: Run, found: Any) -> None:
        """Run the steps up to the next pause."""
        run.end_waits()
        before, self._current = self._current, run
        run.is_executing = True
        try:
            pause = run.steps.send(found) if run.steps else None
        except StopIteration:
            pause = None
        except (NotReplayableError, NotOfThePastError) as err:
            self._unknown(err)
            pause = None
        finally:
            run.is_executing = False
            self._current = before
        if pause is None or run.is_stopped:
            self._end(run)
        else:
            self._wait(run, pause)

    def _go_on_soon(self, run: Run, found: Any) -> None:
        """Resume a run after all listeners were called, unless it has ended by then."""

        def go_on() -> None:
            if run in self._runs and not run.is_executing:
                self._go_on(run, found)

        self._replay.soon(go_on)

    def _unknown(self, err: Exception) -> None:
        """End the run at a step that cannot be simulated; raises NotReplayableError if the mode makes later runs depend on that."""
        if self._mode in ("single", "queued"):
            raise NotReplayableError(f"{err} (how long a run lasts decides, in the mode '{self._mode}')") from err
        self.outcome.not_replayed[str(err)] = None

    def _wait(self, run: Run, pause: Pause) -> None:
        """Resume a run after its pause."""

        def go_on(found: Any) -> None:
            run.end_waits()
            self._go_on_soon(run, found)

        if pause.wait is not None:
            run.waits.append(pause.wait(go_on))
        if pause.seconds is not None and run in self._runs:
            run.waits.append(self._replay.call_at(self._replay.now + pause.seconds, lambda: go_on(None)))

    def _end(self, run: Run) -> None:
        """End a run, and start the next one in the queue."""
        run.end_waits()
        run.is_stopped = True
        if run in self._runs:
            first = self._runs[0] is run
            self._runs.remove(run)
            if run.is_executing:
                return
            if run.steps:
                run.steps.close()
            if self._mode == "queued" and first and self._runs:
                self._go_on_soon(self._runs[0], None)

    # Effects and variables

    def _not_known(self, place: str, action: str, entity_ids: Collection[str]) -> None:
        """Record that the effect of an action on entities is unknown, for entities that the automation reads."""
        for entity_id in sorted(self._reads.intersection(entity_ids)):
            self.outcome.not_replayed[f"{place}: what '{action}' makes of {entity_id}, which is read too"] = None

    def _set(self, act: object, entity_id: str, state: str | None, attributes: Mapping[str, Any]) -> None:
        """Set an entity as an action would have done, until a recorded change replaces the state."""
        run = self._current
        if (past := self._replay.world.get(entity_id)) is None or run is None or run.is_stopped:
            return
        if state is not None and run.first_act is None:
            run.first_act, run.ran.already = act, True
        if state is not None and run.first_act is act:
            run.ran.already &= past.state == state
        if state is not None:
            self._note_state(entity_id, past.state, state)
        self.outcome.followed |= entity_id in self._reads
        if entity_id not in self._watched:
            self._watched.add(entity_id)
            self._replay.track([entity_id], self._on_change)
        self._replay.set(entity_id, state, attributes)

    def _note_state(self, entity_id: str, before: str, state: str) -> None:
        """Record the time at which the automation turned an entity on or off."""
        if state in _ON and entity_id not in self._on_since and before not in _ON:
            self._on_since[entity_id] = self._replay.now
        elif state not in _ON:
            self._is_off(entity_id)

    def _is_off(self, entity_id: str) -> None:
        """Add the time for which an entity was on."""
        if (since := self._on_since.pop(entity_id, None)) is not None:
            found = self.outcome.on_time
            found[entity_id] = found.get(entity_id, 0) + self._replay.now - since

    def _on_change(self, change: PastChange) -> None:
        """Record that an entity was turned off or removed by something else."""
        if not change.is_own and (change.new is None or change.new.state not in _ON):
            self._is_off(change.entity_id)

    def _this(self) -> dict[str, Any]:
        """Return the variable `this` of an automation."""
        last = None if self._last is None else dt_util.utc_from_timestamp(self._last)
        attributes = {"last_triggered": last, "mode": self._mode, "current": len(self._runs)}
        return {"entity_id": self._entity_id, "state": "on", "attributes": attributes}
