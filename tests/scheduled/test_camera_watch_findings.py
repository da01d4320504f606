"""Watches where something is in the way: what is told, what is spent, and what is kept."""

from dataclasses import replace
from itertools import product
import math
from types import SimpleNamespace
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockUser
import voluptuous as vol

from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.claude import vision_model
from custom_components.extended_assist.claude.usage import async_get_meters
from custom_components.extended_assist.confirmation.approval_requests import async_question
from custom_components.extended_assist.const import CONF_FAMILIES
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.panel.scheduled import async_standing
from custom_components.extended_assist.scheduled.camera_watch import tokens_of_look
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import read_stored
from custom_components.extended_assist.scheduled.store import KEY
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import DoLaterTool, PendingTool
from custom_components.extended_assist.tools.watch import WatchTool
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Context, CoreState, HomeAssistant
from homeassistant.helpers import llm
from tests.cameras.conftest import DOOR, GARDEN, cameras
from tests.claude.test_question import Say as SayTo, ask_first, say
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.helpers.one_home import in_one_home
from tests.helpers.talking import change_agent, speech

from .keeping import Told, on_disk, told
from .test_camera_watch import SEE, SEEN, UNSEEN, Pass, Say, answers, call, go_by, home, looks, the_wish, watch

__all__ = ["ask_first", "call", "cameras", "go_by", "home", "say", "told", "watch"]


