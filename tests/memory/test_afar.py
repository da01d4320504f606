"""What is somebody's own is shown on nobody else's phone, though others may be asked for what one may not do alone."""

from dataclasses import replace

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.calls.journal import FACT, Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.memory.fact import Fact
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from tests.scheduled.devices import AddPhone, add_phone, anna, ben, speakers

from .people import Speaker, async_memory

__all__ = ["add_phone", "anna", "ben", "speakers"]


@pytest.mark.parametrize("whose", ["me", "household"])
async def test_nobody_is_asked_instead(hass: HomeAssistant, add_phone: AddPhone, anna: User, whose: str) -> None:
    """A phone is asked to agree to what only its user may do, but shows nobody's own facts, and remembers for nobody else."""
    await hass.auth.async_update_user(anna, group_ids=["system-admin"])
    phone = await add_phone(anna, "Phone")
    options = {
        "who_may_control": "admin",
        "ask_on_phones": [anna.id],
        "families": ["memory", "actions"],
        "memory_elsewhere": True,
    }
    entry = MockConfigEntry(domain=DOMAIN, data={}, options=options)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    carla = MockUser(name="Carla").add_to_hass(hass).id
    fact = Fact("Carla is ill.", carla if whose == "me" else None, carla)
    await async_memory(hass, fact)
    change = Change(FACT, "remembering", {"added": fact.id, "ended": []}, "conversation", carla, None, "one")
    (await async_get_journal(hass)).add(change)
    speaker = Speaker(carla, conversation_id="one", options=ToolboxOptions.of(entry.options, entry.entry_id))
    for one in (speaker, replace(speaker, has_chat=False)):
        for arguments in (
            {"forget": [fact.id]},
            {"forget": ["everything"]},
            {"fact": "Carla is tired.", "whose": whose},
        ):
            result = await one.call(hass, RememberTool, **arguments)
            assert result.error, result.data
    undone = await speaker.call(hass, UndoLastChangeTool)
    assert undone.data.get("done") is False, undone.data
    async with phone.pushed:
        await phone.pushed.wait_for(lambda: phone.shown)
    assert ("Carla is ill." in str(phone.shown)) is (whose == "household")
    assert "tired" not in str(phone.shown)
    await hass.config_entries.async_unload(entry.entry_id)
