"""Messages: their roles and texts, and which may be the last."""

from itertools import takewhile
import re

from ..memory import last_user_turn, mark_of
from .pages import ERRORS, HANDLE_TOOL_CALLS, MESSAGES, REFUSALS, STOP_REASONS, Page
from .rule import REFUSAL_AGAIN, Block, Request, blocks_of, rule


def _reported(path: str, day: str) -> Page:
    return Page(f"https://github.com/{path}", day, documented=False)


_REPORTED_FIRST = _reported("lobehub/lobehub/issues/1601", "2024-03-16")
_REPORTED_NONE = _reported("langchain-ai/langchain/pull/31696", "2025-06-21")
_REPORTED_TEXT = _reported("anthropics/claude-code/issues/59812", "2026-05-16")
_REPORTED_BLANK = _reported("home-assistant/core/issues/175637", "2026-07-04")
_REPORTED_EMPTY = _reported("anthropics/claude-code/issues/6774", "2025-08-28")
_REPORTED_IDS = _reported("maximhq/bifrost/issues/5097", "2026-07-10")
_REPORTED_END = _reported("tailcallhq/forgecode/issues/1872", "2025-11-08")
MAX_MESSAGES = 100_000
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_CALL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")


@rule(_REPORTED_NONE, "at least one message is required")
def no_message(request: Request) -> str | None:
    """A request without a message."""
    return None if request.messages else "messages: at least one message is required"


@rule(MESSAGES)
def many_messages(request: Request) -> str | None:
    """More than 100,000 messages."""
    return "messages: at most 100000 messages are allowed" if len(request.messages) > MAX_MESSAGES else None


@rule(_REPORTED_FIRST, 'first message must use the "user" role')
def first_message(request: Request) -> str | None:
    """A conversation that the user does not begin."""
    begins = request.messages[0]["role"] == "user"
    return None if begins else 'messages: first message must use the "user" role'


@rule(_REPORTED_EMPTY, "must have non-empty content")
def empty_message(request: Request) -> str | None:
    """A message without content, unless it is the model's own and the last."""
    last = len(request.messages) - 1
    for index, message in enumerate(request.messages):
        if not message["content"] and not (index == last and message["role"] == "assistant"):
            return f"messages.{index}: all messages must have non-empty content except for the optional final assistant message"
    return None


def _without_words(request: Request, fails: re.Pattern[str], words: str) -> str | None:
    """Return the refusal of the first text that is wrong, wherever it stands."""
    for place, block in [("system", block) for block in blocks_of(request.body.get("system") or [])]:
        if fails.fullmatch(block["text"]):
            return f"{place}: {words}"
    for _, block in request.all_blocks:
        if block["type"] == "text" and fails.fullmatch(block["text"]):
            return f"messages: {words}"
        result = block.get("content") if block["type"] == "tool_result" else None
        # An empty result is none, which is allowed; one of blanks is a text of blanks.
        if isinstance(result, str) and result and fails.fullmatch(result):
            return f"messages: {words}"
    return None


@rule(_REPORTED_TEXT, "text content blocks must be non-empty")
def empty_text(request: Request) -> str | None:
    """An empty text, in a message, in the system prompt or in a result."""
    return _without_words(request, re.compile(""), "text content blocks must be non-empty")


@rule(_REPORTED_BLANK, "text content blocks must contain non-whitespace text")
def blank_text(request: Request) -> str | None:
    """A text of nothing but white space."""
    return _without_words(request, re.compile(r"\s+"), "text content blocks must contain non-whitespace text")


def _may_end(request: Request) -> bool:
    """Return whether the last message is the user's, or a response of the service that is to be continued."""
    if request.turns[-1].role == "user" or not request.turns[-1].blocks:
        return True
    return mark_of(request.turns[-1].blocks[-1]) in request.memory.paused


@rule(ERRORS, "This model does not support assistant message prefill. The conversation must end with a user message.")
def prefill(request: Request) -> str | None:
    """A last message in the model's name, other than one that paused, on a model that does not continue one."""
    if request.traits.prefill or _may_end(request):
        return None
    return "This model does not support assistant message prefill. The conversation must end with a user message."


@rule(_REPORTED_END, "final assistant content cannot end with trailing whitespace")
def trailing_whitespace(request: Request) -> str | None:
    """A last message in the model's name that ends in white space."""
    last = request.turns[-1]
    if last.role == "assistant" and last.blocks and last.blocks[-1]["type"] == "text":
        text = last.blocks[-1]["text"]
        if text != text.rstrip():
            return "messages: final assistant content cannot end with trailing whitespace"
    return None


@rule(HANDLE_TOOL_CALLS, "unexpected `tool_use_id` found in `tool_result` blocks")
def result_without_call(request: Request) -> str | None:
    """A result that does not follow its call at once, in front of everything else."""
    calls: list[str] = []
    for turn in request.turns:
        other = False
        for number, block in enumerate(turn.blocks):
            other |= block["type"] != "tool_result"
            if block["type"] != "tool_result":
                continue
            if turn.role != "user" or block["tool_use_id"] not in calls or other:
                return (
                    f"messages.{turn.index}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                    "previous message."
                )
        calls = _calls(turn.blocks) if turn.role == "assistant" else []
    return None


@rule(HANDLE_TOOL_CALLS, "`tool_use` ids were found without `tool_result` blocks immediately after")
def call_without_result(request: Request) -> str | None:
    """A call without its result in the next message."""
    for turn, following in zip(request.turns, [*request.turns[1:], None], strict=True):
        answered = _leading_results(following.blocks) if following and following.role == "user" else []
        if missing := [call for call in _calls(turn.blocks) if call not in answered]:
            return (
                f"messages.{turn.index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
                "message."
            )
    return None


