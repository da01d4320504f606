"""Tests that what is due is verified as a call is: words beside an action are said only where all of it is done."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed

from custom_components.extended_assist.scheduled import run_actions
from custom_components.extended_assist.scheduled.lifecycle import Ending
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Until
from custom_components.extended_assist.tools.scheduled import PendingTool
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError

from ..conftest import ASSISTANT, CallTool
from ..helpers.acting import house
from .keeping import LAMP, PARTY, TURN_ON, Add, Later, Told, a_task, add, home, later, told

__all__ = ["add", "home", "house", "later", "told"]

LOCK, OTHER, COVER = "lock.openable_lock", "light.ceiling_lights", "cover.gate"
BUTTON = "input_button.mail"
CLAIM = "The front door is locked now."
LOCK_IT = {"action": "lock.lock", "entity_ids": [LOCK], "data": {}, "targeted": True}
BOTH = {**TURN_ON, "entity_ids": [LAMP, OTHER]}
OPEN_IT = {"action": "cover.open_cover", "entity_ids": [COVER], "data": {}, "targeted": True}
LAMP_ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
LOCK_IT_BY_NAME = {"action": "lock.lock", "target": {"entity_id": LOCK}}
PARTY_ON = {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}}
PARTY_IS_ON = {"condition": "state", "entity_id": PARTY, "state": "on"}


class Device:
    """What devices do when they are called, instead of what those of the demo do."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the home."""
        self._hass = hass
        self.does: Callable[[ServiceCall], None] = lambda _: None
        for domain, service in (("lock", "lock"), ("light", "turn_on"), ("cover", "open_cover")):
            hass.services.async_register(domain, service, self._async_act)
        for entity_id, state in ((LOCK, "unlocked"), (LAMP, "off"), (OTHER, "off"), (COVER, "closed")):
            hass.states.async_set(entity_id, state)
            async_expose_entity(hass, ASSISTANT, entity_id, True)

    async def _async_act(self, call: ServiceCall) -> None:
        """Act."""
        self.does(call)

    def sets(self, **states: str) -> Callable[[ServiceCall], None]:
        """Return an action that sets the states of entities, by the end of their ids."""

        def act(_: ServiceCall) -> None:
            for entity_id in (LOCK, LAMP, OTHER, COVER):
                if (state := states.get(entity_id.partition(".")[2])) is not None:
                    self._hass.states.async_set(entity_id, state)

        return act


@pytest.fixture
def device(hass: HomeAssistant, home: MockConfigEntry) -> Device:
    """Return the devices."""
    return Device(hass)


def fail(_: ServiceCall) -> None:
    """Fail as a device does that is not there."""
    raise HomeAssistantError("the device is away")


@pytest.mark.parametrize(
    ("states", "actions", "says", "result"),
    [
        ({}, [LOCK_IT], "I tried Lock, but this did not come about: openable lock.", "not reached: openable lock"),
        ({"openable_lock": "jammed"}, [LOCK_IT], "did not come about: openable lock.", "unlocked → jammed"),
        ({"bed_light": "on"}, [BOTH], "did not come about: ceiling lights.", "not reached: ceiling lights"),
        ({"gate": "opening"}, [OPEN_IT], "is not complete yet: gate.", "still under way: gate"),
        ({"bed_light": "on"}, [LAMP_ON, PARTY_IS_ON, PARTY_ON], "a condition in it was not met", "ended early"),
        ({}, [PARTY_IS_ON, LAMP_ON], "a condition in it was not met", "ended early"),
    ],
)
async def test_not_all_done(
    hass: HomeAssistant,
    add: Add,
    later: Later,
    told: Told,
    device: Device,
    call_tool: CallTool,
    states: dict[str, str],
    actions: list[dict[str, Any]],
    says: str,
    result: str,
) -> None:
    """What did not come about is told instead of the words, and is known as not done."""
    happened: list[Ending] = []
    (await async_get_scheduled_tasks(hass)).async_listen_happened(lambda *of: happened.append(of[2]))
    device.does = device.sets(**states)
    task = await add(600, say=CLAIM, name=CLAIM, actions=actions, agreed=True)
    await later(601)
    assert len(told.words) == 1
    assert says in told.words[0]
    assert CLAIM not in told.words[0]
    assert happened == [Ending.NOT_DONE]
    assert str(task.progress.result).startswith("not all done: ")
    assert result in str(task.progress.result)
    assert "not all done" in (await call_tool(PendingTool()))["ended"][0]["result"]


