"""A household whose tasks are shown: entries with and without a server, and tasks for them."""

from typing import Any

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.config_flow import ExtendedAssistConfigFlow
from custom_components.extended_assist.const import CONF_FAMILIES, DOMAIN
from custom_components.extended_assist.scheduled.manager import ScheduledTasks, async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import Owner, Progress, ScheduledTask, What, When
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

LIST, CALENDAR, EVENTS = "todo.home_for_later", "calendar.home_for_later", "event.home_for_later"
SHOWN = (LIST, CALENDAR, EVENTS)
ON = {CONF_FAMILIES: [*DEFAULT_FAMILIES, "wishes"]}
OFF = {CONF_FAMILIES: [family for family in DEFAULT_FAMILIES if family != "wishes"]}


async def async_set_up_home(
    hass: HomeAssistant, options: dict[str, Any] | None = None, title: str = "Home"
) -> MockConfigEntry:
    """Return a loaded entry without a server, whose tools for later are on unless the options say otherwise."""
    entry = MockConfigEntry(
        domain=DOMAIN, title=title, options=options or ON, minor_version=ExtendedAssistConfigFlow.MINOR_VERSION
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


def now() -> float:
    """Return the moment that it is."""
    return dt_util.utcnow().timestamp()


def make_task(entry: MockConfigEntry, name: str, *, user_id: str | None = None, **parts: Any) -> ScheduledTask:
    """Return a task of an entry that is told, in an hour unless `when` says otherwise; the household's without a user."""
    when = parts.setdefault("when", When(moment=now() + 3600))
    parts.setdefault("what", What(say=name))
    parts.setdefault("progress", Progress(due=when.moment))
    owner = Owner(entry.entry_id, DOMAIN, "conversation", "en", None, user_id)
    return ScheduledTask(name=name, owner=owner, **parts)


async def async_add(hass: HomeAssistant, *tasks: ScheduledTask) -> ScheduledTasks:
    """Let tasks stand, and return what keeps them."""
    keeper = await async_get_scheduled_tasks(hass)
    for one in tasks:
        await keeper.async_add(one)
    await hass.async_block_till_done()
    return keeper


def registered(hass: HomeAssistant) -> set[str]:
    """Return which of the entities are registered."""
    return {entity_id for entity_id in SHOWN if er.async_get(hass).async_get(entity_id)}
