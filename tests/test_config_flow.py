"""Tests of the config flow: each way through it, and each error."""

from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.extended_assist.claude import client
from custom_components.extended_assist.const import CONF_BASE_URL, DOMAIN
from custom_components.extended_assist.tools import DEFAULT_FAMILIES
from homeassistant.config_entries import SOURCE_REAUTH, SOURCE_USER, ConfigEntryState
from homeassistant.const import CONF_API_KEY
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import llm
from tests.claude_server import ClaudeServer, Fault, Scenario

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")


async def start(hass: HomeAssistant, step: str) -> dict[str, Any]:
    """Open the flow and choose from its menu."""
    menu = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    assert menu["type"] is FlowResultType.MENU
    assert menu["menu_options"] == ["claude", "tools"]
    return await configure(hass, menu, {"next_step_id": step})


async def configure(hass: HomeAssistant, flow: Any, user_input: dict[str, Any]) -> Any:
    """Submit a form."""
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], user_input)
    await hass.async_block_till_done()
    return result


async def test_claude_agent(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """A key and a server make a loaded entry whose one agent has the entry's own tools and a listed model."""
    form = await start(hass, "claude")
    assert form["type"] is FlowResultType.FORM
    result = await configure(hass, form, {CONF_API_KEY: " test-key ", CONF_BASE_URL: f"{claude_server.url}/v1/"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    entry = result["result"]
    assert entry.title == "Extended Assist"
    assert dict(entry.data) == {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    assert entry.state is ConfigEntryState.LOADED
    agent, task = entry.subentries.values()
    assert task.subentry_type == "ai_task_data"
    assert hass.states.get("ai_task.claude_ai_task")
    assert agent.data["llm_hass_api"] == [f"{DOMAIN}-{entry.entry_id}"]
    assert agent.data["model"] in {model.id for model in entry.runtime_data.models}
    assert hass.states.get("conversation.claude")


async def test_with_memory(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """Memory is off unless it is chosen when an agent or tools are added."""
    form = await start(hass, "claude")
    data = {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url, "memory": True}
    agent = (await configure(hass, form, data))["result"]
    tools = (await configure(hass, await start(hass, "tools"), {"name": "With", "memory": True}))["result"]
    without = (await configure(hass, await start(hass, "tools"), {"name": "Without"}))["result"]
    for entry in (agent, tools):
        assert entry.options == {"families": [*DEFAULT_FAMILIES, "memory"]}
    assert without.options == {}
    assert len([state for state in hass.states.async_all("todo") if "remembered" in state.entity_id]) == 2


async def test_tools_only(hass: HomeAssistant) -> None:
    """Tools need no key; a second set needs another name, which is suggested."""
    result = await configure(hass, await start(hass, "tools"), {"name": "Extended Assist"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["result"].state is ConfigEntryState.LOADED
    assert dict(result["result"].data) == {}
    assert f"{DOMAIN}-{result['result'].entry_id}" in {api.id for api in llm.async_get_apis(hass)}

    form = await start(hass, "tools")
    assert form["data_schema"]({}) == {"name": "Extended Assist 2", "memory": False}
    form = await configure(hass, form, {"name": "Extended Assist"})
    assert form["errors"] == {"name": "name_taken"}
    result = await configure(hass, form, {"name": "For the kitchen"})
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize(
    ("fault", "errors"),
    [
        (Fault("http", status=403), {CONF_API_KEY: "invalid_auth"}),
        (Fault("http", status=402), {"base": "quota"}),
        (Fault("http", status=429), {"base": "rate_limited"}),
        (Fault("http", status=529), {"base": "overloaded"}),
        (Fault("stall"), {"base": "timeout"}),
        (Fault("disconnect"), {"base": "cannot_connect"}),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else "",
)
async def test_server_errors(
    hass: HomeAssistant,
    claude_server: ClaudeServer,
    fault: Fault,
    errors: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each failure has its own message, nothing is stored, and the form can be sent again."""
    monkeypatch.setattr(client, "CHECK_TIMEOUT", 0.5)
    form = await start(hass, "claude")
    data = {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    claude_server.models_fault = fault
    form = await configure(hass, form, data)
    assert form["errors"] == errors
    assert not hass.config_entries.async_entries(DOMAIN)
    claude_server.models_fault = None
    assert (await configure(hass, form, data))["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        ({}, {CONF_API_KEY: "api_key_required"}),
        ({CONF_API_KEY: "k", CONF_BASE_URL: "my server"}, {CONF_BASE_URL: "invalid_url"}),
        ({CONF_API_KEY: "k", CONF_BASE_URL: "ftp://server"}, {CONF_BASE_URL: "invalid_url"}),
        ({CONF_API_KEY: "k", CONF_BASE_URL: "http://user:word@server"}, {CONF_BASE_URL: "invalid_url"}),
        ({CONF_API_KEY: "k", CONF_BASE_URL: "http://[::1"}, {CONF_BASE_URL: "invalid_url"}),
        ({CONF_API_KEY: "k", CONF_BASE_URL: "http://127.0.0.1:9"}, {"base": "cannot_connect"}),
    ],
)
async def test_bad_input(
    hass: HomeAssistant, socket_enabled: None, data: dict[str, str], errors: dict[str, str]
) -> None:
    """What cannot work is said before anything is asked or stored."""
    form = await configure(hass, await start(hass, "claude"), data)
    assert form["errors"] == errors


async def test_wrong_key(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """A refused key is said at its field."""
    data = {CONF_API_KEY: "wrong", CONF_BASE_URL: claude_server.url}
    form = await configure(hass, await start(hass, "claude"), data)
    assert form["errors"] == {CONF_API_KEY: "invalid_auth"}


async def test_server_without_a_list_of_models(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """A server without a list is asked whether it speaks the API, and the user for the model."""
    claude_server.models_fault = Fault("http", status=404, body="404 page not found", content_type="text/plain")
    data = {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    form = await configure(hass, await start(hass, "claude"), data)
    assert form["step_id"] == "model"
    result = await configure(hass, form, {"model": "qwen3"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    agent, task = result["result"].subentries.values()
    assert task.data["model"] == agent.data["model"]
    assert agent.data["model"] == "qwen3"


@pytest.mark.parametrize(
    ("status", "body", "errors"),
    [
        (400, '{"error": {"code": 400}}', {}),
        (500, '{"error": {"code": 500}}', {}),
        (404, '{"detail": "Not Found"}', {CONF_BASE_URL: "not_messages_api"}),
        (500, "Internal error", {"base": "server_error"}),
        (529, '{"type": "error", "error": {"type": "overloaded_error"}}', {"base": "overloaded"}),
    ],
)
async def test_what_answers_without_a_list(
    hass: HomeAssistant, socket_enabled: None, status: int, body: str, errors: dict[str, str]
) -> None:
    """A server is known by how it refuses a request without messages: with an error object."""

    async def answer(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.Response(status=404)
        return web.Response(text=body, content_type="application/json", status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        data = {CONF_BASE_URL: str(server.make_url("/"))}
        form = await configure(hass, await start(hass, "claude"), data)
    assert form["errors"] == errors if errors else form["step_id"] == "model"


async def test_key_refused_by_a_server_without_a_list(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """The key is checked even then."""
    claude_server.models_fault = Fault("http", status=404, body="404 page not found", content_type="text/plain")
    data = {CONF_API_KEY: "wrong", CONF_BASE_URL: claude_server.url}
    form = await configure(hass, await start(hass, "claude"), data)
    assert form["errors"] == {CONF_API_KEY: "invalid_auth"}


@pytest.mark.parametrize("status", [200, 404])
async def test_another_kind_of_server(hass: HomeAssistant, socket_enabled: None, status: int) -> None:
    """A web server that is no Messages API is told apart."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<html>It works!</html>", content_type="text/html", status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", page)
    async with TestServer(app) as server:
        data = {CONF_API_KEY: "k", CONF_BASE_URL: str(server.make_url("/"))}
        form = await configure(hass, await start(hass, "claude"), data)
        assert form["errors"] == {CONF_BASE_URL: "not_messages_api"}


async def test_unexpected_error(hass: HomeAssistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something unforeseen keeps the dialog open and is logged."""

    async def explode(*args: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("custom_components.extended_assist.flows.connection.async_create_client", explode)
    form = await configure(hass, await start(hass, "claude"), {CONF_API_KEY: "k"})
    assert form["errors"] == {"base": "unknown"}


async def test_same_connection_twice(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """The same key and server cannot be added again."""
    data = {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    result = await configure(hass, await start(hass, "claude"), data)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_reauthentication(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """A key refused at start asks for another; a wrong one keeps asking; the right one loads the entry."""
    data = {CONF_API_KEY: "old", CONF_BASE_URL: claude_server.url}
    entry = MockConfigEntry(domain=DOMAIN, data=data, title="Extended Assist")
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    await hass.async_block_till_done()
    (flow,) = hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == SOURCE_REAUTH
    form = await configure(hass, flow, {CONF_API_KEY: "also wrong"})
    assert form["errors"] == {CONF_API_KEY: "invalid_auth"}
    assert form["description_placeholders"]["server"] == "127.0.0.1"
    result = await configure(hass, form, {CONF_API_KEY: "test-key"})
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reauth_successful")
    assert dict(entry.data) == {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    assert entry.state is ConfigEntryState.LOADED


async def test_reconfiguration(hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer) -> None:
    """Key and server can be changed; nothing changes while they are wrong; the entry reloads."""
    form = await entry.start_reconfigure_flow(hass)
    form = await configure(hass, form, {CONF_API_KEY: "wrong", CONF_BASE_URL: claude_server.url})
    assert form["errors"] == {CONF_API_KEY: "invalid_auth"}
    assert entry.data[CONF_API_KEY] == "test-key"
    before = entry.runtime_data
    async with ClaudeServer(Scenario([]), api_key="other-key") as other:
        result = await configure(hass, form, {CONF_API_KEY: "other-key", CONF_BASE_URL: other.url})
        assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
        assert dict(entry.data) == {CONF_API_KEY: "other-key", CONF_BASE_URL: other.url}
    assert entry.state is ConfigEntryState.LOADED
    assert entry.runtime_data is not before


async def test_reconfiguration_to_what_is_there(
    hass: HomeAssistant, entry: MockConfigEntry, claude_server: ClaudeServer
) -> None:
    """An entry cannot become a second one for the same key and server, but may stay as it is."""
    other = MockConfigEntry(domain=DOMAIN, data={CONF_API_KEY: "old-key", CONF_BASE_URL: claude_server.url})
    other.add_to_hass(hass)
    connection = {CONF_API_KEY: "test-key", CONF_BASE_URL: claude_server.url}
    result = await configure(hass, await other.start_reconfigure_flow(hass), connection)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")
    assert other.data[CONF_API_KEY] == "old-key"
    result = await configure(hass, await entry.start_reconfigure_flow(hass), connection)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")


async def test_tools_have_no_connection_to_reconfigure(hass: HomeAssistant) -> None:
    """An entry with tools only says so."""
    entry = MockConfigEntry(domain=DOMAIN, data={})
    entry.add_to_hass(hass)
    result = await entry.start_reconfigure_flow(hass)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "no_connection")


async def test_server_down_at_start(hass: HomeAssistant, claude_server: ClaudeServer) -> None:
    """An unreachable server is tried again later, without asking for a key."""
    await claude_server.stop()
    entry = MockConfigEntry(domain=DOMAIN, data={CONF_API_KEY: "k", CONF_BASE_URL: claude_server.url})
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    assert not hass.config_entries.flow.async_progress()
