"""What the Messages API refuses beyond the types of a request, with the words it uses where they are known."""

from collections.abc import Iterator
import re
from typing import Any

from .cache import MAX_MARKS, marks
from .models import find_model
from .stream import Issuer

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MIN_THINKING_BUDGET = 1024

type Body = dict[str, Any]
type Blocks = list[dict[str, Any]]


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the server
    """A request that the API would answer with an error."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def check_request(body: Body, models: list[dict[str, Any]], issuer: Issuer) -> None:
    """Raise Refusal for the first thing that is wrong with a request whose types are right."""
    model = find_model(models, body["model"])
    if model is None or model.get("lifecycle") == "retired":
        raise Refusal(f"model: {body['model']}", status=404)
    _check_options(body, model)
    _check_tools(body)
    _check_marks(body)
    _check_text(_blocks(body.get("system") or []), "system")
    messages = body["messages"]
    if not messages:
        raise Refusal("messages: at least one message is required")
    if messages[0]["role"] != "user":
        raise Refusal("messages: first message must use the `user` role")
    for index, message in enumerate(messages):
        _check_message(message, index, issuer, last=index == len(messages) - 1)
    _check_pairs(messages)
    _check_references(body)


def _check_references(body: Body) -> None:
    """A search for tools may have found only tools that are there."""
    names = {tool.get("name") for tool in body.get("tools") or []}
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            if block["type"] == "tool_search_tool_result":
                for reference in block["content"].get("tool_references") or []:
                    if reference["tool_name"] not in names:
                        raise Refusal(f"Tool reference '{reference['tool_name']}' not found in available tools")


def _check_options(body: Body, model: dict[str, Any]) -> None:
    """Refuse what the model's listed capabilities exclude; a model without a list takes everything."""
    most = model.get("max_tokens")
    max_tokens = body.get("max_tokens")
    if most is not None and max_tokens is not None and max_tokens > most:
        raise Refusal(f"max_tokens: {max_tokens} > {most}, which is the maximum allowed number of output tokens")
    thinking = body.get("thinking") or {}
    if thinking.get("type") == "enabled":
        if thinking["budget_tokens"] < MIN_THINKING_BUDGET:
            raise Refusal(f"thinking.enabled.budget_tokens: must be at least {MIN_THINKING_BUDGET}")
        if max_tokens is not None and thinking["budget_tokens"] >= max_tokens:
            raise Refusal("`max_tokens` must be greater than `thinking.budget_tokens`")
    output = body.get("output_config") or {}
    capabilities = model.get("capabilities")
    if capabilities is None:
        return
    if thinking and not _supports(capabilities, "thinking", "types", thinking["type"]):
        raise Refusal(f"thinking.type: {thinking['type']} is not supported by this model")
    if (effort := output.get("effort")) and not _supports(capabilities, "effort", effort):
        raise Refusal(f"output_config.effort: {effort} is not supported by this model")
    if output.get("format") and not _supports(capabilities, "structured_outputs"):
        raise Refusal("output_config.format: structured outputs are not supported by this model")


def _supports(capabilities: dict[str, Any], *path: str) -> bool:
    value: Any = capabilities
    for key in path:
        value = (value or {}).get(key)
    return bool((value or {}).get("supported"))


