"""What is particular to scripts: their ids, their fields, and that one may not run itself."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import slugify

from ..actions.check import ResolvedAction
from ..results import ToolError, texts_in
from ..templates.render import environment
from .loading_scripts import loaded_entities

_LEAVES_IT = "turn_off"


@callback
def free_object_id(hass: HomeAssistant, alias: str, taken: Collection[str]) -> str:
    """Return an id made of a name, which no script has in the file, in Home Assistant or among its actions."""
    wanted = slugify(alias)
    object_id, number = wanted, 1
    while (
        object_id in taken
        or hass.services.has_service(SCRIPT_DOMAIN, object_id)
        or hass.states.get(f"{SCRIPT_DOMAIN}.{object_id}") is not None
        or er.async_get(hass).async_get(f"{SCRIPT_DOMAIN}.{object_id}") is not None
        or er.async_get(hass).async_get_entity_id(SCRIPT_DOMAIN, SCRIPT_DOMAIN, object_id) is not None
    ):
        number += 1
        object_id = f"{wanted}_{number}"
    return object_id


def check_fields(fields: Any) -> None:
    """Refuse fields whose names mean something else in templates; whoever runs the script says what is in them."""
    if not isinstance(fields, Mapping):
        raise ToolError("fields: this must be an object with the name of each field.")
    for name in fields:
        if not str(name).isidentifier() or name in environment().globals:
            raise ToolError(f"fields: '{name}' is no name for a variable of templates, or has a meaning there already.")


@callback
def check_runs_others_only(hass: HomeAssistant, entity_id: str, actions: Collection[ResolvedAction]) -> None:
    """Raise ToolError for a script that runs itself, directly or through scripts that it runs."""
    runs = {one.entity_id: one.raw_config for one in loaded_entities(hass, SCRIPT_DOMAIN)}
    waiting = [one for action in actions if action.service != _LEAVES_IT for one in action.entity_ids]
    seen: set[str] = set()
    while waiting:
        if (found := waiting.pop()) == entity_id:
            raise ToolError(
                "This script would run itself, again and again. Use a 'repeat' step, which has an end, instead."
            )
        if found not in seen:
            seen.add(found)
            waiting += _named_scripts(hass, runs.get(found))


def _named_scripts(hass: HomeAssistant, config: Any) -> Iterator[str]:
    """Yield the scripts that a configuration names, as entities or as actions."""
    registry = er.async_get(hass)
    for text, _ in texts_in(config):
        domain, _, name = text.partition(".")
        if domain == SCRIPT_DOMAIN:
            yield registry.async_get_entity_id(SCRIPT_DOMAIN, SCRIPT_DOMAIN, name) or text
