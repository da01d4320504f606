"""Ownership of scheduled tasks: who may see and change them, and how many each owner may have."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant, callback

from ..calls.caller import Caller
from ..calls.policy import NotAllowedError, may_control
from ..results import ToolError
from . import lifecycle
from .description import entity_ids_of
from .scheduled_task import MAX_STANDING, ScheduledTask

_READS_ONLY = (
    "This user may not change what the household planned: it needs permission to control, in Home Assistant, all that it is "
    "about. Tell the user to ask somebody who may."
)


class NotTheirsError(NotAllowedError):
    """A user may not change a task."""

    def __init__(self) -> None:
        """Store the message for the model."""
        super().__init__(_READS_ONLY)


async def async_may_see(hass: HomeAssistant, task: ScheduledTask, caller: Caller) -> bool:
    """Return whether a caller may see a task: their own, the household's, and all as an administrator."""
    if task.is_household or task.owner.user_id == caller.user_id:
        return True
    user = await caller.async_user(hass)
    return user is not None and may_see(task, user)


@callback
def may_see(task: ScheduledTask, user: User) -> bool:
    """Return whether a user may see a task, by the rule of `async_may_see`."""
    return task.is_household or task.owner.user_id == user.id or (user.is_active and user.is_admin)


async def async_may_change(
    hass: HomeAssistant, task: ScheduledTask, user_id: str | None, *, is_addressed: bool = False
) -> bool:
    """Return whether a user may make, end, complete, snooze, rename or restore a task; None means nobody is logged in.

    Users may change their own tasks, administrators all. A household task may be changed without a login, such as from
    a satellite or an automation, and by users who may control all its target entities and cameras. Users may answer a
    message that was sent to them (`is_addressed`), unless they may control nothing in Home Assistant.
    """
    if user_id is None:
        return task.is_household
    user = await hass.auth.async_get_user(user_id)
    if user is None or not user.is_active:
        return False
    if user.is_admin or task.owner.user_id == user.id:
        return True
    if not may_control(user):
        return False
    may = user.permissions.check_entity
    return is_addressed or (
        task.is_household and all(may(entity_id, POLICY_CONTROL) for entity_id in entity_ids_of(task))
    )


async def async_check_change(hass: HomeAssistant, task: ScheduledTask, user_id: str | None) -> None:
    """Raise NotTheirsError if a user may not change a task."""
    if not await async_may_change(hass, task, user_id):
        raise NotTheirsError


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
