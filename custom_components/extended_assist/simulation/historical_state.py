"""The recorded state of an entity, the outcome of a simulation, and the errors of both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, override

from homeassistant.core import Context, State
from homeassistant.util import dt as dt_util

from ..templates.historical import RecordedState

_NOBODY: Final = Context()
"""The context of all states: the recorded contexts are neither read nor shown, and making one for each state takes time."""


class Past(RecordedState):
    """A recorded state; one is made for every row, so that Home Assistant's own state is made on demand only."""

    __slots__ = ("_state", "attributes", "changed", "entity_id", "state", "updated")

    def __init__(
        self, entity_id: str, state: str, attributes: Mapping[str, Any], changed: float, updated: float
    ) -> None:
        """Take a row; changed and updated are seconds since the epoch."""
        self.entity_id = entity_id
        self.state = state
        self.attributes = attributes
        self.changed = changed
        self.updated = updated
        self._state: State | None = None

    @override
    def as_state(self) -> State:
        """Return it as Home Assistant's own state."""
        if self._state is None:
            self._state = State(
                self.entity_id,
                self.state,
                self.attributes,
                dt_util.utc_from_timestamp(self.changed),
                last_updated=dt_util.utc_from_timestamp(self.updated),
                context=_NOBODY,
                validate_entity_id=False,
            )
        return self._state


class PastChange:
    """A change of an entity; one is made for every row."""

    __slots__ = ("entity_id", "is_own", "new", "old")

    def __init__(self, entity_id: str, old: Past | None, new: Past | None, *, is_own: bool = False) -> None:
        """Take the states before and after, None for an entity that is missing; is_own marks a change by the automation itself."""
        self.entity_id = entity_id
        self.old = old
        self.new = new
        self.is_own = is_own


class OutOfTimeError(Exception):
    """A simulation exceeds its time limit."""


class NotReplayableError(Exception):
    """A part of an automation cannot be simulated; the message names it."""


type Row = tuple[float, str, Past | None]
"""A time, an entity id, and its state from then on; None if the entity was removed."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which Home Assistant ran without a break; seconds since the epoch."""

    begin: float
    """Start of the records."""
    armed: float
    """End of its start-up: from then on automations run."""
    end: float


@dataclass(slots=True)
class Ran:
    """A simulated run."""

    moment: float
    trigger: int
    """Index of the trigger."""
    description: str
    already: bool = False
    """Whether all entities of its first action were in the desired state already."""


@dataclass(slots=True)
class SimulationOutcome:
    """The outcome of a simulation."""

    runs: list[Ran] = field(default_factory=list)
    """The runs, oldest first; at most as many as are stored."""
    count: int = 0
    blocked: int = 0
    """Number of times that a trigger fired during an earlier run."""
    refused: int = 0
    """Number of times that a condition was false."""
    on_time: dict[str, float] = field(default_factory=dict)
    """Seconds for which each entity would have been on because of the automation."""
    open_since: dict[str, float] = field(default_factory=dict)
    """Entities that the automation turned on, and that would still be on at the end."""
    not_replayed: dict[str, None] = field(default_factory=dict)
    """Names of the parts that were left out."""
    since: float | None = None
    """Start of the first record."""
    later: dict[str, float] = field(default_factory=dict)
    """Entities that the automation reads, and that are recorded since a later time only."""
    until: float = 0.0
    """End of the simulated time."""
    is_whole: bool = True
    """Whether the whole span was simulated within the time limit."""
    followed: bool = False
    """Whether the automation read an entity that it had set itself."""
    events: dict[str, int] = field(default_factory=dict)
    """Number of events of each calendar that triggers the automation."""
