"""Marks of the prompt cache: how many, where, and for how long."""

from ..cache import MAX_MARKS, marks
from .pages import CACHING, Page
from .rule import Request, rule

_REPORTED_ORDER = Page("https://github.com/agno-agi/agno/pull/8406", "2026-06-15", documented=False)
_REPORTED_TARGET = Page("https://github.com/vellum-ai/vellum-assistant/pull/23414", "2026-04-03", documented=False)
_REPORTED_DEFERRED = Page("https://github.com/router-for-me/CLIProxyAPI/issues/4561", "2026-07-25", documented=False)


def _all_marks(request: Request) -> list[str]:
    """Return for how long each mark keeps, in the order in which the request is read, those inside results included."""
    found = list(marks(request.body).values())
    inner = [block for place, block in request.all_blocks if ".tool_result." in place and block.get("cache_control")]
    return found + [block["cache_control"].get("ttl", "5m") for block in inner]


@rule(CACHING, "A maximum of 4 blocks with cache_control may be provided.")
def too_many_marks(request: Request) -> str | None:
    """More than four marks, the one at the top of the request included."""
    found = len(_all_marks(request)) + bool(request.body.get("cache_control"))
    if found <= MAX_MARKS:
        return None
    return f"A maximum of {MAX_MARKS} blocks with cache_control may be provided. Found {found}."


@rule(_REPORTED_ORDER, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
def short_before_long(request: Request) -> str | None:
    """A mark for five minutes before one for an hour: tools come first, then the system prompt, then messages."""
    seen = ""
    for path, lifetime in marks(request.body).items():
        if seen == "5m" and lifetime == "1h":
            return (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        seen = lifetime
    return None


@rule(CACHING)
def marked_thinking(request: Request) -> str | None:
    """A mark on a thinking block."""
    for place, block in request.blocks:
        if block["type"] in ("thinking", "redacted_thinking") and block.get("cache_control"):
            return f"{place}.cache_control: Extra inputs are not permitted"
    return None


@rule(CACHING, "cache_control cannot be set for empty text blocks")
def marked_empty_text(request: Request) -> str | None:
    """A mark on an empty text."""
    system = request.body.get("system") or []
    places = [(f"system.{index}", block) for index, block in enumerate(system if isinstance(system, list) else [])]
    for place, block in [*places, *request.all_blocks]:
        if block["type"] == "text" and not block["text"] and block.get("cache_control"):
            return f"{place}: cache_control cannot be set for empty text blocks"
    return None


@rule(_REPORTED_DEFERRED, "Tools with defer_loading cannot use prompt caching.")
def marked_deferred_tool(request: Request) -> str | None:
    """A mark on a tool that is left to be searched for."""
    for tool in request.tools:
        if tool.get("defer_loading") and tool.get("cache_control"):
            return (
                f"Tool '{tool.get('name')}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading "
                "cannot use prompt caching."
            )
    return None


@rule(_REPORTED_TARGET, "but the target block already has cache_control with ttl=")
def two_lifetimes_on_one_block(request: Request) -> str | None:
    """A mark at the top of the request, and another on its last block that keeps for another time."""
    top = request.body.get("cache_control")
    if not top or not request.blocks or not (last := request.blocks[-1][1].get("cache_control")):
        return None
    asked, there = top.get("ttl", "5m"), last.get("ttl", "5m")
    if asked == there:
        return None
    return (
        f"Top-level cache_control has ttl='{asked}' but the target block already has cache_control with ttl='{there}'"
    )


RULES = (
    *(marked_empty_text, marked_thinking, marked_deferred_tool, too_many_marks, short_before_long),
    two_lifetimes_on_one_block,
)
