"""Nothing at info or above tells of the home: whatever is said, read, done, written or goes wrong holds a canary here."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext, suppress
import logging
from pathlib import Path
from typing import Any
from unittest.mock import patch

from freezegun.api import FrozenDateTimeFactory
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_fire_time_changed
from sqlalchemy import text as sql
import voluptuous as vol

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.calls.journal import async_get_journal
from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy, Speaker, Tier
from custom_components.extended_assist.claude import retry
from custom_components.extended_assist.claude.usage import async_get_meters
from custom_components.extended_assist.const import LOGGER
from custom_components.extended_assist.exposure.safe_log import QUIET, log_unexpected
from custom_components.extended_assist.flows.agent import default_agent, default_task
from custom_components.extended_assist.habits.dismissed import async_get_declined
from custom_components.extended_assist.llm_tools.extended_tool import READ_ONLY, PolicedTool
from custom_components.extended_assist.recorder import async_read, read_session
from custom_components.extended_assist.registry import FunctionTool, RegisteredTool, async_register_tool
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from custom_components.extended_assist.tools import CATALOGUE
from homeassistant.components import ai_task, conversation
from homeassistant.components.recorder import Recorder
from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent, llm
from homeassistant.helpers.script import Script
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Fault, Scenario, Turn, text, tool_use
from tests.confirmation.doors import Call, Door, Mcp, OurAgent
from tests.conftest import AGENT, MODEL, Converse, async_set_up, expose
from tests.helpers.logged import CANARY, Heard, heard
from tests.helpers.talking import change_agent
from tests.test_ai_task import STRUCTURE, TASK

__all__ = ["heard"]

LAMP = "light.bed_light"
EFFECT = {"action": "light.turn_on", "target": {"entity_id": LAMP}, "data": {"effect": CANARY}}


def _call(name: str, entry_id: str | None = None) -> Callable[..., Any]:
    """Return a function that calls a tool of the catalogue, as an entry offers it, and returns its result."""
    everyone = Policy(who_may=dict.fromkeys(Tier, Speaker.ANYONE), ask_first=frozenset(), allow_without_chat=True)
    (tool_class,) = (each for each in CATALOGUE if each.name == f"extended_assist__{name}")
    tool = tool_class(ToolboxOptions(policy=everyone, entry_id=entry_id, is_fixed=entry_id is not None))

    async def call(hass: HomeAssistant, llm_context: llm.LLMContext, **arguments: Any) -> llm.ToolResult:
        return await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)

    return call


def _step(**data: Any) -> dict[str, Any]:
    """Return a step that turns on the lamp."""
    return {"action": "light.turn_on", "alias": f"{CANARY} step", "target": {"entity_id": LAMP}, "data": data}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_entities", {"name": f"{CANARY} lamp"}),
    ("get_entities", {"area": f"{CANARY} room"}),
    ("perform_action", {"action": "light.turn_on", "target": {"entity_id": LAMP}, "data": {"effect": CANARY}}),
    ("perform_action", {"action": f"light.{CANARY}", "target": {"entity_id": CANARY}, "data": {CANARY: CANARY}}),
    ("perform_action", {"action": "light.turn_on", "target": {"entity_id": LAMP}, "at": CANARY}),
    (
        "perform_action",
        {"action": "todo.add_item", "target": {"entity_id": "todo.shopping_list"}, "data": {"item": CANARY}},
    ),
    ("execute_script", {"sequence": [_step()]}),
    ("execute_script", {"sequence": [{"variables": {CANARY: CANARY}}, {"stop": CANARY, "error": True}]}),
    ("execute_script", {"sequence": [{"variables": {"x": f"{{{{ '{CANARY}' | int }}}}"}}, _step()]}),
    ("execute_script", {"sequence": [{"variables": {"x": f"{{{{ ['{CANARY}'][7] }}}} {{{{ {CANARY} }}}}"}}, _step()]}),
    ("execute_script", {"sequence": [{"alias": CANARY, "condition": "template", "value_template": "{{ 1 / 0 }}"}]}),
    ("execute_script", {"sequence": [{"condition": "state", "entity_id": f"light.{CANARY}", "state": CANARY}]}),
    ("execute_script", {"sequence": [{"wait_template": f"{{{{ '{CANARY}' == 1 }}}}", "timeout": {"milliseconds": 1}}]}),
    ("execute_script", {"sequence": [{"repeat": {"for_each": [CANARY], "sequence": [{"stop": CANARY}]}}]}),
    ("execute_script", {"sequence": [{"choose": [{"conditions": [], "sequence": [{"stop": CANARY}]}]}]}),
    ("execute_script", {"script": CANARY, "variables": {CANARY: CANARY}}),
    (
        "render_template",
        {"template": f"{{{{ {CANARY} }}}} {{{{ '{CANARY}' | float }}}} {{{{ states('light.{CANARY}') }}}}"},
    ),
    ("render_template", {"template": f"{{{{ as_datetime('{CANARY}') }}}}"}),
    ("fetch_url", {"url": f"https://127.0.0.1/{CANARY}"}),
    ("fetch_url", {"url": f"https://{CANARY}.invalid/{CANARY}?key={CANARY}"}),
    ("add_automation", {"automation": {"alias": CANARY, "triggers": [{"trigger": CANARY}], "actions": [_step()]}}),
    ("get_automations", {"name": CANARY}),
]
"""Calls that succeed and that fail; what they say is a canary."""


@pytest.mark.parametrize(("name", "arguments"), CALLS)
async def test_tools(
    hass: HomeAssistant,
    house: None,
    llm_context: llm.LLMContext,
    heard: Heard,
    name: str,
    arguments: dict[str, Any],
) -> None:
    """What a tool is given and answers stays out of the log."""
    await _call(name)(hass, llm_context, **arguments)
    await hass.async_block_till_done()
    assert heard() == []


@pytest.mark.parametrize("error", [ValueError, KeyError, HomeAssistantError, TimeoutError])
@pytest.mark.parametrize("name", ["perform_action", "execute_script"])
async def test_defects_of_services(
    hass: HomeAssistant,
    house: None,
    llm_context: llm.LLMContext,
    heard: Heard,
    caplog: pytest.LogCaptureFixture,
    error: type[BaseException],
    name: str,
) -> None:
    """What a service fails with is logged by its kind and place, now and when it was scheduled."""

    async def fail(call: ServiceCall) -> None:
        try:
            raise OSError(f"{CANARY} cause of {call.data}")  # noqa: TRY301 - a cause, as integrations have them
        except OSError as err:
            raise error(f"{CANARY} of {LAMP}") from err

    hass.services.async_register("light", "turn_on", fail)
    act = {"action": "light.turn_on", "target": {"entity_id": LAMP}}
    arguments = act if name == "perform_action" else {"sequence": [act | {"alias": CANARY}]}
    result = await _call(name)(hass, llm_context, **arguments)
    assert result.error
    assert heard() == []
    if error in (ValueError, KeyError):
        logged = [record.getMessage() for record in caplog.records if record.name == LOGGER.name]
        assert any(f"{error.__name__} from OSError" in line and "in fail" in line for line in logged)


async def test_scheduled(
    hass: HomeAssistant,
    house: None,
    entry: MockConfigEntry,
    llm_context: llm.LLMContext,
    heard: Heard,
    freezer: FrozenDateTimeFactory,
) -> None:
    """An action that fails when it is due says as little."""

    async def fail(_: ServiceCall) -> None:
        raise ValueError(CANARY)

    kept = await _call("do_later", entry.entry_id)(hass, llm_context, when={"after": 60}, action=EFFECT)
    assert not kept.error
    hass.services.async_register("light", "turn_on", fail)
    freezer.tick(61)
    async_fire_time_changed(hass)
    await hass.async_block_till_done(wait_background_tasks=True)
    (task,) = (await async_get_scheduled_tasks(hass)).ended
    assert str(task.progress.result).startswith("not done: ")
    assert heard() == []


async def test_others_tools(hass: HomeAssistant, llm_context: llm.LLMContext, heard: Heard) -> None:
    """A tool of somebody else is as unnamed as what it fails with: it can be called like a script of yours."""

    class Broken(llm.Tool):
        name = f"script__{CANARY}"
        description = CANARY

        async def async_call(self, *_: Any) -> llm.ToolResult:
            raise RuntimeError(CANARY)

    result = await PolicedTool(Broken(), ToolboxOptions(policy=Policy(allow_without_chat=True))).async_call(
        hass, llm.ToolInput(Broken.name, {CANARY: CANARY}), llm_context
    )
    assert result.error


@pytest.mark.parametrize("recorder_db_url", ["sqlite"], indirect=True)
async def test_databases(
    recorder_mock: Recorder,
    hass: HomeAssistant,
    assist: None,
    llm_context: llm.LLMContext,
    heard: Heard,
) -> None:
    """Neither a model's query nor one of ours that fails is told, nor what it asks for."""
    hass.states.async_set("light.lamp", CANARY)
    expose(hass, "light.lamp")

    def read(hass: HomeAssistant) -> None:
        with read_session(hass) as session:
            session.execute(sql("SELECT canary FROM states WHERE state = :state"), {"state": CANARY})

    with pytest.raises(ToolError, match="could not be read"):
        await async_read(hass, read)
    for query in ("SELECT canary FROM states", "SELECT 'canary' FROM states", "DROP TABLE canary"):
        await _call("query_database")(hass, llm_context, query=query)


