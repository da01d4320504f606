"""The recipes for servers of other makers, set up as a person would, on stand-ins that refuse what is not documented."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import voluptuous as vol

from custom_components.extended_assist.const import DOMAIN
from homeassistant.components import ai_task, conversation
from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.core import Context, HomeAssistant
from tests.claude_server import Fault, Scenario, Turn, text, tool_use
from tests.claude_server.others import BARE, BEARERS, LITELLM, LLAMA_CPP, MAKERS, Maker, OtherServer
from tests.conftest import AGENT, expose
from tests.helpers.pictures import PNG
from tests.helpers.talking import assert_every_call_has_a_result, change_agent, speech

pytestmark = pytest.mark.usefixtures("assist", "no_deprecations")

_HEADERS = {"anthropic-version": "2023-06-01"}
GET_ENTITIES = "extended_assist__get_entities"
DOCUMENT = Path(__file__).parents[2] / "docs" / "local-models.md"

type Ask = Callable[..., Awaitable[conversation.ConversationResult]]


@pytest.fixture(params=MAKERS, ids=lambda maker: maker.name)
async def server(request: pytest.FixtureRequest, socket_enabled: None) -> AsyncGenerator[OtherServer]:
    """Return a running server of each maker."""
    async with OtherServer(request.param, Scenario([])) as server:
        yield server


@pytest.fixture
async def set_up(hass: HomeAssistant, server: OtherServer) -> ConfigEntry:
    """Go through the config flow: address, key where one is needed, model where there is no list."""
    flows = hass.config_entries.flow
    menu = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    form = await flows.async_configure(menu["flow_id"], {"next_step_id": "claude"})
    key = {} if server.maker.api_key == "none" else {"api_key": server.maker.api_key}
    result: Any = await flows.async_configure(form["flow_id"], {"base_url": f"{server.url}/", **key})
    if server.maker is BARE:
        assert result["step_id"] == "model"
        result = await flows.async_configure(form["flow_id"], {"model": "any"})
    await hass.async_block_till_done()
    assert result["type"] == "create_entry", result
    hass.states.async_set("light.lamp", "on", {"friendly_name": "Lamp"})
    expose(hass, "light.lamp")
    return result["result"]


@pytest.fixture
def ask(hass: HomeAssistant, set_up: ConfigEntry, server: OtherServer) -> Ask:
    """Return a function that asks the agent."""

    async def say(words: str, *turns: Turn, **options: Any) -> conversation.ConversationResult:
        server.responder = Scenario(list(turns))
        return await conversation.async_converse(
            hass, words, options.get("conversation_id"), Context(), language="en", agent_id=AGENT
        )

    return say


def unsigned(words: str) -> dict[str, Any]:
    """Return thinking without a signature, as these servers have it."""
    return {"type": "thinking", "thinking": words, "signature": ""}


async def test_conversation_with_tools(hass: HomeAssistant, ask: Ask, server: OtherServer) -> None:
    """Thinking, calls side by side with ids that repeat, an error, and a second turn."""
    calls = [
        {**tool_use(GET_ENTITIES, {"name": "lamp"}), "id": "call_0"},
        {**tool_use(GET_ENTITIES, {"nam": "lamp"}), "id": "call_1"},
    ]
    first = await ask("Is the lamp on?", Turn([unsigned("Hm."), text("I look."), *calls]), Turn([text("Yes.")]))
    assert speech(first) == "Yes."
    again = [{**tool_use(GET_ENTITIES, {}), "id": "call_0"}]
    second = await ask("Sure?", Turn(again), Turn([text("Quite.")]), conversation_id=first.conversation_id)
    assert speech(second) == "Quite."
    kinds = [block["type"] for block in server.message_requests[-1]["messages"][1]["content"]]
    assert kinds == ["text", "tool_use", "tool_use"]


async def test_after_the_last_round(
    hass: HomeAssistant, ask: Ask, set_up: ConfigEntry, server: OtherServer, chat_log: Any
) -> None:
    """That no more tools may be called is said in words, because not all know the field for it."""
    await change_agent(hass, set_up, max_tool_rounds=1)
    result = await ask("Loop", Turn([tool_use(GET_ENTITIES, {})]), Turn([text("Enough.")]))
    assert speech(result) == "Enough."
    last = server.message_requests[-1]["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert "no more tools" in last[1]["text"]
    assert_every_call_has_a_result(chat_log(result.conversation_id))


async def test_task_in_a_structure(hass: HomeAssistant, set_up: ConfigEntry, server: OtherServer) -> None:
    """Structured data need no field that is not documented either."""
    server.responder = Scenario([Turn([tool_use("give_answer", {"name": "Lamp"})])])
    result = await ai_task.async_generate_data(
        hass,
        task_name="t",
        entity_id="ai_task.claude_ai_task",
        instructions="Name it",
        structure=vol.Schema({vol.Required("name"): str}),
    )
    assert result.data == {"name": "Lamp"}


async def test_image(hass: HomeAssistant, set_up: ConfigEntry, server: OtherServer, tmp_path: Path) -> None:
    """A server that tells nothing of its models is given an image that the user attached."""
    (tmp_path / "a.png").write_bytes(PNG)
    server.responder = Scenario([Turn([text("A lamp.")])])
    entity = hass.data[ai_task.DATA_COMPONENT].get_entity("ai_task.claude_ai_task")
    attachment = conversation.Attachment(media_content_id="m", mime_type="image/png", path=tmp_path / "a.png")
    from homeassistant.helpers.chat_session import async_get_chat_session  # noqa: PLC0415 - here only

    with async_get_chat_session(hass) as session:
        task = ai_task.GenDataTask(name="t", instructions="What?", attachments=[attachment])
        assert (await entity.internal_async_generate_data(session, task)).data == "A lamp."


async def test_models_are_offered(hass: HomeAssistant, set_up: ConfigEntry, server: OtherServer) -> None:
    """A list in OpenAI's form, without display names, is offered; without a list a name is typed."""
    flow = await hass.config_entries.subentries.async_init(
        (set_up.entry_id, "conversation"), context={"source": "user"}
    )
    options = next(value for key, value in flow["data_schema"].schema.items() if key == "model").config["options"]
    assert [option["value"] for option in options] == [model["id"] for model in server.maker.models or ()]
    assert all(option["label"] for option in options)


