"""The conditions of a call, checked when it is made and again when somebody's yes arrives.

Every way in which a yes arrives uses these functions: the conversation, the panel, phones, other agents and scheduled calls.
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
from ..results import ToolError, texts_in
from .consequential import leaves

_SERVING = frozenset({ConfigEntryState.LOADED, ConfigEntryState.SETUP_IN_PROGRESS})
_NOT_LOADED = "The entry of Extended Assist that has this tool is not loaded. Nothing was done; tell the user."
_FAMILY_OFF = "This tool was turned off in the options of Extended Assist. Nothing was done; tell the user."
_USER_GONE = "The user in whose name this was called was deactivated or removed. Nothing was done; tell the user."
_TAKEN = "The tools that the agent had were taken from it meanwhile. Nothing was done; tell the user."


@callback
def current_options(hass: HomeAssistant, options: ToolboxOptions, family: str | None = None) -> ToolboxOptions:
    """Return the options of an entry as they are now; raise ToolError where it does not serve a family of tools any more."""
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
    """Raise NotAllowedError where the user of a caller was deactivated or removed."""
    if caller.user_id is None:
        return
    user = await caller.async_user(hass)
    if user is None or not user.is_active:
        raise NotAllowedError(_USER_GONE)


@callback
def selected_apis(hass: HomeAssistant, agent: str | None) -> frozenset[str]:
    """Return the ids of the APIs that an agent of ours was given, by its subentry; none for any other agent."""
    for entry in hass.config_entries.async_entries(DOMAIN):
        if agent is not None and agent in entry.subentries:
            selected = entry.subentries[agent].data.get(CONF_LLM_HASS_API) or ()
            return frozenset([selected] if isinstance(selected, str) else selected)
    return frozenset()


@callback
def check_apis(hass: HomeAssistant, agent: str | None, before: frozenset[str]) -> None:
    """Raise ToolError where an agent of ours does not have all APIs any more that it had before."""
    if not before <= selected_apis(hass, agent):
        raise ToolError(_TAKEN)


@callback
def digest(hass: HomeAssistant, plan: Plan) -> str:
    """Return the SHA-256 of a plan and of all that it leads to.

    It differs where the plan does, where an entity id belongs to another entity, and where a script, a scene, a group or an
    automation of the plan was changed.
    """
    led = [list(leaf) for step in plan.steps for leaf in leaves(hass, step)]
    whole_plan = bound(hass, plan)
    whole = [whole_plan.fingerprint(), led, [*_written(hass, (entity_id for entity_id, _ in whole_plan.things))]]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> str:
    """Return a value as a text that stays the same as long as the value does."""
    # The text of a template itself counts how often it was rendered.
    return value.template if isinstance(value, Template) else str(value)


def _written(hass: HomeAssistant, ids: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield scripts and automations with their configuration."""
    for entity_id in ids:
        domain = entity_id.partition(".")[0]
        if domain in ("automation", "script"):
            component: EntityComponent[Any] | None = hass.data.get(domain)
            entity = component.get_entity(entity_id) if component else None
            yield entity_id, getattr(entity, "raw_config", None)


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
