"""Questions that our agent speaks, and answers that code hears, with a model that calls whatever it is told to call."""

from collections.abc import Awaitable, Callable
import json
from types import MappingProxyType
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser

from custom_components.extended_assist.confirmation import question
from custom_components.extended_assist.const import CONF_ASK_FIRST, CONF_FAMILIES
from custom_components.extended_assist.flows.agent import default_agent
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from homeassistant.components import conversation, intent as intents
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import area_registry as ar, device_registry as dr, entity_registry as er
from homeassistant.setup import async_setup_component
from tests.claude.sent import assert_append_only, blocks_of
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, thinking, tool_use
from tests.conftest import AGENT, ASSISTANT, MODEL
from tests.helpers.slow import SlowLock, add
from tests.helpers.talking import LOOK_LIKE_YES, FindLog, assert_every_call_has_a_result, change_agent, speech

pytestmark = pytest.mark.usefixtures("no_deprecations", "house")

PERFORM = "extended_assist__perform_action"
SEQUENCE = "extended_assist__execute_script"
DOOR, LAMP, WINDOW = "lock.front_door", "light.bed_light", "cover.hall_window"
CEILING = "light.ceiling_lights"
ASKING = ["perform_action", "execute_script", "undo_last_change", "do_later", "pending", "intent__HassTurnOff"]


def perform(action: str, entity_id: str | list[str], **more: Any) -> dict[str, Any]:
    """Return a call of an action."""
    return tool_use(PERFORM, {"action": action, "target": {"entity_id": entity_id}, **more})


def in_ten_minutes(action: str, entity_id: str) -> dict[str, Any]:
    """Return a call of an action for later."""
    target = {"entity_id": entity_id}
    later = {"when": {"after": 600}, "action": {"action": action, "target": target}}
    return tool_use("extended_assist__do_later", later)


UNLOCK = perform("lock.unlock", DOOR)
ON = perform("light.turn_on", LAMP)
OPEN = perform("cover.close_cover", WINDOW)
SO_BE_IT = Turn([text("So be it.")])

type Say = Callable[..., Awaitable[conversation.ConversationResult]]


@pytest.fixture
async def ask_first(hass: HomeAssistant, entry: MockConfigEntry) -> Callable[..., Awaitable[None]]:
    """Return a function that sets which tools ask first; at first all that act."""
    assert await async_setup_component(hass, "intent", {})

    async def set_option(*names: str) -> None:
        options = {CONF_FAMILIES: ["actions", "wishes", "scripts", "entities"], CONF_ASK_FIRST: list(names)}
        hass.config_entries.async_update_entry(entry, options=options)
        await hass.async_block_till_done()

    await set_option(*ASKING)
    return set_option


@pytest.fixture
def say(hass: HomeAssistant, ask_first: object, claude_server: ClaudeServer, hass_admin_user: MockUser) -> Say:
    """Return a function that goes on with one conversation; turns are what the model answers."""
    conversation_ids: list[str | None] = [None]

    async def speak(words: str, *turns: Turn, **more: Any) -> conversation.ConversationResult:
        claude_server.responder = Scenario(list(turns))
        result = await conversation.async_converse(
            hass,
            words,
            more.get("conversation_id", conversation_ids[-1]),
            Context(user_id=more.get("user_id", hass_admin_user.id)),
            language=more.get("language", "en"),
            agent_id=AGENT,
            device_id=more.get("device_id"),
        )
        await hass.async_block_till_done()
        conversation_ids.append(result.conversation_id)
        return result

    return speak


def results(server: ClaudeServer) -> list[dict[str, Any]]:
    """Return the results that the model has read in its last request."""
    return [
        json.loads(block["content"])
        for message in server.message_requests[-1]["messages"]
        for block in blocks_of(message["content"])
        if block["type"] == "tool_result"
    ]


def is_locked(hass: HomeAssistant) -> bool:
    """Return whether nothing has moved the door."""
    return hass.states.is_state(DOOR, "locked")


