"""Tests of the public door: a small integration registers a tool of each kind."""

import json
from typing import Any, Literal

import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry, MockModule, mock_integration
import voluptuous as vol

from custom_components.extended_assist.api.instance import api_id
from custom_components.extended_assist.claude.request import to_tools
from custom_components.extended_assist.registry import (
    FunctionTool,
    ToolNameError,
    async_register_tool,
    async_remove_tool,
    llm_tool,
)
from custom_components.extended_assist.registry.function_tool import integration_of
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.setup import async_setup_component
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import Converse
from tests.helpers import greeter
from tests.helpers.talking import speech

pytestmark = pytest.mark.usefixtures("no_deprecations")

NAMES = {"greet", "add", "compliment"}


@pytest.fixture
async def set_up_greeter(hass: HomeAssistant) -> Any:
    """Return a function that sets the small integration up."""
    mock_integration(hass, MockModule(greeter.DOMAIN, async_setup=greeter.async_setup))

    async def set_up() -> None:
        assert await async_setup_component(hass, greeter.DOMAIN, {})

    return set_up


async def names(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> set[str]:
    """Return the names of the toolbox's tools."""
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    return {tool.name for tool in instance.tools}


async def test_on_a_loaded_entry(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, set_up_greeter: Any
) -> None:
    """Tools appear and disappear without a reload."""
    assert not NAMES & await names(hass, entry, llm_context)
    await set_up_greeter()
    assert await names(hass, entry, llm_context) >= NAMES
    async_remove_tool(hass, "greet")
    async_remove_tool(hass, "greet")
    assert NAMES & await names(hass, entry, llm_context) == {"add", "compliment"}


async def test_before_an_entry_exists(
    hass: HomeAssistant, assist: None, llm_context: llm.LLMContext, set_up_greeter: Any
) -> None:
    """Tools wait for the toolbox, and stay when it reloads."""
    await set_up_greeter()
    entry = MockConfigEntry(domain="extended_assist", title="Later", data={})
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    assert await names(hass, entry, llm_context) >= NAMES
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert await names(hass, entry, llm_context) >= NAMES


async def test_through_the_agent(converse: Converse, claude_server: ClaudeServer, set_up_greeter: Any) -> None:
    """The model calls all three; what was said and where is filled in, and arguments are converted."""
    await set_up_greeter()
    await converse(
        "Be nice.",
        Turn(
            [
                tool_use("greet", {"name": "Ada"}),
                tool_use("add", {"first": 40}),
                tool_use("compliment", {"names": ["Ada"], "tone": "cold", "more": {"a": 1}}),
                tool_use("greet", {"name": "nobody"}),
                tool_use("add", {"first": "one"}),
            ]
        ),
        Turn([text("Done.")]),
        device_id="kitchen",
    )
    results = [
        (json.loads(block["content"]), block.get("is_error", False))
        for block in claude_server.message_requests[-1]["messages"][-1]["content"]
    ]
    assert [result for result, _ in results][:4] == [
        {"greeting": "Hello Ada"},
        {"result": 42},
        {"names": ["Ada"], "tone": "COLD", "device": "kitchen", "asked": "Be nice.", "more": {"a": 1}},
        {"error": "Nobody cannot be greeted."},
    ]
    assert [error for _, error in results] == [False, False, False, True, True]
    assert "wrong arguments" in results[4][0]["error"]


async def test_what_the_model_is_told(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, set_up_greeter: Any
) -> None:
    """Docstring and annotations become description and schema; what is filled in is hidden."""
    await set_up_greeter()
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    told = {tool["name"]: tool for tool in to_tools(instance)}
    assert told["add"]["description"] == "Add two numbers."
    assert told["add"]["input_schema"] == {
        "type": "object",
        "properties": {
            "first": {"type": "integer", "description": "A number."},
            "second": {"type": "integer", "default": 2},
        },
        "required": ["first"],
    }
    assert told["compliment"]["description"].startswith("Say something nice.\n\nTo one")
    schema = told["compliment"]["input_schema"]
    assert schema["required"] == ["names"]
    assert schema["properties"]["tone"] == {"type": "string", "enum": ["warm", "cold"], "default": "warm"}
    assert schema["properties"]["style"]["enum"] == ["short", "long"]
    assert not {"hass", "device_id", "user_prompt"} & schema["properties"].keys()
    tools = {tool.name: tool for tool in instance.tools}
    assert tools["greet"].tier.name == "READ"
    assert tools["compliment"].tier.name == "CONTROL"
    assert tools["compliment"].brings_outside_text
    assert not tools["greet"].brings_outside_text
    assert tools["greet"].integration == "greeter"


async def test_goes_through_the_policy(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, set_up_greeter: Any
) -> None:
    """What declares nothing counts as control."""
    await set_up_greeter()
    hass.config_entries.async_update_entry(entry, options={"who_may_control": "admin"})
    await hass.async_block_till_done()
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert (await instance.async_call_tool(llm.ToolInput("compliment", {"names": ["Ada"]}))).error
    assert hass.states.get("greeter.last") is None
    assert not (await instance.async_call_tool(llm.ToolInput("greet", {"name": "Ada"}))).error


async def test_sync_functions(hass: HomeAssistant, llm_context: llm.LLMContext) -> None:
    """A function that is neither async nor a callback runs off the event loop; a result may be told apart by itself."""
    from threading import get_ident  # noqa: PLC0415

    def where(external: bool, language: str | None) -> dict[str, Any]:
        """Where."""
        return {"loop": get_ident() == hass.loop_thread_id, "external": external, "language": language}

    @callback
    def on_loop() -> llm.ToolResult:
        """Where."""
        return llm.ToolResult({"loop": get_ident() == hass.loop_thread_id}, error=True)

    for function, data in ((where, {"loop": False, "external": False, "language": "en"}), (on_loop, {"loop": True})):
        tool = FunctionTool(function)
        result = await tool.async_call(hass, llm.ToolInput(tool.name, {}), llm_context)
        assert result.data == data
        assert result.error is (function is on_loop)


async def test_name_clashes(hass: HomeAssistant, entry: MockConfigEntry, set_up_greeter: Any) -> None:
    """A name clash names both owners, and the first stays."""
    await set_up_greeter()

    class Another(greeter.GreetTool):
        integration = "other"

    with pytest.raises(ToolNameError, match=r"other .* greeter"):
        async_register_tool(hass, Another())
    Another.name = "extended_assist__get_history"
    with pytest.raises(ToolNameError, match=r"other .* extended_assist"):
        async_register_tool(hass, Another())
    Another.name = "bad name"
    with pytest.raises(ToolNameError, match="bad name"):
        async_register_tool(hass, Another())
    Another.name = "fresh"
    remove = async_register_tool(hass, tool := Another())
    async_remove_tool(hass, tool)
    async_register_tool(hass, Another())
    remove()
    with pytest.raises(ToolNameError):
        async_register_tool(hass, Another())
    async_remove_tool(hass, "fresh")
    remove = async_register_tool(hass, Another())
    remove()
    remove()
    async_register_tool(hass, Another())


async def test_confirmed_by_its_arguments(
    hass: HomeAssistant, entry: MockConfigEntry, converse: Converse, claude_server: ClaudeServer
) -> None:
    """After text from outside, a tool of another integration waits for the user's word, told by its arguments."""

    class News(greeter.GreetTool):
        name = "news"
        annotations = llm.ToolAnnotations(read_only=True, destructive=False, idempotent=True, open_world=True)

    class Paint(greeter.GreetTool):
        name = "paint"
        title = "Paint it"
        annotations = llm.ToolAnnotations(read_only=False, destructive=False, idempotent=True, open_world=False)

    async_register_tool(hass, News())
    async_register_tool(hass, Paint())
    calls = [Turn([tool_use(name, {"name": "Ada"})]) for name in ("news", "paint")]
    result = await converse("What is new?", *calls, device_id="speaker")
    assert speech(result) == 'Paint it: {"name":"Ada"}\nShall I do that?'


async def test_older_results(hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext) -> None:
    """A tool that answers as tools did before there were results is understood."""

    class Older(greeter.GreetTool):
        name = "older"

        async def async_call(self, *_: Any) -> Any:
            return {"greeting": "Good day"}

    async_register_tool(hass, Older())
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    result = await instance.async_call_tool(llm.ToolInput("older", {"name": "Ada"}))
    assert (result.data, result.error) == ({"greeting": "Good day"}, False)


@pytest.mark.parametrize(
    ("module", "integration"),
    [
        ("custom_components.greeter.tools", "greeter"),
        ("homeassistant.components.demo.light", "demo"),
        ("homeassistant.components", "homeassistant.components"),
        ("tests.helpers.greeter", "tests.helpers.greeter"),
    ],
)
def test_whose_tool_it_is(module: str, integration: str) -> None:
    """A function's integration is that of the module in which it is written."""
    assert integration_of(module) == integration


async def test_a_name_of_assist_is_left_out(
    hass: HomeAssistant, entry: MockConfigEntry, llm_context: llm.LLMContext, caplog: pytest.LogCaptureFixture
) -> None:
    """Assist's tools come and go with what is exposed, so a clash with one is found when the tools are gathered."""

    class Clock(greeter.GreetTool):
        name = "llm__GetDateTime"

    async_register_tool(hass, Clock())
    instance = await llm.async_get_api(hass, api_id(entry.entry_id), llm_context)
    assert [tool.name for tool in instance.tools].count("llm__GetDateTime") == 1
    assert "is left out: its name is taken" in caplog.text


def positional(value: int, /) -> None:
    """Take a value."""


def many(*values: int) -> None:
    """Take values."""


def named(**values: int) -> None:
    """Take values."""


def bare(value) -> None:  # type: ignore[no-untyped-def]
    """Take a value."""


def of(annotation: Any) -> Any:
    """Return a function whose parameter has an annotation."""

    def function(value: Any) -> None:
        """Take a value."""

    function.__annotations__["value"] = annotation
    return function


@pytest.mark.parametrize(
    "function",
    [positional, many, named, bare]
    + [of(annotation) for annotation in (int | str, set, bytes, HomeAssistant, Any, object, dict[int, str], list[set])]
    + [of(tuple[int, str]), of(list[int | str] | None), of(complex)],
)
def test_unsupported_annotations(function: Any) -> None:
    """What a model cannot be told of is refused when it is registered, by name."""
    with pytest.raises(TypeError, match=r"parameter 'values?'"):
        FunctionTool(function)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (str, "a", 1),
        (int, 1, "a"),
        (float, 1.5, "a"),
        (bool, True, "a"),
        (list, [1], 1),
        (list[int], [1], ["a"]),
        (dict, {"a": 1}, 1),
        (dict[str, int], {"a": 1}, {"a": "b"}),
        (dict[str, Any], {"a": [1]}, []),
        (Literal["a", 1], "a", "b"),
        (greeter.Tone, "warm", "hot"),
        (greeter.Tone | None, None, "hot"),
        (list[greeter.Tone], ["cold"], ["hot"]),
        (dict[str, greeter.Tone], {"a": "cold"}, {"a": "hot"}),
    ],
)
async def test_supported_annotations(
    hass: HomeAssistant, llm_context: llm.LLMContext, annotation: Any, good: Any, bad: Any
) -> None:
    """Each kind of annotation lets through what it means, and nothing else."""
    tool = FunctionTool(of(annotation))
    await tool.async_call(hass, llm.ToolInput("function", {"value": good}), llm_context)
    with pytest.raises(vol.Invalid):
        await tool.async_call(hass, llm.ToolInput("function", {"value": bad}), llm_context)


async def test_decorator_keeps_the_function(hass: HomeAssistant) -> None:
    """The decorated function can be called as before."""

    @llm_tool(hass, annotations=greeter.READ_ONLY)
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    assert double(2) == 4
