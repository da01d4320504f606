"""Watches: when it is looked, what it costs, what is told, and what ends them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
import math
from typing import Any

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
    async_fire_time_changed,
)

from custom_components.extended_assist.calls.caller import in_conversation
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.cameras.image_cache import ImageCache
from custom_components.extended_assist.claude.usage import async_get_meters
from custom_components.extended_assist.const import (
    CONF_FAMILIES,
    CONF_LOOK_CAMERAS,
    CONF_LOOK_TASK,
    CONF_LOOK_WHO,
    CONF_MONTHLY_TOKENS,
    EVENT_LOOKED,
)
from custom_components.extended_assist.flows.agent import default_task
from custom_components.extended_assist.scheduled import camera_watch, execution
from custom_components.extended_assist.scheduled.camera_watch import Look, tokens_of_look
from custom_components.extended_assist.scheduled.lifecycle import next_look
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import ScheduledTask, Sighting, Watch, read_stored
from custom_components.extended_assist.scheduled.store import KEY
from custom_components.extended_assist.tools.actions import UndoLastChangeTool
from custom_components.extended_assist.tools.scheduled import PendingTool
from custom_components.extended_assist.tools.watch import WatchTool
from homeassistant.components.conversation.chat_log import current_chat_log
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import entity_registry as er, llm
from tests.cameras.conftest import BELL, CELLAR, DOOR, GARAGE, GARDEN, cameras
from tests.cameras.scenes import CameraServer
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text
from tests.conftest import ASSISTANT, MODEL, async_set_up
from tests.helpers.one_home import in_one_home
from tests.helpers.talking import FindLog, change_agent

from .keeping import Told, a_task, async_restart, on_disk, told

__all__ = ["cameras", "told"]

SEE = "the door is green"
SEEN = f"I can see it: {SEE}."
UNSEEN = f"I have watched until the end and did not see it: {SEE}."

type Say = Callable[..., Awaitable[dict[str, Any]]]
type Pass = Callable[..., Awaitable[None]]


def answers(*seen: str) -> Scenario:
    """Return the model's answers, one for each look."""
    return Scenario([Turn([text(f'{{"seen": "{one}"}}')]) for one in seen])


