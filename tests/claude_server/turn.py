"""What the server answers with: a turn of content blocks, and the faults that can befall it."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

# A content block as the Messages API writes it, without the ids and signatures that the server issues:
#   {"type": "text", "text": …}
#   {"type": "thinking", "thinking": …}            a signature is issued, or "signature" is taken as given
#   {"type": "redacted_thinking"}                  data is issued, or "data" is taken as given
#   {"type": "tool_use", "name": …, "input": {…}}  "input_json" (text) is streamed in place of the input
# A block of any other type is sent as it stands.
type Block = dict[str, Any]

FaultKind = Literal["http", "sse_error", "stall", "disconnect", "unknown_events"]

# The API's own pairs of status and error type.
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
# Characters per delta: short enough that a word is cut, long enough that a scenario stays quick.
DEFAULT_CHUNK = 12


class NotOfferedError(Exception):
    """A turn that calls tools which its request has not offered."""

    def __init__(self, names: list[str]) -> None:
        """Take their names."""
        super().__init__(
            f"The turn calls {', '.join(names)}, which was not offered; one that is to do so says invents=True."
        )


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with an answer.

    - `http`: an HTTP error in place of the answer. `body` replaces Anthropic's error JSON, for proxies that send HTML.
    - `sse_error`: an `error` event after `after` events of a stream that began with HTTP 200.
    - `stall`: nothing more after `after` events; the connection stays open. On other endpoints: no answer at all.
    - `disconnect`: the connection breaks after `after` events, with -1 before the response's headers. On other endpoints: before any answer.
    - `unknown_events`: an event, a delta and a block of unknown types, and pings, in an otherwise whole answer.

    With `within`, events are counted from the start of the first block of that type (0 is just before it), so that
    `Fault("disconnect", after=2, within="tool_use")` breaks off after the first delta of a tool call's arguments.
    """

    kind: FaultKind
    after: int = 0
    within: str | None = None
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    error_type: str | None = None
    message: str = "This error was asked for."
    body: str | None = None
    content_type: str = "text/html"

    def __post_init__(self) -> None:
        """Refuse a kind that would do nothing."""
        if self.kind not in get_args(FaultKind):
            raise ValueError(f"unknown kind of fault {self.kind}; known: {', '.join(get_args(FaultKind))}")

    @property
    def error(self) -> dict[str, str]:
        """The error object of the API's error JSON."""
        if self.error_type:
            return {"type": self.error_type, "message": self.message}
        default = "api_error" if self.status >= 500 else "invalid_request_error"
        return {"type": ERROR_TYPES.get(self.status, default), "message": self.message}


@dataclass(frozen=True)
class Turn:
    """One answer of the model. `delay` is in seconds, before its first event, and `pace` before each of its deltas."""

    content: list[Block] = field(default_factory=list)
    stop_reason: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    delay: float = 0
    pace: float = 0
    chunk: int = DEFAULT_CHUNK
    fault: Fault | None = None
    invents: bool = False
    """Whether it may call tools that it was not offered, as a model may; else that is a mistake of whoever wrote it."""

    def __post_init__(self) -> None:
        """Refuse what could not be sent, where it was written."""
        if self.chunk < 1:
            raise ValueError("chunk must be at least 1")
        for block in self.content:
            if not isinstance(block.get("type"), str):
                raise ValueError(f"A content block needs a type: {block}")  # noqa: TRY004 - a wrong value, not a wrong call
            if block["type"] == "tool_use" and "name" not in block:
                raise ValueError(f"A tool_use block needs a name: {block}")

    @property
    def final_stop_reason(self) -> str:
        """The stop reason, by default the one that fits the content."""
        if self.stop_reason:
            return self.stop_reason
        return "tool_use" if any(block["type"] == "tool_use" for block in self.content) else "end_turn"

    def invented(self, request_body: dict[str, Any]) -> list[str]:
        """Return the tools that it calls without having been offered them."""
        offered = {tool.get("name") for tool in request_body.get("tools") or []}
        called = [block["name"] for block in self.content if block["type"] == "tool_use"]
        return [] if self.invents else [name for name in called if name not in offered]


class Responder(Protocol):
    """Decides how the server answers a request that passed every check."""

    async def respond(self, request_body: dict[str, Any]) -> Turn:
        """Answer the body of a `POST /v1/messages`."""


def text(value: str) -> Block:
    """A text block."""
    return {"type": "text", "text": value}


def thinking(value: str) -> Block:
    """A thinking block, whose signature the server issues."""
    return {"type": "thinking", "thinking": value}


def redacted_thinking() -> Block:
    """A redacted thinking block, whose data the server issues."""
    return {"type": "redacted_thinking"}


def tool_use(name: str, arguments: dict[str, Any] | None = None, *, input_json: str | None = None) -> Block:
    """A tool call; `input_json` is streamed as it stands, so that it can be malformed or cut short."""
    block: Block = {"type": "tool_use", "name": name, "input": arguments or {}}
    return block if input_json is None else block | {"input_json": input_json}