async def test_models_that_are_not_listed_for_a_while(
    home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """A server that lists no models for a while has no blind model: the watch goes on, and looks once they are back."""
    claude_server.responder = answers("no", "yes")
    await watch()
    await go_by(3)
    coordinator = home.runtime_data.coordinator
    models, coordinator.data = coordinator.data, []
    await go_by(60, 60)
    assert told.words == []
    coordinator.data = models
    await go_by(60)
    assert told.words == [SEEN]


async def test_what_ended_is_known(call: Say, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """Of a watch that has ended, what was watched for is told, and it is found by it."""
    claude_server.responder = answers("yes")
    await watch()
    await go_by(3)
    (row,) = (await call(PendingTool, about="green"))["ended"]
    assert SEE in row["what"]


async def test_what_is_cancelled_and_undone_is_told(
    hass: HomeAssistant, call: Say, watch: Say, hass_admin_user: MockUser, home: MockConfigEntry
) -> None:
    """Ending, putting off, undoing and the panel say what is watched for."""
    begun = await watch()
    options = ToolboxOptions.of(home.options, home.entry_id)
    context = Context(user_id=hass_admin_user.id)
    (row,) = await async_standing(hass, options, hass_admin_user, context, "en")
    assert any("Front Door" in line and SEE in line for line in row["lines"])
    assert SEE in (await call(PendingTool, snooze={"id": begun["id"], "seconds": 60}))["what"]
    assert SEE in (await call(PendingTool, cancel=begun["id"]))["what"]
    assert SEE in str(await call(UndoLastChangeTool))
    assert (await the_wish(hass)).is_standing


async def test_no_more_is_spent_than_was_told(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer
) -> None:
    """A response that breaks off has been paid for, so that the same look is not asked for again."""
    (subentry_id,) = home.subentries
    meter = (await async_get_meters(hass)).of(subentry_id)
    broken = Turn([text('{"seen": "no"}')], fault=Fault("disconnect", after=3))
    claude_server.responder = Scenario([broken] * 9)
    await watch()
    await go_by(3)
    assert meter.usage.counts["requests"] == 1
    assert len(looks(claude_server)) == 1


@pytest.mark.parametrize(("status", "kind"), [(429, "rate_limit_error"), (529, "overloaded_error"), (500, "api_error")])
async def test_services_are_not_hammered(
    watch: Say,
    go_by: Pass,
    claude_server: ClaudeServer,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    kind: str,
) -> None:
    """A service that has too much to do is asked once more for a look at most: the next look comes anyway."""
    pauses = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(vision_model, "asyncio", SimpleNamespace(sleep=pause))
    fault = Fault("http", status=status, message="Slow down", error_type=kind)
    claude_server.responder = Scenario([Turn(fault=fault)] * 20)
    await watch()
    await go_by(3)
    assert len(looks(claude_server)) == 2
    assert min(pauses) >= 2


@pytest.mark.parametrize(
    "answer",
    [
        '{"seen": "Yes"}',
        '{"seen": true}',
        'The frame {upper left} is clear. {"seen": "yes"}',
        '{"seen": "no"} Wait, it is. {"seen": "yes"}',
    ],
)
async def test_answers_of_smaller_models(
    watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told, answer: str
) -> None:
    """A yes is a yes, however it is written, and the last word counts."""
    claude_server.responder = Scenario([Turn([text(answer)])])
    await watch()
    await go_by(3)
    assert told.words == [SEEN]


async def test_looks_that_failed_are_told(watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """Where most looks came to nothing, nobody is told that it was watched until the end."""
    limit = Fault("http", status=429, message="Slow down", headers={"retry-after": "600"})
    claude_server.responder = Scenario([*answers("no").turns, *[Turn(fault=limit)] * 4])
    await watch(every=30, lasts=150)
    await go_by(3, 30, 30, 30, 30, 30)
    (words,) = told.words
    assert words != UNSEEN
    assert SEE in words


@in_one_home("spans", [{"every": 3600}, {"every": 600, "lasts": 60}, {"lasts": 30}])
async def test_one_look_is_no_watch(hass: HomeAssistant, watch: Say, spans: dict[str, Any]) -> None:
    """What would be looked at once, and told long after that, is refused with what to change."""
    assert "lasts" in (await watch(**spans, error=True))["error"]
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_camera_that_is_not_there_yet(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """An exposed camera without a state, such as while it is loaded anew, gives no picture, and is not hidden."""
    claude_server.responder = answers("no", "yes")
    await watch()
    await go_by(3)
    state = hass.states.get(DOOR)
    assert state
    hass.states.async_remove(DOOR)
    await go_by(60)
    assert told.words == []
    hass.states.async_set(DOOR, state.state, state.attributes)
    await go_by(60)
    assert told.words == [SEEN]


@pytest.mark.parametrize("argument", ["see", "say"])
async def test_half_characters(
    hass: HomeAssistant, watch: Say, call: Say, hass_storage: dict[str, Any], argument: str
) -> None:
    """What no file can hold is refused, and does not keep others from being stored."""
    assert "error" in await watch(**{argument: "green \ud83d"}, error=True)
    await call(DoLaterTool, when={"after": 60}, say="Dinner")
    assert [one["what"]["say"] for one in hass_storage[KEY]["data"]["wishes"]] == ["Dinner"]


@pytest.fixture
async def stored(hass: HomeAssistant, watch: Say) -> dict[str, Any]:
    """Return a task with a watch as it is stored."""
    await watch()
    return (await the_wish(hass)).stored()


@in_one_home(
    ("field", "number"),
    product(("begins", "every"), (math.nan, math.inf, -math.inf, 1e300, -1e300, None, "60")),
)
async def test_stored_numbers_that_are_none(stored: dict[str, Any], field: str, number: Any) -> None:
    """What no watch of ours holds is set aside with its file, rather than breaking the clock of all tasks."""
    assert read_stored({"wishes": [stored]})
    with pytest.raises(vol.Invalid):
        read_stored(
            {"wishes": [stored | {"when": stored["when"] | {"watch": stored["when"]["watch"] | {field: number}}}]}
        )


async def test_put_off_after_it_was_told(
    hass: HomeAssistant, call: Say, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """What was told of a watch is told again later, like any reminder."""
    claude_server.responder = answers("yes")
    begun = await watch()
    await go_by(3)
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 300})
    await go_by(301)
    assert told.words == [SEEN, SEEN]
    assert len(looks(claude_server)) == 1


@pytest.mark.parametrize("see", ["披萨已经变成棕色了" * 20, "🍕" * 200, "ż" * 200])
async def test_cost_of_other_scripts(watch: Say, see: str) -> None:
    """Long words of other scripts are counted."""
    answer = await watch(see=see[:200], every=120)
    told_each = int(answer["cost"].partition(" tokens each")[0].rpartition("about ")[2].replace(" ", ""))
    assert told_each > tokens_of_look(1)


async def test_cost_of_models_that_always_think(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer
) -> None:
    """What a model may think is told, and no answer may be longer than was told."""
    claude_server.responder = answers("no", "no")
    await watch(every=120)
    await go_by(3)
    plain = looks(claude_server)[-1]
    assert plain["max_tokens"] < 300
    await change_agent(hass, home, model="claude-opus-5-5")
    answer = await watch(every=120)
    each = int(answer["cost"].partition(" tokens each")[0].rpartition("about ")[2].replace(" ", ""))
    await go_by(3)
    asked = looks(claude_server)[-1]
    assert asked["model"] == "claude-opus-5-5"
    assert each >= 1_568 + asked["max_tokens"]


async def test_clock_put_back(
    watch: Say, go_by: Pass, claude_server: ClaudeServer, freezer: FrozenDateTimeFactory
) -> None:
    """Where the clock is put back, no look is made twice."""
    claude_server.responder = answers(*["no"] * 9)
    await watch(every=60, lasts=300)
    await go_by(3, 60, 60)
    await go_by(-100)
    await go_by(30, 30, 30)
    assert len(looks(claude_server)) == 3
    await go_by(60, 60, 60)
    assert len(looks(claude_server)) == 5


async def test_answers_are_stored_at_the_stop(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, hass_storage: dict[str, Any]
) -> None:
    """How many looks were answered outlasts a restart, though looks do not write."""
    claude_server.responder = answers(*["no"] * 3)
    await watch()
    await go_by(3, 60, 60)
    assert on_disk(hass_storage, await the_wish(hass))["when"]["watch"]["answered"] == 1
    hass.set_state(CoreState.stopping)
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
    await hass.async_block_till_done()
    hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await hass.async_block_till_done()
    assert on_disk(hass_storage, await the_wish(hass))["when"]["watch"]["answered"] == 3


async def test_answers_of_what_was_put_off(
    call: Say, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """Looks that were answered before it was put off, or before that was taken back, are answered."""
    claude_server.responder = answers(*["no"] * 9)
    begun = await watch(every=60, lasts=240)
    await go_by(3, 60, 60)
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 30})
    await call(UndoLastChangeTool)
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 30})
    await go_by(100, 60)
    assert told.words == [UNSEEN]
    assert len(looks(claude_server)) == 4


