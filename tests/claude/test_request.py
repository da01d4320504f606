"""Tests of turning a chat log into a request."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import Mock

from hypothesis import given, settings, strategies as st
from probatio import UNSUPPORTED, Secret, to_openapi
import pytest
import voluptuous as vol

from custom_components.extended_assist.claude.request import Rendering, offered_tools, to_messages, to_tools
from custom_components.extended_assist.claude.response_blocks import Block, Prefix, ResponseBlocks
from homeassistant.components.conversation import (
    AssistantContent,
    Content,
    SystemContent,
    ToolResultContent,
    UserContent,
)
from homeassistant.helpers import llm
from tests.claude_server.checks import check_request
from tests.claude_server.models import default_models
from tests.claude_server.stream import Issuer
from tests.conftest import MODEL

OURS, OTHER = "conversation.claude", "conversation.other"

_ids = st.sampled_from(["call_1", "call_2", "call_3"])
_texts = st.sampled_from([None, "", "  ", "Hello", "Line\nbreak "])
_calls = st.lists(_ids, unique=True, max_size=3)


def _assistant(agent_id: str, text: str | None, call_ids: list[str], external: bool) -> AssistantContent:
    """Return what an assistant said and called."""
    calls = [llm.ToolInput("get_it", {"a": 1}, id=call_id, external=external) for call_id in call_ids]
    return AssistantContent(agent_id=agent_id, content=text, tool_calls=calls or None)


def _result(call_id: str, error: bool) -> ToolResultContent:
    """Return a result."""
    return ToolResultContent(
        agent_id=OURS, tool_call_id=call_id, tool_name="get_it", result=llm.ToolResult({"b": 2}, error=error)
    )


_content = st.lists(
    st.one_of(
        st.builds(UserContent, content=_texts.map(lambda text: text or "")),
        st.builds(_assistant, st.sampled_from([OURS, OTHER]), _texts, _calls, st.booleans()),
        st.builds(_result, _ids, st.booleans()),
    ),
    max_size=12,
)


def _unique(content: list[Content]) -> list[Content]:
    """Number the turns in call ids, as they are unique in a log; results keep meaning the call before them."""
    numbered: list[Content] = []
    turn = 0
    for item in content:
        if isinstance(item, AssistantContent) and item.tool_calls:
            turn += 1
            calls = [replace(call, id=f"{call.id}_{turn}") for call in item.tool_calls]
            numbered.append(replace(item, tool_calls=calls))
        elif isinstance(item, ToolResultContent):
            numbered.append(replace(item, tool_call_id=f"{item.tool_call_id}_{turn}"))
        else:
            numbered.append(item)
    return numbered


@settings(max_examples=300, deadline=None, derandomize=True)
@given(content=_content)
def test_whatever_the_log_holds_the_request_is_valid(content: list[Content]) -> None:
    """Any order of any content, as other agents and interrupted turns leave it, makes messages the service accepts."""
    messages = to_messages([*_unique(content), UserContent(content="And now?")], OURS, MODEL)
    assert all(one["role"] != other["role"] for one, other in pairwise(messages))
    body = {"model": MODEL, "max_tokens": 100, "messages": messages}
    check_request(body, default_models(), Issuer())


def test_results_keep_to_their_own_turn() -> None:
    """A call id that a server uses again in a later turn gets that turn's result."""
    messages = to_messages(
        [
            UserContent(content="1"),
            _assistant(OURS, None, ["call_1"], external=False),
            _result("call_1", error=True),
            UserContent(content="2"),
            _assistant(OURS, None, ["call_1"], external=False),
            _result("call_1", error=False),
        ],
        OURS,
        MODEL,
    )
    results = [block for message in messages for block in message["content"] if block["type"] == "tool_result"]
    assert [block.get("is_error", False) for block in results] == [True, False]


