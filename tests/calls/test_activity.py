"""What assistants did, told by one event: to the logbook, to an entity of each agent, and to automations."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_capture_events,
    async_fire_time_changed,
    mock_restore_cache_with_extra_data,
)
from pytest_homeassistant_custom_component.components.recorder.common import async_wait_recording_done
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator, WebSocketGenerator

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.activity import (
    EVENT_AGENT,
    MAX_A_MINUTE,
    MAX_CAUSES,
    MAX_NAMED,
    ActivityKind,
    async_get_activity,
    async_happened,
    tell,
)
from custom_components.extended_assist.calls.call import ToolCall
from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.change_recorder import Recording
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.plan import Plan, Step
from custom_components.extended_assist.claude.usage import SHOW_DELAY
from custom_components.extended_assist.const import CONF_ASK_FIRST, CONF_FAMILIES, CONF_MONTHLY_TOKENS, DOMAIN
from custom_components.extended_assist.exposure.entities import Exposure
from custom_components.extended_assist.functions.manager import async_perform_function
from custom_components.extended_assist.logbook import async_describe_events
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.scheduled.scheduled_task import Owner, What
from homeassistant.components import conversation
from homeassistant.components.automation import DOMAIN as AUTOMATION
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity, async_should_expose
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, Event, HomeAssistant, State
from homeassistant.helpers import device_registry as dr, entity_registry as er, llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.conftest import AGENT, ASSISTANT, Converse, expose
from tests.functions.conftest import Install, install
from tests.helpers.talking import change_agent
from tests.scheduled.shown import async_set_up_home, make_task

__all__ = ["install"]

pytestmark = pytest.mark.usefixtures("no_deprecations")

ACTIVITY, OTHERS = "event.claude_activity", "event.extended_assist_activity"
LAMP, DOOR, HIDDEN, PARTY = "light.bed_light", "lock.front_door", "light.ceiling_lights", "input_boolean.party"
ON = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
PERFORM = "extended_assist__perform_action"
DONE = Turn([text("Done.")])
KINDS = [kind.value for kind in ActivityKind]

type Told = list[Event[dict[str, Any]]]


@pytest.fixture
def told(hass: HomeAssistant) -> Told:
    """Return what is told from now on."""
    return async_capture_events(hass, EVENT_AGENT)


@pytest.fixture
def language(hass: HomeAssistant, request: pytest.FixtureRequest) -> str:
    """Let a home speak a language from the beginning."""
    hass.config.language = request.param
    return str(request.param)


def kinds(told: Told) -> list[str]:
    """Return the kinds of what was told."""
    return [event.data["kind"] for event in told]


def act(**arguments: Any) -> Turn:
    """Return a turn in which the model acts."""
    return Turn([tool_use(PERFORM, arguments)])


@pytest.mark.usefixtures("house")
async def test_act(hass: HomeAssistant, converse: Converse, told: Told, entry: MockConfigEntry) -> None:
    """An act is told as it begins, with actions and entities and in its own context, which the changes share; nothing said is."""
    await converse("Light for the burglar, please", act(**ON), DONE)
    await hass.async_block_till_done()
    (event,) = told
    (subentry_id,) = entry.subentries
    assert event.data == {
        "kind": "acted",
        "agent": subentry_id,
        "name": "Claude",
        "entity_id": ACTIVITY,
        "tool": PERFORM,
        "actions": ["light.turn_on"],
        "targets": [LAMP],
    }
    state = hass.states.get(ACTIVITY)
    assert state.attributes["event_type"] == "acted"
    assert state.attributes["targets"] == [LAMP]
    assert "burglar" not in str(state.attributes)
    assert hass.states.get(LAMP).context.id == state.context.id == event.context.id
    assert hass.states.get(OTHERS).state == "unknown"


@pytest.mark.usefixtures("house")
async def test_what_only_answers(hass: HomeAssistant, converse: Converse, told: Told) -> None:
    """What changes nothing is no act."""
    forecasts = {"action": "weather.get_forecasts", "target": {"entity_id": "weather.demo_weather_north"}}
    await converse("Weather?", act(**forecasts, data={"type": "daily"}), DONE)
    await converse("State?", Turn([tool_use("extended_assist__get_entities", {"entity_ids": [LAMP]})]), DONE)
    assert kinds(told) == []


@pytest.mark.usefixtures("house")
async def test_assists_own_tools(hass: HomeAssistant, converse: Converse, told: Told) -> None:
    """Assist's tools are told as ours are."""
    assert await async_setup_component(hass, "intent", {})
    await converse("Light!", Turn([tool_use("intent__HassTurnOn", {"name": "Bed Light"})]), DONE)
    assert [(event.data["tool"], event.data["targets"]) for event in told] == [("intent__HassTurnOn", [LAMP])]


