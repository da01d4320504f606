"""The entry is made once, from configuration.yaml."""

from typing import Any, override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

from .const import DOMAIN


class DemoHomeConfigFlow(ConfigFlow, domain=DOMAIN):
    """Nothing to ask."""

    async def async_step_import(self, _data: dict[str, Any]) -> ConfigFlowResult:
        """Make the entry."""
        return self.async_create_entry(title="Demonstration home", data={})

    @override
    async def async_step_user(self, _data: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Make the entry."""
        return await self.async_step_import({})
