"""Check the conditions of a call when it is made and again when a yes arrives.

All ways in which a yes arrives use these functions: conversation, panel, phones, other agents and scheduled calls.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
import hashlib
import json
from typing import Any

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import CONF_LLM_HASS_API
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_component import EntityComponent
from homeassistant.helpers.template import Template

from ..calls.caller import Caller
from ..calls.options import ToolboxOptions
from ..calls.plan import Plan, identity_of
from ..calls.policy import NotAllowedError
from ..const import DOMAIN
from ..ha_compat.automations import HomeAssistantScene
from ..results import ToolError, texts_in
from .consequential import counts, leaves, scene_entity

_SERVING = frozenset({ConfigEntryState.LOADED, ConfigEntryState.SETUP_IN_PROGRESS})
_NOT_LOADED = "The entry of Extended Assist that has this tool is not loaded. Nothing was done; tell the user."
_FAMILY_OFF = "This tool was turned off in the options of Extended Assist. Nothing was done; tell the user."
_USER_GONE = "The user in whose name this was called was deactivated or removed. Nothing was done; tell the user."
_WRITTEN = "written "
"""The prefix of a script, automation or scene in an agreement, before its id and the SHA-256 of its config."""
_TAKEN = "The tools that the agent had were taken from it meanwhile. Nothing was done; tell the user."


@callback
def current_options(hass: HomeAssistant, options: ToolboxOptions, family: str | None = None) -> ToolboxOptions:
    """Return the entry's current options; raise ToolError if it does not serve this family of tools any more."""
    options = options.as_of_now(hass)
    if options.entry_id is None or options.is_fixed:
        return options
    entry = hass.config_entries.async_get_entry(options.entry_id)
    if entry is None or entry.state not in _SERVING:
        raise ToolError(_NOT_LOADED)
    if family is not None and options.families is not None and family not in options.families:
        raise ToolError(_FAMILY_OFF)
    return options


async def async_check_user(hass: HomeAssistant, caller: Caller) -> None:
    """Raise NotAllowedError if the caller's user was deactivated or removed."""
    if caller.user_id is None:
        return
    user = await caller.async_user(hass)
    if user is None or not user.is_active:
        raise NotAllowedError(_USER_GONE)


@callback
def selected_apis(hass: HomeAssistant, agent: str | None) -> frozenset[str]:
    """Return the ids of the APIs selected for our agent, by its subentry id; none for any other agent."""
    for entry in hass.config_entries.async_entries(DOMAIN):
        if agent is not None and agent in entry.subentries:
            selected = entry.subentries[agent].data.get(CONF_LLM_HASS_API) or ()
            return frozenset([selected] if isinstance(selected, str) else selected)
    return frozenset()


@callback
def check_apis(hass: HomeAssistant, agent: str | None, before: frozenset[str]) -> None:
    """Raise ToolError if our agent has lost an API that it had before."""
    if not before <= selected_apis(hass, agent):
        raise ToolError(_TAKEN)


@callback
def digest(hass: HomeAssistant, plan: Plan) -> str:
    """Return the SHA-256 of a plan and of all actions that it leads to.

    It changes with the plan, when an entity id belongs to another entity, and when a script, scene, group or automation
    of the plan was changed.
    """
    led = [list(leaf) for step in plan.steps for leaf in leaves(hass, step)]
    whole_plan = bound(hass, plan)
    return _sha256(
        [whole_plan.fingerprint(), led, [*_written(hass, (entity_id for entity_id, _ in whole_plan.things))]]
    )


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> str:
    """Return the text of a value for JSON, equal for equal values."""
    # str() of a template counts its renders, so it changes.
    return value.template if isinstance(value, Template) else str(value)


def _written(hass: HomeAssistant, ids: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield the ids of scripts and automations with their raw configuration, and scenes with their states."""
    for entity_id in ids:
        domain = entity_id.partition(".")[0]
        if domain in ("automation", "script"):
            component: EntityComponent[Any] | None = hass.data.get(domain)
            entity = component.get_entity(entity_id) if component else None
            yield entity_id, getattr(entity, "raw_config", None)
        elif domain == "scene" and isinstance(scene := scene_entity(hass, entity_id), HomeAssistantScene):
            states = scene.scene_config.states.values()
            yield entity_id, [(state.entity_id, state.state, dict(state.attributes)) for state in states]


@callback
def consequential_acts(hass: HomeAssistant, plan: Plan) -> set[str]:
    """Return the consequential actions of a plan, each with its entity, whatever the current states are."""
    return {
        f"{action} {entity_id}"
        for step in plan.steps
        for action, entity_id, data in leaves(hass, step)
        if counts(hass, (action, entity_id, data), is_later=True)
    }


@callback
def agreed_acts(hass: HomeAssistant, plan: Plan) -> list[str]:
    """Return the scope of an agreement to a plan: its consequential actions, and the scripts that lead to them."""
    acts = consequential_acts(hass, plan)
    written = _written(hass, things_of(hass, plan)) if acts else ()
    return sorted(acts | {f"{_WRITTEN}{entity_id} {_sha256(config)}" for entity_id, config in written})


@callback
def are_agreed(hass: HomeAssistant, plan: Plan, agreed_to: list[str]) -> bool:
    """Return whether an agreement covers a plan: no other actions, and no script, automation or scene was changed.

    Agreements that an earlier version stored only have the actions.
    """
    acts = set(agreed_acts(hass, plan))
    if not any(one.startswith(_WRITTEN) for one in agreed_to):
        acts = {one for one in acts if not one.startswith(_WRITTEN)}
    return acts <= {*agreed_to}


@callback
def things_of(hass: HomeAssistant, plan: Plan) -> dict[str, str]:
    """Return the identity of each entity of a plan: its targets, entities in its data, and those that it leads to."""
    named = {entity_id for step in plan.steps for entity_id in step.entity_ids}
    moved = {entity_id for step in plan.steps for _, entity_id, _ in leaves(hass, step) if entity_id}
    given = {text for step in plan.steps for text, _ in texts_in(step.data) if hass.states.get(text)}
    return {entity_id: identity_of(hass, entity_id) for entity_id in sorted(named | moved | given)}


@callback
def bound(hass: HomeAssistant, plan: Plan) -> Plan:
    """Return the plan with its entities' identities, so that its fingerprint changes if an id gets a new entity."""
    return replace(plan, things=tuple(things_of(hass, plan).items()))
