"""Fire one event type for all that assistants did or could not do, rate-limited and without free text.

Logbook, event entities, triggers and conditions use these events. An action is reported when it starts, as automations
do, so that Home Assistant's logbook names the assistant as the cause of each change; a later failure is reported too.
"""

from collections import deque
from collections.abc import Iterable
from contextvars import Context as ContextVariables
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final

from homeassistant.components.script.const import EVENT_SCRIPT_STARTED
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import ATTR_ENTITY_ID, ATTR_NAME, Platform
from homeassistant.core import Context, Event, HomeAssistant, SupportsResponse, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import ATTR_KIND, DOMAIN
from ..ha_compat.automations import EVENT_AUTOMATION_TRIGGERED
from .call import ToolCall
from .plan import Plan, Step

EVENT_AGENT: Final = f"{DOMAIN}_agent_event"
"""The event type: an assistant did something, or could not."""

ATTR_ACTIONS: Final = "actions"
ATTR_AGENT: Final = "agent"
ATTR_CAUSED: Final = "caused"
ATTR_LEFT_OUT: Final = "left_out"
ATTR_MORE: Final = "more"
ATTR_REASON: Final = "reason"
ATTR_TARGETS: Final = "targets"
ATTR_TOOL: Final = "tool"

MAX_NAMED: Final = 20
"""Maximum actions, and maximum entities, that one event names."""
MAX_A_MINUTE: Final = 20
"""Maximum events per agent and kind in a minute, to bound the recorder's growth; further events are counted."""
MAX_CAUSES: Final = 512
"""Maximum stored contexts of events of assistants and of what they caused."""


class ActivityKind(StrEnum):
    """The kinds of activity events."""

    ACTED = "acted"
    ASKED = "asked"
    REFUSED = "refused"
    UNDONE = "undone"
    FAILED = "failed"
    LIMIT_REACHED = "limit_reached"


@dataclass(slots=True)
class Activity:
    """The recent activity of all agents."""

    last: dict[str, dict[ActivityKind, datetime]] = field(default_factory=dict)
    """By agent, the time of the last event of each kind."""
    told: dict[tuple[str, ActivityKind], deque[float]] = field(default_factory=dict)
    """By agent and kind, the times of the last MAX_A_MINUTE fired events, on the event loop's clock."""
    left_out: dict[tuple[str, ActivityKind], int] = field(default_factory=dict)
    """By agent and kind, the number of events left out since the last fired one."""
    causes: dict[str, None] = field(default_factory=dict)
    """The context ids of events, and of automations and scripts that they caused, oldest first."""

    def has_room(self, agent: str, kind: ActivityKind, now: float) -> bool:
        """Return whether one more event may be fired now, and count it as fired or as left out."""
        told = self.told.setdefault((agent, kind), deque(maxlen=MAX_A_MINUTE))
        if len(told) == MAX_A_MINUTE and now - told[0] < 60:
            self.left_out[agent, kind] = self.left_out.get((agent, kind), 0) + 1
            return False
        told.append(now)
        return True

    def follow(self, context_id: str) -> None:
        """Store a context id as caused by an assistant; remove the oldest one if there are too many."""
        self.causes[context_id] = None
        if len(self.causes) > MAX_CAUSES:
            del self.causes[next(iter(self.causes))]


_ACTIVITY: HassKey[Activity] = HassKey(f"{DOMAIN}_happenings")


@callback
def async_get_activity(hass: HomeAssistant) -> Activity:
    """Return the activity; the first call starts to follow the automations and scripts that it causes."""
    if (found := hass.data.get(_ACTIVITY)) is not None:
        return found
    activity = hass.data[_ACTIVITY] = Activity()

    @callback
    def started(event: Event[Any]) -> None:
        if event.context.parent_id in activity.causes:
            activity.follow(event.context.id)

    for event_type in (EVENT_AUTOMATION_TRIGGERED, EVENT_SCRIPT_STARTED):
        hass.bus.async_listen(event_type, started)
    return activity


def unique_id_of(agent: str) -> str:
    """Return the unique id of the event entity of an agent or a config entry."""
    return f"{agent}_activity"