def test_interrupted_call_is_answered() -> None:
    """A call without a result is answered as such."""
    messages = to_messages([UserContent(content="1"), _assistant(OURS, None, ["call_1"], external=False)], OURS, MODEL)
    (result,) = messages[-1]["content"]
    assert result["is_error"]
    assert "interrupted" in result["content"]


@pytest.mark.parametrize(
    ("agent_id", "model", "types"),
    [
        (OURS, MODEL, ["thinking", "text"]),
        (OURS, "another-model", ["text"]),
        (OTHER, MODEL, ["text"]),
    ],
)
def test_thinking_goes_back_to_its_own_model_only(agent_id: str, model: str, types: list[str]) -> None:
    """Signed thinking is for the model that wrote it."""
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Yes."},
    ]
    said = AssistantContent(agent_id=agent_id, content="Yes.", native=ResponseBlocks(MODEL, blocks))
    messages = to_messages([UserContent(content="?"), said], OURS, model)
    assert [block["type"] for block in messages[-1]["content"]] == types


def test_system_prompt_is_no_message() -> None:
    """The system prompt is sent beside the messages, so nothing of it is left among them."""
    assert to_messages([SystemContent(content="Be kind.")], OURS, MODEL) == []


class Declared(llm.Tool):
    """A tool that only declares itself."""

    integration = "test"

    def __init__(self, name: str, parameters: Any) -> None:
        """Take a name and a schema."""
        self.name = name
        self.parameters = parameters


def _tools(*tools: llm.Tool) -> list[Any]:
    """Format tools."""
    return to_tools(llm.APIInstance(None, "", None, list(tools), llm.selector_serializer))


def test_offending_tool_is_left_out() -> None:
    """A tool that the service would refuse costs only itself, and is named with the reason."""
    good = Declared("good", vol.Schema({vol.Required("a"): str}))
    bad = [Declared("has space", vol.Schema({})), Declared("list", vol.Schema([str])), Declared("broken", object())]
    offered = offered_tools(llm.APIInstance(None, "", None, [*bad, good], llm.selector_serializer))
    assert [tool["name"] for tool in offered.tools] == ["good"]
    assert list(offered.left_out) == ["has space", "list", "broken"]
    assert "letters" in offered.left_out["has space"]


def test_alternatives_at_the_top_of_a_schema_are_stripped() -> None:
    """The service refuses them there."""
    schema = vol.Schema(vol.All({vol.Optional("a"): str, vol.Optional("b"): str}, vol.Any({"a": str}, {"b": str})))
    for tool in _tools(Declared("alternatives", schema)):
        assert not {"oneOf", "anyOf", "allOf"} & tool["input_schema"].keys()


def test_changed_schema_is_seen() -> None:
    """Another schema under the same name is converted anew."""
    (first,) = _tools(Declared("same", vol.Schema({vol.Required("a"): str})))
    (second,) = _tools(Declared("same", vol.Schema({vol.Required("b"): str})))
    assert list(first["input_schema"]["properties"]) == ["a"]
    assert list(second["input_schema"]["properties"]) == ["b"]


def test_what_goes_without_saying_is_not_said() -> None:
    """A schema holds what the model needs to know; a parameter may have any name."""
    schema = vol.Schema(
        {
            vol.Required("additionalProperties"): vol.All(str, vol.Lower),
            vol.Optional("format"): vol.In(["lower", "upper"]),
            vol.Optional("inner"): vol.Schema({"a": str}),
            vol.Optional("open"): dict,
            vol.Optional("more"): vol.Schema({"a": str}, extra=vol.ALLOW_EXTRA),
        }
    )
    (tool,) = _tools(Declared("short", schema))
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {
            "additionalProperties": {"type": "string"},
            "format": {"type": "string", "enum": ["lower", "upper"]},
            "inner": {"type": "object", "properties": {"a": {"type": "string"}}},
            "open": {"type": "object"},
            "more": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        },
        "required": ["additionalProperties"],
    }