def _leading_results(blocks: list[Block]) -> list[str]:
    """Return the ids of the calls that are answered in front of everything else."""
    return [block["tool_use_id"] for block in takewhile(lambda block: block["type"] == "tool_result", blocks)]


@rule(HANDLE_TOOL_CALLS, "each tool_use must have a single result")
def result_twice(request: Request) -> str | None:
    """Two results for one call."""
    for turn in request.turns:
        answered: set[str] = set()
        for number, block in enumerate(turn.blocks):
            if block["type"] == "tool_result":
                if block["tool_use_id"] in answered:
                    return (
                        f"messages.{turn.index}.content.{number}: each tool_use must have a single result. Found multiple "
                        f"`tool_result` blocks with id: {block['tool_use_id']}"
                    )
                answered.add(block["tool_use_id"])
    return None


@rule(HANDLE_TOOL_CALLS)
def call_ids(request: Request) -> str | None:
    """Two calls with one id, anywhere in the conversation."""
    seen: set[str] = set()
    for place, block in request.blocks:
        if block["type"] in ("tool_use", "server_tool_use"):
            if block["id"] in seen:
                return f"{place}: `tool_use` ids must be unique"
            seen.add(block["id"])
    return None


@rule(_REPORTED_IDS, "String should match pattern '^[a-zA-Z0-9_-]+$'")
def call_id_letters(request: Request) -> str | None:
    """A call's id with other letters than a to z, digits, _ and -."""
    for place, block in request.blocks:
        if block["type"] == "tool_use" and not _ID.fullmatch(block["id"]):
            return f"{place}.tool_use.id: String should match pattern '^{_ID.pattern}$'"
    return None


@rule(MESSAGES, "String should match pattern '^[a-zA-Z0-9_-]{1,200}$'")
def call_name_letters(request: Request) -> str | None:
    """An earlier call of a tool whose name has other letters than a to z, digits, _ and -."""
    for place, block in request.blocks:
        if block["type"] == "tool_use" and not _CALL_NAME.fullmatch(block["name"]):
            return f"{place}.tool_use.name: String should match pattern '^{_CALL_NAME.pattern}$'"
    return None


def _calls(blocks: list[Block]) -> list[str]:
    return [block["id"] for block in blocks if block["type"] == "tool_use"]


@rule(STOP_REASONS, "was found without a corresponding")
def unfinished_server_call(request: Request) -> str | None:
    """A call of a server's own tool without its result, unless the request is to have it made now."""
    answered = {
        block["tool_use_id"]
        for turn in request.turns
        if turn.role == "assistant"
        for block in turn.blocks
        if block["type"].endswith("_tool_result")
    }
    for number, turn in enumerate(request.turns):
        following = request.turns[number + 1 :]
        waits = not following or (
            len(following) == 1 and all(block["type"] == "tool_result" for block in following[0].blocks)
        )
        for block in turn.blocks:
            if block["type"] == "server_tool_use" and block["id"] not in answered and not waits:
                name = block["name"]
                return (
                    f"messages.{turn.index}: `{name}` tool use with id `{block['id']}` was found without a corresponding "
                    f"`{_result_of(name)}` block"
                )
    return None


def _result_of(name: str) -> str:
    return "tool_search_tool_result" if name.startswith("tool_search") else f"{name}_tool_result"


@rule(STOP_REASONS, "but no `web_search` tool was provided")
def continued_without_its_tool(request: Request) -> str | None:
    """A response that waits for a server's own tool, sent back without that tool."""
    names = {tool.get("name") for tool in request.tools}
    answered = {block.get("tool_use_id") for _, block in request.blocks if block["type"].endswith("_tool_result")}
    for place, block in request.blocks:
        if block["type"] == "server_tool_use" and block["id"] not in answered and block["name"] not in names:
            return f"{place}: `{block['name']}` tool use is to be continued, but no `{block['name']}` tool was provided"
    return None


@rule(HANDLE_TOOL_CALLS)
def server_result_without_call(request: Request) -> str | None:
    """A result of a server's own tool before its call, or without one."""
    called: set[str] = set()
    for place, block in request.blocks:
        if block["type"] == "server_tool_use":
            called.add(block["id"])
        elif block["type"].endswith("_tool_result") and block["tool_use_id"] not in called:
            return (
                f"{place}: unexpected `tool_use_id` found in `{block['type']}` blocks: {block['tool_use_id']}. Each must have "
                "a corresponding `server_tool_use` block before it."
            )
    return None


@rule(REFUSALS, "refusal", status=REFUSAL_AGAIN)
def refused_turn_left_in(request: Request) -> str | None:
    """Going on after a refusal without taking the refused turn out: the model declines again."""
    last = last_user_turn(request.messages)
    if not request.memory.refused or last in request.memory.refused:
        return None  # The very same request once more.
    said = [_said(turn.blocks) for turn in request.turns if turn.role == "user"]
    for refused in request.memory.refused:
        if any(_holds(turn, refused) for turn in said):
            return "refusal"
    return None


def _said(blocks: list[Block]) -> list[str]:
    return last_user_turn([{"role": "user", "content": blocks}])


def _holds(blocks: list[str], part: list[str]) -> bool:
    """Return whether blocks hold others in a row."""
    return any(blocks[start : start + len(part)] == part for start in range(len(blocks) - len(part) + 1))


RULES = (
    *(no_message, many_messages, first_message, empty_message, empty_text, blank_text),
    *(call_ids, call_id_letters, call_name_letters, result_twice, call_without_result, result_without_call),
    *(server_result_without_call, continued_without_its_tool, unfinished_server_call),
    *(prefill, trailing_whitespace),
    refused_turn_left_in,
)