@pytest.mark.usefixtures("house")
async def test_question_and_no(
    hass: HomeAssistant, claude_server: ClaudeServer, entry: MockConfigEntry, told: Told, hass_admin_user: MockUser
) -> None:
    """What waits for a word is told, and so is the no that is heard by code, with what was not done."""
    unlock = act(action="lock.unlock", target={"entity_id": DOOR})

    async def say(words: str, *turns: Turn, to: str | None = None) -> str | None:
        claude_server.responder = Scenario(list(turns))
        context = Context(user_id=hass_admin_user.id)
        result = await conversation.async_converse(hass, words, to, context, agent_id=AGENT, language="en")
        return result.conversation_id

    to = await say("Open the front door", unlock, DONE)
    assert kinds(told) == ["asked"]
    await say("No", Turn([text("All right.")]), to=to)
    assert kinds(told) == ["asked", "refused"]
    assert told[1].data["targets"] == [DOOR]
    to = await say("Open the front door", unlock, DONE)
    await say("Yes", Turn([text("Opened.")]), to=to)
    assert kinds(told)[2:] == ["asked", "acted"]


@pytest.mark.usefixtures("house")
async def test_undone_and_failed(hass: HomeAssistant, converse: Converse, told: Told) -> None:
    """What is taken back is told, and what fails after it was begun."""
    first = await converse("Light!", act(**ON), DONE)
    undo = Turn([tool_use("extended_assist__undo_last_change", {})])
    await converse("Undo that", undo, DONE, conversation_id=first.conversation_id)
    assert kinds(told) == ["acted", "undone"]
    assert told[1].data["targets"] == [LAMP]
    hass.services.async_register("light", "turn_on", _fails)
    await converse("Light!", act(**ON), DONE)
    assert kinds(told)[2:] == ["acted", "failed"]
    assert told[2].context.id == told[3].context.id


async def _fails(_: object) -> None:
    """Fail as a device does."""
    raise RuntimeError("lamp of the burglar")


async def test_no_answer(
    hass: HomeAssistant, converse: Converse, told: Told, claude_server: ClaudeServer, entry: MockConfigEntry
) -> None:
    """A turn that fails is told with the key of its reason, and the end of the month's tokens once."""
    await converse("Hello", Turn(fault=Fault("http", status=401)))
    assert [(event.data["kind"], event.data["reason"]) for event in told] == [("failed", "invalid_auth")]
    told.clear()
    await change_agent(hass, entry, **{CONF_MONTHLY_TOKENS: 1})
    for _ in range(2):
        await converse("Hello", Turn([text("Hello.")], usage={"input_tokens": 10, "output_tokens": 5}))
        async_fire_time_changed(hass, dt_util.utcnow() + timedelta(seconds=SHOW_DELAY + 0.1))
        await hass.async_block_till_done()
    assert [(event.data["kind"], event.data.get("reason")) for event in told] == [
        ("limit_reached", None),
        ("failed", "tokens_used_up"),
    ]


