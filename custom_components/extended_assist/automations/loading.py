"""How Home Assistant takes over automations from automations.yaml."""

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.config import AUTOMATION_CONFIG_PATH
from homeassistant.const import CONF_ID, SERVICE_RELOAD
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import config_validation as cv, entity_registry as er

from ..toolbox.journal import AUTOMATION
from . import COMPONENT
from .config_file import ConfigFile
from .edit import insert, remove, replace


@callback
def _entity_id(hass: HomeAssistant, item_id: str) -> str:
    """Return the entity of an automation, or an empty text."""
    return er.async_get(hass).async_get_entity_id(AUTOMATION_DOMAIN, AUTOMATION_DOMAIN, item_id) or ""


async def _async_reload(hass: HomeAssistant, item_id: str) -> None:
    """Load one automation; whatever other parts of the configuration raise is raised."""
    await hass.services.async_call(AUTOMATION_DOMAIN, SERVICE_RELOAD, {CONF_ID: item_id}, blocking=True)


async def _async_remove(hass: HomeAssistant, item_id: str) -> None:
    """Remove the entity of an automation, and what is known of it."""
    entity_id = _entity_id(hass, item_id)
    await hass.data[COMPONENT].async_remove_entity(entity_id)
    er.async_get(hass).async_remove(entity_id)


@callback
def _problem(hass: HomeAssistant, item_id: str, *, may_be_off: bool) -> str | None:
    """Return what is wrong with an automation that was to be loaded."""
    entity = hass.data[COMPONENT].get_entity(_entity_id(hass, item_id))
    if entity is None:
        return "Home Assistant did not load the automation."
    if not entity.available:
        return "Home Assistant loaded the automation as invalid; its repairs say why."
    starts_off = not cv.boolean((entity.raw_config or {}).get("initial_state", True))
    if not entity.is_on and not (starts_off or may_be_off):
        return "Home Assistant loaded the automation, but it did not become active."
    return None


AUTOMATIONS = ConfigFile(
    name=AUTOMATION_CONFIG_PATH,
    domain=AUTOMATION_DOMAIN,
    noun="an automation",
    kind=AUTOMATION,
    insert=insert,
    remove=remove,
    replace=replace,
    entity_id=_entity_id,
    async_reload=_async_reload,
    async_remove=_async_remove,
    problem=_problem,
)