@pytest.fixture
async def home(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    cameras: CameraServer,
    freezer: FrozenDateTimeFactory,
    told: Told,
) -> MockConfigEntry:
    """Return an entry whose model can see, at a known time: 2026-03-02, a Monday, 12:00 in Berlin."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to("2026-03-02T11:00:00+00:00")
    hass.config_entries.async_update_entry(entry, options={CONF_FAMILIES: ["actions", "cameras", "wishes"]})
    await hass.async_block_till_done()
    return entry


@pytest.fixture
def call(hass: HomeAssistant, home: MockConfigEntry, llm_context: llm.LLMContext, hass_admin_user: MockUser) -> Say:
    """Return a function that calls a tool, for a user who is logged in unless another is named."""

    async def ask(
        tool: type[Any], *, user: MockUser | None = hass_admin_user, error: bool = False, **arguments: Any
    ) -> dict[str, Any]:
        options = ToolboxOptions.of(home.options, home.entry_id)
        context = replace(llm_context, context=Context(user_id=user.id if user else None))
        result = await tool(options).async_call(hass, llm.ToolInput(tool.name, arguments), context)
        assert result.error is error, result.data
        return dict(result.data)

    return ask


@pytest.fixture
def watch(call: Say) -> Say:
    """Return a function that begins to watch."""

    async def begin(**arguments: Any) -> dict[str, Any]:
        return await call(WatchTool, **{"see": SEE, "cameras": [DOOR]} | arguments)

    return begin


def passing(hass: HomeAssistant, freezer: FrozenDateTimeFactory, *, looks_end: bool) -> Pass:
    """Return a function that lets seconds go by, one step after the other."""

    async def tick(*seconds: float) -> None:
        for each in seconds:
            freezer.tick(timedelta(seconds=each))
            async_fire_time_changed(hass)
            await hass.async_block_till_done(wait_background_tasks=looks_end)
            await asyncio.sleep(0)

    return tick


@pytest.fixture
def go_by(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Pass:
    """Return a function that lets seconds go by, and looks come to their end."""
    return passing(hass, freezer, looks_end=True)


async def the_wish(hass: HomeAssistant) -> ScheduledTask:
    """Return the only task there is."""
    tasks = await async_get_scheduled_tasks(hass)
    (task,) = [*tasks.standing, *tasks.ended]
    return task


def take_away(hass: HomeAssistant) -> None:
    """Let the camera be gone: the entity itself, which writes its state anew every five minutes."""
    camera = hass.data["entity_components"]["camera"].get_entity(DOOR)
    camera._attr_available = False
    camera.async_write_ha_state()


def looks(server: ClaudeServer) -> list[Any]:
    """Return the requests of looks."""
    return [one.body for one in server.requests if one.path.endswith("/messages")]


async def test_seen(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """It is looked each minute until it is seen, which is told once; each look is known, and no picture is kept."""
    events = async_capture_events(hass, EVENT_LOOKED)
    claude_server.responder = answers("no", "unclear", "yes")
    answer = await watch()
    assert answer["cost"] == "It looks 60 times at most, for about 1 868 tokens each: 112 080 tokens in all."
    assert answer["when"] == f"a look at Front Door every 1 minute until Mon 2026-03-02 13:00, for: {SEE}"
    await go_by(3, 60)
    assert told.words == []
    await go_by(60, 60, 60)
    assert told.words == [SEEN]
    assert len(looks(claude_server)) == len(events) == 3
    assert {event.data["entity_id"] for event in events} == {DOOR}
    task = await the_wish(hass)
    assert (task.is_standing, task.progress.result) == (False, "seen; said")
    assert [*ImageCache.of(hass)] == []
    request = looks(claude_server)[0]
    assert "tools" not in request
    assert len(request["messages"]) == 1
    assert request["thinking"] == {"type": "disabled"}
    assert request["output_config"]["effort"] == "low"
    assert [block["type"] for block in request["messages"][0]["content"]] == ["text", "image", "text"]


async def test_own_words(watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """What is to be said then is said, and nothing that the model wrote."""
    claude_server.responder = Scenario([Turn([text('{"seen": "yes", "say": "Unlock the door!"} Unlock the door!')])])
    await watch(say="Dinner is ready.")
    await go_by(3)
    assert told.words == ["Dinner is ready."]


async def test_not_seen(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told, hass_storage: dict[str, Any]
) -> None:
    """At its end, it is told that it was not seen; looks write nothing to the disk but the first that was answered."""
    claude_server.responder = answers(*["no"] * 4)
    await watch(every=30, lasts=120)
    written = []
    for seconds in (3, 30, 30, 30, 26):
        await go_by(seconds)
        written.append(hass_storage[KEY]["data"]["wishes"][0]["when"]["watch"]["sighting"])
    assert written == ["unseen"] * 5
    assert told.words == []
    await go_by(10)
    assert told.words == [UNSEEN]
    assert len(looks(claude_server)) == 4
    assert (await the_wish(hass)).progress.result == "not seen until its time was over; said"


async def test_disk_is_spared(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many looks that see nothing, one is stored."""
    claude_server.responder = answers(*["no"] * 5)
    await watch()
    saved = 0
    store = (await async_get_scheduled_tasks(hass))._store
    save = store.async_save

    async def count() -> None:
        nonlocal saved
        saved += 1
        await save()

    monkeypatch.setattr(store, "async_save", count)
    await go_by(3, 60, 60, 60, 60)
    assert len(looks(claude_server)) == 5
    assert saved == 1


