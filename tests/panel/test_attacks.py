"""What somebody might try with the panel: answer twice, answer what was not shown, crowd others out, break the logbook."""

from itertools import product
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_capture_events

from custom_components.extended_assist.calls.activity import EVENT_AGENT
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.const import DOMAIN, EVENT_HAPPENED, EVENT_LOOKED
from custom_components.extended_assist.logbook import async_describe_events
from custom_components.extended_assist.panel import manual_calls
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools.memory import RememberTool
from homeassistant.auth.models import User
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import llm
from tests.helpers.one_home import in_one_home
from tests.scheduled.shown import async_set_up_home, make_task

from .conftest import As, Refused
from .test_websocket import Act, act

__all__ = ["act"]

pytestmark = pytest.mark.usefixtures("panel_home")

UNLOCK = "extended_assist__perform_action"
LOCKS = ["lock.front_door", "lock.openable_lock"]


async def test_a_second_yes_is_to_what_was_shown(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, admin: User
) -> None:
    """What is asked anew, because it has changed, is another question: a yes in another tab is to the one shown there."""
    send, tab = await as_user(admin), await as_user(admin)
    arguments = {"action": "lock.unlock", "target": {"entity_id": LOCKS}}
    asked = await send("tools/call", entry=panel_home.entry_id, tool=UNLOCK, arguments=arguments)
    (shown,) = await tab("questions/list")
    assert shown["id"] == asked["question"]["id"]
    hass.states.async_set(LOCKS[1], "locked", {"friendly_name": "Back Door of the Safe"})
    again = await send("questions/answer", question=shown["id"], agreed=True)
    assert "Safe" in again["question"]["text"]
    assert "Safe" not in shown["text"]
    with pytest.raises(Refused, match="panel_gone"):
        await tab("questions/answer", question=shown["id"], agreed=True)
    assert hass.states.is_state(LOCKS[0], "locked")
    assert (await tab("questions/answer", question=again["question"]["id"], agreed=True))["done"]
    await hass.async_block_till_done()
    assert hass.states.is_state(LOCKS[0], "unlocked")


async def test_nobody_is_crowded_out(
    as_user: As, act: Act, panel_home: MockConfigEntry, admin: User, anna: User
) -> None:
    """However much one user has themselves asked, what another one was asked still waits."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    send, other = await as_user(admin), await as_user(anna)
    arguments = {"action": "lock.unlock", "target": {"entity_id": LOCKS[0]}}
    asked = await send("tools/call", entry=panel_home.entry_id, tool=UNLOCK, arguments=arguments)
    (change,) = await other("journal/list")
    for _ in range(manual_calls.MAX_WAITING + 2):
        await other("journal/undo", change=change["id"])
    assert len(await other("questions/list")) == manual_calls.MAX_WAITING
    assert [row["id"] for row in await send("questions/list")] == [asked["question"]["id"]]


async def test_undoing_is_told_as_undoing(hass: HomeAssistant, as_user: As, act: Act, anna: User) -> None:
    """What is taken back in the panel is told to automations as what is taken back by asking for it."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    told = async_capture_events(hass, EVENT_AGENT)
    send = await as_user(anna)
    (change,) = await send("journal/list")
    asked = await send("journal/undo", change=change["id"])
    await send("questions/answer", question=asked["question"]["id"], agreed=True)
    await hass.async_block_till_done()
    assert [event.data["kind"] for event in told] == ["asked", "undone"]


@pytest.mark.parametrize("whose", ["me", "household"])
async def test_what_is_remembered_is_told_nowhere(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, whose: str
) -> None:
    """That something was remembered is told to nobody, and so is that it is forgotten again."""
    context = llm.LLMContext(DOMAIN, Context(user_id=anna.id), "en", "conversation", None)
    tool = RememberTool(ToolboxOptions.of(panel_home.options | {"memory_elsewhere": True}))
    told = async_capture_events(hass, EVENT_AGENT)
    result = await tool.async_call(
        hass, llm.ToolInput(tool.name, {"fact": "The safe is behind the picture.", "whose": whose}), context
    )
    assert not result.error, result.data
    send = await as_user(anna)
    (change,) = await send("journal/list")
    asked = await send("journal/undo", change=change["id"])
    assert (await send("questions/answer", question=asked["question"]["id"], agreed=True))["done"]
    await hass.async_block_till_done()
    assert told == []