def _check_tools(body: Body) -> None:
    tools = body.get("tools") or []
    if body.get("tool_choice") and not tools:
        raise Refusal("tool_choice: may only be specified while providing tools")
    seen = set()
    for index, tool in enumerate(tools):
        name = tool.get("name")
        if name in seen:
            raise Refusal("tools: Tool names must be unique.")
        seen.add(name)
        if (schema := tool.get("input_schema")) is None:
            continue
        if not TOOL_NAME.fullmatch(name):
            raise Refusal(f"tools.{index}.custom.name: String should match pattern '^{TOOL_NAME.pattern}$'")
        if schema.get("type") != "object":
            raise Refusal(f"tools.{index}.custom.input_schema.type: Input should be 'object'")
        if {"oneOf", "anyOf", "allOf"} & schema.keys():
            raise Refusal(
                f"tools.{index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
    choice = body.get("tool_choice") or {}
    if choice.get("type") == "tool" and choice["name"] not in seen:
        raise Refusal(f"tool_choice: Tool '{choice['name']}' not found in provided tools")


def _check_marks(body: Body) -> None:
    lifetimes = list(marks(body).values())
    if len(lifetimes) > MAX_MARKS:
        raise Refusal(f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {len(lifetimes)}.")
    if "5m" in lifetimes and "1h" in lifetimes[lifetimes.index("5m") :]:
        raise Refusal("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
    tools = body.get("tools") or []
    if any(tool.get("defer_loading") and tool.get("cache_control") for tool in tools):
        raise Refusal("Tools with defer_loading cannot use prompt caching.")
    if tools and all(tool.get("defer_loading") for tool in tools):
        raise Refusal("At least one tool must have defer_loading=false. All tools cannot be deferred.")


def _blocks(content: str | Blocks) -> Blocks:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _check_message(message: dict[str, Any], index: int, issuer: Issuer, *, last: bool) -> None:
    if not message["content"] and not (last and message["role"] == "assistant"):
        raise Refusal(f"messages.{index}: {message['role']} messages must have non-empty content")
    for number, block in enumerate(_blocks(message["content"])):
        place = f"messages.{index}.content.{number}"
        match block["type"]:
            case "thinking":
                _check_thinking(block, place, issuer)
            case "redacted_thinking" if block["data"] not in issuer.redacted:
                raise Refusal(f"{place}: Invalid `data` in `redacted_thinking` block")
            case "tool_result" if block.get("content"):
                _check_text(_blocks(block["content"]), place)
    if message["content"]:
        _check_text(_blocks(message["content"]), "messages")


def _check_thinking(block: dict[str, Any], place: str, issuer: Issuer) -> None:
    if block["signature"] not in issuer.signatures:
        raise Refusal(f"{place}: Invalid `signature` in `thinking` block")
    if block["thinking"] != issuer.signatures[block["signature"]]:
        raise Refusal(f"{place}: `thinking` blocks cannot be modified: they must remain as they were in the response")


def _check_text(blocks: Blocks, place: str) -> None:
    for block in blocks:
        if block["type"] != "text":
            continue
        if not block["text"]:
            raise Refusal(f"{place}: text content blocks must be non-empty")
        if not block["text"].strip():
            raise Refusal(f"{place}: text content blocks must contain non-whitespace text")


def _turns(messages: list[dict[str, Any]]) -> Iterator[tuple[str, int, Blocks]]:
    """Join messages of one role that follow each other, as the API does; gives role, index of the first, and blocks."""
    joined: list[tuple[str, int, Blocks]] = []
    for index, message in enumerate(messages):
        if message["role"] == "system":
            continue
        if joined and joined[-1][0] == message["role"]:
            joined[-1][2].extend(_blocks(message["content"]))
        else:
            joined.append((message["role"], index, list(_blocks(message["content"]))))
    yield from joined


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every tool call has exactly one result in the next user message, and every result a call in the one before."""
    open_calls: list[str] = []
    calls_index = 0
    all_calls: set[str] = set()
    for role, index, blocks in _turns(messages):
        answered: list[str] = []
        text_seen = False
        for number, block in enumerate(blocks):
            if block["type"] != "tool_result":
                text_seen = True
                continue
            call = block["tool_use_id"]
            # A result behind other content is not "immediately after" its call.
            if role != "user" or call not in open_calls or text_seen:
                raise Refusal(
                    f"messages.{index}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
            if call in answered:
                raise Refusal(
                    f"messages.{index}.content.{number}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {call}"
                )
            answered.append(call)
        _check_answered(open_calls, answered, calls_index)
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"] if role == "assistant" else []
        calls_index = index
        if len(set(open_calls)) < len(open_calls) or all_calls & set(open_calls):
            raise Refusal(f"messages.{index}: `tool_use` ids must be unique")
        all_calls |= set(open_calls)
    _check_answered(open_calls, [], calls_index)


def _check_answered(calls: list[str], answered: list[str], index: int) -> None:
    if missing := [call for call in calls if call not in answered]:
        raise Refusal(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
