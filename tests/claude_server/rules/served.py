"""The server's own tools: which model has which version, and what each takes."""

import re

from .pages import CODE_EXECUTION, ERRORS, OPUS_5_5, SERVER_TOOLS, WEB_SEARCH, Page
from .rule import Request, rule

_CORE = Page("https://www.home-assistant.io/integrations/anthropic/", None, documented=False, read=False)
"""Its `const.py` in Home Assistant 2026.11.0 says it; the page about it was not read."""
_DOMAIN = re.compile(r"[a-zA-Z0-9.-]+(/.*)?")
_FIRST_CODE = "code-execution-2025-05-22"
_FILTERING = "_20260209"
"""Ends the first version of the web tools that has code filter what they find; those after it are later by date."""


def _version(kind: str) -> str:
    return kind[-8:] if kind[-8:].isdecimal() else ""


def _filters(kind: str) -> bool:
    return kind.startswith(("web_search_", "web_fetch_")) and _version(kind) >= _FILTERING[1:]


@rule(ERRORS, "does not support tool types: ")
def server_tool(request: Request) -> str | None:
    """A server's own tool that the model does not have."""
    for tool in request.tools:
        kind = str(tool.get("type") or "custom")
        missing = (
            (kind.startswith(("web_search_", "web_fetch_")) and not request.supports("server_tools", "web_search"))
            or (kind.startswith("code_execution_") and not request.supports("server_tools", "code_execution"))
            or (kind.startswith("tool_search_tool") and not request.supports("server_tools"))
        )
        if missing:
            return f"'{request.body['model']}' does not support tool types: {kind}."
    return None


@rule(_CORE)
def tool_search(request: Request) -> str | None:
    """A search for tools on the smallest line: Home Assistant leaves it out there, and no page that was read says more."""
    if "haiku" not in request.model["id"]:
        return None
    for tool in request.tools:
        if str(tool.get("type")).startswith("tool_search_tool"):
            return f"'{request.body['model']}' does not support tool types: {tool['type']}."
    return None


@rule(SERVER_TOOLS)
def filtering(request: Request) -> str | None:
    """Web tools that filter by code, on a model whose code cannot call tools, without `allowed_callers: ["direct"]`."""
    if request.supports("code_execution"):
        return None
    for index, tool in enumerate(request.tools):
        if _filters(str(tool.get("type"))) and tool.get("allowed_callers") != ["direct"]:
            return f'tools.{index}: this model does not support programmatic tool calling; set allowed_callers to ["direct"]'
    return None


@rule(WEB_SEARCH)
def domains_twice(request: Request) -> str | None:
    """Domains that are allowed and others that are blocked, in one tool."""
    for index, tool in enumerate(request.tools):
        if tool.get("allowed_domains") and tool.get("blocked_domains"):
            return f"tools.{index}: allowed_domains and blocked_domains cannot both be given"
    return None


@rule(SERVER_TOOLS)
def domain(request: Request) -> str | None:
    """A domain with a scheme, or with a wildcard in its name."""
    for index, tool in enumerate(request.tools):
        for name in [*(tool.get("allowed_domains") or ()), *(tool.get("blocked_domains") or ())]:
            if not _DOMAIN.fullmatch(name):
                return f"tools.{index}: invalid domain '{name}'"
    return None


@rule(WEB_SEARCH)
def user_location(request: Request) -> str | None:
    """A place for searches that says nothing, or whose country is not two letters."""
    for index, tool in enumerate(request.tools):
        if (place := tool.get("user_location")) is None:
            continue
        if not any(place.get(key) for key in ("city", "region", "country", "timezone")):
            return f"tools.{index}.user_location: at least one of city, region, country or timezone is needed"
        if (country := place.get("country")) and not re.fullmatch("[A-Z]{2}", country):
            return f"tools.{index}.user_location.country: '{country}' is not supported"
    return None


@rule(WEB_SEARCH)
def search_result(request: Request) -> str | None:
    """A search result whose encrypted content is not as it came."""
    for place, block in request.blocks:
        if block["type"] == "web_search_tool_result" and isinstance(block["content"], list):
            for page in block["content"]:
                if page.get("encrypted_content") not in request.memory.encrypted:
                    return f"{place}: Invalid `encrypted_content` in `search_result` block"
    return None


@rule(CODE_EXECUTION)
def first_code_execution(request: Request) -> str | None:
    """The first version of running code, for Python alone, without its beta header; those after it need none."""
    for index, tool in enumerate(request.tools):
        if tool.get("type") == "code_execution_20250522" and _FIRST_CODE not in request.betas:
            return f"tools.{index}: code_execution_20250522 requires the `{_FIRST_CODE}` value in the `anthropic-beta` header"
    return None


@rule(CODE_EXECUTION)
def container(request: Request) -> str | None:
    """A container that no answer came with, or one that has expired."""
    asked = request.body.get("container")
    name = asked.get("id") if isinstance(asked, dict) else asked
    if name is None or name in request.memory.containers:
        return None
    return f"container: Container '{name}' not found or expired"


@rule(OPUS_5_5)
def computer_use(request: Request) -> str | None:
    """The earlier tool for using a computer, on a model that has it as a toolset only."""
    if request.traits.computer_tool:
        return None
    for tool in request.tools:
        if str(tool.get("type")).startswith("computer_20"):
            return f"'{request.body['model']}' does not support tool types: {tool['type']}."
    return None


RULES = (
    *(server_tool, tool_search, filtering, domains_twice, domain, user_location, search_result),
    *(first_code_execution, container, computer_use),
)