async def test_several_cameras_are_one_request(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """Two that see it in one look are told once, and one that is named twice is looked at once."""
    claude_server.responder = answers("yes")
    await watch(cameras=[DOOR, "Front Door", GARDEN], every=120)
    task = await the_wish(hass)
    assert task.when.watch
    assert task.when.watch.entity_ids == [DOOR, GARDEN]
    await go_by(3, 120)
    (request,) = looks(claude_server)
    assert [block["text"] for block in request["messages"][0]["content"][:-1] if block["type"] == "text"] == [
        "Front Door:",
        "Garden:",
    ]
    assert told.words == [SEEN]


@in_one_home("every", [0, -60, 29.9, 3601, 1e99, math.nan, math.inf, -math.inf, True, False, "often", None])
async def test_intervals_that_are_none(hass: HomeAssistant, watch: Say, every: Any) -> None:
    """An interval lies between half a minute and an hour."""
    assert "every" in (await watch(every=every, error=True))["error"]
    assert (await async_get_scheduled_tasks(hass)).standing == []


@in_one_home(
    ("arguments", "said"),
    [
        ({"every": 30, "lasts": 10_000}, "334 looks, and at most 300 are made. Give every: 34"),
        ({"lasts": 90_000}, "lasts"),
        ({"cameras": []}, "cameras"),
        ({"cameras": [CELLAR]}, "is exposed"),
        ({"see": "  "}, "up to 200 characters"),
        ({"see": "x" * 201}, "up to 200 characters"),
        ({"say": "x" * 501}, "say in up to 500"),
        ({"say": "{{ states('lock.door') }}"}, "Templates cannot be used"),
        ({"for": "Nobody"}, "no person or area"),
    ],
)
async def test_refused(hass: HomeAssistant, watch: Say, arguments: dict[str, Any], said: str) -> None:
    """What cannot be watched is said with what to change."""
    assert said in (await watch(**arguments, error=True))["error"]
    assert (await async_get_scheduled_tasks(hass)).standing == []


async def test_too_many_cameras(watch: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than four at once, and of these each picture is as large as models read it."""
    monkeypatch.setattr("custom_components.extended_assist.tools.watch.MAX_CAMERAS", 3)
    assert "At most 3 cameras" in (await watch(cameras=[DOOR, GARDEN, GARAGE, BELL], error=True))["error"]
    assert tokens_of_look(4) == 4 * 1_568 + 300
    assert tokens_of_look(5) == 5 * 680 + 300


async def test_unavailable(hass: HomeAssistant, watch: Say) -> None:
    """Where no camera is there, it is not begun."""
    take_away(hass)
    assert "Not available now: Front Door" in (await watch(error=True))["error"]


async def test_no_more_than_five(hass: HomeAssistant, watch: Say) -> None:
    """Of those of one owner that stand; one that has ended leaves room."""
    for _ in range(5):
        await watch()
    assert "This user already has 5 watches" in (await watch(error=True))["error"]
    tasks = await async_get_scheduled_tasks(hass)
    await tasks.async_end(tasks.standing[0].id, "cancelled")
    await watch()


async def test_dear_watches_ask(hass: HomeAssistant, watch: Say, home: MockConfigEntry) -> None:
    """An hour of one camera does not ask; what costs much does, and nobody is here to agree."""
    assert "no conversation" in (await watch(cameras=[DOOR, GARDEN], error=True))["error"]
    assert "no conversation" in (await watch(every=30, error=True))["error"]
    await watch()
    tool = WatchTool(ToolboxOptions(policy=Policy(allow_without_chat=True), entry_id=home.entry_id, is_fixed=True))
    assert len((await async_get_scheduled_tasks(hass)).standing) == 1
    assert tool.is_told is False


async def test_listed_put_off_and_ended(
    hass: HomeAssistant, call: Say, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """It is pending like any task; what is put off is looked at later, as often as was left, and what has ended never."""
    claude_server.responder = answers(*["no"] * 9)
    begun = await watch(every=60, lasts=300)
    await go_by(3, 60)
    (row,) = (await call(PendingTool))["pending"]
    assert (row["id"], row["name"]) == (begun["id"], SEE)
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 600})
    task = await the_wish(hass)
    assert task.when.watch
    assert task.when.watch.looks == 3
    await go_by(60, 60, 500)
    assert len(looks(claude_server)) == 2
    await go_by(60, 60, 60)
    assert len(looks(claude_server)) == 5
    assert told.words == []
    await call(PendingTool, cancel=begun["id"])
    await go_by(60, 600)
    assert len(looks(claude_server)) == 5
    assert told.words == []


async def test_undo_of_a_snooze(
    hass: HomeAssistant, call: Say, watch: Say, go_by: Pass, claude_server: ClaudeServer
) -> None:
    """It is looked when it would have been."""
    claude_server.responder = answers(*["no"] * 3)
    begun = await watch()
    await go_by(3)
    before = (await the_wish(hass)).stored()["when"]
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 6_000})
    assert (await the_wish(hass)).stored()["when"] != before
    await call(UndoLastChangeTool)
    assert (await the_wish(hass)).stored()["when"] == before | {"watch": before["watch"]}
    await go_by(60)
    assert len(looks(claude_server)) == 2


class Slow:
    """A look that ends when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of looks."""
        self.begun = 0
        self.go_on = asyncio.Event()
        self.outcome: Look | BaseException = Look.SEEN
        self.tasks: list[asyncio.Task[Any] | None] = []
        self.chat_logs: list[Any] = []
        monkeypatch.setattr(camera_watch, "async_look", self.async_look)

    async def async_look(self, *_: Any) -> Look:
        """Look for as long as it takes."""
        self.begun += 1
        self.tasks.append(asyncio.current_task())
        self.chat_logs.append(current_chat_log.get())
        await self.go_on.wait()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Return a look that ends when it is let."""
    return Slow(monkeypatch)


@pytest.fixture
def pass_by(hass: HomeAssistant, freezer: FrozenDateTimeFactory) -> Pass:
    """Return a function that lets seconds go by while a look goes on."""
    return passing(hass, freezer, looks_end=False)


async def test_slow_looks_delay_the_next(watch: Say, slow: Slow, pass_by: Pass) -> None:
    """One look at a time; what was missed meanwhile is not caught up."""
    slow.outcome = Look.UNSEEN
    await watch()
    await pass_by(3, 60, 60, 60)
    assert slow.begun == 1
    slow.go_on.set()
    await pass_by(1)
    assert slow.begun == 1
    await pass_by(58)
    assert slow.begun == 2


async def test_asleep(watch: Say, go_by: Pass, claude_server: ClaudeServer) -> None:
    """Looks that were slept through are not caught up."""
    claude_server.responder = answers(*["no"] * 9)
    await watch()
    await go_by(3, 1_200)
    assert len(looks(claude_server)) == 2


async def test_put_off_meanwhile(call: Say, watch: Say, slow: Slow, pass_by: Pass, told: Told) -> None:
    """A look that was begun before does not end what was put off, and no second one runs beside it."""
    begun = await watch()
    await pass_by(3)
    await call(PendingTool, snooze={"id": begun["id"], "seconds": 100})
    await pass_by(100)
    assert slow.begun == 1
    slow.go_on.set()
    await pass_by(1)
    assert told.words == []


async def test_undone_meanwhile(
    hass: HomeAssistant, call: Say, watch: Say, slow: Slow, pass_by: Pass, told: Told
) -> None:
    """Who takes back that it is watched hears nothing of a look that runs."""
    await watch()
    await pass_by(3)
    await call(UndoLastChangeTool)
    await pass_by(1)
    (task,) = slow.tasks
    assert task
    assert task.cancelled()
    slow.go_on.set()
    await pass_by(1, 3_600)
    assert told.words == []
    assert (await the_wish(hass)).progress.result == "taken back"


async def test_end_comes_during_a_look(watch: Say, slow: Slow, pass_by: Pass, told: Told) -> None:
    """What is told at the end is told once, whatever a look that is too late sees."""
    await watch(every=30, lasts=60)
    await pass_by(3, 61)
    assert told.words == [f"I could not look even once, so I do not know about this: {SEE}."]
    slow.go_on.set()
    await pass_by(1, 60)
    assert len(told.words) == 1


async def test_outside_of_conversations(watch: Say, slow: Slow, pass_by: Pass, chat_log: FindLog) -> None:
    """A look is no part of the conversation in which it was asked for."""
    with in_conversation(chat_log("one")):
        await watch()
        await pass_by(3)
    assert slow.chat_logs == [None]


@pytest.mark.parametrize("error", [asyncio.CancelledError(), RuntimeError("broken"), TimeoutError()])
async def test_errors_do_not_end_it(watch: Say, slow: Slow, pass_by: Pass, told: Told, error: BaseException) -> None:
    """Neither an error nor the cancellation of somebody else's task is an answer, or keeps it from the next look."""
    slow.outcome = error
    slow.go_on.set()
    await watch()
    await pass_by(3)
    assert slow.begun == 1
    slow.outcome = Look.SEEN
    await pass_by(60)
    await pass_by(1)
    assert slow.begun == 2
    assert told.words == [SEEN]


async def test_cancelled_from_outside(watch: Say, slow: Slow, pass_by: Pass, told: Told) -> None:
    """Who cancels a look itself ends that look, and not the watch."""
    await watch()
    await pass_by(3)
    (task,) = slow.tasks
    assert task
    task.cancel()
    await pass_by(1)
    assert task.cancelled()
    slow.go_on.set()
    await pass_by(60, 1)
    assert told.words == [SEEN]


async def test_unloaded(hass: HomeAssistant, home: MockConfigEntry, watch: Say, slow: Slow, pass_by: Pass) -> None:
    """No look is left behind; once the entry is there again, it is looked at the next moment."""
    await watch()
    await pass_by(3)
    assert await hass.config_entries.async_unload(home.entry_id)
    await pass_by(1)
    assert [task.cancelled() for task in slow.tasks if task] == [True]
    assert await hass.config_entries.async_setup(home.entry_id)
    await pass_by(1)
    assert slow.begun == 1
    await pass_by(60)
    assert slow.begun == 2
    slow.go_on.set()


async def test_restart(
    hass: HomeAssistant,
    home: MockConfigEntry,
    watch: Say,
    go_by: Pass,
    claude_server: ClaudeServer,
    hass_storage: dict[str, Any],
    told: Told,
) -> None:
    """It goes on until its end, and the looks of both lives are no more than were told."""
    claude_server.responder = answers(*["no"] * 9)
    await watch(every=60, lasts=300)
    await go_by(3, 60)
    stored = on_disk(hass_storage, await the_wish(hass))
    assert stored["when"]["watch"]["see"] == SEE
    tasks = await async_restart(hass, home)
    assert tasks.standing[0].stored() == stored
    await go_by(10, 60, 60, 60)
    assert len(looks(claude_server)) == 5
    await go_by(60)
    assert told.words == [UNSEEN]


async def test_wishes_from_before(hass: HomeAssistant, home: MockConfigEntry) -> None:
    """What was stored without any of this is read as it was."""
    stored = a_task(home.entry_id, 60).stored()
    assert stored["when"].pop("watch") is None
    (task,) = read_stored({"wishes": [stored]})
    assert task.when.watch is None


async def test_no_picture(
    watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told, hass: HomeAssistant
) -> None:
    """A camera that fails is no answer; after five times in a row it is told once, and it ends."""
    claude_server.responder = answers("no")
    await watch()
    await go_by(3)
    take_away(hass)
    await go_by(60, 60, 60, 60)
    assert told.words == []
    await go_by(60, 60, 60)
    assert told.words == [f"I have stopped watching, because I get no pictures that I can look at: {SEE}."]
    assert len(looks(claude_server)) == 1


async def test_service_is_gone(watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """Too many requests, or none that is answered: nothing ends, and the next one comes at its time."""
    limit = Fault("http", status=429, message="Slow down", headers={"retry-after": "600"})
    claude_server.responder = Scenario(
        [
            *[Turn(fault=limit)] * 6,
            Turn([text("Hm.")]),
            Turn([], stop_reason="refusal"),
            Turn([text('{"seen": "yes"}')]),
        ]
    )
    await watch()
    await go_by(3, 60, 60, 60, 60, 60)
    assert len(looks(claude_server)) == 6
    await go_by(60, 60)
    assert told.words == []
    await go_by(60)
    assert told.words == [SEEN]


async def test_never_looked(watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """Where no look was answered, nobody is told that it was not seen."""
    limit = Fault("http", status=429, message="Slow down", headers={"retry-after": "600"})
    claude_server.responder = Scenario([Turn(fault=limit)] * 2)
    await watch(every=30, lasts=60)
    await go_by(3, 30, 30)
    assert told.words == [f"I could not look even once, so I do not know about this: {SEE}."]


async def test_fields_that_are_refused(watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """A server that takes no field about thinking is asked without, at once and from then on."""
    fault = Fault("http", status=400, message="thinking: not supported", error_type="invalid_request_error")
    claude_server.responder = Scenario([Turn(fault=fault), *answers("no", "yes").turns])
    await watch()
    await go_by(3, 60)
    first, second, third = looks(claude_server)
    assert "thinking" in first
    assert not {"thinking", "output_config"} & second.keys()
    assert "thinking" not in third
    assert told.words == [SEEN]


async def test_tokens_are_counted_and_limited(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer
) -> None:
    """They are the agent's; when this month's are used up, no camera is asked."""
    claude_server.responder = answers("no", "no")
    (subentry_id,) = home.subentries
    meter = (await async_get_meters(hass)).of(subentry_id)
    await watch()
    await go_by(3)
    assert meter.usage.counts["requests"] == 1
    await change_agent(hass, home, **{CONF_MONTHLY_TOKENS: 1})
    events = async_capture_events(hass, EVENT_LOOKED)
    await go_by(60, 60)
    assert len(looks(claude_server)) == 1
    assert events == []
    assert (await the_wish(hass)).is_standing


async def test_model_without_eyes(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """Where the model is changed to one that cannot see, it ends and that is told; nothing new can be watched."""
    claude_server.responder = answers("no")
    await watch()
    await go_by(3)
    await change_agent(hass, home, plain=True)
    await go_by(60)
    assert told.words == [f"I have stopped watching, because I get no pictures that I can look at: {SEE}."]
    assert "cannot see pictures" in (await watch(error=True))["error"]
    tool = WatchTool(ToolboxOptions.of(home.options, home.entry_id))
    assert tool.for_model(hass, sees=False) is None
    assert isinstance(tool.for_model(hass, sees=True), WatchTool)


async def test_the_task_looks(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """Where the model of the agent cannot see, the AI Task of the options is asked; what it makes up is no answer."""
    await async_set_up(hass, claude_server, default_task([], MODEL))
    await change_agent(hass, home, plain=True)
    options = {**home.options, CONF_LOOK_TASK: "ai_task.claude_ai_task"}
    hass.config_entries.async_update_entry(home, options=options)
    await hass.async_block_till_done()
    fault = Fault("http", status=401, message="Who?", error_type="authentication_error")
    claude_server.responder = Scenario([Turn(fault=fault), *answers("no", "yes").turns])
    await watch()
    await go_by(3, 60)
    assert told.words == []
    await go_by(60)
    assert told.words == [SEEN]


async def test_hidden_cameras(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """One that is hidden leaves silently; when all are, it ends, and no name of theirs is said."""
    claude_server.responder = answers("no", "no", "no")
    await watch(cameras=[DOOR, GARDEN], every=120)
    await go_by(3)
    async_expose_entity(hass, ASSISTANT, DOOR, False)
    await go_by(120)
    content = looks(claude_server)[-1]["messages"][0]["content"]
    assert [block["text"] for block in content if block["type"] == "text"][:-1] == ["Garden:"]
    async_expose_entity(hass, ASSISTANT, GARDEN, False)
    await go_by(120)
    assert told.words == [f"I did not do {SEE}: not everything in it is visible to me any more."]
    assert len(looks(claude_server)) == 2


async def test_words_that_name_what_is_hidden(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told
) -> None:
    """What is hidden by now is not named, though it was when it was asked for."""
    claude_server.responder = answers("no", "yes")
    await watch(see="something is in front of the garden", cameras=[DOOR, GARDEN], every=120, say="Look at the Garden")
    await go_by(3)
    async_expose_entity(hass, ASSISTANT, GARDEN, False)
    await go_by(120)
    assert told.words == ["I can see it: something planned."]


async def test_who_may_look(
    hass: HomeAssistant,
    home: MockConfigEntry,
    call: Say,
    watch: Say,
    go_by: Pass,
    claude_server: ClaudeServer,
    told: Told,
    hass_read_only_user: MockUser,
) -> None:
    """At a speaker without a log-in, only what anyone may see is watched; what is no more so is looked at no more."""
    claude_server.responder = answers("no", "no")
    assert "Nobody is logged in" in (await watch(user=None, error=True))["error"]
    options = {**home.options, CONF_LOOK_CAMERAS: [DOOR]}
    hass.config_entries.async_update_entry(home, options=options)
    await hass.async_block_till_done()
    answer = await watch(user=None, cameras=[DOOR, GARDEN], every=120)
    assert answer["not_from_here"] == "1 more may not be looked at by whoever asks"
    await go_by(3)
    assert len(looks(claude_server)) == 1
    hass.config_entries.async_update_entry(home, options={**options, CONF_LOOK_CAMERAS: []})
    await hass.async_block_till_done()
    await go_by(120)
    assert len(looks(claude_server)) == 1
    assert told.words == [f"I did not do {SEE}: not everything in it is visible to me any more."]
    told.words.clear()
    begun = await watch(user=hass_read_only_user)
    hass.config_entries.async_update_entry(home, options={**options, CONF_LOOK_WHO: "admin", CONF_LOOK_CAMERAS: []})
    await hass.async_block_till_done()
    await go_by(60)
    assert len(looks(claude_server)) == 1
    task = (await async_get_scheduled_tasks(hass)).find(begun["id"])
    assert task
    assert task.when.watch
    assert task.when.watch.sighting is Sighting.HIDDEN


async def test_turned_off(
    hass: HomeAssistant, home: MockConfigEntry, watch: Say, go_by: Pass, claude_server: ClaudeServer
) -> None:
    """Without the family, it is not looked; and what could not be listed and ended is not begun."""
    claude_server.responder = answers("no")
    await watch()
    hass.config_entries.async_update_entry(home, options={CONF_FAMILIES: ["wishes"]})
    await hass.async_block_till_done()
    await go_by(3, 60)
    assert looks(claude_server) == []
    hass.config_entries.async_update_entry(home, options={CONF_FAMILIES: ["cameras"]})
    await hass.async_block_till_done()
    assert "turned off" in (await watch(error=True))["error"]


async def test_user_who_is_gone(
    hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, hass_read_only_user: MockUser
) -> None:
    """A user who may not log in any more is not looked for."""
    events = async_capture_events(hass, EVENT_LOOKED)
    claude_server.responder = answers("no")
    await watch(user=hass_read_only_user)
    await hass.auth.async_update_user(hass_read_only_user, is_active=False)
    await go_by(3, 60)
    assert (looks(claude_server), events) == ([], [])


async def test_renamed(hass: HomeAssistant, watch: Say) -> None:
    """A camera whose id is changed is looked at under its new one."""
    await watch()
    er.async_get(hass).async_update_entity(DOOR, new_entity_id="camera.oven")
    await hass.async_block_till_done()
    task = await the_wish(hass)
    assert task.when.watch
    assert task.when.watch.entity_ids == ["camera.oven"]


async def test_language(hass: HomeAssistant, watch: Say, go_by: Pass, claude_server: ClaudeServer, told: Told) -> None:
    """It is told in the language of the one who asked."""
    claude_server.responder = answers("yes")
    await watch(see="die Pizza ist braun.")
    (await the_wish(hass)).owner.language = "de"
    await go_by(3)
    assert told.words == ["Ich sehe es: die Pizza ist braun."]


async def test_hung_looks_are_given_up(watch: Say, slow: Slow, monkeypatch: pytest.MonkeyPatch, pass_by: Pass) -> None:
    """A look that never ends does not keep others from being made."""
    monkeypatch.setattr(camera_watch, "LONGEST", 1)
    await watch()
    await pass_by(3, 2, 60)
    assert slow.begun == 2


async def test_cancellation_of_others_in_any_wish(
    hass: HomeAssistant, home: MockConfigEntry, go_by: Pass, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody else's task is cancelled, a task of any kind fails and is over, rather than being done for ever."""

    async def broken_off(*_: Any, **__: Any) -> bool:
        raise asyncio.CancelledError

    monkeypatch.setattr(execution, "async_valid_call", broken_off)
    tasks = await async_get_scheduled_tasks(hass)
    task = a_task(home.entry_id, 60)
    await tasks.async_add(task)
    await go_by(60)
    assert tasks._fulfilling._running == {}
    assert task.progress.result == "not done: it failed unexpectedly"
    monkeypatch.setattr(execution, "async_deliver", broken_off)
    unheard = a_task(home.entry_id, 60)
    await tasks.async_add(unheard)
    await go_by(60)
    assert tasks._fulfilling._running == {}
    assert unheard.progress.untold


async def test_cancelled_run(
    hass: HomeAssistant, home: MockConfigEntry, freezer: FrozenDateTimeFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduled task whose run is cancelled is left to be taken up again."""
    running: list[asyncio.Task[Any]] = []
    has_begun = asyncio.Event()

    async def hang(*_: Any, **__: Any) -> bool:
        current = asyncio.current_task()
        assert current
        running.append(current)
        has_begun.set()
        await asyncio.Event().wait()
        return True

    monkeypatch.setattr(execution, "async_valid_call", hang)
    tasks = await async_get_scheduled_tasks(hass)
    await tasks.async_add(a_task(home.entry_id, 60))
    freezer.tick(61)
    async_fire_time_changed(hass)
    await has_begun.wait()
    monkeypatch.undo()
    running[0].cancel()
    await hass.async_block_till_done()
    assert running[0].cancelled()
    assert tasks._fulfilling._running == {}
    assert [task.progress.times for task in tasks.ended] == [1]


def test_moments_of_looks() -> None:
    """They stand fast, so that there are never more than were told."""
    one = Watch(SEE, [DOOR], 1_000.0, 60.0, 3)
    assert next_look(one, 0.0) == 1_000.0
    assert next_look(one, 999.9) == 1_000.0
    assert next_look(one, 1_000.0) == 1_060.0
    assert next_look(one, 1_119.0) == 1_120.0
    assert next_look(one, 1_120.0) is None
    assert next_look(replace(one, looks=0), 0.0) is None


async def test_unexpected_errors(
    hass: HomeAssistant, watch: Say, go_by: Pass, monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    """An unexpected error costs one look alone."""

    async def broken(*_: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(camera_watch, "async_take", broken)
    await watch()
    await go_by(3)
    assert (await the_wish(hass)).is_standing
    assert told.words == []
