"""A condition for recent activity of agents."""

from datetime import timedelta
from typing import Any, Final, Unpack, override

import voluptuous as vol

from homeassistant.const import CONF_OPTIONS, CONF_TARGET
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv, entity_registry as er
from homeassistant.helpers.condition import Condition, ConditionCheckParams, ConditionConfig
from homeassistant.helpers.target import TargetSelection, async_extract_referenced_entity_ids
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util

from .calls.activity import ActivityKind, async_get_activity, unique_id_of
from .const import ATTR_KIND
from .trigger import own_activities

CONF_WITHIN: Final = "within"
_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_TARGET): cv.TARGET_FIELDS,
        vol.Required(CONF_OPTIONS): {
            vol.Required(ATTR_KIND): vol.All(cv.ensure_list, vol.Length(min=1), [vol.In([*map(str, ActivityKind)])]),
            vol.Required(CONF_WITHIN): cv.positive_time_period,
        },
    }
)


class HappenedCondition(Condition):
    """True if an agent had an activity of one of the kinds within a time span."""

    @classmethod
    @override
    async def async_validate_config(cls, hass: HomeAssistant, config: ConfigType) -> ConfigType:
        """Validate config."""
        valid: ConfigType = _SCHEMA(config)
        return valid

    def __init__(self, hass: HomeAssistant, config: ConditionConfig) -> None:
        """Read the agents, the kinds and the span."""
        super().__init__(hass, config)
        options: dict[str, Any] = config.options or {}
        self._target = TargetSelection(config.target or {})
        self._kinds = [ActivityKind(kind) for kind in options[ATTR_KIND]]
        self._within: timedelta = options[CONF_WITHIN]

    @override
    def _async_check(self, **kwargs: Unpack[ConditionCheckParams]) -> bool:
        """Check the condition."""
        found = async_extract_referenced_entity_ids(self._hass, self._target)
        registry, last = er.async_get(self._hass), async_get_activity(self._hass).last
        now = dt_util.utcnow()
        for entity_id in own_activities(self._hass, found.referenced | found.indirectly_referenced):
            if (entry := registry.async_get(entity_id)) is None:
                continue
            times = last.get(entry.unique_id.removesuffix(unique_id_of("")), {})
            if any(now - times[kind] <= self._within for kind in self._kinds if kind in times):
                return True
        return False


CONDITIONS: dict[str, type[Condition]] = {"happened": HappenedCondition}


async def async_get_conditions(hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the conditions."""
    return CONDITIONS
