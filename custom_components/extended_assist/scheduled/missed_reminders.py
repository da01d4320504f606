"""Delivery of missed reminders with the user's next message."""

from homeassistant.core import HomeAssistant

from ..calls.caller import Caller
from ..confirmation.untrusted_text import async_authors, repeats_free_name
from ..exposure.entities import Exposure
from .description import seen
from .manager import async_get_scheduled_tasks

_OF_OTHERS = "a reminder with words of somebody else: call pending to read the one with the id {id}, and read it out"


async def async_news(hass: HomeAssistant, caller: Caller) -> dict[tuple[str, str], str]:
    """Return the caller's undelivered messages without hidden names, under the keys for `ScheduledTasks.async_told`.

    A message with words of other users is replaced by a hint to read it with the tool `pending`.
    """
    tasks = await async_get_scheduled_tasks(hass)
    if not (waiting := tasks.untold(caller)):
        return {}
    exposure, authors = Exposure(hass, caller.assistant), await async_authors(hass, caller.user_id)
    news: dict[tuple[str, str], str] = {}
    for (task_id, kept), text in waiting.items():
        task = tasks.find(task_id)
        is_own = task is not None and task.author in authors and not repeats_free_name(hass, text)
        news[task_id, kept] = seen(exposure, text) if is_own else _OF_OTHERS.format(id=task_id)
    return news
