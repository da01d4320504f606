"""Thinking that comes back: as it was, in the conversation in which it came about."""

from dataclasses import dataclass

from ..memory import THINKING, Prefixes, key_of, thinking_runs
from .pages import ERRORS, EXTENDED_THINKING, PRESERVED_THINKING, THINKING as THINKING_PAGE
from .rule import Request, rule

BINDING_BETA = "thinking-binding-controls-2026-08-01"
_MODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as "
    "they were in the original response."
)
_BOUND = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_OTHER_MODEL = "model_binding_mismatch"
_OTHER_PREFIX = "prefix_binding_mismatch"
_NEEDS_HEADER = f"That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."


@rule(PRESERVED_THINKING, "Invalid `signature` in `thinking` block")
def foreign_signature(request: Request) -> str | None:
    """A thinking block that the service did not write."""
    for place, block in request.blocks:
        if block["type"] in THINKING and key_of(block) not in request.memory.thoughts:
            field = "signature" if block["type"] == "thinking" else "data"
            return f"{place}: Invalid `{field}` in `{block['type']}` block"
    return None


@rule(ERRORS, _MODIFIED)
def modified_thinking(request: Request) -> str | None:
    """A thinking block whose text was changed; where the text was left out of the answer, none is read."""
    for place, block in request.blocks:
        if block["type"] == "thinking":
            text = request.memory.thoughts[key_of(block)].text
            if text and block["thinking"] != text:
                return f"{place}: {_MODIFIED}"
    return None


@rule(ERRORS, _MODIFIED)
def mixed_thinking(request: Request) -> str | None:
    """In the latest assistant message, thinking blocks in a row that are not those of one response, all of them in order."""
    turn = next((turn for turn in reversed(request.turns) if turn.role == "assistant"), None)
    for run in thinking_runs(turn.blocks) if turn else []:
        keys = tuple(key_of(block) for block in run)
        thought = request.memory.thoughts[keys[0]]
        whole = thought.run[: len(keys)] if thought.cut else thought.run
        if keys != whole:
            return f"messages.{turn.index if turn else 0}.content.0: {_MODIFIED}"
    return None


@dataclass(frozen=True)
class Unfit:
    """A thinking block that the model may not use."""

    place: str
    reason: str
    """As the service names it."""
    moved: bool = False
    """Whether nothing is wrong but the thinking block before it."""


def unfit(request: Request) -> list[Unfit]:
    """Return the thinking blocks that the model may not use: those of other models, and all from the first that does not fit."""
    if not any(block["type"] in THINKING for _, block in request.blocks):
        return []
    found: list[Unfit] = []
    before: str | None = None
    prefixes = Prefixes(request.body) if request.traits.binds_thinking else None
    length = 0
    for place, block in request.blocks:
        if block["type"] not in THINKING:
            length += 1
            continue
        thought = request.memory.thoughts[key_of(block)]
        if thought.model != request.body["model"]:
            found.append(Unfit(place, _OTHER_MODEL))
            continue
        moved = before is not None and thought.before != before
        before = key_of(block)
        if prefixes is None:
            continue
        kept = length >= thought.length and prefixes.at(thought.length) == thought.prefix
        if moved or not kept or any(other.reason == _OTHER_PREFIX for other in found):
            found.append(Unfit(place, _OTHER_PREFIX, moved=kept))
    return found


def behaviour(request: Request) -> str:
    """Return what is to happen with thinking that does not fit: error, drop_block or nothing."""
    asked = ((request.body.get("thinking") or {}).get("block_binding") or {}).get("prefix_mismatch_behavior")
    return asked or ("error" if request.new_account else "ignore")


def transformations(request: Request) -> list[dict[str, str]]:
    """Return which thinking blocks the model does not get to see, or gets to see although they do not fit, and why."""
    ignored = behaviour(request) == "ignore"
    return [
        {
            "type": "thinking_mismatch_allowed" if ignored and block.reason == _OTHER_PREFIX else "thinking_dropped",
            "path": block.place,
            "reason": block.reason,
        }
        for block in unfit(request)
    ]


def _unbound(request: Request, *, moved: bool) -> str | None:
    """Return the refusal of the first thinking block that is out of place, or of the first whose prefix is another."""
    if behaviour(request) != "error":
        return None
    for block in unfit(request):
        if block.reason == _OTHER_PREFIX and block.moved is moved:
            return f"{block.place}: {_BOUND}" + ("" if BINDING_BETA in request.betas else f" {_NEEDS_HEADER}")
    return None


@rule(PRESERVED_THINKING, _BOUND)
def bound_thinking(request: Request) -> str | None:
    """A thinking block sent back after the system prompt, the tools or a message before it changed."""
    return _unbound(request, moved=False)


@rule(PRESERVED_THINKING, _BOUND)
def moved_thinking(request: Request) -> str | None:
    """A thinking block sent back after another than the one it came after: one left out, moved, put back or put between."""
    return _unbound(request, moved=True)


@rule(THINKING_PAGE, "must start with a thinking block")
def manual_thinking_first(request: Request) -> str | None:
    """With manual thinking, going on with a turn of the model whose thinking was left out."""
    if request.thinking != "enabled":
        return None
    beginning = None
    for turn in request.turns:
        if turn.role == "assistant":
            beginning = beginning or turn
        elif not any(block["type"] == "tool_result" for block in turn.blocks):
            beginning = None
    if beginning is None or not beginning.blocks:
        return None
    calls = [block["id"] for block in beginning.blocks if block["type"] == "tool_use"]
    # Nobody left anything out where the model itself began with something else.
    as_it_was = any(request.memory.began_without_thinking(call) for call in calls)
    if beginning.blocks[0]["type"] not in THINKING and not as_it_was:
        return (
            f"messages.{beginning.index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{beginning.blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block."
        )
    return None


@rule(EXTENDED_THINKING, "`max_tokens` must be greater than `thinking.budget_tokens`")
def thinking_budget(request: Request) -> str | None:
    """A budget for thinking that leaves no room for an answer."""
    budget, most = (request.body.get("thinking") or {}).get("budget_tokens"), request.body.get("max_tokens")
    interleaved = "interleaved-thinking-2025-05-14" in request.betas and request.tools
    if budget is None or most is None or budget < most or interleaved:
        return None
    return "`max_tokens` must be greater than `thinking.budget_tokens`"


RULES = (
    *(foreign_signature, modified_thinking, mixed_thinking, bound_thinking, moved_thinking),
    *(manual_thinking_first, thinking_budget),
)
