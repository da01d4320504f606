"""Automations: read, checked, described, and written without losing any."""

from homeassistant.components.automation.const import DOMAIN
from homeassistant.helpers.entity_component import EntityComponent
from homeassistant.util.hass_dict import HassKey

from ..ha_compat.automations import BaseAutomationEntity

COMPONENT: HassKey[EntityComponent[BaseAutomationEntity]] = HassKey(DOMAIN)
"""Key of the automation component in hass.data; Home Assistant's own name for it moves from version to version."""