@in_one_home("language", ["../strings", "en\0", "de/../en", "e", "x" * 21, "en\n"])
async def test_language_is_no_path(as_user: As, admin: User, language: str) -> None:
    """A language is one: it names the file with its texts."""
    with pytest.raises(Refused, match="invalid_format"):
        await (await as_user(admin))("journal/list", language=language)


async def test_languages(as_user: As, admin: User) -> None:
    """Those that Home Assistant has are understood, with script or country, too."""
    send = await as_user(admin)
    for language in ("en", "pt-BR", "zh-Hans", "sr-Latn", "es-419", "gsw"):
        assert await send("journal/list", language=language) == []


async def test_deep_arguments(as_user: As, panel_home: MockConfigEntry, admin: User) -> None:
    """Arguments deeper than anybody writes are refused, and nothing is logged of them."""
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(Refused, match="invalid_format"):
        await (await as_user(admin))("tools/call", entry=panel_home.entry_id, tool=UNLOCK, arguments=deep)


@in_one_home(
    ("event_type", "data"),
    product(
        (EVENT_AGENT, EVENT_HAPPENED, EVENT_LOOKED),
        ({}, {"kind": 5}, {"kind": "acted", "actions": None, "targets": None, "name": None}),
    ),
)
async def test_events_of_others(hass: HomeAssistant, event_type: str, data: dict[str, Any]) -> None:
    """An event that an automation of the user's fires under our name does not keep the logbook from being read."""
    described = {}
    async_describe_events(hass, lambda domain, name, describe: described.update({name: describe}))
    told = async_capture_events(hass, event_type)
    hass.bus.async_fire(event_type, data)
    await hass.async_block_till_done()
    assert isinstance(described[event_type](told[0])["message"], str)


async def test_a_wish_is_ended_under_the_rules_of_its_entry(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User, admin: User
) -> None:
    """Where its own entry lets administrators alone act, another entry with fewer rules ends it for nobody else."""
    second = await async_set_up_home(hass, {"families": ["wishes"], "who_may_control": "admin"}, title="Second")
    of_first, of_second = make_task(panel_home, "Water the plants"), make_task(second, "Feed the cat")
    for one in (of_first, of_second):
        await (await async_get_scheduled_tasks(hass)).async_add(one)
    send = await as_user(anna)
    refused = await send("wishes/cancel", wish=of_second.id)
    assert "administrator" in refused["answer"]
    assert of_second.is_standing
    assert (await send("wishes/cancel", wish=of_first.id))["done"]
    assert (await (await as_user(admin))("wishes/cancel", wish=of_second.id))["done"]
    assert not (await send("wishes/cancel", wish="no such wish"))["done"]


async def test_somebody_who_was_removed(hass: HomeAssistant, as_user: As, act: Act, admin: User, anna: User) -> None:
    """What a user asked for who is not there any more is told apart from what nobody known asked for."""
    await act(anna, "input_boolean.turn_on", "input_boolean.party")
    await act(None, "input_boolean.turn_off", "input_boolean.party")
    await hass.auth.async_remove_user(anna)
    rows = await (await as_user(admin))("journal/list")
    assert [(row["user"], row["user_gone"]) for row in rows] == [(None, False), (None, True)]


async def test_so_is_what_brings_it_back(
    hass: HomeAssistant, as_user: As, panel_home: MockConfigEntry, anna: User
) -> None:
    """Undo keeps to the rules of the task's entry as well, as these are now."""
    second = await async_set_up_home(hass, {"families": ["wishes"]}, title="Second")
    one = make_task(second, "Feed the cat")
    await (await async_get_scheduled_tasks(hass)).async_add(one)
    send = await as_user(anna)
    assert (await send("wishes/cancel", wish=one.id))["done"]
    (change,) = await send("journal/list")
    hass.config_entries.async_update_entry(second, options={"families": ["wishes"], "who_may_control": "admin"})
    await hass.async_block_till_done()
    refused = await send("journal/undo", change=change["id"])
    assert "question" not in refused
    assert "administrator" in refused["answer"]
