"""Triggers for the activity of agents, shown in the editor under an agent's device."""

from typing import ClassVar, override

from homeassistant.components.event.const import DOMAIN as EVENT_DOMAIN
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.automation import DomainSpec
from homeassistant.helpers.trigger import NotTriggeredReasonReporter, StatelessEntityTriggerBase, Trigger

from .calls.activity import ActivityKind, unique_id_of
from .const import DOMAIN


class ActivityTrigger(StatelessEntityTriggerBase):
    """Fires when an agent has an activity of one kind."""

    _domain_specs = {EVENT_DOMAIN: DomainSpec()}  # noqa: RUF012
    kind: ClassVar[ActivityKind]

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        """Return the entities that show the activity of agents."""
        return own_activities(self._hass, entities)

    @override
    def is_valid_state(self, state: State, report_not_triggered: NotTriggeredReasonReporter) -> bool:
        """Return whether the last activity is of the kind."""
        return state.attributes.get("event_type") == self.kind


def own_activities(hass: HomeAssistant, entities: set[str]) -> set[str]:
    """Return the entities that show the activity of agents."""
    registry = er.async_get(hass)
    return {
        entity_id
        for entity_id in entities
        if (entry := registry.async_get(entity_id))
        and (entry.domain, entry.platform) == (EVENT_DOMAIN, DOMAIN)
        and entry.unique_id.endswith(unique_id_of(""))
    }


TRIGGERS: dict[str, type[Trigger]] = {
    kind.value: type(f"Activity{kind.name.title()}Trigger", (ActivityTrigger,), {"kind": kind}) for kind in ActivityKind
}


async def async_get_triggers(hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers."""
    return TRIGGERS
