"""The pages that say what the service refuses, and when the copy of each that was read was taken.

They were read as stored copies, most of them whole, in public mirrors that name the day on which they were taken. `None` for a
day: the copy names none. `read=False`: no copy could be had, and the rule goes by the SDK's types or by what is commonly known.
"""

from dataclasses import dataclass

_DOCS = "https://platform.claude.com/docs/en/"


@dataclass(frozen=True)
class Page:
    """Where a rule is written down."""

    address: str
    copied: str | None
    """The day of the copy that was read."""
    documented: bool = True
    """Whether the service's own documentation says it; otherwise people report it, with the words that they were given."""
    read: bool = True


def _page(path: str, copied: str | None = "2026-09-26") -> Page:
    return Page(_DOCS + path, copied)


ERRORS = _page("api/errors")
MESSAGES = _page("api/messages/create", "2026-08-02")
BETA_HEADERS = _page("api/beta-headers")
EFFORT = _page("build-with-claude/effort", None)
THINKING = _page("build-with-claude/thinking")
TROUBLE_WITH_THINKING = _page("build-with-claude/thinking-troubleshooting")
EXTENDED_THINKING = _page("build-with-claude/extended-thinking")
PRESERVED_THINKING = _page("build-with-claude/preserved-thinking")
OPUS_5_5 = _page("models/opus-5-5/migration-guide", None)
HAIKU_5_5 = _page("models/haiku-5-5/migration-guide", None)
SONNET_5_5 = _page("models/sonnet-5-5/migration-guide", None)
STOP_REASONS = _page("build-with-claude/handling-stop-reasons")
REFUSALS = _page("test-and-evaluate/strengthen-guardrails/handle-streaming-refusals", None)
HANDLE_TOOL_CALLS = _page("agents-and-tools/tool-use/handle-tool-calls")
DEFINE_TOOLS = _page("agents-and-tools/tool-use/define-tools")
TOOL_REFERENCE = _page("agents-and-tools/tool-use/tool-reference")
STRICT_TOOLS = _page("agents-and-tools/tool-use/strict-tool-use")
STRUCTURED_OUTPUTS = _page("build-with-claude/structured-outputs")
CACHING = _page("build-with-claude/prompt-caching")
TOOL_SEARCH = _page("agents-and-tools/tool-use/tool-search-tool")
SERVER_TOOLS = _page("agents-and-tools/tool-use/server-tools")
WEB_SEARCH = _page("agents-and-tools/tool-use/web-search-tool")
WEB_FETCH = _page("agents-and-tools/tool-use/web-fetch-tool")
CODE_EXECUTION = _page("agents-and-tools/tool-use/code-execution-tool", None)
CONTEXT_EDITING = _page("build-with-claude/context-editing")
VISION = _page("build-with-claude/vision")
PDF = _page("build-with-claude/pdf-support")