@pytest.mark.usefixtures("house")
async def test_hidden(
    hass: HomeAssistant, converse: Converse, told: Told, entry: MockConfigEntry, llm_context: llm.LLMContext
) -> None:
    """What is hidden is named nowhere, though a plan has it: as a member of a group, or a script as the action that it is."""
    async_expose_entity(hass, ASSISTANT, HIDDEN, False)
    await converse("Lights", act(action="light.turn_on", target={"entity_id": [LAMP, HIDDEN]}), DONE)
    await converse("Light", act(action="light.turn_on", target={"entity_id": [HIDDEN]}), DONE)
    told.clear()
    steps = (Step("light.turn_on", (LAMP, HIDDEN)), Step("script.zebra", ("script.zebra",)))
    call = ToolCall(
        hass=hass,
        arguments={},
        exposure=Exposure(hass, ASSISTANT),
        caller=Caller(llm_context),
        options=ToolboxOptions(entry_id=entry.entry_id),
        recording=Recording(plan=Plan(steps, "Zebra")),
    )
    tell(call, ActivityKind.ACTED)
    (event,) = told
    assert (event.data["actions"], event.data["targets"]) == (["light.turn_on"], [LAMP])
    assert HIDDEN not in str([hass.states.get(one).attributes for one in (ACTIVITY, OTHERS)])


@pytest.mark.usefixtures("house")
async def test_memory_and_wishes(
    hass: HomeAssistant, claude_server: ClaudeServer, told: Told, entry: MockConfigEntry, hass_admin_user: MockUser
) -> None:
    """What is remembered, and what is planned for later, is told nowhere, and neither is the undoing of it."""
    options = {CONF_FAMILIES: ["actions", "wishes", "memory"], CONF_ASK_FIRST: []}
    hass.config_entries.async_update_entry(entry, options=options)
    await hass.async_block_till_done()
    later = {"when": {"after": 600}, "say": "Take the pill"}
    calls = (
        tool_use("extended_assist__remember", {"fact": "Tea is at five.", "whose": "me"}),
        tool_use("extended_assist__do_later", later),
    )
    results = []
    for call in (*calls, *[tool_use("extended_assist__undo_last_change", {})] * 2):
        claude_server.responder = Scenario([Turn([call]), DONE])
        context = Context(user_id=hass_admin_user.id)
        await conversation.async_converse(hass, "Go on", None, context, agent_id=AGENT, language="en")
        results.append(str(claude_server.message_requests[-1]["messages"][-1]["content"]))
    assert not [result for result in results if "error" in result]
    assert "Tea is at five" in results[0]
    assert len([change for change in (await async_get_journal(hass)).changes if change.undone]) == 2
    assert kinds(told) == []


@pytest.mark.parametrize("user_id", [None, "own"])
@pytest.mark.usefixtures("house")
async def test_wishes(
    hass: HomeAssistant, told: Told, freezer: FrozenDateTimeFactory, hass_admin_user: MockUser, user_id: str | None
) -> None:
    """An act that was wanted for later is told of the entry where the household wanted it, and not where one person did."""
    entry = await async_set_up_home(hass)
    owner = hass_admin_user.id if user_id else None
    step = {"action": "light.turn_on", "entity_ids": [LAMP], "targeted": True, "data": {}}
    one = make_task(entry, "Lamp", user_id=owner, what=What(actions=[step]))
    await (await async_get_scheduled_tasks(hass)).async_add(one)
    freezer.tick(timedelta(seconds=3601))
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert hass.states.get(LAMP).state == "on"
    assert [(event.data["kind"], event.data["agent"]) for event in told] == (
        [] if user_id else [("acted", entry.entry_id)]
    )


FUNCTION = """
spec:
  name: light_up
  description: Turns the lamp on.
  parameters: {type: object, properties: {}}
function:
  type: script
  sequence:
    - action: light.turn_on
      target: {entity_id: light.bed_light}
"""