class _Parrot(conversation.AbstractConversationAgent):
    """An agent of another integration that fails."""

    supported_languages = "*"

    async def async_process(self, user_input: conversation.ConversationInput) -> conversation.ConversationResult:
        """Fail."""
        raise RuntimeError(f"{CANARY} {user_input.text}")


@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500, 529])
async def test_turns(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, heard: Heard, status: int
) -> None:
    """What was said, and what a server or the agent that stands in says of it, stays out of the log."""
    other = MockConfigEntry(domain=CANARY, title=CANARY)
    other.add_to_hass(hass)
    conversation.async_set_agent(hass, other, _Parrot())
    await change_agent(hass, entry, fallback_agent=other.entry_id, prompt=f"Be a {CANARY}.")
    fault = Fault("http", status=status, message=f"You said {CANARY}")
    result = await converse(f"My {CANARY} sings", *(Turn(fault=fault) for _ in range(4)))
    assert result.response.response_type is intent.IntentResponseType.ERROR
    await converse(f"My {CANARY} sings", Turn([text(f"A {CANARY}!")]))


async def test_what_logs_by_itself(hass: HomeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    """What Home Assistant's scripts log of themselves is for debugging, where it is whole."""
    sequence = [{"stop": CANARY, "error": True, "alias": CANARY}]
    for level in (logging.INFO, logging.DEBUG):
        caplog.clear()
        caplog.set_level(level)
        caplog.set_level(level, LOGGER.name)
        await Script(hass, sequence, "Test", "test", logger=QUIET, log_exceptions=False).async_run(context=Context())
        try:
            _ = 1 / 0
        except ZeroDivisionError:
            log_unexpected("here")
        told = [(record.levelno, CANARY in (record.getMessage() + str(record.exc_info))) for record in caplog.records]
        assert (logging.ERROR, False) in told
        assert not any(has_canary for number, has_canary in told if number > logging.DEBUG)
        assert any(has_canary for _, has_canary in told) is (level == logging.DEBUG)


class _Told(llm.Tool):
    """A tool that another integration registers, which does what its argument says."""

    name = f"{CANARY}_tool"
    description = CANARY
    parameters = vol.Schema({vol.Required(CANARY): vol.In(["answer", "other", "fail", "refuse", "late", CANARY])})
    integration = "third"

    async def async_call(self, hass: HomeAssistant, tool_input: llm.ToolInput, _: llm.LLMContext) -> Any:
        """Do it."""
        match tool_input.tool_args[CANARY]:
            case "answer":
                return llm.ToolResult(data={CANARY: CANARY * 5_000})
            case "other":
                return llm.ToolResult(data={CANARY: object()})
            case "fail":
                raise ValueError(CANARY) from KeyError(CANARY)
            case "late":
                await asyncio.sleep(1)
        raise HomeAssistantError(CANARY)


def _registered(first: str, second: list[int]) -> dict[str, Any]:
    """Do as a function of another integration does."""
    raise RuntimeError(f"{CANARY} {first} {second}")


ARGUMENTS: list[dict[str, Any]] = [
    *({CANARY: word} for word in ("answer", "other", "fail", "refuse", "late", CANARY)),
    {"x": CANARY},
    {},
]


@pytest.mark.parametrize("annotations", [READ_ONLY, llm.ToolAnnotations()])
@pytest.mark.parametrize("door", [OurAgent, Mcp])
async def test_tools_of_other_integrations(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    claude_server: ClaudeServer,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
    door: type[Door],
    annotations: llm.ToolAnnotations,
) -> None:
    """Neither what they are given, answer and fail with is told, nor that one is slow; over MCP neither."""
    monkeypatch.setattr(RegisteredTool, "deadline", 0.02)
    tool = _Told()
    tool.annotations = annotations
    async_register_tool(hass, tool)
    async_register_tool(hass, FunctionTool(_registered, annotations=annotations))
    hass.config_entries.async_update_entry(entry, options={"allow_without_chat": True, "ask_first": []})
    await hass.async_block_till_done()
    api = api_id(entry.entry_id)
    await change_agent(hass, entry, llm_hass_api=[api])
    calls = [
        *(Call(tool.name, arguments) for arguments in ARGUMENTS),
        Call("_registered", {"first": CANARY, "second": [1]}),
        Call("_registered", {"first": CANARY, "second": CANARY}),
        Call("extended_assist__get_entities", {"name": CANARY, CANARY: CANARY}),
        Call("extended_assist__perform_action", {"action": CANARY, "target": {"entity_id": CANARY}}),
    ]
    for call in calls:
        assert len((await door(hass, claude_server, [api]).say(call, words=CANARY)).results) == 1
        assert heard() == [], call
    await hass.async_block_till_done()


async def test_tools_that_there_are_not(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, heard: Heard
) -> None:
    """Nor is the name of a tool that a model makes up."""
    for words in (f"{CANARY}_made_up", "extended_assist__canary"):
        await converse(CANARY, Turn([tool_use(words, {CANARY: CANARY})], invents=True), Turn([text(CANARY)]))


STORED = {
    "extended_assist.journal": '{"version": 1, "minor_version": 1, "key": "canary", "data": {"canary": ["canary"]}}',
    "extended_assist.schedule": '{"version": 1, "key": "canary", "data": {"actions": [{"id": "canary", "due": "canary"}]}}',
    "extended_assist.wishes": '{"version": 1, "key": "canary", "data": {"wishes": [{"id": "canary", "name": 1}]}}',
    "extended_assist.habits": '{"version": 1, "key": "canary", "data": {"declined": [{"id": "canary", "entity": 1}]}}',
    "extended_assist.usage": '{"canary": canary',
}


class TestFiles:
    """Files of a folder of their own."""

    @pytest.fixture
    def hass_config_dir(self, tmp_path: Path) -> str:
        """Return a folder that may be written to."""
        return str(tmp_path)

    @pytest.fixture
    def hass_storage(self) -> dict[str, Any]:
        """Return nothing: what is stored goes into files."""
        return {}

    async def test_damaged(
        self, hass: HomeAssistant, assist: None, claude_server: ClaudeServer, tmp_path: Path, heard: Heard
    ) -> None:
        """What damaged files held is not told."""
        (tmp_path / ".storage").mkdir(exist_ok=True)
        for name, content in STORED.items():
            (tmp_path / ".storage" / name).write_text(content)
        await async_set_up(hass, claude_server, default_agent([], MODEL))
        for load in (async_get_journal, async_get_scheduled_tasks, async_get_meters, async_get_declined):
            await load(hass)
        assert heard() == []

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), None])
    async def test_not_written(
        self, hass: HomeAssistant, llm_context: llm.LLMContext, house: None, heard: Heard, error: OSError | None
    ) -> None:
        """Nor is what could not be written, or is nothing that can be."""
        hass.states.async_set(LAMP, "off", {"friendly_name": CANARY, "brightness": _Odd(), CANARY: _Odd()})

        async def work(call: ServiceCall) -> None:
            hass.states.async_set(LAMP, "on", {"effect": CANARY}, context=call.context)

        hass.services.async_register("light", "turn_on", work)
        with patch("homeassistant.util.file.AtomicWriter", side_effect=error) if error else nullcontext():
            await _call("perform_action")(hass, llm_context, action="light.turn_on", target={"entity_id": LAMP})
            await _call("do_later", "entry")(hass, llm_context, when={"after": 60}, action=EFFECT, say=CANARY)
            hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
            await hass.async_block_till_done(wait_background_tasks=True)
        assert heard() == []