async def test_error_without_a_body_of_ours(ask: Ask, server: OtherServer) -> None:
    """An error in another maker's words still has its sentence."""
    fault = Fault(
        "http", status=500, body='{"error": {"message": "model failed to load"}}', headers={"x-should-retry": "false"}
    )
    assert "had an error" in speech(await ask("Hello", Turn(fault=fault)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metadata": {}}, "unknown field metadata"),
        ({"system": [{"type": "text", "text": "a", "cache_control": {}}]}, "unknown block text"),
        ({"messages": [{"role": "user", "content": [{"type": "document", "source": {}}]}]}, "unknown block document"),
        ({"tool_choice": {"type": "none"}}, "unknown choice of tools"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]}]},
            "not fetched",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "tool_reference"}]}]}
                ]
            },
            "in a result",
        ),
        ({"tools": [{"name": "a", "input_schema": {}, "strict": True}]}, "unknown fields of tools"),
    ],
)
async def test_undocumented_requests_are_refused(socket_enabled: None, change: dict[str, Any], words: str) -> None:
    """The stand-ins take what is documented and nothing else."""
    body = {"model": "any", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}], **change}
    maker = LLAMA_CPP if "tool_choice" in change else BARE
    async with (
        OtherServer(maker, Scenario([])) as server,
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/v1/messages", json=body, headers=_HEADERS | {"x-api-key": "none"}) as response,
    ):
        assert response.status == 400
        assert words in await response.text()


@pytest.mark.parametrize("maker", BEARERS, ids=lambda maker: maker.name)
@pytest.mark.parametrize(
    ("headers", "status"), [({"x-api-key": "home-key"}, 401), ({"authorization": "Bearer home-key"}, 200)]
)
async def test_bearer_tokens(socket_enabled: None, maker: Maker, headers: dict[str, str], status: int) -> None:
    """Some let in by a bearer token only."""
    async with (
        OtherServer(maker, Scenario([])) as server,
        aiohttp.ClientSession() as session,
        session.get(f"{server.url}/v1/models", headers=_HEADERS | headers) as response,
    ):
        assert response.status == status


def test_what_was_tried_is_documented() -> None:
    """The page says which servers were run for real, and of which only the documentation was read."""
    tried = DOCUMENT.read_text(encoding="utf-8").partition("## What has been tried\n")[2]
    assert all(maker.name in tried for maker in MAKERS if maker is not BARE)


@pytest.mark.parametrize("maker", [maker for maker in MAKERS if maker is not BARE], ids=lambda maker: maker.name)
def test_recipes_are_documented(maker: Maker) -> None:
    """Each maker has its recipe."""
    recipe = DOCUMENT.read_text(encoding="utf-8").partition(f"## {maker.name}\n")[2].partition("\n## ")[0]
    assert all(f"\n- {line}: " in recipe for line in ("Address", "Key", "Model", "Longest conversation"))
    assert ("master_key" in recipe) is (maker is LITELLM)
