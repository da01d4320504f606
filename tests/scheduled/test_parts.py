"""Tests of steps with delays: what was accepted is done as accepted, over restarts, once, and named before it is agreed to."""

import asyncio
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.confirmation.wording import async_lines
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.description import short_description
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.parts import as_parts, chained, is_back, steps_of
from custom_components.extended_assist.scheduled.run import TaskRun, describe_started
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Until, What, When, read_stored
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import entity_registry as er, llm
from homeassistant.setup import async_setup_component

from ..conftest import ASSISTANT, CallTool, expose
from ..helpers.acting import house
from .keeping import LAMP, PARTY, PARTY_BEGINS, Later, Told, a_task, add, async_restart, home, later, now, on_disk, told

__all__ = ["add", "home", "house", "later", "told"]

LAMP_ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
LAMP_OFF = {"action": "light.turn_off", "target": {"entity_id": LAMP}}
PARTY_ON = {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}
TEN_MINUTES = {"delay": {"minutes": 10}}
LEVEL = {"variables": {"level": 5}}
SET_LEVEL = {
    "action": "input_number.set_value",
    "target": {"entity_id": "input_number.level"},
    "data": {"value": "{{ level }}"},
}
ON_AND_OFF = [LAMP_ON, TEN_MINUTES, LAMP_OFF]


@pytest.fixture
def tool(hass: HomeAssistant, home: MockConfigEntry) -> DoLaterTool:
    """Return the tool of an entry that asks nobody."""
    hass.config_entries.async_update_entry(home, options={"ask_first": [], "allow_without_chat": True})
    return DoLaterTool(ToolboxOptions.of(home.options, home.entry_id))


def parts(*steps: dict[str, Any], say: str | None = None) -> What:
    """Return steps as parts."""
    return chained([*steps], say, None, "action")


async def async_add(
    hass: HomeAssistant, home: MockConfigEntry, what: What, after: float = 60, **more: Any
) -> ScheduledTask:
    """Let a task stand."""
    task = a_task(home.entry_id, after, **more)
    task.what = what
    await (await async_get_scheduled_tasks(hass)).async_add(task)
    return task


async def test_done_as_accepted(
    hass: HomeAssistant, tool: DoLaterTool, call_tool: CallTool, later: Later, told: Told, home: MockConfigEntry
) -> None:
    """A lamp that is to be on for ten minutes is off after ten minutes, and the words come at the end."""
    made = await call_tool(tool, when={"after": 60}, action=ON_AND_OFF, say="The lamp is off again.")
    assert "then, 10 minutes later: " in made["what"]
    await later(61)
    assert hass.states.is_state(LAMP, "on")
    assert told.words == []
    (row,) = (await call_tool(PendingTool()))["pending"]
    assert row["part_of"] == made["id"]
    await later(590)
    assert hass.states.is_state(LAMP, "on")
    await later(11)
    assert hass.states.is_state(LAMP, "off")
    assert told.words == ["The lamp is off again."]
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_restart_between_parts(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, hass_storage: dict[str, Any]
) -> None:
    """What follows is kept over a restart, and done once."""
    task = await async_add(hass, home, parts(*ON_AND_OFF), say=None)
    await later(61)
    (following,) = (await async_get_scheduled_tasks(hass)).standing
    assert on_disk(hass_storage, following)["after"] == task.id
    assert on_disk(hass_storage, task)["progress"]["ended"] is not None
    tasks = await async_restart(hass, home)
    assert [one.id for one in tasks.standing] == [following.id]
    await later(601)
    assert hass.states.is_state(LAMP, "off")
    assert tasks.standing == []


async def test_off_however_late(hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told) -> None:
    """What turns off again is done late rather than never."""
    await async_add(hass, home, parts(*ON_AND_OFF), say=None)
    await later(61)
    await later(3 * 3600)
    assert hass.states.is_state(LAMP, "off")


