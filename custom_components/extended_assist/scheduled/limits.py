"""Limits on the number of scheduled tasks, for each owner and for all owners; each owner always has room for a few.

The household counts as one owner.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ..results import ToolError
from . import lifecycle
from .scheduled_task import MAX_STANDING, ScheduledTask


@dataclass(frozen=True, slots=True)
class Limit:
    """The most tasks of a kind that can be scheduled."""

    kind: str
    of_owner: int
    of_all: int
    reserved: int
    """Tasks that each owner can always have, so that others cannot use up the whole limit."""


STANDING: Final = Limit("pending tasks", of_owner=50, of_all=MAX_STANDING, reserved=5)
WATCHES: Final = Limit("watches", of_owner=5, of_all=10, reserved=1)


class LimitReachedError(ToolError):
    """A limit on pending tasks is reached."""

    def __init__(self, task: ScheduledTask, limit: Limit, *, is_own: bool) -> None:
        """Store the kind whose limit is reached, and whether it is the owner's own limit."""
        self.most = limit.of_owner if is_own else limit.of_all
        owner = "The household" if task.is_household else "This user"
        has = owner if is_own else "The home"
        room = "" if is_own else f" {owner} can add more only while they have fewer than {limit.reserved}."
        ends = "the household's" if task.is_household else "the user's own"
        super().__init__(
            f"{has} already has {self.most} {limit.kind}, and no more are kept.{room} Tell the user, and end one of {ends} "
            "first: call pending without arguments to see them, then with cancel."
        )


def check_room(task: ScheduledTask, standing: Iterable[ScheduledTask]) -> None:
    """Raise LimitReachedError if a task would exceed a limit together with the pending tasks."""
    others = [one for one in standing if one is not task]
    _check(task, STANDING, others)
    if task.when.watch is not None:
        _check(task, WATCHES, [one for one in others if lifecycle.watching(one) is not None])


def _check(task: ScheduledTask, limit: Limit, others: list[ScheduledTask]) -> None:
    """Raise LimitReachedError if the owner or the home has reached a limit, unless the owner has reserved room."""
    own = sum(one.owner.user_id == task.owner.user_id for one in others)
    if own >= limit.of_owner:
        raise LimitReachedError(task, limit, is_own=True)
    if len(others) >= limit.of_all and own >= limit.reserved:
        raise LimitReachedError(task, limit, is_own=False)
