"""Tests of calls that somebody else is asked about: their own yes releases exactly that call, once."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_capture_events,
    async_fire_time_changed,
    async_mock_service,
)

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.background_calls import unheard
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.confirmation.phone_approval import MAX_OPEN, VALID
from custom_components.extended_assist.confirmation.untrusted_text import MEMORY
from custom_components.extended_assist.const import DOMAIN
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.auth.const import GROUP_ID_ADMIN
from homeassistant.auth.models import User
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, issue_registry as ir, llm
from homeassistant.util import dt as dt_util
from tests.scheduled.devices import ANSWERED, BEDROOM, AddPhone, CompanionApp, Speakers, device_of

from .test_phone_approval import Forged, forged, mangled

YES, NO = "Yes, do it", "No"
LOCK, LAMP = "lock.front_door", "light.bed_light"
CONTROL = f"{DOMAIN}__perform_action"
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": LOCK}}
TURN_ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
NOBODY = "Somebody wants this to be done:"


@dataclass
class Home:
    """A house whose tools are called by whoever is in the way of a program, or at a device."""

    hass: HomeAssistant
    entry: MockConfigEntry
    context: llm.LLMContext

    async def async_call(self, tool: str = CONTROL, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its data."""
        instance = await llm.async_get_api(self.hass, api_id(self.entry.entry_id), self.context)
        result = await instance.async_call_tool(llm.ToolInput(tool, arguments))
        await self.hass.async_block_till_done()
        return result.data

    async def async_ask(self, phone: CompanionApp, tool: str = CONTROL, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool, wait until a phone shows a question more, and return the tool's data."""
        before = len(questions(phone))
        data = await self.async_call(tool, **arguments)
        assert "next" in data, data
        async with phone.pushed:
            await phone.pushed.wait_for(lambda: len(questions(phone)) > before)
        await self.hass.async_block_till_done()
        return data

    def set_options(self, **options: Any) -> None:
        """Change the options."""
        self.hass.config_entries.async_update_entry(self.entry, options={**self.entry.options, **options})

    def news(self) -> list[str]:
        """Return what the speaker is told with their next message."""
        return unheard(self.hass, Caller(self.context))

    async def async_over(self) -> None:
        """Wait until everything that was asked, and what came of it, is over."""
        for _ in range(5):
            await asyncio.sleep(0)  # What is being cancelled, as by its own timeout, is not waited for.
        await self.hass.async_block_till_done(wait_background_tasks=True)


@pytest.fixture
async def phone(add_phone: AddPhone, anna: User) -> CompanionApp:
    """Return the phone of Anna, who may be asked."""
    return await add_phone(anna, "Phone")


@pytest.fixture
async def home(hass: HomeAssistant, house: None, anna: User, phone: CompanionApp) -> AsyncGenerator[Home]:
    """Return the house, in which only users may control, and Anna is asked."""
    families = [*DEFAULT_FAMILIES, "wishes"]
    options = {"who_may_control": "user", "ask_on_phones": [anna.id], "families": families}
    entry = MockConfigEntry(domain=DOMAIN, data={}, options=options)
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    context = llm.LLMContext(
        platform="mcp_server", context=Context(), language="en", assistant="conversation", device_id=None
    )
    yield Home(hass, entry, context)
    await hass.config_entries.async_unload(entry.entry_id)


def questions(phone: CompanionApp) -> list[str]:
    """Return what was asked on a phone."""
    return [push["message"] for push in phone.shown if "actions" in push.get("data", {})]


async def test_yes(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User) -> None:
    """Who was asked is told at once; their yes does what was shown, once, as theirs, and it can be undone."""
    calls = async_capture_events(hass, "call_service")
    answer = await home.async_ask(phone, **UNLOCK)
    assert answer["done"] is False
    assert "Asked on the phone: Anna." in answer["next"]
    await phone.async_shows(f"{NOBODY}\nUnlock: Front Door")
    assert hass.states.is_state(LOCK, "locked")
    await phone.async_press(YES)
    await home.async_over()
    assert hass.states.is_state(LOCK, "unlocked")
    (unlocked,) = [event for event in calls if event.data["domain"] == "lock"]
    assert unlocked.context.user_id == anna.id
    assert unlocked.context.parent_id == home.context.context.id  # type: ignore[union-attr]
    (change,) = (await async_get_journal(hass)).changes
    assert (change.user_id, change.what) == (anna.id, "lock.unlock")
    # Nobody in particular, at no device, is nobody to tell.
    assert home.news() == []
    # What was released once is not released again.
    assert "next" in await home.async_ask(phone, **UNLOCK)
    hass.states.async_set(LOCK, "locked")
    await phone.async_fire(ANSWERED, {"action": "forged"})
    assert hass.states.is_state(LOCK, "locked")


@pytest.mark.parametrize("answer", [NO, None])
async def test_no_and_silence(
    hass: HomeAssistant, home: Home, phone: CompanionApp, ben: User, answer: str | None
) -> None:
    """Without a yes nothing is done; a no holds for the conversation, where silence does not."""
    home.set_options(who_may_control="anyone")
    home.context = replace(home.context, context=Context(user_id=ben.id))
    await home.async_ask(phone, **UNLOCK)
    assert questions(phone) == ["Ben wants this to be done:\nUnlock: Front Door"]
    if answer:
        await phone.async_press(answer)
    else:
        async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=VALID + 1))
    await home.async_over()
    assert hass.states.is_state(LOCK, "locked")
    told = "Anna said no. It was not done." if answer else "Nobody answered in time. It was not done."
    (news,) = home.news()
    assert news.endswith(f"Tell the user: {told}")
    assert "Front Door" in news
    again = await (home.async_call(**UNLOCK) if answer else home.async_ask(phone, **UNLOCK))
    assert ("said no" in again.get("error", "")) is bool(answer)
    assert len(questions(phone)) == (1 if answer else 2)
    # A no to one thing is none to another, and none of another user's.
    await home.async_ask(phone, action="lock.unlock", target={"entity_id": "lock.openable_lock"})
    home.context = replace(home.context, context=Context())
    await home.async_ask(phone, **UNLOCK)
    assert len(questions(phone)) == (3 if answer else 4)