@pytest.mark.usefixtures("house")
async def test_functions_later(
    hass: HomeAssistant, entry: MockConfigEntry, install: Install, told: Told, hass_admin_user: MockUser
) -> None:
    """So is a function of the user's that comes due: told for the household, and not where one person wanted it."""
    await install(FUNCTION)
    options = ToolboxOptions.of(entry.options, entry.entry_id)
    data = {"function": "light_up", "arguments": {}}
    for user_id in (hass_admin_user.id, None):
        owner = Owner(entry.entry_id, DOMAIN, ASSISTANT, "en", None, user_id)
        await async_perform_function(hass, owner, data, options)
    assert [(event.data["tool"], event.context.user_id) for event in told] == [("light_up", None)]


@pytest.mark.usefixtures("house")
async def test_other_agents(
    hass: HomeAssistant, entry: MockConfigEntry, told: Told, llm_context: llm.LLMContext
) -> None:
    """What another agent, or a program over MCP, does with an entry's tools is told of the entry; what it may not do too."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    await instance.async_call_tool(llm.ToolInput(PERFORM, ON))
    unlock = {"action": "lock.unlock", "target": {"entity_id": DOOR}}
    await instance.async_call_tool(llm.ToolInput(PERFORM, unlock))
    assert [(event.data["kind"], event.data["agent"]) for event in told] == [
        ("acted", entry.entry_id),
        ("refused", entry.entry_id),
    ]
    assert hass.states.get(OTHERS).attributes["event_type"] == "refused"
    assert hass.states.get(ACTIVITY).state == "unknown"


async def test_entities(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Each agent's events are at its device, exposed to no assistant; a renamed agent keeps them, one that is removed does not."""
    registry, devices = er.async_get(hass), dr.async_get(hass)
    for entity_id, name in ((ACTIVITY, "Claude"), (OTHERS, "Extended Assist")):
        found = registry.async_get(entity_id)
        assert devices.async_get(found.device_id).name == name
        assert found.entity_category is None
        assert not async_should_expose(hass, ASSISTANT, entity_id)
        assert hass.states.get(entity_id).attributes["event_types"] == KINDS
    (subentry,) = entry.subentries.values()
    hass.config_entries.async_update_subentry(entry, subentry, title="Jeeves")
    await hass.async_block_till_done()
    fired = async_capture_events(hass, EVENT_AGENT)
    async_happened(hass, ActivityKind.ACTED, entry.entry_id, subentry.subentry_id, Context())
    await hass.async_block_till_done()
    assert [(event.data["name"], event.data["entity_id"]) for event in fired] == [("Jeeves", ACTIVITY)]
    hass.config_entries.async_remove_subentry(entry, subentry.subentry_id)
    await hass.async_block_till_done()
    assert registry.async_get(ACTIVITY) is None
    # What it had begun is told of the entry, and of nothing once that is gone.
    async_happened(hass, ActivityKind.FAILED, entry.entry_id, subentry.subentry_id, Context())
    assert fired[-1].data["agent"] == entry.entry_id
    await hass.config_entries.async_remove(entry.entry_id)
    async_happened(hass, ActivityKind.FAILED, entry.entry_id, subentry.subentry_id, Context())
    assert len(fired) == 2