async def test_crash_in_the_first_part(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told, hass_storage: dict[str, Any]
) -> None:
    """After a crash in the first part, what turns off again is still done; what is more is not, and that is told."""
    off = await async_add(hass, home, parts(*ON_AND_OFF), say=None, name="lamp")
    more = await async_add(hass, home, parts(LAMP_ON, TEN_MINUTES, PARTY_ON), say=None, name="party")
    await hass.services.async_call("light", "turn_on", {"entity_id": LAMP}, blocking=True)
    for task in (off, more):
        task.progress.begun, task.progress.due, task.progress.times = now(), None, 1
    await (await async_get_scheduled_tasks(hass))._store.async_save()
    tasks = await async_restart(hass, home)
    await later(1)
    assert [one.after for one in tasks.standing] == [off.id]
    assert any("lamp" in words and "What turns it off again will still be done." in words for words in told.words)
    assert any("party" in words and "What was to follow will not be done." in words for words in told.words)
    await later(601)
    assert hass.states.is_state(LAMP, "off")
    assert hass.states.is_state(PARTY, "off")


@pytest.mark.parametrize(
    ("steps", "is_followed"),
    [
        ([LAMP_ON, TEN_MINUTES, LAMP_OFF], True),
        ([LAMP_ON, TEN_MINUTES, PARTY_ON], False),
        ([{"condition": "state", "entity_id": PARTY, "state": "on"}, TEN_MINUTES, PARTY_ON], False),
    ],
)
async def test_first_part_that_does_not_come_about(
    hass: HomeAssistant,
    home: MockConfigEntry,
    later: Later,
    told: Told,
    steps: list[dict[str, Any]],
    is_followed: bool,
) -> None:
    """What follows what did not come about is not begun, unless it only turns off again."""

    async def fail(_: Any) -> None:
        hass.states.async_set(LAMP, "on")
        raise HomeAssistantError("jammed")

    hass.services.async_register("light", "turn_on", fail)
    await async_add(hass, home, parts(*steps), say=None)
    await later(61)
    assert bool((await async_get_scheduled_tasks(hass)).standing) is is_followed
    assert len(told.words) == 1
    assert told.words[0].endswith("will still be done." if is_followed else "will not be done.")


@pytest.mark.parametrize("count", [1, 2])
async def test_only_what_turns_off_follows(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told, count: int
) -> None:
    """Of what follows what did not come about, the parts that turn off again are done, one after the other, and no more."""

    async def fail(_: Any) -> None:
        hass.states.async_set(LAMP, "on")
        raise HomeAssistantError("jammed")

    hass.services.async_register("light", "turn_on", fail)
    await async_add(hass, home, parts(LAMP_ON, *count * [TEN_MINUTES, LAMP_OFF], TEN_MINUTES, PARTY_ON), say=None)
    await later(61)
    for _ in range(count):
        hass.states.async_set(LAMP, "on")
        await later(601)
        assert hass.states.is_state(LAMP, "off")
    assert (await async_get_scheduled_tasks(hass)).standing == []
    await later(601)
    assert hass.states.is_state(PARTY, "off")


async def test_only_words_follow(hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told) -> None:
    """A task that begins with a delay does nothing at its moment, and the rest after the delay."""
    await async_add(hass, home, parts(TEN_MINUTES, LAMP_ON, say="It is bright."), say=None)
    await later(61)
    assert (told.words, hass.states.is_state(LAMP, "off")) == ([], True)
    await later(601)
    assert (told.words, hass.states.is_state(LAMP, "on")) == (["It is bright."], True)


async def test_stop_is_no_failure(hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told) -> None:
    """A step that stops, as it was written, ends what follows, too."""
    await async_add(hass, home, parts(LAMP_ON, {"stop": "enough"}, TEN_MINUTES, LAMP_OFF), say=None)
    await later(61)
    assert (await async_get_scheduled_tasks(hass)).standing == []
    assert told.words == []


async def test_again_before_the_rest(hass: HomeAssistant, home: MockConfigEntry, later: Later) -> None:
    """What is set off again before the rest is done begins anew: the lamp is off ten minutes after the last time."""
    await async_add(hass, home, parts(*ON_AND_OFF), say=None, when=When(triggers=[PARTY_BEGINS]), until=Until(times=5))
    await hass.async_block_till_done()
    for _ in range(3):
        hass.states.async_set(PARTY, "off")
        hass.states.async_set(PARTY, "on")
        await hass.async_block_till_done()
        await later(300)
    tasks = await async_get_scheduled_tasks(hass)
    assert len([one for one in tasks.standing if one.after]) == 1
    assert hass.states.is_state(LAMP, "on")
    await later(301)
    assert hass.states.is_state(LAMP, "off")


