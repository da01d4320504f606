"""Identify an entity by its registry entry, so that a yes, a task or an undo never applies to another entity with the same id."""

from dataclasses import replace

from homeassistant.core import HomeAssistant, callback

from ..results import texts_in
from .consequential import leaves
from .plan import Plan, identity_of


@callback
def things_of(hass: HomeAssistant, plan: Plan) -> dict[str, str]:
    """Return the identities of all entities of a plan, with those in its data and those that its scripts, scenes and groups move."""
    named = {entity_id for step in plan.steps for entity_id in step.entity_ids}
    moved = {entity_id for step in plan.steps for _, entity_id, _ in leaves(hass, step) if entity_id}
    given = {text for step in plan.steps for text, _ in texts_in(step.data) if hass.states.get(text)}
    return {entity_id: identity_of(hass, entity_id) for entity_id in sorted(named | moved | given)}


@callback
def bound(hass: HomeAssistant, plan: Plan) -> Plan:
    """Return a plan whose fingerprint changes where one of its entities becomes another thing."""
    return replace(plan, things=tuple(things_of(hass, plan).items()))