_WORDS = st.sampled_from(["Hello", "", "And now?"])
_PARTS = st.sampled_from(["user", "words", "thought", "calls", "rest", "other"])


def _grown(parts: list[tuple[str, str]]) -> list[Content]:
    """Return a conversation of any parts, in any order: results, or none of them, and responses of several parts."""
    content: list[Content] = []
    for number, (part, words) in enumerate(parts):
        said: Block = {"type": "text", "text": words or "?"}
        call: Block = {"type": "tool_use", "id": f"call_{number}", "name": "look", "input": {}}
        blocks = {
            "words": [said],
            "thought": [{"type": "thinking", "thinking": words, "signature": "s"}, said],
            "calls": [{"type": "thinking", "thinking": words, "signature": "s"}, call],
            "rest": [{"type": "thinking", "thinking": words, "signature": "s"}, said],
        }.get(part)
        if part == "user":
            content.append(UserContent(content=words))
        elif blocks is None:
            content.append(_assistant(OTHER, words, [f"call_{number}"], external=False))
        else:
            native = ResponseBlocks(MODEL, blocks, continues=part == "rest", prefix=words)
            calls = [llm.ToolInput("look", {}, id=f"call_{number}")] if part == "calls" else None
            content.append(AssistantContent(agent_id=OURS, content=words, tool_calls=calls, native=native))
        if part in ("calls", "other") and words:
            content.append(_result(f"call_{number}", error=False))
    return content


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.tuples(_PARTS, _WORDS), max_size=12), st.data())
def test_a_conversation_that_grows(parts: list[tuple[str, str]], data: st.DataObject) -> None:
    """What a request takes over from the one before is what it would be when made anew, and so is its digest."""
    content = _grown([("user", "Hello"), *parts])
    rendering = None
    for end in sorted({len(content), *data.draw(st.lists(st.integers(1, len(content)), max_size=4))}):
        prefix = Prefix("instructions")
        if rendering is None or not rendering.goes_on(content[:end], prefix):
            rendering = Rendering(OURS, MODEL, {}, lambda _: None, prefix)
        rendering.add(content[:end])
        anew = Rendering(OURS, MODEL, {}, lambda _: None, Prefix("instructions"))
        anew.add(content[:end])
        told: list[Block] = [{"type": "text", "text": "(Go on.)"}]
        assert rendering.whole(told) == anew.whole(told)
        assert rendering.whole() == anew.whole()
    assert rendering is not None
    assert not rendering.goes_on([*content[:-1], replace(content[-1])], Prefix("instructions"))
    assert not rendering.goes_on(content, Prefix("others"))


def test_a_conversation_that_goes_on_is_not_gone_through_again() -> None:
    """Rounds of a turn are added to the messages that there are."""
    content = _grown([("user", "Hello"), ("calls", "Hello"), ("calls", "Hello"), ("words", "Hello")])
    told: list[UserContent] = []
    rendering = Rendering(OURS, MODEL, {}, told.append, Prefix())
    for end in (1, 3, 5, 6):
        assert rendering.goes_on(content[:end], Prefix())
        rendering.add(content[:end])
    assert told == [content[0]]


def _sent(schema: vol.Schema, name: str) -> dict[str, Any]:
    """Return the schema that is sent for a tool with this one."""
    tool = Mock(spec=llm.Tool, description="", parameters=schema)
    tool.name = name
    return dict(to_tools(Mock(spec=llm.APIInstance, tools=[tool], custom_serializer=None))[0]["input_schema"])


