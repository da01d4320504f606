"""A change is taken back by hand under the rules of the entry that made it, and with what its assistant sees."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.calls.journal import Change, async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.tools.actions import PerformActionTool
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.conftest import ASSISTANT
from tests.scheduled.shown import async_set_up_home

from .conftest import As

pytestmark = pytest.mark.usefixtures("panel_home")

PARTY = "input_boolean.party"
FAMILIES = {"families": ["actions", "memory"]}
ADMINS_ONLY = FAMILIES | {"who_may_control": "admin"}


async def async_act(
    hass: HomeAssistant, entry: MockConfigEntry, user: User, assistant: str = ASSISTANT, entity_id: str = PARTY
) -> None:
    """Let an assistant turn something on for a user, under the options of an entry."""
    tool = PerformActionTool(ToolboxOptions.of(entry.options, entry.entry_id))
    context = llm.LLMContext(DOMAIN, Context(user_id=user.id), "en", assistant, None)
    arguments = {"action": "homeassistant.turn_on", "target": {"entity_id": entity_id}}
    result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
    assert not result.error, result.data


async def async_undo(as_user: As, user: User) -> dict[str, Any]:
    """Take the newest change back that a user sees, agreeing where that is asked."""
    send = await as_user(user)
    newest = (await send("journal/list"))[0]
    answer: dict[str, Any] = await send("journal/undo", change=newest["id"])
    if "question" in answer:
        answer = await send("questions/answer", question=answer["question"]["id"], agreed=True)
    return answer


def set_options(hass: HomeAssistant, entry: MockConfigEntry, options: dict[str, Any]) -> None:
    """Let an entry have other options."""
    hass.config_entries.async_update_entry(entry, options=options)


async def test_the_entry_that_acted(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, admin: User
) -> None:
    """Neither do another entry's stricter rules hold, nor does one with fewer rules open what the acting one closes."""
    second = await async_set_up_home(hass, FAMILIES, title="Second")
    await async_act(hass, second, anna)
    set_options(hass, second, ADMINS_ONLY)
    refused = await async_undo(as_user, anna)
    assert "administrator" in refused["answer"]
    assert hass.states.is_state(PARTY, "on")
    set_options(hass, second, FAMILIES)
    set_options(hass, panel_home, ADMINS_ONLY)
    assert (await async_undo(as_user, anna))["done"]
    assert hass.states.is_state(PARTY, "off")


async def test_an_entry_that_is_not_loaded(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, admin: User
) -> None:
    """The rules of an entry that is turned off for now still hold for what it changed."""
    second = await async_set_up_home(hass, ADMINS_ONLY, title="Second")
    await async_act(hass, second, admin)
    (await async_get_journal(hass)).changes[-1].user_id = anna.id
    await hass.config_entries.async_unload(second.entry_id)
    assert "administrator" in (await async_undo(as_user, anna))["answer"]
    assert (await async_undo(as_user, admin))["done"]


async def test_an_entry_that_is_gone(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, admin: User
) -> None:
    """Whose rules nobody knows any more, administrators alone take back, and users are told so."""
    second = await async_set_up_home(hass, FAMILIES, title="Second")
    await async_act(hass, second, anna)
    await hass.config_entries.async_remove(second.entry_id)
    refused = await async_undo(as_user, anna)
    assert "removed from Home Assistant" in refused["answer"]
    assert "administrator" in refused["answer"]
    assert hass.states.is_state(PARTY, "on")
    assert (await async_undo(as_user, admin))["done"]
    assert hass.states.is_state(PARTY, "off")


async def test_what_its_assistant_sees(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User
) -> None:
    """What another assistant changed is taken back as far as that assistant sees it, also where Assist does not."""
    async_expose_entity(hass, "cloud.alexa", PARTY, should_expose=True)
    await async_act(hass, panel_home, anna, "cloud.alexa")
    async_expose_entity(hass, ASSISTANT, PARTY, should_expose=False)
    assert (await async_undo(as_user, anna))["done"]
    assert hass.states.is_state(PARTY, "off")


@pytest.mark.parametrize("is_gone", [False, True])
async def test_facts(hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, is_gone: bool) -> None:
    """A fact is the household's: it is taken back where the entry that remembered it has no memory by now, or is gone."""
    second = await async_set_up_home(hass, FAMILIES, title="Second")
    tool = RememberTool(ToolboxOptions.of(second.options | {"memory_elsewhere": True}, second.entry_id))
    set_options(hass, second, FAMILIES | {"memory_elsewhere": True})
    context = llm.LLMContext(DOMAIN, Context(user_id=anna.id), "en", ASSISTANT, None)
    arguments = {"fact": "The bins go out on Monday.", "whose": "me"}
    result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), context)
    assert not result.error, result.data
    if is_gone:
        await hass.config_entries.async_remove(second.entry_id)
    else:
        set_options(hass, second, {"families": ["actions"]})
    assert (await async_undo(as_user, anna))["done"]


async def test_kept_by_an_earlier_version(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User
) -> None:
    """What an earlier version kept says nothing of its entry, and is taken back under the rules of the first one."""
    second = await async_set_up_home(hass, FAMILIES, title="Second")
    await async_act(hass, second, anna)
    (change,) = (await async_get_journal(hass)).changes
    assert change.entry_id == second.entry_id
    change.entry_id = Change("states", "", {}).entry_id
    set_options(hass, panel_home, ADMINS_ONLY)
    assert "administrator" in (await async_undo(as_user, anna))["answer"]
