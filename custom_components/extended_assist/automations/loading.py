"""The files that Home Assistant's editor writes too, how Home Assistant loads their items, and the registry settings of these."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Final, override

import voluptuous as vol
import yaml

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.components.scene.const import DOMAIN as SCENE_DOMAIN
from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.config import AUTOMATION_CONFIG_PATH, SCENE_CONFIG_PATH, SCRIPT_CONFIG_PATH
from homeassistant.const import CONF_ENTITIES, CONF_ICON, CONF_ID, CONF_NAME, SERVICE_RELOAD
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, State, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import (
    area_registry as ar,
    category_registry as cr,
    config_validation as cv,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.util.yaml import Secrets, load_yaml, parse_yaml

from ..calls.journal import AUTOMATION, SCENE, SCRIPT
from ..const import DOMAIN
from ..ha_compat.automations import (
    DATA_SCENE_PLATFORM,
    SCENE_PLATFORM_SCHEMA,
    SCENE_STATES,
    Blueprint,
    DomainBlueprints,
    async_validate_automation,
    async_validate_script,
    is_blueprint_instance_config,
)


@dataclass(frozen=True)
class ConfigFile:
    """A file that holds the items of one domain."""

    name: str
    """Its path below the configuration folder, such as automations.yaml."""
    domain: str
    """The domain of its items: automation, script or scene."""
    noun: str
    """One item in words: an automation."""
    kind: str
    """The kind of its changes in the journal."""
    platform: str = ""
    """The platform of its entities in the entity registry, where it is not the domain."""

    @property
    def event(self) -> str:
        """Return the type of the event that is fired for a change."""
        return f"{DOMAIN}_{self.domain}_changed"

    @property
    def copies(self) -> str:
        """Return the name of the folder for its copies, which the name of the log of its changes begins with, too."""
        return f"{DOMAIN}.{Path(self.name).stem}"

    def load(self, path: Path, item_id: str, lines: str) -> Any:
        """Return the configuration of an item, with these lines in the file, as Home Assistant loads it; blocks.

        None if the item is not in the file.
        """
        secrets = Secrets(path.parent)
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(lines, Loader=yaml.CSafeLoader)):
            found = load_yaml(path, secrets)  # The item can use a part of another one.
        else:
            excerpt = StringIO(lines)
            excerpt.name = str(path)  # Relative paths of !include start from the folder of this file.
            found = parse_yaml(excerpt, secrets)
        if isinstance(found, dict):
            return next((one for key, one in found.items() if str(key) == item_id), None)
        items = found if isinstance(found, list) else []
        return next((one for one in items if isinstance(one, dict) and one.get(CONF_ID) == item_id), None)

    async def async_as_run(self, hass: HomeAssistant, item_id: str, config: Any) -> Any:
        """Return the value that `running` has once Home Assistant runs a loaded configuration; None if it would not run it.

        Validation changes a configuration in place, as it does in those that are run.
        """
        try:
            validated = await _VALIDATORS[self.domain](hass, item_id, config)
        except vol.Invalid, HomeAssistantError, TypeError, AttributeError:
            return None
        return validated.raw_config if validated else None

    @callback
    def running(self, hass: HomeAssistant, item_id: str) -> Any:
        """Return the configuration of an item that Home Assistant runs; None if it runs none."""
        entity = self._entity(hass, item_id)
        return entity.raw_config if entity else None

    @callback
    def entity_id(self, hass: HomeAssistant, item_id: str) -> str:
        """Return the entity of an item, or an empty text."""
        return er.async_get(hass).async_get_entity_id(self.domain, self.platform or self.domain, item_id) or ""

    @callback
    def _entity(self, hass: HomeAssistant, item_id: str) -> Any:
        """Return the loaded entity object of an item; None if there is none."""
        wanted = self.entity_id(hass, item_id)
        return next((one for one in loaded_entities(hass, self.domain) if one.entity_id == wanted), None)

    async def async_reload(self, hass: HomeAssistant, item_id: str) -> None:
        """Have Home Assistant load an item; raises whatever other parts of the configuration raise."""
        data = {CONF_ID: item_id} if self.domain == AUTOMATION_DOMAIN else None
        await hass.services.async_call(self.domain, SERVICE_RELOAD, data, blocking=True)

    async def async_remove(self, hass: HomeAssistant, item_id: str) -> None:
        """Remove the entity of an item that is gone from the file, and its entry in the entity registry."""
        if entity := self._entity(hass, item_id):
            await entity.async_remove()
        er.async_get(hass).async_remove(self.entity_id(hass, item_id))

    @callback
    def problem(self, hass: HomeAssistant, item_id: str, *, may_be_off: bool) -> str | None:
        """Return the problem of an item that Home Assistant was to load; None if it runs as it should."""
        entity = self._entity(hass, item_id)
        if entity is None:
            return f"Home Assistant did not load the {self.domain}."
        if not entity.available:
            return f"Home Assistant loaded the {self.domain} as invalid; its repairs say why."
        if self.domain != AUTOMATION_DOMAIN or entity.is_on or may_be_off:
            return None
        starts_off = not cv.boolean((entity.raw_config or {}).get("initial_state", True))
        return None if starts_off else "Home Assistant loaded the automation, but it did not become active."


class _SceneFile(ConfigFile):
    """The file of scenes, whose entities keep states and not a configuration."""

    @override
    async def async_as_run(self, hass: HomeAssistant, item_id: str, config: Any) -> Any:
        try:
            (scene,) = SCENE_PLATFORM_SCHEMA(config)[SCENE_STATES]
        except vol.Invalid, TypeError, AttributeError, ValueError:
            return None
        return _scene_parts(scene[CONF_NAME], scene.get(CONF_ICON), scene[CONF_ENTITIES])

    @override
    @callback
    def running(self, hass: HomeAssistant, item_id: str) -> Any:
        entity = self._entity(hass, item_id)
        return _scene_parts(*entity.scene_config[1:]) if entity else None


def _scene_parts(name: str, icon: str | None, states: Mapping[str, State]) -> Any:
    """Return the parts of a scene in a form that can be compared."""
    return name, icon, {state.entity_id: (state.state, dict(state.attributes)) for state in states.values()}


@callback
def loaded_entities(hass: HomeAssistant, domain: str) -> list[Any]:
    """Return the entities of all automations, scripts or scenes that Home Assistant loaded from its configuration."""
    holder: Any = hass.data.get(DATA_SCENE_PLATFORM if domain == SCENE_DOMAIN else domain)
    entities: Any = holder.entities if holder else []
    return list(entities.values() if isinstance(entities, Mapping) else entities)


_VALIDATORS: Final[Mapping[str, Callable[[HomeAssistant, str, Any], Awaitable[Any]]]] = {
    AUTOMATION_DOMAIN: async_validate_automation,
    SCRIPT_DOMAIN: async_validate_script,
}

AUTOMATIONS: Final = ConfigFile(AUTOMATION_CONFIG_PATH, AUTOMATION_DOMAIN, "an automation", AUTOMATION)
SCRIPTS: Final = ConfigFile(SCRIPT_CONFIG_PATH, SCRIPT_DOMAIN, "a script", SCRIPT)
SCENES: Final = _SceneFile(SCENE_CONFIG_PATH, SCENE_DOMAIN, "a scene", SCENE, HOMEASSISTANT_DOMAIN)
FILES: Final[Mapping[str, ConfigFile]] = {file.domain: file for file in (AUTOMATIONS, SCRIPTS, SCENES)}
"""Every file that is changed here, by the domain of its items."""


@dataclass(frozen=True, slots=True)
class UsedBlueprint:
    """A blueprint as it was when its use was checked."""

    blueprints: DomainBlueprints
    path: str
    data: Any

    async def async_is_loaded(self) -> bool:
        """Return whether Home Assistant has still loaded the same blueprint."""
        try:
            return bool((await self.blueprints.async_get_blueprint(self.path)).data == self.data)
        except HomeAssistantError:
            return False


async def async_used_blueprint(blueprints: DomainBlueprints, config: Mapping[str, Any]) -> UsedBlueprint | None:
    """Have Home Assistant read its blueprints again, and return the one that a configuration uses; None if it uses none."""
    if not is_blueprint_instance_config(config):
        return None
    await blueprints.async_reset_cache()
    use = config["use_blueprint"]
    path = str(use.get("path")) if isinstance(use, Mapping) else ""
    found = (await blueprints.async_get_blueprints()).get(path)
    return UsedBlueprint(blueprints, path, found.data) if isinstance(found, Blueprint) else None


@callback
def registered(hass: HomeAssistant, entity_id: str) -> dict[str, Any] | None:
    """Return the settings that the user has made for an entity, in a form that can be stored; None if it is not registered."""
    if (entry := er.async_get(hass).async_get(entity_id)) is None:
        return None
    return {
        "entity_id": entity_id,
        "name": entry.name,
        "icon": entry.icon,
        "area_id": entry.area_id,
        "labels": sorted(entry.labels),
        "categories": dict(entry.categories),
        "aliases": [None if alias is er.COMPUTED_NAME else alias for alias in entry.aliases],
        "disabled_by": entry.disabled_by,
        "hidden_by": entry.hidden_by,
        "options": {domain: dict(options) for domain, options in entry.options.items()},
    }


@callback
def register(hass: HomeAssistant, entity_id: str, settings: Mapping[str, Any]) -> str:
    """Restore the settings of an entity, exposure included, except for areas and labels that are gone; return its new id."""
    entities = er.async_get(hass)
    if (entry := entities.async_get(entity_id)) is None:
        return entity_id
    labels, categories = lr.async_get(hass), cr.async_get(hass)
    wanted: dict[str, Any] = {
        "name": settings["name"],
        "icon": settings["icon"],
        "area_id": settings["area_id"] if ar.async_get(hass).async_get_area(settings["area_id"] or "") else None,
        "labels": {label for label in settings["labels"] if labels.async_get_label(label)},
        "categories": {
            scope: category
            for scope, category in settings["categories"].items()
            if categories.async_get_category(scope=scope, category_id=category)
        },
        "aliases": [er.COMPUTED_NAME if alias is None else alias for alias in settings["aliases"]],
        "disabled_by": settings["disabled_by"] and er.RegistryEntryDisabler(settings["disabled_by"]),
        "hidden_by": settings["hidden_by"] and er.RegistryEntryHider(settings["hidden_by"]),
    }
    former = settings["entity_id"]
    if former != entity_id and entities.async_get(former) is None and hass.states.get(former) is None:
        wanted["new_entity_id"] = former
    changes = {key: value for key, value in wanted.items() if getattr(entry, key, None) != value}
    if changes:
        entity_id = entities.async_update_entity(entity_id, **changes).entity_id
    for domain, options in settings["options"].items():
        if dict(entry.options.get(domain, {})) != options:
            entities.async_update_entity_options(entity_id, domain, options)
    return entity_id