class _Odd:
    """An attribute that cannot be stored."""

    def __repr__(self) -> str:
        return CANARY


@pytest.mark.parametrize(
    "turns",
    [
        [Turn([text(CANARY)])],
        [Turn([text('{"name": "canary", "count": -1}')])] * 3,
        [Turn([text('{"name": ["canary"], "canary": "canary"}')])] * 3,
        [Turn([text("{canary")])] * 3,
        [Turn([], stop_reason="refusal")] * 3,
        [Turn([text(CANARY)], stop_reason="max_tokens")] * 3,
        [Turn([tool_use("give_answer", {"name": CANARY})], invents=True)] * 3,
        [Turn(fault=Fault("http", status=400, message=CANARY))] * 4,
        [Turn(fault=Fault("http", status=529, message=CANARY))] * 9,
    ],
)
@pytest.mark.parametrize("structure", [None, STRUCTURE])
async def test_tasks(
    hass: HomeAssistant,
    assist: None,
    claude_server: ClaudeServer,
    heard: Heard,
    monkeypatch: pytest.MonkeyPatch,
    turns: list[Turn],
    structure: vol.Schema | None,
) -> None:
    """Neither what a task is told nor what comes of it is told, by an action neither."""
    monkeypatch.setattr(retry, "_TASK_PAUSES", dict.fromkeys(retry._TASK_PAUSES, (0.0,)))
    await async_set_up(hass, claude_server, default_task([], MODEL))
    claude_server.responder = Scenario(turns)
    options = {"task_name": CANARY, "entity_id": TASK, "instructions": f"{CANARY}!"}
    with suppress(HomeAssistantError):
        await ai_task.async_generate_data(hass, **options, structure=structure)
    claude_server.responder = Scenario(turns)
    fields = {"name": {"selector": {"text": {}}, "required": True}} if structure else None
    data = options | ({"structure": fields} if fields else {})
    with suppress(HomeAssistantError):
        await hass.services.async_call("ai_task", "generate_data", data, blocking=True, return_response=True)


@pytest.mark.parametrize(
    "data",
    [
        {"text": CANARY},
        {"text": CANARY, "language": CANARY},
        {"text": CANARY, "conversation_id": CANARY},
        {"text": CANARY, "agent_id": f"conversation.{CANARY}"},
    ],
)
async def test_talking_by_an_action(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer, heard: Heard, data: dict[str, str]
) -> None:
    """Nor is what an automation says to the agent."""
    assert await async_setup_component(hass, "conversation", {})
    for turns in ([Turn([text(CANARY)])], [Turn(fault=Fault("http", status=400, message=CANARY))] * 3):
        claude_server.responder = Scenario(turns)
        with suppress(HomeAssistantError, ValueError, vol.Invalid):
            await hass.services.async_call(
                "conversation", "process", {"agent_id": AGENT} | data, blocking=True, return_response=True
            )
