"""One turn of an agent: the data that its requests share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic

from homeassistant.components import conversation

from ..calls.chat_images import Screen
from ..calls.options import ToolboxOptions
from ..confirmation.question import ConfirmationState
from .conversation_snapshot import ConversationSnapshot
from .options import AgentOptions
from .request import Rendering
from .request_repair import Refused
from .response_blocks import Block
from .retry import Retry, Timeouts
from .tool_keys import KeyNames
from .usage import TokenMeter


def _nothing(_: Mapping[str, str]) -> None:
    """Ignore the tools that are left out."""


@dataclass(slots=True)
class AgentTurn:
    """The data that the requests of one turn share."""

    client: anthropic.AsyncAnthropic
    chat_log: conversation.ChatLog
    agent_id: str
    options: AgentOptions
    cut_notice: Callable[[], Awaitable[str]]
    """Returns the notice for an answer that reached the token limit."""
    meter: TokenMeter
    """Counts the tokens of the requests."""
    note: Callable[[str | None], None]
    """Receives the end of each request: an answer, or the key of an error."""
    language: str = "en"
    """The language of the user."""
    confirmation: ConfirmationState | None = None
    """The parsed reply to the last question, and the new questions."""
    toolbox: ToolboxOptions = field(default_factory=ToolboxOptions)
    """The rules for tools without our own checks, such as those of other APIs."""
    patience: Timeouts = field(default_factory=Timeouts)
    retry: Retry = field(default_factory=Retry)
    snapshot: ConversationSnapshot = field(default_factory=ConversationSnapshot)
    """The snapshot of the conversation."""
    tell_left_out: Callable[[Mapping[str, str]], None] = _nothing
    """Receives the tools that the server would refuse, with the reason."""
    refused: Refused = field(default_factory=Refused)
    """What the server refused before."""
    sizes: dict[int, int] = field(default_factory=dict)
    """A cache of item sizes for the next request."""
    rendering: Rendering | None = None
    """The messages of the last request; the next request begins with them."""
    attachments: dict[Path, Block] = field(default_factory=dict)
    keys: Mapping[str, KeyNames] = field(default_factory=dict)
    """The replaced parameter names of each tool."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tools that are not sent because the server would refuse them, with the reason."""
    callable: frozenset[str] = frozenset()
    """The names of existing tools; the requests of a conversation may contain others that were removed."""
    output_schema: dict[str, Any] | None = None
    """The structure of the answer, for a model that supports it."""
    is_done: Callable[[], bool] = lambda: False
    """Returns whether a tool has taken the answer, so that no text is needed."""
    may_call: bool = True
    """False if the model must not call more tools; servers without that field are told in words."""
    is_paused: bool = False
    """True if the server will continue the last response."""
    screen: Screen | None = None
    """The screen for images; None if the user hears the answer or nothing is to be shown."""
    answers_when_done: bool = False
    """True if the model may give its answer together with the calls."""
    is_answered: bool = False
    """True after such an answer was spoken."""
    news: list[str] = field(default_factory=list)
    """Missed reminders to send with the message."""
    earlier: str | None = None
    """Recent changes from before this conversation, sent with its first message."""
    must_speak: bool = False
    """True if the model is told to say something, because it returned thinking only."""
    sources: dict[str, str] = field(default_factory=dict)
    """The titles of the pages that the answer cites, by address."""