@pytest.mark.parametrize("thinks", [False, True])
async def test_a_yes_does_it_at_once(
    hass: HomeAssistant,
    say: Say,
    claude_server: ClaudeServer,
    entry: MockConfigEntry,
    chat_log: FindLog,
    thinks: bool,
) -> None:
    """The question is spoken without the model, and the yes is heard without it; then the rest of the task goes on."""
    before = [thinking("A door.")] if thinks else []
    await say("Hello", Turn([*before, text("Hi.")]))
    result = await say("Unlock the door, then play music", Turn([*before, text("One moment."), UNLOCK]))
    assert speech(result) == "Unlock: Front Door.\nShall I do that?"
    assert result.continue_conversation
    assert is_locked(hass)
    assert len(claude_server.message_requests) == 2
    music = tool_use(PERFORM, {"action": "light.turn_on", "target": {"entity_id": LAMP}})
    await say("Yes, please!", Turn([music]))
    assert hass.states.is_state(DOOR, "unlocked")
    (asked, done) = results(claude_server)
    assert asked["done"] is False
    assert "unlocked" in done["entities"][DOOR]
    last = await say("Yes", Turn([*before, text("The door is open and the light is on.")]))
    assert hass.states.is_state(LAMP, "on")
    assert speech(last) == "The door is open and the light is on."
    assert claude_server.refusals == []
    assert_append_only(claude_server.message_requests)
    assert_every_call_has_a_result(chat_log(result.conversation_id))


async def test_manual_thinking(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer, entry: MockConfigEntry
) -> None:
    """A model that must think before it calls is not made to go on from calls that it did not think about."""
    await change_agent(hass, entry, model="claude-haiku-4-5-20251001", thinking="enabled")
    await say("Unlock the door", Turn([thinking("A door."), UNLOCK]))
    assert claude_server.message_requests[-1]["thinking"]["type"] == "enabled"
    assert speech(await say("Yes", Turn([text("Open.")]))) == "Open."
    assert hass.states.is_state(DOOR, "unlocked")
    assert speech(await say("Thanks", Turn([thinking("Well."), text("Fine.")]))) == "Fine."
    assert claude_server.refusals == []


@pytest.mark.parametrize("no", ["No!! Do not unlock the door.", "nein lass das", "Rather not.", "stop"])
async def test_a_no_confirms_nothing(hass: HomeAssistant, say: Say, claude_server: ClaudeServer, no: str) -> None:
    """The model calls again all the same, twice, and through Assist's intent: it is refused, and told why."""
    await say("Unlock the door", Turn([UNLOCK]))
    again = tool_use("intent__HassTurnOff", {"name": "Front Door"})
    result = await say(no, Turn([UNLOCK]), Turn([UNLOCK, again]), SO_BE_IT, language="de")
    assert is_locked(hass)
    assert speech(result) == "So be it."
    assert all("said no" in refused["error"] for refused in results(claude_server)[1:])
    assert len(results(claude_server)) == 4
    (note,) = [
        block["text"]
        for message in claude_server.message_requests[-1]["messages"]
        for block in blocks_of(message["content"])
        if block["type"] == "text" and "said no" in block["text"]
    ]
    assert "Front Door" in note
    assert claude_server.refusals == []


async def test_a_no_holds_for_other_ways(hass: HomeAssistant, say: Say, claude_server: ClaudeServer) -> None:
    """What would come to the same, or may, is refused as well."""
    await say("Close the window", Turn([OPEN]))
    await say("No", Turn([perform("cover.toggle", WINDOW)]), SO_BE_IT)
    assert "said no" in results(claude_server)[-1]["error"]


