"""What an occurrence of a task came to."""

from dataclasses import dataclass
from enum import StrEnum

from .scheduled_task import What


class Ending(StrEnum):
    """How an occurrence can have ended."""

    HAPPENED = "happened"
    LATE = "late"
    """It happened, and later than it should have."""
    MISSED = "missed"
    """It was too late for what was to be done."""
    SKIPPED = "skipped"
    """Its conditions did not hold."""
    NOT_DONE = "not_done"
    """It could not be done, or nobody could be told."""
    FAILED = "failed"
    """It failed, or whether it was done is not known."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What an occurrence came to."""

    kind: Ending
    result: str = ""
    """In words for the model; empty where it was only to be said."""
    words: str = ""
    """What those are told for whom it is."""
    said: str = "said"
    """How that is called in the result, once they were told."""
    complaint: str = ""
    """What the one who wanted it is told of what was not done."""
    rest: What | None = None
    """The part that follows after its delay; None where none does."""


@dataclass(frozen=True, slots=True)
class Performed:
    """The outcome of the actions of one occurrence."""

    result: str
    """In words for the model."""
    key: str = ""
    """The key of the words about what did not come about; empty where all did."""
    what: str = ""
    """The names that these words tell."""
    is_known: bool = True
    """True if the states of the entities confirm every action."""
    is_cut_short: bool = False
    """True if a `stop` step ended the sequence; later parts do not run."""
    is_nothing: bool = False
    """True if the sequence ended as written without an action, such as an `if` whose condition was false."""