@callback
def async_happened(
    hass: HomeAssistant,
    kind: ActivityKind,
    entry_id: str | None,
    agent: str | None,
    context: Context | None,
    *,
    tool: str = "",
    reason: str = "",
    actions: Iterable[str] = (),
    targets: Iterable[str] = (),
) -> None:
    """Fire an activity event in the context of the call; the agent is the id of its subentry.

    Without an agent of ours, the event belongs to the config entry whose tools were used. No event is fired if that
    entry does not exist any more.
    """
    owner = _owner(hass, entry_id, agent)
    if owner is None:
        return
    entry, who = owner
    activity = async_get_activity(hass)
    activity.last.setdefault(who, {})[kind] = dt_util.utcnow()
    context = context or Context()
    is_caused = context.parent_id in activity.causes
    activity.follow(context.id)
    if not activity.has_room(who, kind, hass.loop.time()):
        return
    done, reached = list(dict.fromkeys(actions)), list(dict.fromkeys(targets))
    more = max(0, len(done) - MAX_NAMED) + max(0, len(reached) - MAX_NAMED)
    optional: dict[str, Any] = {
        ATTR_TOOL: tool,
        ATTR_REASON: reason,
        ATTR_ACTIONS: done[:MAX_NAMED],
        ATTR_TARGETS: reached[:MAX_NAMED],
        ATTR_MORE: more,
        ATTR_LEFT_OUT: activity.left_out.pop((who, kind), 0),
        ATTR_CAUSED: is_caused,
        ATTR_ENTITY_ID: er.async_get(hass).async_get_entity_id(Platform.EVENT, DOMAIN, unique_id_of(who)),
    }
    title = entry.subentries[who].title if who in entry.subentries else entry.title
    data = {ATTR_KIND: kind.value, ATTR_AGENT: who, ATTR_NAME: title}
    data |= {key: value for key, value in optional.items() if value}
    # The new context keeps a reaction to the event, such as an automation that talks to an assistant, out of this
    # conversation.
    ContextVariables().run(partial(hass.bus.async_fire, EVENT_AGENT, data, context=context))


@callback
def _owner(hass: HomeAssistant, entry_id: str | None, agent: str | None) -> tuple[ConfigEntry, str] | None:
    """Return the agent's config entry and id, or the entry whose tools were used and its id; None if it is missing."""
    if agent is not None:
        for entry in hass.config_entries.async_entries(DOMAIN):
            if agent in entry.subentries:
                return entry, agent
    own = hass.config_entries.async_get_entry(entry_id) if entry_id else None
    return (own, own.entry_id) if own is not None else None


@callback
def only_answers(hass: HomeAssistant, step: Step) -> bool:
    """Return whether a step only returns a response."""
    domain, _, service = step.action.partition(".")
    only = SupportsResponse.ONLY
    return hass.services.has_service(domain, service) and hass.services.supports_response(domain, service) is only


@callback
def only_tells(hass: HomeAssistant, plan: Plan) -> bool:
    """Return whether a complete plan only returns responses."""
    return plan.is_whole and not plan.bound_to and all(only_answers(hass, step) for step in plan.steps)


@callback
def tell(call: ToolCall, kind: ActivityKind) -> None:
    """Fire the activity event of a call, with the exposed actions and entities of its plan.

    Calls that are not reported (memory, scheduled tasks) fire none, nor does an ACTED event of a plan that only reads.
    """
    hass, plan = call.hass, call.recording.plan
    if not call.recording.is_told or (
        kind is ActivityKind.ACTED and plan is not None and plan.steps and only_tells(hass, plan)
    ):
        return
    steps = plan.steps if plan is not None else ()
    exposed = (entity_id for step in steps for entity_id in step.entity_ids if call.exposure.is_exposed(entity_id))
    actions = (step.action for step in steps if step.action and call.exposure.visible_value(step.action))
    async_happened(
        hass,
        kind,
        call.options.entry_id,
        call.agent,
        call.caller.context,
        tool=call.tool_input.tool_name if call.tool_input else "",
        actions=actions,
        targets=exposed,
    )
