"""How Home Assistant takes over scripts from scripts.yaml, and scenes from scenes.yaml."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import voluptuous as vol

from homeassistant.components.scene.const import DOMAIN as SCENE_DOMAIN
from homeassistant.components.script.const import DOMAIN as SCRIPT_DOMAIN
from homeassistant.config import SCENE_CONFIG_PATH, SCRIPT_CONFIG_PATH
from homeassistant.const import CONF_ENTITIES, CONF_ICON, CONF_NAME, SERVICE_RELOAD
from homeassistant.core import DOMAIN as HOMEASSISTANT_DOMAIN, HomeAssistant, State, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity

from ..calls.journal import SCENE, SCRIPT
from ..ha_compat.automations import DATA_SCENE_PLATFORM, SCENE_PLATFORM_SCHEMA, SCENE_STATES, async_validate_script
from .config_file import ConfigFile
from .loading import AUTOMATIONS, async_as_validated, load_item

type AsRun = Callable[[HomeAssistant, str, Any], Awaitable[Any]]
type Running = Callable[[HomeAssistant, str], Any]

_PLATFORMS = {SCRIPT_DOMAIN: SCRIPT_DOMAIN, SCENE_DOMAIN: HOMEASSISTANT_DOMAIN}


def _entity_id(hass: HomeAssistant, item_id: str, *, domain: str) -> str:
    """Return the entity of a script or scene, or an empty text."""
    return er.async_get(hass).async_get_entity_id(domain, _PLATFORMS[domain], item_id) or ""


@callback
def _holder(hass: HomeAssistant, domain: str) -> Any:
    """Return the component of scripts or the platform of scenes; None where there is none."""
    return hass.data.get(DATA_SCENE_PLATFORM if domain == SCENE_DOMAIN else domain)


@callback
def loaded_entities(hass: HomeAssistant, domain: str) -> list[Any]:
    """Return the entities of all scripts or scenes that Home Assistant has from its configuration."""
    entities: Any = holder.entities if (holder := _holder(hass, domain)) else []
    return list(entities.values() if isinstance(entities, Mapping) else entities)


async def _async_reload(hass: HomeAssistant, _item_id: str, *, domain: str) -> None:
    """Load what has changed; whatever other parts of the configuration raise is raised."""
    await hass.services.async_call(domain, SERVICE_RELOAD, blocking=True)


async def _async_remove(hass: HomeAssistant, item_id: str, *, domain: str) -> None:
    """Remove the entity of a script or scene, which may be gone already, and what is known of it."""
    if entity := _loaded(hass, item_id, domain):
        await entity.async_remove()
    er.async_get(hass).async_remove(_entity_id(hass, item_id, domain=domain))


@callback
def _loaded(hass: HomeAssistant, item_id: str, domain: str) -> Any:
    """Return the entity of a script or scene that Home Assistant has; None where it has none."""
    wanted = _entity_id(hass, item_id, domain=domain)
    return next((one for one in loaded_entities(hass, domain) if one.entity_id == wanted), None)


@callback
def _script_running(hass: HomeAssistant, item_id: str) -> Any:
    """Return the configuration of a script that Home Assistant runs."""
    entity = _loaded(hass, item_id, SCRIPT_DOMAIN)
    return entity.raw_config if entity else None


async def _async_scene_as_run(_hass: HomeAssistant, _item_id: str, config: Any) -> Any:
    """Return a scene as Home Assistant runs it."""
    try:
        (scene,) = SCENE_PLATFORM_SCHEMA(config)[SCENE_STATES]
    except vol.Invalid, TypeError, AttributeError, ValueError:
        return None
    return _scene_parts(scene[CONF_NAME], scene.get(CONF_ICON), scene[CONF_ENTITIES])


@callback
def _scene_running(hass: HomeAssistant, item_id: str) -> Any:
    """Return the parts of a scene that Home Assistant has."""
    entity = _loaded(hass, item_id, SCENE_DOMAIN)
    return _scene_parts(*entity.scene_config[1:]) if entity else None


def _scene_parts(name: str, icon: str | None, states: Mapping[str, State]) -> Any:
    """Return the parts of a scene that can be compared."""
    return name, icon, {state.entity_id: (state.state, dict(state.attributes)) for state in states.values()}


@callback
def _problem(hass: HomeAssistant, item_id: str, *, may_be_off: bool, domain: str) -> str | None:
    """Return the problem of a script or scene that was to be loaded."""
    entity: Entity | None = _loaded(hass, item_id, domain)
    if entity is None:
        return f"Home Assistant did not load the {domain}."
    if not entity.available:
        return f"Home Assistant loaded the {domain} as invalid; its repairs say why."
    return None


def _file(name: str, domain: str, kind: str, as_run: AsRun, running: Running) -> ConfigFile:
    """Return a file of scripts or scenes."""
    return ConfigFile(
        name=name,
        domain=domain,
        noun=f"a {domain}",
        kind=kind,
        load=load_item,
        async_as_run=as_run,
        running=running,
        entity_id=partial(_entity_id, domain=domain),
        async_reload=partial(_async_reload, domain=domain),
        async_remove=partial(_async_remove, domain=domain),
        problem=partial(_problem, domain=domain),
    )


_script_as_run = partial(async_as_validated, validate=async_validate_script)

SCRIPTS: Final = _file(SCRIPT_CONFIG_PATH, SCRIPT_DOMAIN, SCRIPT, _script_as_run, _script_running)
SCENES: Final = _file(SCENE_CONFIG_PATH, SCENE_DOMAIN, SCENE, _async_scene_as_run, _scene_running)
FILES: Final[Mapping[str, ConfigFile]] = {file.domain: file for file in (AUTOMATIONS, SCRIPTS, SCENES)}
"""Every file that is changed here, by the domain of what is in it."""
