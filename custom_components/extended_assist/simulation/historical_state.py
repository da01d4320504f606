"""One entity at one moment of the past, and what a rehearsal needs to know of the home around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, override

from homeassistant.core import Context, State
from homeassistant.util import dt as dt_util

from ..templates.historical import RecordedState

_NOBODY: Final = Context()
"""What the recorder keeps of who did it is not read, nor shown; to make one for each state takes time."""


class Past(RecordedState):
    """A recorded state; made for every row, so that it holds little and makes the rest when it is asked for."""

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
    """An entity that changed, as Home Assistant tells it; made for every row."""

    __slots__ = ("entity_id", "is_own", "new", "old")

    def __init__(self, entity_id: str, old: Past | None, new: Past | None, *, is_own: bool = False) -> None:
        """Take what it was and is, None where it was not there or is no more, and whether the automation would have done it."""
        self.entity_id = entity_id
        self.old = old
        self.new = new
        self.is_own = is_own


class OutOfTimeError(Exception):
    """A rehearsal takes longer than it may."""


class NotReplayableError(Exception):
    """A part of an automation that the recorded past cannot tell about; the message names it."""


type Row = tuple[float, str, Past | None]
"""A moment, an entity, and what it was from then on; None where it was no more."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which Home Assistant ran without a break; seconds since the epoch."""

    begin: float
    """Since when its states were recorded."""
    armed: float
    """When it had started: from then on automations run."""
    end: float


@dataclass(slots=True)
class Ran:
    """A run that would have been."""

    moment: float
    trigger: int
    """Which of the triggers, counted from 0."""
    description: str
    already: bool = False
    """Whether all that its first action switches was so already."""


@dataclass(slots=True)
class SimulationOutcome:
    """What a rehearsal found."""

    runs: list[Ran] = field(default_factory=list)
    """The runs, oldest first; of more than are kept, the first ones."""
    count: int = 0
    blocked: int = 0
    """How often a trigger met a run that was still going on."""
    refused: int = 0
    """How often a condition was false."""
    on_time: dict[str, float] = field(default_factory=dict)
    """Seconds for which each entity that it turns on would have been on because of it."""
    open_since: dict[str, float] = field(default_factory=dict)
    """Entities that it turned on and nothing would have turned off by the end."""
    not_replayed: dict[str, None] = field(default_factory=dict)
    """What was left out, by name."""
    since: float | None = None
    """From where on there are records."""
    later: dict[str, float] = field(default_factory=dict)
    """Entities that it reads and that are recorded only since later than that."""
    until: float = 0.0
    """How far the rehearsal came."""
    is_whole: bool = True
    """Whether there was time for all of it."""
    followed: bool = False
    """Whether it read what it had set itself."""
    events: dict[str, int] = field(default_factory=dict)
    """How many events each calendar that sets it off has of that time."""