def test_tools_of_the_same_parts_are_converted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each conversation has intents in schemas of its own, of the same parts; any other part is another schema."""
    converted = Mock(wraps=to_openapi)
    monkeypatch.setattr("custom_components.extended_assist.claude.request.to_openapi", converted)
    key, part = vol.Required("name"), vol.Any("a", "b")
    sent = partial(_sent, name="test_tools_of_the_same_parts")

    first = sent(vol.Schema({key: part}))
    assert sent(vol.Schema({key: part})) == first
    assert sent(vol.Schema({vol.Required("name"): part})) == first
    assert converted.call_count == 1
    for other in (
        vol.Schema({vol.Required(Secret("name")): part}),
        vol.Schema({vol.Optional("name"): part}),
        vol.Schema({vol.Required("other"): part}),
        vol.Schema({vol.Optional("name", default="a"): part}),
        vol.Schema({vol.Optional("name", default="b"): part}),
        vol.Schema({key: vol.Any("a", "c")}),
        vol.Schema({key: part, vol.Optional("more"): str}),
        vol.Schema({vol.Required("name", description="Said."): part}),
        vol.Schema({key: part}, extra=vol.ALLOW_EXTRA),
    ):
        assert sent(other) != first
    assert converted.call_count == 10


def test_what_a_default_gives_is_told_each_time() -> None:
    """A key that is made anew can have the default of the one before, which gives something else by now."""
    days, part = ["Monday"], vol.Any(str)

    def today() -> str:
        return days[-1]

    def sent() -> Any:
        schema = vol.Schema({vol.Optional("day", default=today): part})
        return _sent(schema, "test_what_a_default_gives")["properties"]["day"]["default"]

    assert sent() == "Monday"
    days.append("Tuesday")
    assert sent() == "Tuesday"


@pytest.mark.parametrize("values", [(1, True), (True, 1), (1, 1.0)])
def test_numbers_that_are_equal_are_told_as_they_are(values: tuple[Any, Any]) -> None:
    """To Python, true and one are equal; to a model they are not."""
    for value in values:
        schema = vol.Schema({vol.Optional("level", default=value): vol.Any(int, bool)})
        told = _sent(schema, "test_numbers_that_are_equal")["properties"]["level"]["default"]
        assert (told, type(told)) == (value, type(value))


def test_tools_whose_names_are_seldom_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools of a server can have new names again and again, of which only so many are kept."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr("custom_components.extended_assist.claude.request._converted", kept)
    monkeypatch.setattr("custom_components.extended_assist.claude.request._MAX_CONVERTED", 3)
    for number in range(5):
        _sent(vol.Schema({}), f"look_{number}")
    assert list(kept) == ["look_2", "look_3", "look_4"]


def test_serializers_of_the_same_parts_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged APIs make a serializer for every conversation, of the same parts; one of any other part tells other schemas."""
    converted = Mock(wraps=to_openapi)
    monkeypatch.setattr("custom_components.extended_assist.claude.request.to_openapi", converted)
    part = vol.Any("a", "b")
    tool = Mock(spec=llm.Tool, description="", parameters=vol.Schema({"name": part}))
    tool.name = "test_serializers_of_the_same_parts"

    def with_kind(value: Any, kind: str) -> Any:
        return {"type": kind} if value is part else UNSUPPORTED

    def telling(kind: str) -> Callable[[Any], Any]:
        return lambda value: with_kind(value, kind)

    text, number = telling("string"), telling("number")

    def merged(*parts: Callable[[Any], Any]) -> Callable[[Any], Any] | None:
        return llm.MergedAPI._custom_serializer(
            Mock(), [llm.APIInstance(Mock(), "", Mock(), [], part) for part in parts]
        )

    def sent(serializer: Any) -> Any:
        instance = Mock(spec=llm.APIInstance, tools=[tool], custom_serializer=serializer)
        return to_tools(instance)[0]["input_schema"]["properties"]["name"]["type"]

    assert [sent(merged(text, number)) for _ in range(3)] == ["string"] * 3
    assert converted.call_count == 1
    assert sent(merged(number, text)) == "number"
    assert sent(merged(text)) == "string"
    assert sent(merged(text, number)) == "string"
    assert [sent(telling(kind)) for kind in ("string", "number")] == ["string", "number"]
    assert [sent(partial(with_kind, kind=kind)) for kind in ("string", "number")] == ["string", "number"]
    assert converted.call_count == 8
