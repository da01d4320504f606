"""How Home Assistant takes over automations from automations.yaml."""

from collections.abc import Awaitable, Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import voluptuous as vol
import yaml

from homeassistant.components.automation.const import DOMAIN as AUTOMATION_DOMAIN
from homeassistant.config import AUTOMATION_CONFIG_PATH
from homeassistant.const import CONF_ID, SERVICE_RELOAD
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.util.yaml import Secrets, load_yaml, parse_yaml

from ..calls.journal import AUTOMATION
from ..ha_compat.automations import async_validate_automation
from . import COMPONENT
from .config_file import ConfigFile

type Validate = Callable[[HomeAssistant, str, Any], Awaitable[Any]]
"""Home Assistant's own validation of one item."""


def load_item(path: Path, item_id: str, lines: str) -> Any:
    """Return the configuration of one item as Home Assistant loads it; None where it is not there."""
    secrets = Secrets(path.parent)
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(lines, Loader=yaml.CSafeLoader)):
        found = load_yaml(path, secrets)  # It can use a part of another one.
    else:
        found = parse_yaml(_Excerpt(lines, path), secrets)
    if isinstance(found, dict):
        return next((one for key, one in found.items() if str(key) == item_id), None)
    items = found if isinstance(found, list) else []
    return next((one for one in items if isinstance(one, dict) and one.get(CONF_ID) == item_id), None)


class _Excerpt(StringIO):
    """A part of a file; what it includes is looked for beside the file."""

    def __init__(self, text: str, path: Path) -> None:
        """Take the text, and where it is from."""
        super().__init__(text)
        self.name = str(path)


async def async_as_validated(hass: HomeAssistant, item_id: str, config: Any, *, validate: Validate) -> Any:
    """Return a configuration with what validation changes in it in place, as it does in those that are run."""
    try:
        validated = await validate(hass, item_id, config)
    except vol.Invalid, HomeAssistantError, TypeError, AttributeError:
        return None
    return validated.raw_config if validated else None


@callback
def _running(hass: HomeAssistant, item_id: str) -> Any:
    """Return the configuration of an automation that Home Assistant runs."""
    entity = hass.data[COMPONENT].get_entity(_entity_id(hass, item_id))
    return entity.raw_config if entity else None


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
    """Return the problem of an automation that was to be loaded."""
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
    load=load_item,
    async_as_run=partial(async_as_validated, validate=async_validate_automation),
    running=_running,
    entity_id=_entity_id,
    async_reload=_async_reload,
    async_remove=_async_remove,
    problem=_problem,
)