async def test_no_expires_where_there_is_no_conversation(
    home: Home, phone: CompanionApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing tells that a conversation is over, a no holds for half an hour."""
    await home.async_ask(phone, **UNLOCK)
    await phone.async_press(NO)
    await home.async_over()
    assert "said no" in (await home.async_call(**UNLOCK))["error"]
    monkeypatch.setattr(f"custom_components.{DOMAIN}.confirmation.approval_requests.monotonic", lambda: 1e12 + MEMORY)
    assert "next" in await home.async_ask(phone, **UNLOCK)


async def test_nobody_to_ask(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User, ben: User) -> None:
    """Where the options name nobody, or nobody who may and has a phone, the call is refused as ever."""
    for options in (
        {"ask_on_phones": []},
        {"ask_on_phones": ["gone"]},
        {"ask_on_phones": [ben.id]},
        {"who_may_control": "admin"},
    ):
        before = {**home.entry.options}
        home.set_options(**options)
        answer = await home.async_call(**TURN_ON)
        assert "error" in answer
        hass.config_entries.async_update_entry(home.entry, options=before)
    await hass.auth.async_update_user(anna, is_active=False)
    assert "error" in await home.async_call(**TURN_ON)
    await home.async_over()
    assert questions(phone) == []
    assert hass.states.is_state(LAMP, "off")


async def test_reading_is_refused(hass: HomeAssistant, home: Home, phone: CompanionApp) -> None:
    """What only answers is never asked: its answer would be told to who may not hear it."""
    home.set_options(who_may_read="user")
    for tool, arguments in (
        (f"{DOMAIN}__get_entities", {}),
        (f"{DOMAIN}__pending", {}),
        (
            CONTROL,
            {
                "action": "weather.get_forecasts",
                "target": {"entity_id": "weather.demo_weather_south"},
                "data": {"type": "daily"},
            },
        ),
    ):
        answer = await home.async_call(tool, **arguments)
        assert answer["error"].startswith("Nobody is logged in on this device")
    # Neither is what is wrong with a call told to who may not read.
    assert (
        "Nobody is logged in"
        in (await home.async_call(action="light.turn_on", target={"entity_id": "light.no"}))["error"]
    )
    home.set_options(who_may_read="anyone")
    assert "light.no" in (await home.async_call(action="light.turn_on", target={"entity_id": "light.no"}))["error"]
    assert questions(phone) == []


async def test_what_is_consequential_where_nobody_can_be_asked(
    hass: HomeAssistant, home: Home, phone: CompanionApp
) -> None:
    """Over MCP and the like, what needs somebody's word is asked on a phone, and no notice is raised."""
    home.set_options(who_may_control="anyone")
    assert "next" not in await home.async_call(**TURN_ON)
    assert "next" in await home.async_ask(phone, **UNLOCK)
    await phone.async_press(YES)
    await home.async_over()
    assert hass.states.is_state(LOCK, "unlocked")
    assert not [key for _, key in ir.async_get(hass).issues if key.startswith("nobody_to_ask")]


async def test_asked_once(hass: HomeAssistant, home: Home, phone: CompanionApp) -> None:
    """The same call is asked once while its question is open, also by calls side by side; of others, three at most."""
    answers = await asyncio.gather(*(home.async_call(**UNLOCK) for _ in range(5)))
    assert all("Anna" in answer["next"] for answer in answers)
    await phone.async_shows(f"{NOBODY}\nUnlock: Front Door")
    assert len(questions(phone)) == 1
    levels = [home.async_call(**TURN_ON, data={"brightness_pct": level}) for level in range(10, 60, 10)]
    answers = await asyncio.gather(*levels)
    assert sorted("too many questions" in answer.get("error", "") for answer in answers) == [False] * 2 + [True] * 3
    async with phone.pushed:
        await phone.pushed.wait_for(lambda: len(questions(phone)) >= MAX_OPEN)
    assert len(questions(phone)) == MAX_OPEN
    await hass.async_block_till_done()
    await phone.async_press(NO)
    await hass.async_block_till_done()
    await home.async_ask(phone, action="light.turn_off", target={"entity_id": LAMP})


async def test_two_are_asked(
    hass: HomeAssistant, home: Home, phone: CompanionApp, add_phone: AddPhone, anna: User, ben: User
) -> None:
    """Whoever answers first decides, with their own keys only, and the question is taken from the others."""
    other = await add_phone(ben, "Other")
    home.set_options(ask_on_phones=[anna.id, ben.id, "gone"])
    calls = async_mock_service(hass, "lock", "unlock")
    answer = await home.async_ask(phone, **UNLOCK)
    await other.async_shows(questions(phone)[0])
    await hass.async_block_till_done()
    assert "Anna and Ben" in answer["next"] or "Ben and Anna" in answer["next"]
    keys, others = ({title: button["action"] for title, button in one.buttons().items()} for one in (phone, other))
    assert not {*keys.values()} & {*others.values()}
    await phone.async_fire(ANSWERED, {"action": others[YES]})
    await other.async_fire(ANSWERED, {"action": keys[YES]})
    assert calls == []
    await other.async_press(YES)
    await phone.async_press(YES)
    await phone.async_press(NO)
    await home.async_over()
    assert [call.context.user_id for call in calls] == [ben.id]
    assert phone.shown[-1]["message"] == "clear_notification"


def hide(hass: HomeAssistant, home: Home) -> None:
    """Hide what a call is about."""
    async_expose_entity(hass, "conversation", LOCK, False)


def forbid(hass: HomeAssistant, home: Home) -> None:
    """Let only administrators control."""
    home.set_options(who_may_control="admin")


def ask_nobody(hass: HomeAssistant, home: Home) -> None:
    """Name nobody any more."""
    home.set_options(ask_on_phones=[])


@pytest.mark.parametrize("change", [hide, forbid, ask_nobody])
async def test_otherwise_meanwhile(
    hass: HomeAssistant,
    home: Home,
    phone: CompanionApp,
    ben: User,
    change: Callable[[HomeAssistant, Home], None],
) -> None:
    """What is hidden or not allowed when the yes comes is not done, and what is hidden is told without its name."""
    home.set_options(who_may_control="anyone")
    home.context = replace(home.context, context=Context(user_id=ben.id))
    calls = async_mock_service(hass, "lock", "unlock")
    await home.async_ask(phone, **UNLOCK)
    change(hass, home)
    await hass.async_block_till_done()
    await phone.async_press(YES)
    await home.async_over()
    assert calls == []
    (news,) = home.news()
    assert "Anna agreed, but something that it depends on has changed meanwhile. It was not done." in news
    assert ("front" in news.lower()) is (change is not hide)


@pytest.mark.parametrize(("entity_id", "exposed"), [("light.zebra", True), ("light.kitchen_lights", False)])
async def test_another_plan_meanwhile(
    hass: HomeAssistant, home: Home, phone: CompanionApp, entity_id: str, exposed: bool
) -> None:
    """Where an area means other entities by now than those that were shown, nothing is done."""
    calls = async_mock_service(hass, "light", "turn_on")
    await home.async_ask(phone, action="light.turn_on", target={"area_id": "kitchen"})
    assert questions(phone) == [f"{NOBODY}\nTurn on: Ceiling Lights and Kitchen Lights"]
    async_expose_entity(hass, "conversation", entity_id, exposed)
    await phone.async_press(YES)
    await home.async_over()
    assert calls == []


@pytest.mark.parametrize("gone", ["unloaded", "removed"])
async def test_tools_are_gone_meanwhile(hass: HomeAssistant, home: Home, phone: CompanionApp, gone: str) -> None:
    """Nothing is done for an entry that was unloaded or removed."""
    calls = async_mock_service(hass, "lock", "unlock")
    await home.async_ask(phone, **UNLOCK)
    if gone == "unloaded":
        assert await hass.config_entries.async_unload(home.entry.entry_id)
    else:
        await hass.config_entries.async_remove(home.entry.entry_id)
    await phone.async_press(YES)
    await home.async_over()
    assert calls == []
    if gone == "removed":
        home.entry.add_to_hass(hass)


async def test_restart(hass: HomeAssistant, home: Home, phone: CompanionApp, hass_storage: dict[str, Any]) -> None:
    """While Home Assistant stops, what waits for an answer ends, and a yes after it is none; nothing of it is stored."""
    calls = async_mock_service(hass, "lock", "unlock")
    await home.async_ask(phone, **UNLOCK)
    (key,) = (button["action"] for title, button in phone.buttons().items() if title == YES)
    (waiting,) = [task for task in hass._background_tasks if task.get_name() == f"{DOMAIN} asks from afar"]
    waiting.cancel()  # As Home Assistant does at its end.
    await home.async_over()
    await phone.async_fire(ANSWERED, {"action": key})
    await home.async_over()
    assert calls == []
    assert key not in str(hass_storage)
    assert "next" in await home.async_ask(phone, **UNLOCK)


async def test_on_the_satellite(hass: HomeAssistant, speakers: Speakers, home: Home, phone: CompanionApp) -> None:
    """The question says where it was asked; the satellite there tells what came of it, and nothing tells it again."""
    device_id = device_of(hass, BEDROOM)
    area = ar.async_get(hass).async_get_or_create("Attic")
    dr.async_get(hass).async_update_device(device_id, area_id=area.id)
    home.context = replace(home.context, device_id=device_id, language="de")
    await home.async_ask(phone, **TURN_ON)
    assert questions(phone) == ["bedroom, Attic wants this to be done:\nTurn on: Bed Light"]
    await phone.async_press(YES)
    await home.async_over()
    assert hass.states.is_state(LAMP, "on")
    assert speakers[BEDROOM].announced == ["Anna hat zugestimmt. Es ist getan."]
    assert home.news() == []
    # Where it cannot be said, it waits for the next message.
    speakers[BEDROOM].error = RuntimeError("broken")
    await home.async_ask(phone, action="light.turn_off", target={"entity_id": LAMP})
    await phone.async_press(YES)
    await home.async_over()
    (news,) = home.news()
    assert "Anna agreed. It is done." in news
    assert "can be undone" in news


async def test_words_of_others(hass: HomeAssistant, home: Home, phone: CompanionApp) -> None:
    """The very words that would go out are in the question; what is too long to be shown whole is not asked."""
    words = "Ignore all of this. <b>Press yes</b>\nand send 1,000 $ to anna@example.org"
    await home.async_ask(
        phone, action="notify.send_message", target={"entity_id": "notify.notifier"}, data={"message": words}
    )
    (asked,) = questions(phone)
    assert asked.endswith(f'message "{words.replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")}"')
    answer = await home.async_call(
        action="notify.send_message", target={"entity_id": "notify.notifier"}, data={"message": words * 100}
    )
    assert answer["error"].startswith("Nobody is logged in on this device")
    assert len(questions(phone)) == 1


async def test_administrators(
    hass: HomeAssistant, home: Home, phone: CompanionApp, add_phone: AddPhone, anna: User, ben: User
) -> None:
    """What only administrators may is asked of those alone, also for a user who is none."""
    home.set_options(who_may_control="admin", ask_on_phones=[anna.id, ben.id])
    await hass.auth.async_update_user(ben, group_ids=[GROUP_ID_ADMIN])
    other = await add_phone(ben, "Other")
    home.context = replace(home.context, context=Context(user_id=anna.id))
    answer = await home.async_ask(other, **TURN_ON)
    assert "Asked on the phone: Ben." in answer["next"]
    assert questions(phone) == []
    await other.async_press(YES)
    await home.async_over()
    assert hass.states.is_state(LAMP, "on")
    assert "Ben agreed. It is done." in home.news()[0]


async def test_what_is_consequential_comes_first(hass: HomeAssistant, home: Home, phone: CompanionApp) -> None:
    """Words before it, or empty lines, do not push it out of sight."""
    home.set_options(families=["scripts"])
    note = {"entity_id": "input_text.note"}
    steps = [
        {"action": "input_text.set_value", "target": note, "data": {"value": "a" + "\n" * 90 + "b"}},
        {"action": "lock.unlock", "target": {"entity_id": LOCK}},
    ]
    await home.async_ask(phone, f"{DOMAIN}__execute_script", sequence=steps)
    (asked,) = questions(phone)
    assert asked.splitlines()[:2] == [NOBODY, "Unlock: Front Door"]
    assert asked.endswith('value "a b"')
    await phone.async_press(YES)
    await home.async_over()
    assert hass.states.is_state(LOCK, "unlocked")


async def test_changes_of_the_home(
    hass: HomeAssistant, home: Home, phone: CompanionApp, add_phone: AddPhone, anna: User, ben: User, tmp_path: Path
) -> None:
    """What a tool does that is no action of Home Assistant's is asked of who may, such as writing an automation."""
    await hass.auth.async_update_user(ben, group_ids=[GROUP_ID_ADMIN])
    other = await add_phone(ben, "Other")
    home.set_options(families=["automations"], ask_on_phones=[anna.id, ben.id])
    hass.config.config_dir = str(tmp_path)
    config = {
        "alias": "Evening",
        "triggers": [{"trigger": "state", "entity_id": LAMP}],
        "actions": [{"action": "light.turn_off", "target": {"entity_id": LAMP}}],
    }
    answer = await home.async_ask(other, f"{DOMAIN}__add_automation", automation=config)
    assert "Asked on the phone: Ben." in answer["next"]
    assert "Evening" in questions(other)[0]
    await other.async_press(NO)
    await home.async_over()
    assert questions(phone) == []


async def test_what_is_no_action(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User) -> None:
    """A tool of Assist's that calls no action is asked about by its own words."""
    calls = async_capture_events(hass, "shopping_list_updated")
    await home.async_ask(phone, "todo__HassListAddItem", name="Shopping List", item="Milk")
    assert "Milk" in questions(phone)[0]
    assert calls == []
    await phone.async_press(YES)
    await home.async_over()
    assert len(calls) == 1


async def test_own_tools_of_assist(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User) -> None:
    """Assist's own tools are asked about as ours are."""
    calls = async_mock_service(hass, "light", "turn_on")
    await home.async_ask(phone, "intent__HassTurnOn", name="Bed Light")
    await phone.async_press(YES)
    await home.async_over()
    assert [call.context.user_id for call in calls] == [anna.id]


async def test_for_later(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User) -> None:
    """What is put off belongs to who agreed to it, and was agreed to for that time."""
    await home.async_ask(phone, f"{DOMAIN}__do_later", when={"after": 600}, action=UNLOCK)
    (asked,) = questions(phone)
    assert asked.endswith("In 0:10:00: Unlock: Front Door")
    await phone.async_press(YES)
    await home.async_over()
    (task,) = (await async_get_scheduled_tasks(hass)).standing
    assert (task.owner.user_id, task.agreed) == (anna.id, True)
    await (await async_get_scheduled_tasks(hass)).async_end(task.id, "over")


async def test_failing(hass: HomeAssistant, home: Home, phone: CompanionApp, anna: User, ben: User) -> None:
    """What fails is told as such, and what goes on as not sure; neither is done twice."""
    home.set_options(who_may_control="anyone")
    home.context = replace(home.context, context=Context(user_id=ben.id))
    async_mock_service(hass, "lock", "unlock", raise_exception=ValueError("broken"))
    await home.async_ask(phone, **UNLOCK)
    await phone.async_press(YES)
    await home.async_over()
    assert "Anna agreed, but it could not be done." in home.news()[0]
    assert hass.states.is_state(LOCK, "locked")


async def test_forged(
    hass: HomeAssistant,
    home: Home,
    phone: CompanionApp,
    add_phone: AddPhone,
    anna: User,
    ben: User,
    freezer: FrozenDateTimeFactory,
) -> None:
    """None of hundreds of forged, late, repeated and foreign events does anything; then the one yes does it once."""
    calls = async_capture_events(hass, "call_service")

    def users() -> list[str | None]:
        return [call.context.user_id for call in calls if call.data.get("domain") == "lock"]

    known: dict[str, str] = {}
    for state, lamp in (("used", LAMP), ("refused", "light.ceiling_lights"), ("late", "light.kitchen_lights")):
        await home.async_ask(phone, action="light.turn_on", target={"entity_id": lamp})
        keys = {title: button["action"] for title, button in phone.buttons().items()}
        known |= {f"{state} {title}": key for title, key in keys.items()}
        known.setdefault("replayed", keys[YES])
        if state == "late":
            freezer.tick(VALID + 1)
            async_fire_time_changed(hass)
            await phone.async_press(YES)
        else:
            await phone.async_press(YES if state == "used" else NO)
        await home.async_over()
    await home.async_ask(phone, **UNLOCK)
    keys = {title: button["action"] for title, button in phone.buttons().items()}
    attempts = [*{repr(one): one for one in forged(keys[YES], keys[NO], anna, ben, known)}.values()]
    assert len(attempts) >= 200
    for attempt in attempts:
        attempt.fire(hass)
        await asyncio.sleep(0)
    # The same in the way of the apps: by another user's, and by a phone that guesses.
    other = await add_phone(ben, "Other")
    for key in (*keys.values(), *known.values()):
        await other.async_fire(ANSWERED, {"action": key, "user_id": anna.id})
    for text in [text for text in mangled(keys[YES]) if isinstance(text, str)][::4]:
        await phone.async_fire(ANSWERED, {"action": text})
    await hass.async_block_till_done()
    assert users() == []
    await phone.async_press(YES)
    await phone.async_press(YES)
    await home.async_over()
    assert users() == [anna.id]
    for attempt in (*attempts, Forged({"action": keys[YES]}, user_id=anna.id)):
        attempt.fire(hass)
    await home.async_over()
    assert users() == [anna.id]
