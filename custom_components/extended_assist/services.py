"""The integration's own actions."""

from typing import Final

import voluptuous as vol

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv, llm

from .const import CONF_FUNCTION, DOMAIN
from .functions.manager import (
    LoadedFunction,
    async_call_function,
    async_load_functions,
    loaded_functions,
    trusted_options,
)
from .toolbox.options import ToolboxOptions
from .toolbox.outside import MARK

CALL_FUNCTION: Final = "call_function"
_ARGUMENTS = "arguments"
_ENTRY = "config_entry_id"
_SCHEMA = vol.Schema(
    {
        vol.Required(CONF_FUNCTION): cv.string,
        vol.Optional(_ARGUMENTS, default=dict): dict,
        vol.Optional(_ENTRY): cv.string,
    }
)


@callback
def async_register_actions(hass: HomeAssistant) -> None:
    """Register the actions, whether or not an entry is loaded."""
    hass.services.async_register(
        DOMAIN, CALL_FUNCTION, _async_call_function, schema=_SCHEMA, supports_response=SupportsResponse.OPTIONAL
    )


async def _async_call_function(call: ServiceCall) -> ServiceResponse:
    """Call a user's function outside a chat, in the name of whoever performs the action."""
    hass, name = call.hass, call.data[CONF_FUNCTION]
    entries = [
        entry
        for entry in hass.config_entries.async_loaded_entries(DOMAIN)
        if call.data.get(_ENTRY) in (None, entry.entry_id)
    ]
    if not (found := _find(hass, entries, name)):
        # It may have been added a moment ago.
        for entry in entries:
            await async_load_functions(hass, entry)
        found = _find(hass, entries, name)
    if len(found) != 1:
        key = "function_twice" if found else "function_not_found"
        raise ServiceValidationError(
            translation_domain=DOMAIN, translation_key=key, translation_placeholders={"function": name}
        )
    entry, function = found[0]
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    known = call.context.user_id is not None
    tool = function.tool(trusted_options(options, known=known))
    context = llm.LLMContext(
        platform=DOMAIN,
        context=call.context,
        language=hass.config.language,
        assistant="conversation",
        device_id=None,
    )
    result = await async_call_function(hass, tool, call.data[_ARGUMENTS], context)
    if result.error:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="function_failed",
            translation_placeholders={"function": name, "reason": str(result.data.get("error"))},
        )
    return {key: value for key, value in result.data.items() if key != MARK}


def _find(hass: HomeAssistant, entries: list[ConfigEntry], name: str) -> list[tuple[ConfigEntry, LoadedFunction]]:
    """Return the functions of a name, with their entries."""
    return [
        (entry, function)
        for entry in entries
        for function in loaded_functions(hass, entry.entry_id)
        if function.definition.name == name
    ]
