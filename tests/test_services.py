"""Tests of the integration's own actions."""

from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.setup import async_setup_component
from tests.conftest import expose
from tests.functions import recipes
from tests.functions.conftest import Install, install

__all__ = ["install"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

ECHO = """
spec:
  name: echo
  parameters: {type: object, properties: {word: {type: string}}, required: [word]}
function: {type: template, value_template: "{{ word * 2000 }}"}
"""


async def call(hass: HomeAssistant, context: Context | None = None, **data: Any) -> Any:
    """Perform the action."""
    return await hass.services.async_call(
        "extended_assist", "call_function", data, blocking=True, return_response=True, context=context
    )


async def test_returns_the_result(hass: HomeAssistant, install: Install) -> None:
    """A function answers outside of a chat, and is not cut to what a model reads."""
    await install(ECHO)
    assert await call(hass, function="echo", arguments={"word": "hey"}) == {"result": "hey" * 2000}


async def test_in_a_script(hass: HomeAssistant, install: Install) -> None:
    """Scripts and automations use it, without a user and without being asked."""
    await install(recipes.ATTRIBUTES)
    hass.states.async_set("light.lamp", "on")
    expose(hass, "light.lamp")
    sequence = [
        {
            "action": "extended_assist.call_function",
            "data": {"function": "look_at", "arguments": {"entity_id": "{{ which }}"}},
            "response_variable": "answer",
        },
        {"event": "answered", "event_data": {"text": "{{ answer.result }}"}},
    ]
    assert await async_setup_component(hass, "script", {"script": {"look": {"sequence": sequence}}})
    heard: list[str] = []
    hass.bus.async_listen("answered", callback(lambda event: heard.append(event.data["text"])))
    await hass.services.async_call("script", "look", {"which": "light.lamp"}, blocking=True)
    await hass.async_block_till_done()
    assert heard
    assert "light.lamp=on" in heard[0]


async def test_failures(hass: HomeAssistant, entry: MockConfigEntry, install: Install) -> None:
    """Unknown functions, wrong arguments and failing functions are told."""
    await install(ECHO)
    with pytest.raises(ServiceValidationError, match="no function named nothing"):
        await call(hass, function="nothing")
    with pytest.raises(HomeAssistantError, match="'word' is a required property"):
        await call(hass, function="echo")
    with pytest.raises(ServiceValidationError):
        await call(hass, function="echo", config_entry_id="another", arguments={"word": "a"})
    assert await call(hass, function="echo", config_entry_id=entry.entry_id, arguments={"word": "a"})


async def test_more_than_one(hass: HomeAssistant, entry: MockConfigEntry, install: Install) -> None:
    """Where two entries have a function of one name, the action must say which."""
    await install(ECHO)
    data = [{"subentry_type": "function", "title": "echo", "unique_id": None, "data": {"function": ECHO}}]
    other = MockConfigEntry(domain="extended_assist", title="Other", data={}, subentries_data=data)
    other.add_to_hass(hass)
    assert await hass.config_entries.async_setup(other.entry_id)
    with pytest.raises(ServiceValidationError, match="More than one"):
        await call(hass, function="echo", arguments={"word": "a"})
    assert await call(hass, function="echo", config_entry_id=other.entry_id, arguments={"word": "a"})


async def test_users_are_held_to_the_policy(
    hass: HomeAssistant, entry: MockConfigEntry, install: Install, hass_admin_user: MockUser
) -> None:
    """A user who may not use a function as a speaker may not do so from a dashboard."""
    await install(ECHO, tier="administer")
    guest = MockUser(name="Guest", groups=[]).add_to_hass(hass)
    with pytest.raises(HomeAssistantError, match="administrator"):
        await call(hass, Context(user_id=guest.id), function="echo", arguments={"word": "a"})
    assert await call(hass, Context(user_id=hass_admin_user.id), function="echo", arguments={"word": "a"})
    assert await call(hass, function="echo", arguments={"word": "a"})
