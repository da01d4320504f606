"""Check who may see and who may change a scheduled task."""

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_CONTROL
from homeassistant.core import HomeAssistant, callback

from ..calls.caller import Caller
from ..calls.policy import NotAllowedError, may_control
from .description import entity_ids_of
from .scheduled_task import ScheduledTask

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