@pytest.mark.parametrize(
    "again", [perform("lock.open", "lock.openable_lock"), tool_use("intent__HassTurnOff", {"name": "Openable Lock"})]
)
async def test_a_no_to_unlocking_holds_for_opening(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer, again: dict[str, Any]
) -> None:
    """Whatever else is consequential for the lock is refused in this turn."""
    await say("Unlock the door", Turn([perform("lock.unlock", "lock.openable_lock")]))
    assert speech(await say("No!", Turn([again]), SO_BE_IT)) == "So be it."
    assert "said no" in results(claude_server)[-1]["error"]
    assert hass.states.is_state("lock.openable_lock", "locked")


async def test_a_question_names_the_option_that_ends_it(
    hass: HomeAssistant, say: Say, ask_first: Callable[..., Awaitable[None]]
) -> None:
    """Where it can be read, and only about a cover whose kind nobody has set; to a speaker it is left out."""
    await ask_first("execute_script")
    opened = Turn([perform("cover.open_cover", WINDOW)])
    option = 'If Hall Window opens no door or gate: options, "Consequential actions that need not ask".'
    asked = await say("Open it", opened)
    assert speech(asked) == f"Open cover: Hall Window.\n{option}\nShall I do that?"
    heard = await say("Open it", opened, device_id="speaker", conversation_id=None)
    assert speech(heard) == "Open cover: Hall Window.\nShall I do that?"


async def test_another_lock_with_the_id_is_asked_about(hass: HomeAssistant, say: Say) -> None:
    """Between the question and the yes, another lock gets the id and the name: the yes was not to that one."""
    lock = SlowLock("lock.shed", 0)
    lock._attr_unique_id = "one"
    await add(hass, lock)
    await say("Unlock the shed", Turn([perform("lock.unlock", "lock.shed")]))
    er.async_get(hass).async_update_entity("lock.shed", new_unique_id="another")
    result = await say("Yes", SO_BE_IT)
    assert speech(result).startswith("Since I asked, something has changed.")
    assert hass.states.is_state("lock.shed", "locked")
    await say("Yes", SO_BE_IT)
    assert hass.states.is_state("lock.shed", "unlocked")


async def test_after_a_no_something_else_may_be_wanted(hass: HomeAssistant, say: Say) -> None:
    """A no is to what was asked: another door is another question."""
    await say("Unlock the door", Turn([UNLOCK]))
    result = await say("No, the other one", Turn([perform("lock.unlock", "lock.openable_lock")]))
    assert speech(result).endswith("Shall I do that?")
    await say("Yes", SO_BE_IT)
    assert is_locked(hass)
    assert hass.states.is_state("lock.openable_lock", "unlocked")


@pytest.mark.parametrize("words", ["Thanks!", "Yes, the light please", "yes?", "yes but not the door"])
async def test_what_is_neither_confirms_nothing(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer, words: str
) -> None:
    """Three calls ask as one question; whatever is no clear yes drops all of them, and what the model repeats asks anew."""
    result = await say("Get ready", Turn([ON, UNLOCK, OPEN]))
    assert speech(result).splitlines() == [
        "I would do 3 things:",
        "- Turn on: Bed Light",
        "- Unlock: Front Door",
        "- Close cover: Hall Window",
        "Shall I do that?",
    ]
    before = {entity_id: hass.states.get(entity_id) for entity_id in (DOOR, LAMP, WINDOW)}
    result = await say(words, Turn([ON]))
    assert speech(result) == "Turn on: Bed Light.\nShall I do that?"
    assert {entity_id: hass.states.get(entity_id) for entity_id in before} == before
    await say("yes", SO_BE_IT)
    assert hass.states.is_state(LAMP, "on")
    assert is_locked(hass)
    assert claude_server.refusals == []
    assert_append_only(claude_server.message_requests)