async def test_second_step_fails(add: Add, later: Later, told: Told, device: Device) -> None:
    """A step that fails after others is told as a part that failed."""
    device.does = fail
    steps = [PARTY_ON, LAMP_ON]
    task = await add(600, say=CLAIM, actions=steps)
    await later(601)
    assert told.words == ["I could not do all of milk: part of it failed."]
    assert "the device is away" in str(task.progress.result)


@pytest.mark.parametrize("actions", [[LOCK_IT], [OPEN_IT], [BOTH], [LAMP_ON]])
async def test_all_done(add: Add, later: Later, told: Told, device: Device, actions: list[dict[str, Any]]) -> None:
    """Words are said as they are where all is reached."""
    device.does = device.sets(openable_lock="locked", gate="open", bed_light="on", ceiling_lights="on")
    task = await add(600, say=CLAIM, actions=actions, agreed=True)
    await later(601)
    assert told.words == [CLAIM]
    assert str(task.progress.result).startswith("done: ")


@pytest.mark.parametrize("ends", ["open", "closed"])
async def test_under_way_is_waited_for(
    hass: HomeAssistant,
    add: Add,
    told: Told,
    device: Device,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
    ends: str,
) -> None:
    """Nothing is said while a gate moves; what it comes to decides."""
    monkeypatch.setattr(run_actions, "PATIENCE", 30.0)
    monkeypatch.setattr(run_actions, "LONGEST_WAY", 120.0)
    device.does = device.sets(gate="opening")
    await add(600, say=CLAIM, actions=[OPEN_IT], agreed=True)
    freezer.tick(601)
    (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
    while not hass.states.is_state(COVER, "opening"):
        await _async_turn(hass)
    for seconds in (40, 40):
        freezer.tick(seconds)
        async_fire_time_changed(hass)
        await _async_turn(hass)
        assert told.words == []
    hass.states.async_set(COVER, ends)
    freezer.tick(60)
    await hass.async_block_till_done()
    assert len(told.words) == 1
    assert (told.words == [CLAIM]) is (ends == "open")


async def _async_turn(hass: HomeAssistant) -> None:
    """Let everything go on that does not wait for a time."""
    for _ in range(30):
        await hass.async_add_executor_job(int)


async def test_cannot_be_known(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """What no entity tells is said with that."""
    press = {"action": "input_button.press", "entity_ids": [BUTTON], "data": {}, "targeted": True}
    hass.services.async_register("input_button", "press", lambda _: None)
    hass.states.async_set(BUTTON, "unknown")
    async_expose_entity(hass, ASSISTANT, BUTTON, True)
    task = await add(600, say="The mail is sent.", actions=[press], agreed=True)
    await later(601)
    assert told.words == ["The mail is sent. I could not check whether it worked."]
    assert "whether it worked cannot be known" in str(task.progress.result)


async def test_what_the_user_is_to_do_is_said_in_any_case(add: Add, later: Later, told: Told, device: Device) -> None:
    """Words until somebody has done something are no claim about the action beside them."""
    device.does = fail
    await add(600, say="The bins!", actions=[TURN_ON], until=Until(done=True))
    await later(601)
    await later(601)
    assert told.words == 2 * ["I could not do milk: it failed. The bins!"]


async def test_in_german(hass: HomeAssistant, home: MockConfigEntry, later: Later, told: Told, device: Device) -> None:
    """What did not come about is told in the user's language."""
    task: ScheduledTask = a_task(home.entry_id, 600, say=CLAIM, actions=[LOCK_IT], agreed=True)
    task.owner.language = "de"
    await (await async_get_scheduled_tasks(hass)).async_add(task)
    await later(601)
    assert told.words == ["Ich habe milk versucht, aber das hier ist nicht eingetreten: openable lock."]


@pytest.mark.parametrize(
    "actions",
    [
        [LAMP_ON, {"stop": "enough"}, PARTY_ON],
        [{"if": [{"condition": "state", "entity_id": PARTY, "state": "on"}], "then": [LAMP_ON]}],
        [
            {
                "choose": [
                    {"conditions": [{"condition": "state", "entity_id": PARTY, "state": "on"}], "sequence": [LAMP_ON]}
                ]
            }
        ],
        [{"repeat": {"while": [{"condition": "state", "entity_id": PARTY, "state": "on"}], "sequence": [LAMP_ON]}}],
        [LAMP_ON, {"action": "input_boolean.turn_on", "target": {"entity_id": PARTY}, "enabled": False}],
    ],
    ids=["stop", "if", "choose", "repeat", "disabled"],
)
async def test_said_of_what_was_not_done(
    hass: HomeAssistant, add: Add, later: Later, told: Told, actions: list[dict[str, Any]]
) -> None:
    """Words are not said as they are where a step was never done."""
    await add(60, say=CLAIM, actions=actions)
    await later(61)
    assert hass.states.is_state(PARTY, "off")
    assert CLAIM not in told.words


async def test_put_off_words(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Words that were not said because nothing was done are not said when they are put off."""

    async def fail(_: ServiceCall) -> None:
        raise HomeAssistantError

    hass.services.async_register("light", "turn_on", fail)
    task = await add(60, say=CLAIM, actions=[TURN_ON])
    await later(61)
    assert not [words for words in told.words if CLAIM in words]
    tasks = await async_get_scheduled_tasks(hass)
    await tasks.async_snooze(task.id, 60)
    await later(61)
    assert hass.states.is_state(LAMP, "off")
    assert not [words for words in told.words if CLAIM in words]


async def test_nothing_applied(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Where no action applied, the words beside them are not said, and it counts as left out."""
    happened: list[Ending] = []
    (await async_get_scheduled_tasks(hass)).async_listen_happened(lambda *of: happened.append(of[2]))
    task = await add(60, say=CLAIM, actions=[{"if": [PARTY_IS_ON], "then": [LAMP_ON]}])
    await later(61)
    assert (told.words, happened) == ([], [Ending.SKIPPED])
    assert task.progress.result == "nothing done: no action in it applied"
    assert await (await async_get_scheduled_tasks(hass)).async_snooze(task.id, 60) is None


async def test_branch_that_applied(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Words beside steps without actions, or whose actions all ran, are said as they are."""
    hass.states.async_set(PARTY, "on")
    wait = {"wait_template": "{{ true }}", "timeout": 5}
    await add(60, say="Dinner.", actions=[PARTY_IS_ON, wait])
    await add(60, say=CLAIM, actions=[{"if": [PARTY_IS_ON], "then": [LAMP_ON]}])
    await later(61)
    assert sorted(told.words) == ["Dinner.", CLAIM]


async def test_put_off_unchecked_words(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """Words that were said with a doubt are said again with it."""
    task = await add(60, say=CLAIM, actions=[LAMP_ON, {"stop": "enough"}, PARTY_ON])
    await later(61)
    assert await (await async_get_scheduled_tasks(hass)).async_snooze(task.id, 60) is task
    await later(61)
    assert told.words == 2 * [f"{CLAIM} I could not check whether it worked."]


@pytest.mark.parametrize(("brightness", "is_claimed"), [(204, True), (20, False)])
async def test_light_that_fades(
    hass: HomeAssistant,
    add: Add,
    later: Later,
    told: Told,
    device: Device,
    *,
    brightness: int,
    is_claimed: bool,
) -> None:
    """A light that is on, and on its way to how bright it is to be, is no failure; that it was not seen is said."""
    device.does = lambda _: hass.states.async_set(LAMP, "on", {"brightness": brightness})
    await add(60, say="It is bright.", actions=[{**LAMP_ON, "data": {"brightness_pct": 80, "transition": 20}}])
    await later(61)
    unchecked = "" if is_claimed else " I could not check whether it worked."
    assert told.words == [f"It is bright.{unchecked}"]


async def test_what_is_set_and_works_at_it(hass: HomeAssistant, add: Add, later: Later, told: Told) -> None:
    """A thermostat is done once it is set: that the room is warm is not waited for."""
    room = {"temperature": 19, "current_temperature": 18, "hvac_action": "idle", "friendly_name": "Room"}

    async def heat(call: ServiceCall) -> None:
        hass.states.async_set("climate.room", "heat", room | {"temperature": 22.0, "hvac_action": "heating"})

    hass.services.async_register("climate", "set_temperature", heat)
    hass.states.async_set("climate.room", "heat", room)
    async_expose_entity(hass, ASSISTANT, "climate.room", True)
    target = {"entity_id": "climate.room"}
    await add(
        60, say="Set.", actions=[{"action": "climate.set_temperature", "target": target, "data": {"temperature": 22}}]
    )
    await later(61)
    assert told.words == ["Set."]


async def test_removed_meanwhile(hass: HomeAssistant, add: Add, later: Later, told: Told, device: Device) -> None:
    """What is gone by the time it is looked at is not claimed to be done."""

    def remove(_: ServiceCall) -> None:
        hass.states.async_remove(LAMP)

    device.does = remove
    task = await add(60, say=CLAIM, actions=[LAMP_ON])
    await later(61)
    assert told.words == [f"{CLAIM} I could not check whether it worked."]
    assert "whether it worked cannot be known" in str(task.progress.result)


LOCK_LAST = [LAMP_ON, {"condition": "template", "value_template": "{{ false }}"}, LOCK_IT_BY_NAME]
SCRIPTS = {
    "inner": {"sequence": LOCK_LAST},
    "outer": {"sequence": [LAMP_ON, {"action": "script.inner"}]},
    "slow": {"sequence": [LAMP_ON, {"delay": 30}, LOCK_IT_BY_NAME]},
}


async def _async_load_scripts(hass: HomeAssistant) -> None:
    """Load the scripts and an automation that ends early, and expose them."""
    config = {"script": SCRIPTS, "automation": [{"id": "ends", "alias": "Ends", "triggers": [], "actions": LOCK_LAST}]}
    with patch("homeassistant.config.load_yaml_config_file", return_value=config):
        for domain in config:
            await hass.services.async_call(domain, "reload", blocking=True)
    for entity_id in (*(f"script.{name}" for name in SCRIPTS), "automation.ends"):
        async_expose_entity(hass, ASSISTANT, entity_id, True)


@pytest.mark.parametrize(
    ("actions", "result"),
    [
        ([{"action": "script.outer"}], "not all done: "),
        ([{"action": "automation.trigger", "target": {"entity_id": "automation.ends"}}], "not all done: "),
    ],
    ids=["inner script", "automation"],
)
@pytest.mark.parametrize("is_resolved", [True, False])
async def test_what_runs_others(
    hass: HomeAssistant,
    add: Add,
    told: Told,
    later: Later,
    device: Device,
    actions: list[dict[str, Any]],
    result: str,
    is_resolved: bool,
) -> None:
    """What scripts and automations did not get to is not claimed: those that ended early, and those that still run."""
    await _async_load_scripts(hass)
    device.does = device.sets(bed_light="on")
    if is_resolved:
        ((action, target),) = [(one["action"], one.get("target", {})) for one in actions]
        entity_ids = [target.get("entity_id", action)]
        actions = [{"action": action, "entity_ids": entity_ids, "data": {}, "targeted": bool(target)}]
    task = await add(60, say=CLAIM, actions=actions, agreed=True)
    await later(61)
    assert len(told.words) == 1
    assert CLAIM not in told.words[0]
    assert result in str(task.progress.result)


async def test_script_in_the_background(
    hass: HomeAssistant,
    add: Add,
    told: Told,
    device: Device,
    freezer: FrozenDateTimeFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is claimed while a script that was only begun still runs, and of what it did since, nothing is known."""
    monkeypatch.setattr(run_actions, "PATIENCE", 60.0)
    await _async_load_scripts(hass)
    device.does = device.sets(bed_light="on", openable_lock="unlocked")
    step = {"action": "script.turn_on", "target": {"entity_id": "script.slow"}}
    await add(60, say=CLAIM, actions=[step], agreed=True)
    freezer.tick(61)
    (await async_get_scheduled_tasks(hass))._fulfilling.async_look()
    while not hass.states.is_state("script.slow", "on"):
        await _async_turn(hass)
    await _async_turn(hass)
    assert told.words == []
    for _ in range(4):
        freezer.tick(31)
        async_fire_time_changed(hass)
        await _async_turn(hass)
    await hass.async_block_till_done()
    assert told.words == [f"{CLAIM} I could not check whether it worked."]


@pytest.mark.parametrize("actions", [[LOCK_IT], [LOCK_IT_BY_NAME, LAMP_ON]])
async def test_hidden_while_it_is_done(
    hass: HomeAssistant, add: Add, later: Later, told: Told, device: Device, actions: list[dict[str, Any]]
) -> None:
    """What is hidden while it is acted on is not claimed to be done."""

    def act(call: ServiceCall) -> None:
        if call.domain == "lock":
            async_expose_entity(hass, ASSISTANT, LOCK, False)
        else:
            hass.states.async_set(LAMP, "on")

    device.does = act
    await add(60, say=CLAIM, actions=actions, agreed=True)
    await later(61)
    assert len(told.words) == 1
    assert told.words != [CLAIM]
