"""The toolbox's options."""

from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigFlowResult, OptionsFlow
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from ..const import CONF_FAMILIES, CONF_RESULT_BUDGET
from ..results import DEFAULT_BUDGET, MAX_BUDGET, MIN_BUDGET
from ..tools import DEFAULT_FAMILIES, FAMILIES

_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FAMILIES, default=list(DEFAULT_FAMILIES)): SelectSelector(
            SelectSelectorConfig(
                options=list(FAMILIES), multiple=True, mode=SelectSelectorMode.LIST, translation_key=CONF_FAMILIES
            )
        ),
        vol.Required(CONF_RESULT_BUDGET, default=DEFAULT_BUDGET): vol.All(
            NumberSelector(NumberSelectorConfig(min=MIN_BUDGET, max=MAX_BUDGET, step=500, mode=NumberSelectorMode.BOX)),
            vol.Coerce(int),
        ),
    }
)


class ToolboxOptionsFlow(OptionsFlow):
    """Choose the families of tools and the size of their answers."""

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the form and store what it says."""
        if user_input is not None:
            return self.async_create_entry(data=user_input)
        return self.async_show_form(
            step_id="init", data_schema=self.add_suggested_values_to_schema(_SCHEMA, self.config_entry.options)
        )