@pytest.mark.parametrize(
    ("name", "words", "language"),
    [
        *((None, words, language) for words, language in LOOK_LIKE_YES),
        ("Guten Morgen Tür", "Ja, morgen", "de"),
        ("Later Lock", "Yes, later", "en"),
        ("Tomorrow Gate", "Yes, tomorrow", "en"),
        ("Wait Here Door", "Yes, wait", "en"),
        ("What If Room", "yes if", "en"),
        ("But First Door", "yes but door", "en"),
        ("Porte Demain", "oui, demain", "fr"),
    ],
)
async def test_what_looks_like_a_yes_opens_nothing(
    hass: HomeAssistant, say: Say, name: str | None, words: str, language: str
) -> None:
    """Enough, hesitation, thanks that decline and words of time, which the name of the lock may hold; a yes opens it."""
    if name and (door := hass.states.get(DOOR)):
        hass.states.async_set(DOOR, door.state, {**door.attributes, "friendly_name": name})
        await hass.async_block_till_done()
    question = speech(await say("Unlock the door", Turn([UNLOCK]), language=language))
    assert question.endswith(("?", "\uff1f"))
    assert (name or "Front Door") in question
    await say(words, Turn([UNLOCK]), SO_BE_IT, language=language)
    assert is_locked(hass)
    await say("Yes", SO_BE_IT, language=language)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_one_yes_for_all_calls(hass: HomeAssistant, say: Say, claude_server: ClaudeServer) -> None:
    """A clear yes is to all that was listed, once each, however often the model called."""
    await say("Get ready", Turn([ON, UNLOCK, UNLOCK]))
    await say("Ja, bitte", SO_BE_IT, language="de")
    assert hass.states.is_state(LAMP, "on")
    assert hass.states.is_state(DOOR, "unlocked")
    assert len(results(claude_server)) == 5
    assert claude_server.refusals == []


async def test_no_step_is_left_out(hass: HomeAssistant, say: Say) -> None:
    """Eleven steps, the last of them in a branch: each is named."""
    steps: list[Any] = [{"action": "light.turn_on", "target": {"entity_id": LAMP}} for _ in range(10)]
    unlock = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
    steps.append({"if": "{{ true }}", "then": [unlock]})
    spoken = speech(await say("Good evening", Turn([tool_use(SEQUENCE, {"sequence": steps})])))
    assert spoken.count("- Turn on: Bed Light") == 10
    assert "- Depending on conditions: Unlock: Front Door" in spoken
    await say("go ahead", SO_BE_IT)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_an_area_that_gains_an_entity(hass: HomeAssistant, say: Say) -> None:
    """What was never told is not done: it is asked again, with what it was and what it is now."""
    area = ar.async_get(hass).async_get_area_by_name("Kitchen")
    assert area
    off = tool_use(
        PERFORM, {"action": "light.turn_on", "target": {"area_id": "Kitchen"}, "data": {"brightness_pct": 5}}
    )
    first = speech(await say("Light in the kitchen", Turn([off])))
    assert "Bed Light" not in first
    assert "brightness 5 %" in first
    lamp = er.async_get(hass).async_get(LAMP)
    assert lamp
    assert lamp.device_id
    dr.async_get(hass).async_update_device(lamp.device_id, area_id=area.id)
    second = speech(await say("Yes", SO_BE_IT))
    assert "something has changed" in second
    assert "Bed Light" in second
    assert second.endswith("?")
    assert hass.states.is_state(LAMP, "off")
    await say("Yes", SO_BE_IT)
    assert hass.states.is_state(LAMP, "on")


async def test_an_undo_after_another_change(
    hass: HomeAssistant, say: Say, ask_first: Callable[..., Awaitable[None]]
) -> None:
    """The very change that was told is undone, never one that came meanwhile."""
    await ask_first("undo_last_change")
    here = (await say("Light", Turn([ON]), SO_BE_IT)).conversation_id
    undo = tool_use("extended_assist__undo_last_change", {})
    first = speech(await say("Undo that", Turn([undo])))
    assert "Bed Light back to off" in first
    await say("Dark", Turn([perform("light.turn_off", CEILING)]), SO_BE_IT, conversation_id=None)
    second = speech(await say("Yes", SO_BE_IT, conversation_id=here))
    assert "something has changed" in second
    assert "Ceiling Lights back to on" in second
    assert hass.states.is_state(CEILING, "off")
    assert hass.states.is_state(LAMP, "on")
    await say("Yes", SO_BE_IT)
    assert hass.states.is_state(CEILING, "on")
    assert hass.states.is_state(LAMP, "on")


