"""Questions that are too long for a speaker, told in portions, with a model that writes whatever it is told to write."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.confirmation.wording import MAX_HEARD, MAX_READ, length
from custom_components.extended_assist.const import CONF_FAMILIES
from homeassistant.core import HomeAssistant
from tests.claude.test_question import DOOR, LAMP, PERFORM, SO_BE_IT, Say, ask_first, results, say
from tests.claude_server import ClaudeServer, Turn, tool_use
from tests.helpers.automating import File
from tests.helpers.talking import speech

__all__ = ["ask_first", "say"]

pytestmark = pytest.mark.usefixtures("no_deprecations", "house")

SHALL, GO_ON = "Shall I do that?", "Shall I go on telling?"
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": DOOR}}


@pytest.fixture
async def path(hass: HomeAssistant, entry: MockConfigEntry, ask_first: object, tmp_path: File) -> File:
    """Return the file of automations, which the agent may write."""
    hass.config.config_dir = str(tmp_path)
    (tmp_path / "configuration.yaml").write_text("automation: !include automations.yaml\n")
    path = tmp_path / "automations.yaml"
    path.write_text("[]\n")
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: ["actions", "automations"]})
    await hass.async_block_till_done()
    return path


def lamp(brightness: int) -> dict[str, Any]:
    """Return a harmless step."""
    return {"action": "light.turn_on", "target": {"entity_id": LAMP}, "data": {"brightness_pct": brightness}}


def night(*steps: Any, **more: Any) -> Turn:
    """Return a call that adds an automation."""
    triggers = [{"trigger": "state", "entity_id": "input_boolean.party", "to": "on"}]
    config = {"alias": "Night", "triggers": triggers, "actions": list(steps), **more}
    return Turn([tool_use("extended_assist__add_automation", {"automation": config})])


async def test_the_last_of_many_steps_is_told_first(hass: HomeAssistant, say: Say, path: File) -> None:
    """Forty lamps and a long description, and an unlock at the end: the yes to the first portion has heard of it."""
    call = night(*map(lamp, range(1, 41)), UNLOCK, description="All is well. " * 500)
    first = speech(await say("At night, lights please", call, device_id="kitchen"))
    lines = first.splitlines()
    assert lines[:3] == [
        "Add the automation 'Night'",
        "It has 43 parts. What matters most comes first:",
        "- When Party turns on",
    ]
    assert lines[3] == "- unlock Front Door (lock.unlock)"
    assert lines[-1] == SHALL
    assert "All is well" not in first
    assert length(first) <= MAX_HEARD
    second = speech(await say("more", device_id="kitchen"))
    assert "brightness" in second
    assert "unlock" not in second
    assert path.read_text() == "[]\n"
    await say("yes", SO_BE_IT, device_id="kitchen")
    assert "lock.unlock" in path.read_text()
    assert hass.states.get("automation.night") is not None


@pytest.mark.parametrize("words", ["yes", "go on", "Yes, more please!", "sure"])
async def test_no_yes_before_all_that_matters(
    hass: HomeAssistant, say: Say, path: File, words: str, claude_server: ClaudeServer
) -> None:
    """A yes that comes early tells the next portion, without the model, and writes nothing."""
    steps = [{**UNLOCK, "alias": str(number)} for number in range(30)]
    told = [speech(await say("At night", night(*map(lamp, range(1, 9)), *steps), device_id="kitchen"))]
    requests = len(claude_server.message_requests)
    while told[-1].endswith(GO_ON):
        assert path.read_text() == "[]\n"
        assert length(told[-1]) <= MAX_HEARD
        told.append(speech(await say(words, device_id="kitchen")))
        assert len(told) < 12
    assert len(told) > 2
    assert len(claude_server.message_requests) == requests
    assert sum(part.count("- unlock Front Door") for part in told) == 30
    assert told[-1].endswith(SHALL)
    assert path.read_text() == "[]\n"
    await say("yes", SO_BE_IT, device_id="kitchen")
    assert path.read_text().count("lock.unlock") == 30
    assert results(claude_server)[-1]["added"] == "automation.night"


@pytest.mark.parametrize("words", ["No", "stop", "what is the weather", "yes but not the door"])
async def test_dropped_in_between(hass: HomeAssistant, say: Say, path: File, words: str) -> None:
    """A no at any time drops all of it, and so does anything else; a yes after that agrees to nothing."""
    call = night(*[UNLOCK] * 30)
    await say("At night", call, device_id="kitchen")
    assert speech(await say("yes", device_id="kitchen")).endswith(GO_ON)
    assert speech(await say(words, SO_BE_IT, device_id="kitchen")) == "So be it."
    for _ in range(4):
        await say("yes", SO_BE_IT, device_id="kitchen")
    assert path.read_text() == "[]\n"


async def test_only_who_was_asked_goes_on(hass: HomeAssistant, say: Say, path: File) -> None:
    """Somebody at another speaker hears no more of it and agrees to nothing."""
    await say("At night", night(*[UNLOCK] * 30), device_id="kitchen")
    assert speech(await say("yes", SO_BE_IT, device_id="porch")) == "So be it."
    assert path.read_text() == "[]\n"


async def test_what_has_changed_is_told_from_the_beginning(hass: HomeAssistant, say: Say, path: File) -> None:
    """What came meanwhile has not been told, so that the yes to what was told is not one to it."""
    call = night(*[UNLOCK] * 30)
    question = speech(await say("At night", call, device_id="kitchen"))
    while question.endswith(GO_ON):
        question = speech(await say("go on", device_id="kitchen"))
    state = hass.states.get(DOOR)
    assert state
    hass.states.async_set(DOOR, state.state, {**state.attributes, "friendly_name": "Garden Door"})
    again = speech(await say("yes", SO_BE_IT, device_id="kitchen"))
    assert again.startswith("Since I asked, something has changed. It was: Add the automation")
    assert "- unlock Garden Door" in again
    assert length(again) <= MAX_HEARD
    assert again.endswith(GO_ON)
    assert path.read_text() == "[]\n"


async def test_a_screen_has_more_room(hass: HomeAssistant, say: Say, path: File) -> None:
    """Where it can be read, it is told at once, with the lines that change; what is longer than that is told in portions."""
    read = speech(await say("At night", night(*map(lamp, range(1, 21)), UNLOCK)))
    assert read.endswith(f"```\n{SHALL}")
    assert "+- action: lock.unlock" in read
    assert MAX_HEARD < len(read) <= MAX_READ
    both = {"action": "lock.unlock", "target": {"entity_id": [DOOR, "lock.openable_lock"]}}
    long = speech(await say("Longer", night(*map(lamp, range(1, 4)), *[both] * 95), conversation_id=None))
    assert long.endswith(GO_ON)
    assert MAX_READ / 2 < len(long) <= MAX_READ
    assert path.read_text() == "[]\n"


@pytest.mark.parametrize(
    ("language", "more", "parts", "shall"),
    [
        ("de", "weiter", "Es sind 32 Teile.", "Soll ich das tun?"),
        ("zh-Hans", "继续", "共有 32 个部分", "要这样做吗\uff1f"),
    ],
)
async def test_in_the_users_language(say: Say, path: File, language: str, more: str, parts: str, shall: str) -> None:
    """What there is, that there is more, and asking for it."""
    more_please: Callable[[], Any] = lambda: say(more, device_id="kitchen", language=language)  # noqa: E731
    told = speech(await say("Nachts", night(*[UNLOCK] * 30), device_id="kitchen", language=language))
    assert parts in told
    for _ in range(8):
        if told.endswith(shall):
            break
        assert path.read_text() == "[]\n"
        told = speech(await more_please())
    assert told.endswith(shall)


async def test_a_long_message_is_heard_to_its_end(hass: HomeAssistant, say: Say, ask_first: Callable[..., Any]) -> None:
    """One action whose values take long to say is told in pieces before it is done, where it is consequential."""
    words = " ".join(f"word{number}" for number in range(200))
    call = tool_use(PERFORM, {"action": "lock.unlock", "target": {"entity_id": DOOR}, "data": {"code": words}})
    told = [speech(await say("Unlock", Turn([call]), device_id="kitchen"))]
    while told[-1].endswith(GO_ON) and len(told) < 9:
        assert hass.states.is_state(DOOR, "locked")
        told.append(speech(await say("yes", device_id="kitchen")))
    assert len(told) > 2
    assert "word199" in told[-1]
    await say("yes", SO_BE_IT, device_id="kitchen")
    assert hass.states.is_state(DOOR, "unlocked")


async def test_two_at_once(hass: HomeAssistant, say: Say, path: File) -> None:
    """Of two calls in one message, each part says of which it is one, and what is consequential in both comes first."""
    calls = [*night(lamp(1), *[UNLOCK] * 9).content, *night(lamp(2), UNLOCK, alias="Day").content]
    told = [speech(await say("Both", Turn(calls), device_id="kitchen"))]
    assert told[0].startswith("I would do 2 things:")
    while told[-1].endswith(GO_ON):
        assert path.read_text() == "[]\n"
        told.append(speech(await say("yes", device_id="kitchen")))
    heard = "\n".join(told)
    assert heard.count("- Add the automation 'Night': unlock Front Door") == 9
    assert heard.count("- Add the automation 'Day': unlock Front Door") == 1
    assert "brightness" not in "".join(told[:-1])
    await say("yes", SO_BE_IT, device_id="kitchen")
    assert path.read_text().count("lock.unlock") == 10


@pytest.mark.parametrize(
    "words",
    ["Yes, the bed light", "yes, only the bed light", "only at night, yes", "Yes, Night, turn on", "yes, when party"],
)
async def test_a_part_of_it_is_no_yes(hass: HomeAssistant, say: Say, path: File, words: str) -> None:
    """Words of an automation choose among what it does, or say when: whoever wants all of it says yes alone."""
    call = night(lamp(50), UNLOCK, alias="Only at night")
    assert speech(await say("At night", call)).endswith(SHALL)
    assert speech(await say(words, SO_BE_IT)) == "So be it."
    assert path.read_text() == "[]\n"


async def test_a_yes_that_says_what_it_is(hass: HomeAssistant, say: Say, path: File) -> None:
    """To add the automation is all that was asked."""
    await say("At night", night(lamp(50), UNLOCK))
    await say("Yes, please add the automation", SO_BE_IT)
    assert "lock.unlock" in path.read_text()


async def test_what_it_waits_for_is_told_with_it(hass: HomeAssistant, say: Say, path: File) -> None:
    """A wait or condition before what matters says when that is done; one after it says nothing of it."""
    waits: list[Any] = [
        {"delay": {"hours": 8}},
        {"wait_for_trigger": [{"trigger": "state", "entity_id": "input_boolean.party", "to": "off"}]},
        {"condition": "state", "entity_id": LAMP, "state": "off"},
        {"not": [{"condition": "state", "entity_id": LAMP, "state": "on"}]},
    ]
    call = night(*map(lamp, range(1, 31)), *waits, UNLOCK, {"delay": {"hours": 5}}, lamp(50))
    lines = speech(await say("At night", call, device_id="kitchen")).splitlines()
    assert lines[2:8] == [
        "- When Party turns on",
        "- wait 8 hours",
        "- wait until Party turns off",
        "- go on if Bed Light is off",
        "- go on if not (Bed Light is on)",
        "- unlock Front Door (lock.unlock)",
    ]
    assert "5 hours" not in "".join(lines)
