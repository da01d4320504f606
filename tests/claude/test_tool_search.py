"""Tests of leaving tools to be searched for."""

from typing import Any

from anthropic.types import ModelInfo
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.extended_assist.claude.models import Abilities
from custom_components.extended_assist.claude.tool_search import (
    MIN_TOOLS,
    with_search,
    without_stale_searches,
)
from custom_components.extended_assist.const import CONF_PROMPT_CACHE, CONF_TOOL_SEARCH
from homeassistant.core import HomeAssistant
from homeassistant.helpers import llm
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.claude_server.cache import input_tokens
from tests.claude_server.models import default_models
from tests.conftest import Converse

pytestmark = pytest.mark.usefixtures("no_deprecations")

SEARCH = "tool_search_tool_bm25"


class Scene(llm.Tool):
    """One of very many tools."""

    integration = "test"
    description = "Set one of the scenes of this home, with lights, covers and music as they were stored for it."
    parameters = vol.Schema({vol.Optional("brightness", description="Of the lights, in percent."): int})

    def __init__(self, name: str) -> None:
        """Take a name."""
        self.name = name

    async def async_call(
        self, hass: HomeAssistant, tool_input: llm.ToolInput, llm_context: llm.LLMContext
    ) -> llm.ToolResult:
        """Do nothing."""
        return llm.ToolResult({"done": self.name})


class ManyTools(llm.API):
    """An API with very many tools."""

    async def async_get_api_instance(self, llm_context: llm.LLMContext) -> llm.APIInstance:
        """Return those that there are."""
        names = [
            "homeassistant__GetLiveContext",
            "intent__HassTurnOn",
            *(f"scene_{number}" for number in range(MIN_TOOLS)),
        ]
        return llm.APIInstance(self, "Prompt.", llm_context, [Scene(name) for name in names if name not in GONE])


GONE: set[str] = set()


@pytest.fixture
async def many(hass: HomeAssistant, entry: MockConfigEntry) -> Any:
    """Give the agent very many tools and a model that searches; returns how to change its settings."""
    GONE.clear()
    llm.async_register_api(hass, ManyTools(hass=hass, id="many", name="Many"))

    async def change(**data: Any) -> None:
        (agent,) = entry.subentries.values()
        hass.config_entries.async_update_subentry(entry, agent, data={**agent.data, **data})
        await hass.async_block_till_done()

    await change(llm_hass_api=["many"], model="claude-opus-5-5", **{CONF_TOOL_SEARCH: True, CONF_PROMPT_CACHE: "5m"})
    return change


def found(*names: str) -> list[dict[str, Any]]:
    """Return a search that found tools."""
    references = [{"type": "tool_reference", "tool_name": name} for name in names]
    result = {"type": "tool_search_tool_search_result", "tool_references": references}
    return [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": SEARCH, "input": {"query": "a scene"}},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": result},
    ]


SEARCHED = Turn([*found("scene_7"), tool_use("scene_7", {})])


async def test_search_and_call(many: Any, converse: Converse, claude_server: ClaudeServer) -> None:
    """The most used tools are sent whole, the others can be found and called, and the cache goes on to be read."""
    first = await converse("Set the seventh scene", SEARCHED, Turn([text("It is set.")]))
    assert first.response.speech["plain"]["speech"] == "It is set."
    await converse("Thanks", Turn([text("Gladly.")]), conversation_id=first.conversation_id)
    *_, before, last = claude_server.message_requests
    search, *tools = last["tools"]
    assert search["name"] == SEARCH
    assert [tool["name"] for tool in tools if not tool.get("defer_loading")] == [
        "homeassistant__GetLiveContext",
        "intent__HassTurnOn",
    ]
    assert len(tools) == MIN_TOOLS + 2
    assert [block["type"] for block in last["messages"][1]["content"]] == [
        "server_tool_use",
        "tool_search_tool_result",
        "tool_use",
    ]
    assert last["messages"][1]["content"][0]["input"] == {"query": "a scene"}
    assert '"done":"scene_7"' in last["messages"][2]["content"][0]["content"]
    assert claude_server.cache.found[-1] in (0, input_tokens(before))


@pytest.mark.parametrize("change", [{CONF_TOOL_SEARCH: False}, {"model": "claude-haiku-5-5"}, "tool"])
async def test_stale_search_is_left_out(
    hass: HomeAssistant,
    entry: MockConfigEntry,
    many: Any,
    converse: Converse,
    claude_server: ClaudeServer,
    change: Any,
) -> None:
    """A conversation goes on when the model, the setting or a tool that was found is gone."""
    first = await converse("Set the seventh scene", SEARCHED, Turn([text("It is set.")]))
    if change == "tool":
        # What a conversation began with is sent for as long as it goes on, unless its beginning was forgotten.
        GONE.add("scene_7")
        await hass.config_entries.async_reload(entry.entry_id)
    else:
        await many(**change)
    again = await converse("Thanks", Turn([text("Gladly.")]), conversation_id=first.conversation_id)
    assert again.response.speech["plain"]["speech"] == "Gladly."
    last = claude_server.message_requests[-1]
    assert [block["type"] for block in last["messages"][1]["content"]] == ["tool_use"]
    assert any(tool.get("defer_loading") for tool in last["tools"]) is (change == "tool")


def test_few_tools_are_all_sent() -> None:
    """A search would cost more than it saves."""
    request = {"tools": [{"name": f"a{number}", "input_schema": {}} for number in range(MIN_TOOLS - 1)]}
    assert with_search(request) == request
    assert with_search({}) == {}


def test_search_that_was_broken_off_is_left_out() -> None:
    """A search without its result would be refused."""
    use, _ = found("scene_7")
    request = {
        "tools": [{"name": SEARCH}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, use]},
        ],
    }
    assert without_stale_searches(request)["messages"][1]["content"] == [{"type": "text", "text": "I look."}]
    alone = {**request, "messages": [request["messages"][0], {"role": "assistant", "content": [use]}]}
    assert without_stale_searches(alone)["messages"] == request["messages"][:1]
    assert without_stale_searches({**request, "messages": request["messages"][:1]}) == {
        **request,
        "messages": request["messages"][:1],
    }


@pytest.mark.parametrize(
    ("model_id", "changes", "supported"),
    [
        ("claude-opus-5-5", {}, True),
        ("claude-haiku-5-5", {}, False),
        ("claude-opus-5-5", {"server_tools": {"supported": False}}, False),
        ("claude-opus-5-5", {"server_tools": None}, False),
        ("claude-opus-5-5", None, False),
    ],
)
def test_support(model_id: str, changes: dict[str, Any] | None, supported: bool) -> None:
    """What is not listed is not supported."""
    (listed,) = [model for model in default_models() if model["id"] == model_id]
    capabilities = None if changes is None else listed["capabilities"] | changes
    model = ModelInfo.construct(**(listed | {"capabilities": capabilities}))
    assert Abilities.of(model).tool_search is supported
    assert not Abilities.of(None).tool_search