async def test_other_speakers_do_not_answer(hass: HomeAssistant, say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only who was asked, where they were asked, in their next message, and in time."""
    guest = MockUser(name="Guest").add_to_hass(hass)
    for who in ({"user_id": guest.id}, {"device_id": "another"}, {"conversation_id": None}):
        await say("Unlock the door", Turn([UNLOCK]))
        await say("Yes", SO_BE_IT, **who)
        assert is_locked(hass)
    await say("Unlock the door", Turn([UNLOCK]))
    await say("What time is it?", SO_BE_IT)
    await say("Yes", SO_BE_IT)
    assert is_locked(hass)
    await say("Unlock the door", Turn([UNLOCK]))
    clock = question.monotonic()
    monkeypatch.setattr(question, "monotonic", lambda: clock + question.ANSWER_TIME + 1)
    await say("Yes", SO_BE_IT)
    assert is_locked(hass)


async def test_exposure_counts_when_it_is_done(hass: HomeAssistant, say: Say, claude_server: ClaudeServer) -> None:
    """What is hidden after the question is not touched, and the model reads why."""
    await say("Unlock the door", Turn([UNLOCK]))
    async_expose_entity(hass, ASSISTANT, DOOR, False)
    await say("Yes", SO_BE_IT)
    assert is_locked(hass)
    assert "not exposed" in results(claude_server)[-1]["error"]


async def test_a_question_that_was_not_spoken_is_none(hass: HomeAssistant, say: Say) -> None:
    """Where the response breaks off after the call, nobody was asked, so nobody agrees."""
    await say("Unlock the door", Turn([UNLOCK, text("And now")], fault=Fault("disconnect", after=1, within="text")))
    await say("Yes", SO_BE_IT)
    assert is_locked(hass)


@pytest.mark.parametrize(
    ("language", "spoken", "yes"),
    [
        ("de", "Schloss entriegeln: Front Door.\nSoll ich das tun?", "Ja, mach das"),
        ("fr", "Dois-je le faire ?", "Oui, vas-y"),
        ("es", "¿Lo hago?", "Sí, por favor"),
        ("zh-Hans", "要这样做吗\uff1f", "好的"),
        ("ko", "그렇게 할까요?", "네"),
    ],
)
async def test_in_the_users_language(hass: HomeAssistant, say: Say, language: str, spoken: str, yes: str) -> None:
    """The action as Home Assistant calls it there, and the question around it."""
    result = await say("!", Turn([UNLOCK]), language=language)
    assert speech(result).endswith(spoken)
    assert result.continue_conversation
    await say(yes, SO_BE_IT, language=language)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_in_another_language_the_model_words_it(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer
) -> None:
    """The result holds what is to be told; yes and OK are understood everywhere, the model's own calls count for nothing."""
    worded = Turn([text("Ska jag låsa upp dörren?")])
    result = await say("Lås upp dörren", Turn([UNLOCK]), Turn([UNLOCK]), worded, language="sv")
    assert speech(result) == "Ska jag låsa upp dörren?"
    assert is_locked(hass)
    assert results(claude_server)[0]["would"] == "Unlock: Front Door (lock.unlock)"
    await say("OK", SO_BE_IT, language="sv")
    assert hass.states.is_state(DOOR, "unlocked")
    assert claude_server.refusals == []


async def test_where_nobody_can_answer(hass: HomeAssistant, say: Say, claude_server: ClaudeServer) -> None:
    """An automation that says something once gets an error result; in a conversation that goes on it is asked."""
    result = await say("Unlock the door", Turn([UNLOCK]), SO_BE_IT, user_id=None)
    assert speech(result) == "So be it."
    assert "nobody can give it" in results(claude_server)[-1]["error"]
    result = await say("Unlock the door", Turn([UNLOCK]), user_id=None)
    assert speech(result).endswith("?")
    result = await say("Unlock the door", Turn([UNLOCK]), user_id=None, conversation_id="telegram-1")
    assert speech(result).endswith("?")
    await say("Yes", SO_BE_IT, user_id=None)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_assists_intents(hass: HomeAssistant, say: Say) -> None:
    """Assist's own tools tell what they would do to which entities, too."""
    call = tool_use("intent__HassTurnOff", {"name": "Front Door"})
    assert speech(await say("Open up", Turn([call]))) == "Unlock: Front Door.\nShall I do that?"
    await say("Yes", SO_BE_IT)
    assert hass.states.is_state(DOOR, "unlocked")


async def test_a_yes_to_one_of_two(hass: HomeAssistant, say: Say) -> None:
    """A yes that names one of the things that one call would move is no yes to both."""
    both = perform("lock.unlock", [DOOR, "lock.openable_lock"])
    await say("Open up", Turn([both]))
    await say("Yes, the front door", SO_BE_IT)
    assert is_locked(hass)


async def test_a_timer_that_says_something(hass: HomeAssistant, say: Say, entry: MockConfigEntry) -> None:
    """When it ends, Assist does what it says, in nobody's name and without a question: so that is asked beforehand."""
    device = dr.async_get(hass).async_get_or_create(config_entry_id=entry.entry_id, identifiers={("test", "1")})
    intents.async_register_timer_handler(hass, device.id, lambda *_: None)
    command = {"seconds": 1, "conversation_command": "turn off Front Door"}
    here = {"device_id": device.id}
    spoken = speech(await say("Go on", Turn([tool_use("intent__HassStartTimer", command)]), SO_BE_IT, **here))
    assert "turn off Front Door" in spoken
    assert spoken.endswith("Shall I do that?")
    await say("No", SO_BE_IT, **here)
    tea = tool_use("intent__HassStartTimer", {"seconds": 1, "name": "tea"})
    assert speech(await say("A timer for tea", Turn([tea]), SO_BE_IT, **here)) == "So be it."


async def test_later(hass: HomeAssistant, say: Say) -> None:
    """What is scheduled is asked about before, with its delay, which begins with the yes."""
    spoken = speech(await say("In ten minutes", Turn([in_ten_minutes("light.turn_on", LAMP)])))
    assert spoken == "In 0:10:00: Turn on: Bed Light.\nShall I do that?"
    assert (await async_get_scheduled_tasks(hass)).standing == []
    await say("Yes", SO_BE_IT)
    (item,) = (await async_get_scheduled_tasks(hass)).standing
    cancel = tool_use("extended_assist__pending", {"cancel": item.id})
    assert "Cancel: " in speech(await say("Cancel that", Turn([cancel])))
    await say("yes", SO_BE_IT)
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_another_agent_in_the_conversation(
    hass: HomeAssistant, say: Say, claude_server: ClaudeServer, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """A yes to another agent of ours, in the same conversation, is no yes to what the first one asked."""
    second = {**default_agent([], MODEL), "title": "Second"}
    hass.config_entries.async_add_subentry(
        entry, ConfigSubentry(**{**second, "data": MappingProxyType(second["data"])})
    )
    await hass.async_block_till_done()
    asked = await say("Unlock the door", Turn([UNLOCK]))
    claude_server.responder = Scenario([SO_BE_IT])
    context = Context(user_id=hass_admin_user.id)
    await conversation.async_converse(
        hass, "yes", asked.conversation_id, context, language="en", agent_id="conversation.second"
    )
    await hass.async_block_till_done()
    assert is_locked(hass)
    # Once the conversation has gone on, it is no yes for the first one either.
    await say("yes", SO_BE_IT)
    assert is_locked(hass)