@pytest.mark.parametrize("seconds", [-3600, 3600])
async def test_clock_is_set(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, freezer: FrozenDateTimeFactory, seconds: float
) -> None:
    """However the clock is set, what follows comes once."""
    await async_add(hass, home, parts(*ON_AND_OFF), say=None)
    await later(61)
    freezer.tick(seconds)
    (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
    await hass.async_block_till_done()
    assert hass.states.is_state(LAMP, "on" if seconds < 0 else "off")
    await later(4300)
    assert hass.states.is_state(LAMP, "off")
    assert (await async_get_scheduled_tasks(hass)).standing == []


@pytest.mark.parametrize("way", ["cancel the first", "cancel the rest", "undo"])
async def test_cancelled_between_parts(
    hass: HomeAssistant, tool: DoLaterTool, call_tool: CallTool, later: Later, way: str
) -> None:
    """Cancelling what is over in its first part ends the rest, and says first what was done."""
    made = await call_tool(tool, when={"after": 60}, action=ON_AND_OFF)
    await later(61)
    (following,) = (await async_get_scheduled_tasks(hass)).standing
    if way == "undo":
        await call_tool(UndoLastChangeTool())  # The lamp.
        answer = await call_tool(UndoLastChangeTool())
    else:
        answer = await call_tool(PendingTool(), cancel=made["id"] if way == "cancel the first" else following.id)
    assert "Bed Light" in str(answer["had_begun"]) or LAMP in str(answer["had_begun"])
    assert [*answer].index("had_begun") < [*answer].index("undone" if way == "undo" else "cancelled")
    assert (await async_get_scheduled_tasks(hass)).standing == []
    if way != "undo":
        assert following.id == (await call_tool(UndoLastChangeTool()))["id"]
        assert (await async_get_scheduled_tasks(hass)).standing == [following]
        await call_tool(PendingTool(), cancel=following.id)
    await hass.services.async_call("light", "turn_on", {"entity_id": LAMP}, blocking=True)
    await later(601)
    assert hass.states.is_state(LAMP, "on")


async def test_question_names_every_delay(
    hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """The user is asked about every delay, also those within a run."""
    steps = [LAMP_ON, {"delay": 5}, PARTY_ON, TEN_MINUTES, LAMP_OFF, {"delay": "01:00:00"}]
    options = ToolboxOptions.of(home.options, home.entry_id)
    given = {"when": {"after": 60}, "action": steps, "say": "Over."}
    exposure = Exposure(hass, ASSISTANT)
    call = ToolCall(hass=hass, arguments=given, exposure=exposure, caller=Caller(llm_context), options=options)
    plan = await DoLaterTool(options).async_plan(call)
    assert [step.words for step in plan.steps] == [
        "In 0:01:00: Turn on: Bed Light (light.turn_on)",
        "Then, in 0:00:05: Turn on: Party (input_boolean.turn_on)",
        "Then, in 0:10:00: Turn off: Bed Light (light.turn_off)",
        "Then, in 1:00:00: Say: Over.",
    ]
    assert "Danach, nach 0:10:00: " in (await async_lines(hass, exposure, plan, "de"))[2]


@pytest.mark.parametrize(
    ("waits", "says"),
    [
        ([{"wait_template": "{{ false }}", "timeout": "00:01:30"}], "Then, in \u2264 0:01:30: "),
        ([{"wait_for_trigger": [PARTY_BEGINS], "timeout": {"minutes": 2}}], "Then, in \u2264 0:02:00: "),
        (
            [{"wait_for_trigger": [PARTY_BEGINS], "timeout": 20, "continue_on_timeout": True}],
            "Then, in \u2264 0:00:20: ",
        ),
        ([{"wait_template": "{{ false }}", "timeout": 50}, {"delay": 10}], "Then, in \u2264 0:01:00: "),
    ],
)
async def test_question_names_waits(
    hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext, waits: list[dict[str, Any]], says: str
) -> None:
    """A wait puts off what follows: the question says how long at most, or that nobody knows."""
    options = ToolboxOptions.of(home.options, home.entry_id)
    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
    given = {"when": {"after": 60}, "action": [LAMP_ON, *waits, unlock]}
    call = ToolCall(
        hass=hass, arguments=given, exposure=Exposure(hass, ASSISTANT), caller=Caller(llm_context), options=options
    )
    plan = await DoLaterTool(options).async_plan(call)
    assert [step.words for step in plan.steps] == [
        "In 0:01:00: Turn on: Bed Light (light.turn_on)",
        f"{says}Unlock: Front Door (lock.unlock)",
    ]


async def test_cancel_with_its_rest_is_one_change(
    hass: HomeAssistant, tool: DoLaterTool, call_tool: CallTool, later: Later
) -> None:
    """A task that comes again and the rest of its last time are cancelled together, and brought back together."""
    await call_tool(tool, when={"repeat": "FREQ=HOURLY", "at": "12:05"}, action=ON_AND_OFF)
    await later(360)
    tasks = await async_get_scheduled_tasks(hass)
    before = {task.id for task in tasks.standing}
    assert len(before) == 2
    (repeating,) = (task for task in tasks.standing if not task.after)
    await call_tool(PendingTool(), cancel=repeating.id)
    assert tasks.standing == []
    assert (await call_tool(UndoLastChangeTool()))["id"] == repeating.id
    assert {task.id for task in tasks.standing} == before
    await later(601)
    assert hass.states.is_state(LAMP, "off")


def test_both_runs_are_reported(hass: HomeAssistant) -> None:
    """Of a task and its rest that are under way at once, both are told before it is said that they are cancelled."""
    exposure, task = Exposure(hass, ASSISTANT), a_task("entry", 60)
    runs = [TaskRun(hass, task), TaskRun(hass, task), TaskRun(hass, task)]
    runs[0].has_asked = runs[2].has_asked = True
    runs[0].close()
    answer = describe_started(runs, task, exposure)
    assert answer["had_begun"] == ["the assistant was asked"] * 2
    assert "still goes on" in str(answer["note"])
    assert describe_started(runs[:1], task, exposure)["had_begun"] == "the assistant was asked"
    assert describe_started(runs[1:2], task, exposure) == {}


LEADING: dict[str, list[dict[str, Any]]] = {
    "delay": [TEN_MINUTES],
    "short delay": [{"delay": 7}],
    "condition": [{"condition": "state", "entity_id": PARTY, "state": "on"}, TEN_MINUTES],
    "variables": [{"variables": {"a": 1}}, TEN_MINUTES],
    "wait": [{"wait_template": "{{ false }}", "timeout": 5}, {"delay": 5}],
}
WHENS: dict[str, tuple[dict[str, Any], str]] = {
    "in a while": ({"after": 600}, "In 0:10:00: "),
    "rule": ({"repeat": "FREQ=DAILY", "at": "03:00"}, "Every day at 03:00: "),
    "moment": ({"at": "tomorrow 03:00"}, "At 2026-03-03 03:00:00: "),
    "trigger": ({"triggers": [PARTY_BEGINS]}, "When Party turns on: "),
}


@pytest.mark.parametrize("way", WHENS)
@pytest.mark.parametrize("leading", LEADING)
async def test_question_tells_when(
    hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext, leading: str, way: str
) -> None:
    """Whatever stands before the first action, the question says when, or how often, the door is unlocked."""
    when, says = WHENS[way]
    unlock = {"action": "lock.unlock", "target": {"entity_id": "lock.front_door"}}
    given = {"when": when, "action": [*LEADING[leading], unlock, TEN_MINUTES, LAMP_OFF], "until": "3"}
    options, exposure = ToolboxOptions.of(home.options, home.entry_id), Exposure(hass, ASSISTANT)
    call = ToolCall(hass=hass, arguments=given, exposure=exposure, caller=Caller(llm_context), options=options)
    plan = await DoLaterTool(options).async_plan(call)
    first, then = [step.words for step in plan.steps]
    assert first.startswith(says)
    assert first.endswith("Unlock: Front Door (lock.unlock)")
    assert then == "Then, in 0:10:00: Turn off: Bed Light (light.turn_off)"


@pytest.mark.parametrize("hours", [0, 2])
async def test_delay_that_leads(
    hass: HomeAssistant, home: MockConfigEntry, freezer: FrozenDateTimeFactory, later: Later, told: Told, hours: int
) -> None:
    """A delay before any action counts from its moment: what is too late for an action is too late with a delay as well."""
    await async_add(hass, home, parts(TEN_MINUTES, PARTY_ON), say=None)
    assert await hass.config_entries.async_unload(home.entry_id)
    freezer.tick(hours * 3600)
    await async_restart(hass, home)
    await later(61)
    await later(601)
    assert hass.states.is_state(PARTY, "off" if hours else "on")
    assert len(told.words) == (1 if hours else 0)


async def test_off_what_was_not_on(
    hass: HomeAssistant, home: MockConfigEntry, freezer: FrozenDateTimeFactory, later: Later
) -> None:
    """What turns off something else than was turned on is no more done hours late than anything else."""
    await hass.services.async_call("input_boolean", "turn_on", {"entity_id": PARTY}, blocking=True)
    off = {"action": "input_boolean.turn_off", "target": {"entity_id": PARTY}}
    await async_add(hass, home, parts(LAMP_ON, TEN_MINUTES, off), say=None)
    await later(61)
    await later(10 * 3600)
    assert hass.states.is_state(PARTY, "on")


@pytest.mark.parametrize("action", ["update.install", "timer.finish", "light.turn_on", "cover.open_cover"])
def test_no_rest(action: str) -> None:
    """Not all after which something is off or idle only ends something."""
    assert not is_back(What(actions=[{"action": action, "target": {"entity_id": f"{action.partition('.')[0]}.one"}}]))


@pytest.mark.parametrize("how", ["not reached", "raises", "crash"])
async def test_words_after_what_did_not_come_about(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told, how: str
) -> None:
    """Words at the end are not said where an earlier part did not come about, neither then nor in telling that."""

    async def turn_on(_: Any) -> None:
        if how == "raises":
            raise HomeAssistantError("away")

    hass.services.async_register("light", "turn_on", turn_on)
    claim = "The lamp was on for ten minutes."
    task = await async_add(hass, home, parts(*ON_AND_OFF, say=claim), say=None, name=claim)
    if how == "crash":
        task.progress.begun, task.progress.due, task.progress.times = now(), None, 1
        await (await async_get_scheduled_tasks(hass))._store.async_save()
        await async_restart(hass, home)
    hass.states.async_set(LAMP, "on" if how == "crash" else "off")
    await later(61)
    await later(601)
    assert told.words
    assert claim not in " ".join(told.words)


@pytest.mark.parametrize(
    "step",
    [
        {"action": "input_button.press", "target": {"entity_id": "input_button.mail"}},
        {"if": [{"condition": "state", "entity_id": PARTY, "state": "on"}], "then": [LAMP_ON]},
    ],
    ids=["unknown", "nothing"],
)
async def test_words_after_what_is_not_known(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told, step: dict[str, Any]
) -> None:
    """Words at the end are said with a doubt where nobody knows of an earlier part, or none of it applied."""
    assert await async_setup_component(hass, "input_button", {"input_button": {"mail": None}})
    expose(hass, "input_button.mail")
    await async_add(hass, home, parts(step, TEN_MINUTES, LAMP_OFF, say="The mail was sent."), say=None)
    await later(61)
    await later(601)
    assert told.words == ["The mail was sent. I could not check whether it worked."]


@pytest.mark.parametrize("way", ["reload", "restart"])
async def test_unloaded_in_the_first_part(
    hass: HomeAssistant,
    home: MockConfigEntry,
    later: Later,
    told: Told,
    freezer: FrozenDateTimeFactory,
    way: str,
) -> None:
    """Where the entry is unloaded while the first part is done, what turns off again is still done."""
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def turn_on(_: Any) -> None:
        hass.states.async_set(LAMP, "on")
        begun.set()
        await may_end.wait()

    hass.services.async_register("light", "turn_on", turn_on)
    await async_add(hass, home, parts(*ON_AND_OFF), say=None)
    freezer.tick(61)
    (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
    await begun.wait()
    if way == "reload":
        assert await hass.config_entries.async_reload(home.entry_id)
    else:
        assert await hass.config_entries.async_unload(home.entry_id)
    may_end.set()
    await hass.async_block_till_done()
    if way == "restart":
        await async_restart(hass, home)
    await later(5)
    await later(601)
    assert hass.states.is_state(LAMP, "off")


@pytest.mark.parametrize(
    ("steps", "hint"),
    [
        ([LAMP_ON, {"delay": "{{ 600 }}"}, LAMP_OFF], "fixed time"),
        ([LAMP_ON, {"delay": {"minutes": "{{ 10 }}"}}, LAMP_OFF], "fixed time"),
        ([LAMP_ON, {"delay": {"hours": 25}}, LAMP_OFF], "at most a day"),
        ([{"repeat": {"count": 3, "sequence": [LAMP_ON, {"delay": 60}, LAMP_OFF]}}], "up to a day"),
        ([{"repeat": {"until": PARTY_BEGINS, "sequence": [LAMP_ON, {"delay": 1}]}}], "count"),
        ([{"parallel": [LAMP_ON, {"sequence": [TEN_MINUTES, LAMP_OFF]}]}], "up to a day"),
        ([{"if": [], "then": [TEN_MINUTES, LAMP_OFF]}], "up to a day"),
        ([{"choose": [{"conditions": [], "sequence": [TEN_MINUTES]}]}], "up to a day"),
        ([{"sequence": [LAMP_ON, TEN_MINUTES, LAMP_OFF]}], "up to a day"),
        ([{"wait_template": "{{ false }}"}, LAMP_ON], "timeout"),
        ([{"wait_for_trigger": [PARTY_BEGINS]}, LAMP_ON], "triggers"),
        ([{"wait_for_trigger": [PARTY_BEGINS], "timeout": 600}, LAMP_ON], "may wait"),
        ([{"variables": {"level": 5}}, TEN_MINUTES, {"variables": {"other": "{{ level }}"}}], "after the delay"),
        ([{**LAMP_ON, "response_variable": "said"}, TEN_MINUTES, {"stop": "{{ said }}"}], "after the delay"),
        ([LAMP_ON, {"delay": 600, "enabled": "{{ true }}"}, LAMP_OFF], "enabled"),
        ([LAMP_ON, {"delay": 20}] * 21, "delays"),
        ([LAMP_ON, {"delay": "soon"}, LAMP_OFF], "'soon' is no time"),
        (
            [{"repeat": {"count": -99, "sequence": [{"delay": 9}]}}, {"sequence": [LAMP_ON, TEN_MINUTES, LAMP_OFF]}],
            "up to a day",
        ),
        ([{"repeat": {"count": "{{ 3 }}", "sequence": [LAMP_ON, {"delay": 1}]}}], "fixed 'count'"),
        ([{"repeat": {"for_each": "{{ lamps }}", "sequence": [LAMP_ON, {"delay": 1}]}}], "fixed 'count'"),
        ([{"repeat": {"for_each": [1, 2, 3], "sequence": [LAMP_ON, {"delay": 60}]}}], "up to a day"),
    ],
)
def test_refused(steps: list[dict[str, Any]], hint: str) -> None:
    """What cannot be kept is refused when it is made, with what to write instead."""
    with pytest.raises(ToolError, match=hint):
        chained(steps, None, None, "action")


@pytest.mark.parametrize(
    ("steps", "count"),
    [
        (ON_AND_OFF, 2),
        ([LAMP_ON, {"delay": 5}, LAMP_OFF], 1),
        ([TEN_MINUTES, LAMP_OFF], 2),
        ([LAMP_ON, TEN_MINUTES], 1),
        ([LAMP_ON, {"delay": "00:10:00", "enabled": False}, LAMP_OFF], 1),
        ([{"repeat": {"count": 3, "sequence": [LAMP_ON, {"delay": 5}]}}], 1),
        ([{"repeat": {"for_each": [1, 2, 3], "sequence": [LAMP_ON, {"delay": 5}]}}], 1),
        ([{"repeat": {"until": [PARTY_BEGINS], "sequence": [LAMP_ON]}}], 1),
        ([{"wait_template": "{{ false }}", "timeout": 60}, LAMP_ON], 1),
        ([{"variables": {"level": 5}}, TEN_MINUTES, {"variables": {"level": 6}}], 2),
        ([LEVEL, SET_LEVEL, TEN_MINUTES, LEVEL, SET_LEVEL], 2),
    ],
)
def test_accepted(steps: list[dict[str, Any]], count: int) -> None:
    """What has a bound is kept, in as many parts as long delays make."""
    what = chained(steps, None, None, "action")
    assert len([*what.parts]) == count
    if count == 2:
        assert steps_of(what) == [{"delay": {"seconds": 600.0}} if step is TEN_MINUTES else step for step in steps]
    assert short_description(what)


async def test_stored(hass: HomeAssistant, home: MockConfigEntry, hass_storage: dict[str, Any]) -> None:
    """Parts are stored and read as they are, and ids in them are renamed."""
    task = await async_add(hass, home, parts(*ON_AND_OFF, TEN_MINUTES, PARTY_ON, say="Over."), say=None)
    (read,) = read_stored({"wishes": [on_disk(hass_storage, task)]})
    assert read.what == task.what
    er.async_get(hass).async_update_entity(LAMP, new_entity_id="light.renamed")
    await hass.async_block_till_done()
    assert LAMP not in str(steps_of(task.what))
    assert str(steps_of(task.what)).count("light.renamed") == 2


async def test_stored_by_an_earlier_version(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, hass_storage: dict[str, Any]
) -> None:
    """What was kept whole, with a delay of minutes in it, is done as it was accepted."""
    await async_add(hass, home, What(actions=ON_AND_OFF), say=None)
    (stored,) = hass_storage["extended_assist.wishes"]["data"]["wishes"]
    del stored["after"], stored["what"]["then"], stored["what"]["wait"]
    await async_restart(hass, home)
    await later(61)
    assert hass.states.is_state(LAMP, "on")
    await later(601)
    assert hass.states.is_state(LAMP, "off")


@pytest.mark.parametrize("step", [{"delay": "soon"}, {"wait_template": "{{ false }}"}])
def test_not_split(step: dict[str, Any]) -> None:
    """What an earlier version stored and is refused today stays as it was stored: it is told when it is due."""
    what = What(actions=[LAMP_ON, step, LAMP_OFF])
    assert as_parts(what) is what


async def test_older_rest_gives_way(
    hass: HomeAssistant, home: MockConfigEntry, later: Later, freezer: FrozenDateTimeFactory
) -> None:
    """What follows a part that took long does not take the place of what follows a later occurrence."""
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def turn_on(_: Any) -> None:
        begun.set()
        await may_end.wait()

    hass.services.async_register("switch", "turn_on", turn_on)
    pump = {"action": "switch.turn_on", "target": {"entity_id": "switch.decorative_lights"}}
    what = parts(LAMP_ON, {"delay": 60}, pump, TEN_MINUTES, LAMP_OFF)
    root = await async_add(
        hass, home, what, say=None, after=None, when=When(triggers=[PARTY_BEGINS]), until=Until(times=5)
    )
    await hass.async_block_till_done()
    hass.states.async_set(PARTY, "on")
    await hass.async_block_till_done()
    await later(1)
    tasks = await async_get_scheduled_tasks(hass)
    freezer.tick(61)
    async_fire_time_changed(hass)
    await begun.wait()
    hass.states.async_set(PARTY, "off")
    hass.states.async_set(PARTY, "on")
    freezer.tick(1)
    async_fire_time_changed(hass)
    while len(tasks.parts_of(root.id)) < 2:
        await hass.async_add_executor_job(int)
    may_end.set()
    await hass.async_block_till_done()
    assert [one.what.wait for one in tasks.parts_of(root.id)] == [60]


@pytest.mark.parametrize(
    ("on", "off", "takes_back"),
    [
        ({"area_id": "kitchen"}, {"area_id": "kitchen"}, True),
        ({"area_id": "kitchen"}, {"area_id": "study"}, False),
        ({"entity_id": LAMP}, {"area_id": "kitchen"}, False),
        ({"entity_id": [LAMP, PARTY]}, {"entity_id": LAMP}, True),
        ({"entity_id": LAMP}, {}, False),
    ],
)
def test_takes_back(on: dict[str, Any], off: dict[str, Any], takes_back: bool) -> None:
    """Only what turns off the same entities, or the same area, takes back what came before."""
    steps = [{"action": f"light.turn_{state}", "target": target} for state, target in (("on", on), ("off", off))]
    first, second = parts(steps[0], TEN_MINUTES, steps[1]).parts
    assert (first.takes_back, second.takes_back) == (False, takes_back)
