"""Fixtures that several test files share."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
import functools
import inspect
import logging
from pathlib import Path
import shutil
import threading
from typing import Any
from unittest.mock import patch
from zoneinfo import ZoneInfo

from hypothesis import settings
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, get_test_config_dir

from custom_components.extended_assist.calls.options import ToolboxOptions
from custom_components.extended_assist.calls.policy import Policy
from custom_components.extended_assist.config_flow import ExtendedAssistConfigFlow
from custom_components.extended_assist.const import CONF_BASE_URL, DOMAIN
from custom_components.extended_assist.flows.agent import default_agent
from custom_components.extended_assist.llm_tools.extended_tool import ExtendedTool
from homeassistant.components import automation, conversation, script, template
from homeassistant.components.homeassistant.const import DATA_EXPOSED_ENTITIES
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.config_entries import ConfigSubentryData
from homeassistant.const import CONF_API_KEY
from homeassistant.core import Context, HomeAssistant
from homeassistant.data_entry_flow import FlowHandler, FlowManager
from homeassistant.helpers import chat_session, llm
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Scenario, Turn

from .helpers.acting import house
from .helpers.databases import database, recorder_db_url, shared_database
from .helpers.running import (
    Together,
    collect_garbage_of_tests,
    collect_no_garbage,
    freeze_quickly,
    in_order,
    write_no_log_file,
)
from .helpers.shown import check_shown, is_own
from .helpers.spared import (
    checked_once,
    configure_event_loop,
    descriptions_read_once,
    disable_http_server,
    has_loop,
    hass_storage,
    manifests_read_once,
    verify_cleanup,
)

__all__ = [
    "configure_event_loop",
    "database",
    "disable_http_server",
    "hass_storage",
    "house",
    "recorder_db_url",
    "shared_database",
    "verify_cleanup",
]

AGENT = "conversation.claude"
MODEL = "claude-haiku-5-5"
ASSISTANT = "conversation"
HOME_ZONE = ZoneInfo("US/Pacific")
"""Where the homes are that the plugin makes."""

_CHECK_CALLBACK = checked_once(functools.partial(asyncio.BaseEventLoop._check_callback, None))
"""Whether a loop can call what it is given, which takes a fiftieth of all time where each call is looked at."""

# The plugin writes every record, and every statement to a database, to the terminal too. What a test logs pytest keeps and
# shows with its failure; the recorder's thread, which goes on between two tests, would be heard among the summaries.
logging.getLogger().handlers[:] = [
    handler for handler in logging.getLogger().handlers if type(handler) is not logging.StreamHandler
] or [logging.NullHandler()]
logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)
# Who asks for `caplog` sees everything, and `--log-level=INFO` shows it with a failure; for all others, writing it down
# would take a twentieth of the time.
logging.getLogger().setLevel(logging.WARNING)


def pytest_configure(config: pytest.Config) -> None:
    """Copy Home Assistant's blueprints before processes begin: in the folder that they share they would race to do it."""
    settings.register_profile("untimed", deadline=None)  # On a busy machine, any example can take long once.
    settings.load_profile("untimed")
    collect_no_garbage()
    freeze_quickly()
    for component in (automation, script, template):
        ours = Path(get_test_config_dir("blueprints", component.DOMAIN))
        if not ours.exists():
            shutil.copytree(Path(inspect.getfile(component)).parent / "blueprints", ours / "homeassistant")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Log no more than somebody reads."""
    write_no_log_file(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together | None:
    """Give each process whole files where groups are kept together."""
    return Together(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long where several processes run the tests."""
    if hasattr(config, "workerinput"):
        items[:] = in_order(items, float(config.getini("timeout")))


def pytest_collection_finish() -> None:
    """Let the tests have their garbage collected."""
    collect_garbage_of_tests()


