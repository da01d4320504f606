"""The keys that automations and scripts may have, how Home Assistant validates them, and rules for scripts alone."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import slugify

from ..actions.check import ResolvedAction
from ..ha_compat.automations import (
    DomainBlueprints,
    async_validate_automation,
    async_validate_script,
    automation_blueprints,
    script_blueprints,
)
from ..results import ToolError, texts_in
from ..templates.render import environment
from .loading import AUTOMATIONS, SCRIPTS, ConfigFile, loaded_entities


@dataclass(frozen=True, slots=True)
class Rules:
    """The keys that one kind of configuration may have."""

    file: ConfigFile
    keys: tuple[str, ...]
    """Keys that may be given; the id is not among them."""
    needed: tuple[str, ...]
    walked: tuple[str, ...]
    """The keys that are checked, in this order: what defines variables comes first."""
    blueprints: Callable[[HomeAssistant], DomainBlueprints]
    async_validate: Callable[[HomeAssistant, str, dict[str, Any]], Awaitable[Any]]
    """Raises an error for what Home Assistant would not load."""

    @property
    def kind(self) -> str:
        """Return the kind: automation or script."""
        return self.file.domain


AUTOMATION_RULES: Final = Rules(
    file=AUTOMATIONS,
    keys=(
        *("alias", "description", "triggers", "conditions", "actions", "mode", "max", "max_exceeded", "variables"),
        *("trigger_variables", "initial_state", "trace", "use_blueprint"),
    ),
    needed=("triggers", "actions"),
    walked=("trigger_variables", "variables", "triggers", "conditions", "actions"),
    blueprints=automation_blueprints,
    async_validate=lambda hass, item_id, config: async_validate_automation(hass, item_id, {"id": item_id, **config}),
)
SCRIPT_RULES: Final = Rules(
    file=SCRIPTS,
    keys=(
        *("alias", "description", "icon", "fields", "sequence", "mode", "max", "max_exceeded", "variables"),
        *("trace", "use_blueprint"),
    ),
    needed=("sequence",),
    walked=("fields", "variables", "sequence"),
    blueprints=script_blueprints,
    async_validate=async_validate_script,
)
RULES: Final[Mapping[str, Rules]] = {rules.kind: rules for rules in (AUTOMATION_RULES, SCRIPT_RULES)}


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
    """Raise ToolError for fields whose names mean something else in templates; the caller of the script sets their values."""
    if not isinstance(fields, Mapping):
        raise ToolError("fields: this must be an object with the name of each field.")
    for name in fields:
        if not str(name).isidentifier() or name in environment().globals:
            raise ToolError(f"fields: '{name}' is no name for a variable of templates, or has a meaning there already.")


@callback
def check_runs_others_only(hass: HomeAssistant, entity_id: str, actions: Collection[ResolvedAction]) -> None:
    """Raise ToolError for a script that runs itself, directly or through scripts that it runs."""
    runs = {one.entity_id: one.raw_config for one in loaded_entities(hass, SCRIPT_DOMAIN)}
    waiting = [one for action in actions if action.service != "turn_off" for one in action.entity_ids]
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
