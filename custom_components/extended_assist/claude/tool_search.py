"""If there are very many tools, the model gets the most used ones and searches among the others.

https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
"""

from collections.abc import Mapping
from typing import Any

MIN_TOOLS = 30
"""The number of tools from which a search costs less than reading all of them, and models begin to choose badly."""

SEARCH_TOOL = "tool_search_tool_bm25"
_SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": SEARCH_TOOL}
_RESULT = "tool_search_tool_result"
# Needed in most turns; the ends of names, because a merged API may put its own name before them.
_ALWAYS_SHOWN = (
    *("intent__HassTurnOn", "intent__HassTurnOff", "light__HassLightSet"),
    "homeassistant__GetLiveContext",
    *("extended_assist__get_entities", "extended_assist__get_history", "extended_assist__perform_action"),
    "answer_when_done",
)


def with_search(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request whose rarely used tools are found by a search; with few tools it is unchanged."""
    tools = request.get("tools") or []
    ours = [tool for tool in tools if "input_schema" in tool]
    deferred = {tool["name"] for tool in ours if not tool["name"].endswith(_ALWAYS_SHOWN)}
    if len(ours) < MIN_TOOLS or not deferred:
        return dict(request)
    shown = [{**tool, "defer_loading": True} if tool["name"] in deferred else tool for tool in tools]
    return {**request, "tools": [dict(_SEARCH), *shown]}


def without_stale_searches(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without earlier searches that the server would refuse.

    A search is stale if it was cut off, if it found a tool that no longer exists, such as that of a removed script, or if
    this request has no search, because the agent or its model changed.
    """
    tools = {tool["name"] for tool in request.get("tools") or []}
    searches: set[str] = set()
    answered: set[str] = set()
    for message in request["messages"]:
        for block in message["content"]:
            if block["type"] == "server_tool_use" and block["name"] == _SEARCH["name"]:
                searches.add(block["id"])
            elif block["type"] == _RESULT:
                found = {reference["tool_name"] for reference in block["content"].get("tool_references") or ()}
                if _SEARCH["name"] in tools and found <= tools:
                    answered.add(block["tool_use_id"])
    if not (stale := searches - answered):
        return dict(request)
    messages = []
    for message in request["messages"]:
        blocks = [
            block
            for block in message["content"]
            if not (block["type"] == "server_tool_use" and block["id"] in stale)
            and not (block["type"] == _RESULT and block["tool_use_id"] in stale)
        ]
        if blocks:
            messages.append({**message, "content": blocks})
    return {**request, "messages": messages}
