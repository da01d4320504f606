"""Nothing at info or above tells of the home: whatever is said, read, done, written or goes wrong holds a canary here."""

from collections.abc import Callable, Iterator
import logging
from typing import Any

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
from sqlalchemy import text as sql

from custom_components.extended_assist.actions.schedule import async_get_schedule
from custom_components.extended_assist.const import LOGGER
from custom_components.extended_assist.recorder import async_read, read_session
from custom_components.extended_assist.results import ToolError
from custom_components.extended_assist.silence import QUIET, log_unexpected
from custom_components.extended_assist.toolbox.options import ToolboxOptions
from custom_components.extended_assist.toolbox.policy import Policy, Speaker, Tier
from custom_components.extended_assist.toolbox.tool import PolicedTool
from custom_components.extended_assist.tools import CATALOGUE
from homeassistant.components import conversation
from homeassistant.components.recorder import Recorder
from homeassistant.core import Context, HomeAssistant, ServiceCall
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import intent, llm
from homeassistant.helpers.script import Script
from tests.claude_server import Fault, Turn, text
from tests.conftest import Converse, expose
from tests.talking import change_agent

CANARY = "canary"
LAMP = "light.bed_light"


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Return a function that returns what was logged at info or above and holds a canary."""
    caplog.set_level(logging.INFO)
    formatter = logging.Formatter("%(name)s %(levelname)s %(message)s")

    def told() -> list[str]:
        lines = [formatter.format(record) for record in caplog.records if record.levelno >= logging.INFO]
        return [line for line in lines if CANARY in line.lower()]

    yield told
    assert told() == []


def _call(name: str) -> Callable[..., Any]:
    """Return a function that calls a tool of the catalogue and returns its result."""
    everyone = Policy(who_may=dict.fromkeys(Tier, Speaker.ANYONE), ask_first=frozenset(), allow_without_chat=True)
    (tool_class,) = (each for each in CATALOGUE if each.name == f"extended_assist__{name}")
    tool = tool_class(ToolboxOptions(policy=everyone))

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
    heard: Callable[[], list[str]],
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
    heard: Callable[[], list[str]],
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
    heard: Callable[[], list[str]],
) -> None:
    """An action that fails when it is due says as little."""

    async def fail(_: ServiceCall) -> None:
        raise ValueError(CANARY)

    tool = _call("perform_action")
    await tool(hass, llm_context, action="light.turn_on", target={"entity_id": LAMP}, data={"effect": CANARY}, delay=60)
    hass.services.async_register("light", "turn_on", fail)
    schedule = await async_get_schedule(hass)
    for item in list(schedule.waiting):
        await schedule._async_due(item.id, None)
    assert heard() == []


async def test_others_tools(hass: HomeAssistant, llm_context: llm.LLMContext, heard: Callable[[], list[str]]) -> None:
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
    heard: Callable[[], list[str]],
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
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, heard: Callable[[], list[str]], status: int
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