@pytest.mark.parametrize(("language", "cost"), [("en", "224 160 tokens in all"), ("de", "224 160 Token insgesamt")])
async def test_cost_of_several(
    hass: HomeAssistant, home: MockConfigEntry, say: SayTo, language: str, cost: str
) -> None:
    """Where two watches are asked about at once, the cost of each is told."""
    hass.config_entries.async_update_entry(home, options={CONF_FAMILIES: ["actions", "cameras", "wishes"]})
    await hass.async_block_till_done()
    asked = [tool_use(WatchTool.name, {"see": SEE, "cameras": [one], "every": 30}) for one in (DOOR, GARDEN)]
    words = speech(await say("Watch both", Turn(asked), language=language))
    assert words.count(cost) == 2
    (one,) = asked[:1]
    assert cost in speech(await say("Watch the door", Turn([one]), language=language))
    await say({"en": "Yes", "de": "Ja"}[language], Turn([text("I watch.")]), language=language)
    assert len((await async_get_scheduled_tasks(hass)).standing) == 1


async def test_cost_on_a_phone(
    hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext, hass_admin_user: MockUser
) -> None:
    """Who is asked on a phone reads the cost as well."""
    arguments = WatchTool.parameters({"see": SEE, "cameras": [DOOR]})
    options = ToolboxOptions.of(home.options, home.entry_id)
    context = replace(llm_context, context=Context(user_id=hass_admin_user.id))
    caller = Caller(context)
    exposure = Exposure(hass, caller.assistant)
    tool_call = ToolCall(hass=hass, arguments=arguments, exposure=exposure, caller=caller, options=options)
    question = await async_question(tool_call, await WatchTool(options).async_plan(tool_call), "en")
    assert "112 080 tokens in all" in question
