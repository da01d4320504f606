"""A loopback server that speaks Anthropic's Messages API, for tests and for the demonstration.

    async with ClaudeServer(Scenario([Turn([tool_use("get_time")]), Turn([text("Noon.")])])) as server:
        client = AsyncAnthropic(base_url=server.url, api_key="test-key")

Request bodies are checked against the types of the SDK that this process has installed; run the server with the
interpreter of the environment whose client it serves, or the bodies of that client go unchecked.
"""

from .planner import LABEL, OfflinePlanner, planner_models
from .scenario import Scenario, load_scenario
from .server import ClaudeServer, RecordedRequest
from .turn import Block, Fault, Responder, Turn, redacted_thinking, text, thinking, tool_use

__all__ = [
    "LABEL",
    "Block",
    "ClaudeServer",
    "Fault",
    "OfflinePlanner",
    "RecordedRequest",
    "Responder",
    "Scenario",
    "Turn",
    "load_scenario",
    "planner_models",
    "redacted_thinking",
    "text",
    "thinking",
    "tool_use",
]
