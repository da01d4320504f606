"""Tests of telling who is speaking."""

from dataclasses import replace

from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.tools.user import GetUserNameTool
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, llm


async def ask(hass: HomeAssistant, llm_context: llm.LLMContext) -> dict[str, object]:
    """Call the tool."""
    tool = GetUserNameTool()
    result = await tool.async_call(hass, llm.ToolInput(tool.name, {}), llm_context)
    assert result.error is False
    return dict(result.data)


async def test_user(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """The user of the conversation, whoever else there is."""
    users = [await hass.auth.async_create_user(name) for name in ("Anna", "Ben")]
    context = Context(user_id=users[1].id)
    assert await ask(hass, replace(llm_context, context=context)) == {"user": "Ben"}


async def test_satellite(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """A satellite stands for anyone in its room."""
    await hass.auth.async_create_user("Anna")
    unknown = await ask(hass, llm_context)
    assert unknown["user"] is None
    assert unknown["note"] == "Unknown: nobody is logged in where this is asked. Do not guess who it is."

    entry = MockConfigEntry(domain="test")
    entry.add_to_hass(hass)
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    dr.async_get(hass).async_update_device(device.id, area_id=ar.async_get(hass).async_create("Kitchen").id)
    satellite = await ask(hass, replace(llm_context, device_id=device.id))
    assert satellite["note"] == (
        "Unknown: nobody is logged in where this is asked, which is in Kitchen. Do not guess who it is."
    )


async def test_removed_and_system_users(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """A user that is gone, or that is no person, is not named."""
    system = await hass.auth.async_create_system_user("Supervisor")
    for user_id in ("0123456789abcdef0123456789abcdef", system.id):
        assert (await ask(hass, replace(llm_context, context=Context(user_id=user_id))))["user"] is None
