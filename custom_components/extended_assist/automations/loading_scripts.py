"""How Home Assistant takes over scripts from scripts.yaml, and scenes from scenes.yaml."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from homeassistant.components.homeassistant.scene import DATA_PLATFORM
from homeassistant.components.scene.const import DOMAIN as SCENE_DOMAIN
from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.config import SCENE_CONFIG_PATH, SCRIPT_CONFIG_PATH
from homeassistant.const import SERVICE_RELOAD
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from ..toolbox.journal import SCENE, SCRIPT
from .config_file import ConfigFile
from .edit import insert, remove, replace
from .loading import AUTOMATIONS

_PLATFORMS = {SCRIPT_DOMAIN: SCRIPT_DOMAIN, SCENE_DOMAIN: HOMEASSISTANT_DOMAIN}


def _entity_id(hass: HomeAssistant, item_id: str, *, domain: str) -> str:
    """Return the entity of a script or scene, or an empty text."""
    return er.async_get(hass).async_get_entity_id(domain, _PLATFORMS[domain], item_id) or ""


@callback
def _holder(hass: HomeAssistant, domain: str) -> Any:
    """Return what holds the entities of scripts or scenes; None where there are none."""
    return hass.data.get(DATA_PLATFORM if domain == SCENE_DOMAIN else domain)


@callback
def loaded_entities(hass: HomeAssistant, domain: str) -> list[Any]:
    """Return the entities of all scripts or scenes that Home Assistant has from its configuration."""
    entities: Any = holder.entities if (holder := _holder(hass, domain)) else []
    return list(entities.values() if isinstance(entities, Mapping) else entities)


async def _async_reload(hass: HomeAssistant, _item_id: str, *, domain: str) -> None:
    """Load what has changed; whatever other parts of the configuration raise is raised."""
    await hass.services.async_call(domain, SERVICE_RELOAD, blocking=True)


async def _async_remove(hass: HomeAssistant, item_id: str, *, domain: str) -> None:
    """Remove the entity of a script or scene, and what is known of it."""
    entity_id = _entity_id(hass, item_id, domain=domain)
    await _holder(hass, domain).async_remove_entity(entity_id)
    er.async_get(hass).async_remove(entity_id)


@callback
def _problem(hass: HomeAssistant, item_id: str, *, may_be_off: bool, domain: str) -> str | None:
    """Return what is wrong with a script or scene that was to be loaded."""
    wanted = _entity_id(hass, item_id, domain=domain)
    entity: Entity | None = next((one for one in loaded_entities(hass, domain) if one.entity_id == wanted), None)
    if entity is None:
        return f"Home Assistant did not load the {domain}."
    if not entity.available:
        return f"Home Assistant loaded the {domain} as invalid; its repairs say why."
    return None


def _file(name: str, domain: str, kind: str) -> ConfigFile:
    """Return a file of scripts or scenes."""
    return ConfigFile(
        name=name,
        domain=domain,
        noun=f"a {domain}",
        kind=kind,
        insert=partial(insert, kind=domain),
        remove=partial(remove, kind=domain),
        replace=partial(replace, kind=domain),
        entity_id=partial(_entity_id, domain=domain),
        async_reload=partial(_async_reload, domain=domain),
        async_remove=partial(_async_remove, domain=domain),
        problem=partial(_problem, domain=domain),
    )


SCRIPTS: Final = _file(SCRIPT_CONFIG_PATH, SCRIPT_DOMAIN, SCRIPT)
SCENES: Final = _file(SCENE_CONFIG_PATH, SCENE_DOMAIN, SCENE)
FILES: Final[Mapping[str, ConfigFile]] = {file.domain: file for file in (AUTOMATIONS, SCRIPTS, SCENES)}
"""Every file that is changed here, by the domain of what is in it."""
