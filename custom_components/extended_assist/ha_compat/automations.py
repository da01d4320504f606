"""Internals of automations, scripts, scenes, blueprints, calendars, zones and their traces."""

from homeassistant.components.automation import EVENT_AUTOMATION_TRIGGERED, BaseAutomationEntity
from homeassistant.components.automation.config import async_validate_config_item as async_validate_automation
from homeassistant.components.automation.helpers import async_get_blueprints as automation_blueprints
from homeassistant.components.blueprint.errors import BlueprintException
from homeassistant.components.blueprint.models import Blueprint, DomainBlueprints
from homeassistant.components.blueprint.schemas import is_blueprint_instance_config
from homeassistant.components.calendar.const import DATA_COMPONENT as DATA_CALENDARS
from homeassistant.components.homeassistant.scene import DATA_PLATFORM as DATA_SCENE_PLATFORM, HomeAssistantScene
from homeassistant.components.scene import PLATFORM_SCHEMA as SCENE_PLATFORM_SCHEMA, STATES as SCENE_STATES
from homeassistant.components.script.config import async_validate_config_item as async_validate_script
from homeassistant.components.script.helpers import async_get_blueprints as script_blueprints
from homeassistant.components.trace.const import DATA_TRACE
from homeassistant.components.trace.util import async_get_trace, async_list_contexts, async_list_traces
from homeassistant.components.zone.condition import zone as is_in_zone

__all__ = (
    "DATA_CALENDARS",
    "DATA_SCENE_PLATFORM",
    "DATA_TRACE",
    "EVENT_AUTOMATION_TRIGGERED",
    "SCENE_PLATFORM_SCHEMA",
    "SCENE_STATES",
    "BaseAutomationEntity",
    "Blueprint",
    "BlueprintException",
    "DomainBlueprints",
    "HomeAssistantScene",
    "async_get_trace",
    "async_list_contexts",
    "async_list_traces",
    "async_validate_automation",
    "async_validate_script",
    "automation_blueprints",
    "is_blueprint_instance_config",
    "is_in_zone",
    "script_blueprints",
)