async def test_bounds(hass: HomeAssistant, entry: MockConfigEntry, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much happens, the recorder is told of so much in a minute; what was left out is counted, and crowds nothing else out."""
    moment = [1_000.0]
    monkeypatch.setattr(hass.loop, "time", lambda: moment[0])
    (agent,) = entry.subentries

    def happen(kind: ActivityKind, **more: Any) -> None:
        async_happened(hass, kind, entry.entry_id, agent, Context(), **more)

    for _ in range(3_000):
        happen(ActivityKind.ACTED)
    happen(ActivityKind.REFUSED)
    assert kinds(told) == ["acted"] * MAX_A_MINUTE + ["refused"]
    moment[0] += 61
    happen(ActivityKind.ACTED, targets=[f"light.n{number}" for number in range(50)], actions=["light.turn_on"] * 50)
    assert told[-1].data["left_out"] == 3_000 - MAX_A_MINUTE
    assert (len(told[-1].data["targets"]), told[-1].data["more"]) == (MAX_NAMED, 50 - MAX_NAMED)
    assert told[-1].data["actions"] == ["light.turn_on"]
    assert len(async_get_activity(hass).causes) <= MAX_CAUSES


async def test_from_a_thread(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """Outside of the event loop nothing is told, but refused."""
    with pytest.raises(RuntimeError, match="thread"):
        await hass.async_add_executor_job(async_happened, hass, ActivityKind.ACTED, entry.entry_id, None, Context())


async def _async_automate(hass: HomeAssistant, *automations: dict[str, Any]) -> None:
    """Set automations up, in place of those of the house."""
    config = {AUTOMATION: list(automations)}
    if AUTOMATION in hass.config.components:
        with patch("homeassistant.config.load_yaml_config_file", return_value=config):
            await hass.services.async_call(AUTOMATION, "reload", blocking=True)
    assert await async_setup_component(hass, AUTOMATION, config)
    await hass.async_block_till_done()


def _device(hass: HomeAssistant, entity_id: str) -> str:
    """Return the device of an entity."""
    return str(er.async_get(hass).async_get(entity_id).device_id)


@pytest.mark.parametrize("kind", [*ActivityKind])
async def test_triggers(hass: HomeAssistant, entry: MockConfigEntry, kind: ActivityKind) -> None:
    """Each kind has a trigger of its own, for an agent's device or entity, which knows what happened and no other agent's."""
    seen = async_capture_events(hass, "seen")
    (agent,) = entry.subentries
    targets = [{"device_id": _device(hass, ACTIVITY)}, {"entity_id": ACTIVITY}]
    words = {"kind": "{{ trigger.to_state.attributes.event_type }}", "on": "{{ trigger.entity_id }}"}
    await _async_automate(
        hass,
        *(
            {
                "triggers": {"trigger": f"{DOMAIN}.{kind.value}", "target": target},
                "actions": {"event": "seen", "event_data": words},
            }
            for target in targets
        ),
    )
    for other in (*ActivityKind, kind):
        async_happened(hass, other, entry.entry_id, None, Context())
        async_happened(hass, other, entry.entry_id, agent, Context())
        await hass.async_block_till_done()
    assert [event.data for event in seen] == [{"kind": kind.value, "on": ACTIVITY}] * 4


async def test_other_events(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    """What was wanted for later is an event of another kind, though its entity is at the same device."""
    seen = async_capture_events(hass, "seen")
    target = {"device_id": _device(hass, OTHERS)}
    await _async_automate(
        hass,
        {"triggers": {"trigger": f"{DOMAIN}.failed", "target": target}, "actions": {"event": "seen"}},
    )
    hass.states.async_set("event.extended_assist_for_later", dt_util.utcnow().isoformat(), {"event_type": "failed"})
    await hass.async_block_till_done()
    assert seen == []


async def test_condition(
    hass: HomeAssistant, entry: MockConfigEntry, freezer: FrozenDateTimeFactory, told: Told
) -> None:
    """The condition holds for one of its kinds within its span, whatever else happened since, and for no other agent."""
    seen, ever = async_capture_events(hass, "seen"), async_capture_events(hass, "seen_ever")
    (agent,) = entry.subentries
    holds = {
        "condition": f"{DOMAIN}.happened",
        "target": {"device_id": _device(hass, ACTIVITY)},
        "options": {"kind": ["acted", "undone"], "within": {"minutes": 5}},
    }
    # Begins before there are dates.
    longest = holds | {"options": {"kind": ["acted"], "within": {"days": 999_999}}}
    look_at = {"trigger": "event", "event_type": "look"}
    await _async_automate(
        hass,
        {"triggers": look_at, "conditions": holds, "actions": {"event": "seen"}},
        {"triggers": look_at, "conditions": longest, "actions": {"event": "seen_ever"}},
    )

    async def look() -> bool:
        seen.clear()
        hass.bus.async_fire("look")
        await hass.async_block_till_done()
        return bool(seen)

    assert not await look()
    async_happened(hass, ActivityKind.ACTED, entry.entry_id, None, Context())
    assert not await look()
    async_happened(hass, ActivityKind.ACTED, entry.entry_id, agent, Context())
    async_happened(hass, ActivityKind.FAILED, entry.entry_id, agent, Context())
    assert await look()
    freezer.tick(timedelta(minutes=6))
    ever.clear()
    assert not await look()
    assert len(ever) == 1


async def test_kept_over_a_restart(hass: HomeAssistant, assist: None, freezer: FrozenDateTimeFactory) -> None:
    """The last event is shown again after a restart, and when each kind was last is known."""
    moment = dt_util.utcnow()
    stored = {
        "last_event_type": "failed",
        "last_event_attributes": {"reason": "quota"},
        "times": {"acted": moment.isoformat(), "odd": moment.isoformat(), "failed": "yesterday"},
    }
    mock_restore_cache_with_extra_data(hass, [(State("event.home_activity", moment.isoformat()), stored)])
    entry = await async_set_up_home(hass)
    assert hass.states.get("event.home_activity").attributes["reason"] == "quota"
    assert async_get_activity(hass).last == {entry.entry_id: {ActivityKind.ACTED: moment}}
    entity = hass.data["event"].get_entity("event.home_activity")
    assert entity.extra_restore_state_data.as_dict() == {**stored, "times": {"acted": moment.isoformat()}}


class Always:
    """A model that acts once for each message."""

    def __init__(self, turn: Turn) -> None:
        """Take how it acts."""
        self.turn = turn

    async def respond(self, body: dict[str, Any]) -> Turn:
        """Act, or say that it is done."""
        last = body["messages"][-1]["content"]
        return DONE if any(block["type"] == "tool_result" for block in last) else self.turn


@pytest.mark.usefixtures("house")
async def test_no_endless_loop(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer, converse: Converse, told: Told
) -> None:
    """An act that sets off an automation which has the assistant act again sets it off no more; the logbook tells both."""
    claude_server.responder = Always(act(action="light.toggle", target={"entity_id": LAMP}))
    await _async_automate(
        hass,
        {
            "triggers": {"trigger": f"{DOMAIN}.acted", "target": {"entity_id": ACTIVITY}},
            "actions": {"action": "conversation.process", "data": {"agent_id": AGENT, "text": "Again"}},
        },
    )
    await converse("Toggle")
    await hass.async_block_till_done(wait_background_tasks=True)
    assert [event.data.get("caused", False) for event in told] == [False, True]


async def test_editor_lists_them(
    hass: HomeAssistant, entry: MockConfigEntry, hass_ws_client: WebSocketGenerator
) -> None:
    """The editor is told of triggers and condition, with their targets and fields, and lists them for the agent's device."""
    await _async_automate(hass)
    client = await hass_ws_client(hass)
    described = {}
    for kind in ("trigger", "condition"):
        await client.send_json_auto_id({"type": f"{kind}_platforms/subscribe"})
        assert (await client.receive_json())["success"]
        found: dict[str, Any] = {}
        while f"{DOMAIN}." not in str(found):
            found |= (await client.receive_json())["event"]
        described[kind] = {name: one for name, one in found.items() if name.startswith(f"{DOMAIN}.")}
    assert described["trigger"].keys() == {f"{DOMAIN}.{kind}" for kind in KINDS}
    assert described["condition"][f"{DOMAIN}.happened"]["fields"].keys() == {"kind", "within"}
    client = await hass_ws_client(hass)
    for kind, expected in (("triggers", described["trigger"]), ("conditions", described["condition"])):
        target = {"device_id": [_device(hass, ACTIVITY)]}
        await client.send_json_auto_id({"type": f"get_{kind}_for_target", "target": target})
        listed = (await client.receive_json())["result"]
        assert {*expected} <= {*listed}


async def _async_lines(hass: HomeAssistant, client: Any) -> list[dict[str, Any]]:
    """Return what Home Assistant's logbook tells a user."""
    await async_wait_recording_done(hass)
    response = await client.get(f"/api/logbook/{(dt_util.utcnow() - timedelta(hours=1)).isoformat()}")
    assert response.status == 200
    lines: list[dict[str, Any]] = await response.json()
    return lines


@pytest.mark.parametrize(
    ("language", "acted"),
    [("en", "acted: turn on input boolean · party"), ("de", "hat gehandelt: boolesche eingabe einschalten · party")],
    indirect=["language"],
)
async def test_logbook(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    language: str,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    hass_client: ClientSessionGenerator,
    hass_read_only_access_token: str,
    hass_admin_user: MockUser,
    acted: str,
) -> None:
    """The logbook names the assistant, the user who asked and what was done; the change itself is told as caused by it.

    A user without rights reads the same lines, as Home Assistant shows everybody all of its logbook: nothing hidden, remembered
    or anybody's own is among them.
    """
    assert await async_setup_component(hass, "logbook", {})
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": {"party": {"name": "Party"}}})
    expose(hass, PARTY)
    await hass.async_block_till_done()
    claude_server.responder = Scenario([act(action="input_boolean.turn_on", target={"entity_id": PARTY}), DONE])
    await conversation.async_converse(
        hass, "Light for the burglar", None, Context(user_id=hass_admin_user.id), agent_id=AGENT, language="en"
    )
    await hass.async_block_till_done()
    lines = await _async_lines(hass, await hass_client(hass_read_only_access_token))
    (line,) = [one for one in lines if one.get("domain") == DOMAIN]
    (agent,) = entry.subentries
    entity_id = er.async_get(hass).async_get_entity_id("event", DOMAIN, f"{agent}_activity")
    assert (line["name"], line["entity_id"]) == ("Claude", entity_id)
    assert line["message"].lower() == acted
    assert line["context_user_id"] == hass_admin_user.id
    (changed,) = [one for one in lines if one.get("entity_id") == PARTY and one.get("state") == "on"]
    assert (changed["context_name"], changed["context_domain"]) == ("Claude", DOMAIN)
    assert changed["context_user_id"] == hass_admin_user.id
    assert "burglar" not in str(lines)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "failed", "reason": "quota"}, "failed"),
        (
            {"kind": "refused", "tool": "extended_assist__add_automation"},
            "refused: Creating automations, scripts and scenes",
        ),
        ({"kind": "asked", "tool": "others__odd_thing"}, "asked first: odd thing"),
        ({"kind": "odd", "actions": ["gone.gone"], "targets": ["gone.gone"]}, "odd: gone"),
        ({"kind": "acted", "actions": [f"gone.n{n}" for n in range(7)]}, "acted: n0, n1, n2, n3, n4 +2"),
    ],
)
async def test_lines(hass: HomeAssistant, entry: MockConfigEntry, data: dict[str, Any], message: str) -> None:
    """Lines are told in the words that there are, from a thread too."""
    found: dict[str, Callable[[Event], dict[str, Any]]] = {}
    async_describe_events(hass, lambda domain, event_type, describe: found.update({event_type: describe}))
    event = Event(EVENT_AGENT, {"name": "Claude", "agent": "1", **data})
    line = await hass.async_add_executor_job(found[EVENT_AGENT], event)
    assert (line["name"], line["message"], line["entity_id"]) == ("Claude", message, None)
