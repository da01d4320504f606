"""Tools that the server runs itself, such as web search: what its results and citations mean to us."""

from typing import Any

from homeassistant.helpers import llm

RESULT = "_tool_result"
"""Ends the type of a block that holds a result."""
_QUIET = "tool_search"
"""Begins the names of tools that look among our own tools: nothing from outside the house, and nothing to show."""

_UNSENT_KEYS = frozenset({"file_id"})
"""What a citation has when it arrives and must not have when it is sent back."""


def is_quiet(name: str) -> bool:
    """Return whether a tool has no place in the chat log."""
    return name.startswith(_QUIET)


def citation(value: dict[str, Any]) -> dict[str, Any]:
    """Return a citation as it is sent back."""
    return {key: part for key, part in value.items() if key not in _UNSENT_KEYS}


def to_log(block: dict[str, Any]) -> llm.ToolResult:
    """Return a result for the chat log: where it comes from; the text itself goes back to its server only."""
    content = block.get("content")
    if isinstance(content, dict) and content.get("error_code"):
        return llm.ToolResult(data={"error": str(content["error_code"])}, error=True)
    return llm.ToolResult(data={"pages": [{"title": title, "url": url} for url, title in pages_of(block).items()]})


def pages_of(block: dict[str, Any]) -> dict[str, str]:
    """Return the titles of the pages that a result holds, by address."""
    content = block.get("content")
    found = [item for item in (content if isinstance(content, list) else [content]) if isinstance(item, dict)]
    return {str(page["url"]): str(_title(page) or page["url"]) for page in found if page.get("url")}


def _title(page: dict[str, Any]) -> Any:
    """Return the title of a page that was found, or of the document that was fetched."""
    document = page.get("content")
    return document.get("title") if isinstance(document, dict) else page.get("title")
