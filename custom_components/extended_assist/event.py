"""Event entities for the activity of each agent and for scheduled tasks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, override

from homeassistant.components.event import EventEntity, EventEntityDescription, EventExtraStoredData
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME, CONF_MODEL
from homeassistant.core import CALLBACK_TYPE, Context, Event, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import dt as dt_util

from .calls.activity import (
    ATTR_ACTIONS,
    ATTR_AGENT,
    ATTR_CAUSED,
    ATTR_LEFT_OUT,
    ATTR_MORE,
    ATTR_REASON,
    ATTR_TARGETS,
    ATTR_TOOL,
    EVENT_AGENT,
    ActivityKind,
    async_get_activity,
    unique_id_of,
)
from .calls.options import WISHES as LATER
from .claude.coordinator import ExtendedAssistConfigEntry
from .const import ATTR_KIND, ATTR_RESULT, EVENT_HAPPENED
from .entity import ScheduledTaskEntity, agent_device, entry_device, hidden_at_first, shows
from .scheduled.lifecycle import Ending
from .scheduled.manager import async_get_scheduled_tasks
from .scheduled.scheduled_task import ScheduledTask

PARALLEL_UPDATES = 0

_SHOWN: Final = (ATTR_TOOL, ATTR_REASON, ATTR_ACTIONS, ATTR_TARGETS, ATTR_MORE, ATTR_LEFT_OUT)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: ExtendedAssistConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the event entities of an entry and of its agents."""
    async_add_entities([AgentEvents(entry.entry_id, entry_device(entry))])
    for subentry_id, subentry in entry.subentries.items():
        if CONF_MODEL in subentry.data:
            async_add_entities([AgentEvents(subentry_id, agent_device(subentry))], config_subentry_id=subentry_id)
    if shows(entry, LATER):
        async_add_entities([ScheduledTaskEvents(entry, await async_get_scheduled_tasks(hass))])


@dataclass
class ActivityStoredData(EventExtraStoredData):
    """The last event, and the last time of each kind of event."""

    times: dict[str, str]


class AgentEvents(EventEntity):
    """The activity of an agent, or of other agents that used an entry's tools."""

    _attr_has_entity_name = True
    _attr_should_poll = False
    entity_description = EventEntityDescription(
        key="activity", translation_key="activity", event_types=[kind.value for kind in ActivityKind]
    )

    def __init__(self, agent: str, device: DeviceInfo) -> None:
        """Store the id of the subentry or entry, and its device."""
        self._agent = agent
        self._attr_unique_id = unique_id_of(agent)
        self._attr_device_info = device

    @override
    def get_initial_entity_options(self) -> er.EntityOptionsType:
        """Expose it to no assistant by default: agents need not read their own activity."""
        return hidden_at_first()

    @override
    async def async_added_to_hass(self) -> None:
        """Restore the last times and listen for activity."""
        await super().async_added_to_hass()
        last = async_get_activity(self.hass).last.setdefault(self._agent, {})
        if (stored := await self.async_get_last_extra_data()) is not None:
            for kind, time in stored.as_dict().get("times", {}).items():
                if kind in [*ActivityKind] and (moment := dt_util.parse_datetime(time)):
                    last.setdefault(ActivityKind(kind), moment)
        self.async_on_remove(self.hass.bus.async_listen(EVENT_AGENT, self._async_on_event))

    @property
    @override
    def extra_restore_state_data(self) -> ActivityStoredData:
        """Return the data to restore after a restart."""
        event = super().extra_restore_state_data
        last: dict[ActivityKind, datetime] = async_get_activity(self.hass).last.get(self._agent, {})
        times = {kind.value: moment.isoformat() for kind, moment in last.items()}
        return ActivityStoredData(event.last_event_type, event.last_event_attributes, times)

    @callback
    def _async_on_event(self, event: Event[dict[str, Any]]) -> None:
        """Show an activity event; events that follow from an earlier one are left out, so that automations cannot loop."""
        if event.data.get(ATTR_AGENT) != self._agent or event.data.get(ATTR_CAUSED):
            return
        self._trigger_event(event.data[ATTR_KIND], {key: event.data[key] for key in _SHOWN if key in event.data})
        self.async_set_context(event.context)
        self.async_write_ha_state()


class ScheduledTaskEvents(ScheduledTaskEntity, EventEntity):
    """The results of the household's scheduled tasks."""

    entity_description = EventEntityDescription(key="later", event_types=[kind.value for kind in Ending])

    @callback
    @override
    def _async_follow(self) -> CALLBACK_TYPE:
        """Listen for results; return the function that stops it."""
        return self._tasks.async_listen_happened(self._async_happened)

    @callback
    def _async_happened(self, task: ScheduledTask, _moment: float, kind: Ending, result: str) -> None:
        """Show the result of an occurrence and fire it for the logbook."""
        if not self._is_shown(task):
            return
        told = {ATTR_NAME: task.name, ATTR_RESULT: result}
        # Of one context, so that the logbook tells what the state of this entity is about.
        context = Context()
        self.hass.bus.async_fire(
            EVENT_HAPPENED, {ATTR_ENTITY_ID: self.entity_id, ATTR_KIND: kind.value, **told}, context=context
        )
        self._trigger_event(kind.value, told)
        self.async_set_context(context)
        self.async_write_ha_state()
