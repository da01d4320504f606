"""A home with memory: its entry, its list, and what is done with both."""

from typing import Any

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.config_flow import ExtendedAssistConfigFlow
from custom_components.extended_assist.const import CONF_FAMILIES, DOMAIN
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.core import Context, HomeAssistant

LIST = "todo.home_remembered"
_OTHERS = [family for family in DEFAULT_FAMILIES if family != "wishes"]
ON = {CONF_FAMILIES: [*_OTHERS, "memory"]}
OFF = {CONF_FAMILIES: _OTHERS}


async def async_set_up_home(hass: HomeAssistant, options: dict[str, Any] | None = None) -> MockConfigEntry:
    """Return a loaded entry without a server, in which memory is on unless the options say otherwise."""
    entry = MockConfigEntry(
        domain=DOMAIN, title="Home", options=options or ON, minor_version=ExtendedAssistConfigFlow.MINOR_VERSION
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def items(hass: HomeAssistant) -> list[dict[str, Any]]:
    """Return what the list holds."""
    found = await hass.services.async_call(
        "todo", "get_items", {}, blocking=True, return_response=True, target={"entity_id": LIST}
    )
    listed: list[dict[str, Any]] = found[LIST]["items"]
    assert hass.states.get(LIST).state == str(len(listed))
    return listed


async def act(hass: HomeAssistant, action: str, user_id: str | None = None, **data: Any) -> Any:
    """Perform an action of ours, in somebody's name."""
    return await hass.services.async_call(
        DOMAIN, action, data, blocking=True, return_response=True, context=Context(user_id=user_id)
    )