@pytest.fixture(autouse=True)
def _custom_integrations(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the home find this integration; a recorder, where a test asks for one, must come before it.

    Two tests of five need no home, which takes longer than they do: they have its time zone, and what they set is undone.
    """
    if "hass" in request.fixturenames:
        request.getfixturevalue("recorder_db_url")
        request.getfixturevalue("enable_custom_integrations")
        yield
        return
    before = dt_util.get_default_time_zone()
    dt_util.set_default_time_zone(HOME_ZONE)
    yield
    dt_util.set_default_time_zone(before)


@pytest.fixture(scope="session", autouse=True)
def _files_of_integrations_are_read_once() -> Iterator[None]:
    """Spare each home from reading what Home Assistant's integrations say of themselves."""
    with descriptions_read_once(), manifests_read_once():
        yield


@pytest.fixture
async def _loop_refuses_threads() -> AsyncGenerator[None]:
    """Let the loop refuse what comes from another thread, as the plugin does.

    Asked whether it debugs, it says no: else each future, handle and coroutine keeps its stack, which takes half of all time.
    `--asyncio-debug` shows these stacks.
    """
    loop = asyncio.get_running_loop()
    if loop.get_debug():
        yield
        return
    with (
        patch.object(loop, "get_debug", lambda: False),
        patch.object(loop, "_set_coroutine_origin_tracking", lambda _: None),
        patch.object(loop, "_check_callback", _CHECK_CALLBACK),
    ):
        loop.set_debug(True)
        yield
        loop.set_debug(False)


@pytest.fixture(autouse=True)
def enable_event_loop_debug(request: pytest.FixtureRequest) -> None:
    """Let the loop refuse what comes from another thread, where there is one."""
    if has_loop(request):
        request.getfixturevalue("_loop_refuses_threads")


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    """Let threads that have given their result come to their end, which takes a moment on a loaded machine."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("extended_assist "):
            thread.join(1)


@pytest.fixture(autouse=True)
def _flows_have_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a flow show nothing that has no text."""
    handle = FlowManager._async_handle_step

    async def watched(self: Any, flow: FlowHandler[Any, Any, Any], *args: Any) -> Any:
        result = await handle(self, flow, *args)
        if is_own(flow):
            check_shown(flow, result)
        return result

    monkeypatch.setattr(FlowManager, "_async_handle_step", watched)


@pytest.fixture
def llm_context() -> llm.LLMContext:
    """Return the context of a speaker at a satellite: exposure as Assist has it, no user."""
    return llm.LLMContext(
        platform=DOMAIN, context=Context(), language="en", assistant=ASSISTANT, device_id="a satellite"
    )


@pytest.fixture
async def assist(hass: HomeAssistant) -> None:
    """Set up what Assist needs; new entities are not exposed by themselves."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    hass.data[DATA_EXPOSED_ENTITIES].async_set_expose_new_entities(ASSISTANT, False)
    await hass.async_block_till_done()


def expose(hass: HomeAssistant, *entity_ids: str) -> None:
    """Expose entities to Assist."""
    for entity_id in entity_ids:
        async_expose_entity(hass, ASSISTANT, entity_id, True)


type CallTool = Callable[..., Any]


@pytest.fixture
def call_tool(hass: HomeAssistant, llm_context: llm.LLMContext) -> CallTool:
    """Return a function that calls a tool and returns the result's data; errors are asserted.

    There is nobody to ask: a tool whose options a test does not set may go without.
    """

    async def call(tool: ExtendedTool, *, error: bool = False, **arguments: Any) -> dict[str, Any]:
        if tool._options == ToolboxOptions():
            tool = type(tool)(ToolboxOptions(policy=Policy(allow_without_chat=True)))
        result = await tool.async_call(hass, llm.ToolInput(tool.name, arguments), llm_context)
        assert result.error is error, result.data
        return result.data

    return call


@pytest.fixture
async def claude_server(socket_enabled: None) -> AsyncGenerator[ClaudeServer]:
    """Return a running server; give it a scenario with `responder`."""
    async with ClaudeServer(Scenario([])) as server:
        yield server
        assert server.mistakes == []


async def async_set_up(hass: HomeAssistant, server: ClaudeServer, *subentries: ConfigSubentryData) -> MockConfigEntry:
    """Return a loaded entry that talks to a server."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        title="Extended Assist",
        data={CONF_API_KEY: "test-key", CONF_BASE_URL: server.url},
        subentries_data=subentries,
        # As the dialog makes it: an older one is told what is new.
        minor_version=ExtendedAssistConfigFlow.MINOR_VERSION,
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


@pytest.fixture
async def entry(hass: HomeAssistant, assist: None, claude_server: ClaudeServer) -> MockConfigEntry:
    """Return a loaded entry with one agent that uses the entry's own tools."""
    return await async_set_up(hass, claude_server, default_agent([], MODEL))


type Converse = Callable[..., Awaitable[conversation.ConversationResult]]


@pytest.fixture
def converse(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> Converse:
    """Return a function that says something to the agent and returns the result; turns are the model's answers."""

    async def say(text: str, *turns: Turn, conversation_id: str | None = None, **options: Any) -> Any:
        if turns:
            claude_server.responder = Scenario(list(turns))
        return await conversation.async_converse(
            hass, text, conversation_id, Context(), agent_id=AGENT, **({"language": "en"} | options)
        )

    return say


@pytest.fixture
def chat_log(hass: HomeAssistant) -> Callable[[str], conversation.ChatLog]:
    """Return a function that gives the chat log of a conversation."""

    def find(conversation_id: str) -> conversation.ChatLog:
        with (
            chat_session.async_get_chat_session(hass, conversation_id) as session,
            conversation.async_get_chat_log(hass, session) as log,
        ):
            return log

    return find


@pytest.fixture
def quiet() -> Iterator[None]:
    """Let nobody log whole conversations, which takes longer than to have them."""
    logging.disable(logging.INFO)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def no_deprecations(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test when Home Assistant reports a usage that will break."""
    yield
    reported = [
        record.message
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if "will stop working in Home Assistant" in record.message or "deprecated" in record.message
    ]
    assert reported == []
