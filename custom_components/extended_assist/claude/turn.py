"""One turn of an agent: what its requests share."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic

from homeassistant.components import conversation

from ..calls.chat_images import Screen
from ..calls.options import ToolboxOptions
from ..confirmation.question import Hearing
from .conversation_snapshot import ConversationLedger
from .options import AgentOptions
from .request import Rendering
from .request_repair import Refused
from .response_blocks import Block
from .retry import Patience, Retry
from .tool_keys import KeyNames
from .usage import TokenMeter


def _nothing(_: Mapping[str, str]) -> None:
    """Tell nobody of tools that are left out."""


@dataclass(slots=True)
class AgentTurn:
    """What the requests of one turn share."""

    client: anthropic.AsyncAnthropic
    chat_log: conversation.ChatLog
    agent_id: str
    options: AgentOptions
    cut_notice: Callable[[], Awaitable[str]]
    """Gives the words to add to an answer that reached the token limit."""
    meter: TokenMeter
    """Counts what the requests use."""
    note: Callable[[str | None], None]
    """Is told how each request ended: with an answer, or with the key of a cause."""
    language: str = "en"
    """The language of who speaks."""
    hearing: Hearing | None = None
    """What the message answers, and what is to be asked."""
    toolbox: ToolboxOptions = field(default_factory=ToolboxOptions)
    """The rules for tools that bring none of ours along, such as those of other APIs."""
    patience: Patience = field(default_factory=Patience)
    retry: Retry = field(default_factory=Retry)
    ledger: ConversationLedger = field(default_factory=ConversationLedger)
    """What was sent in this conversation before."""
    tell_left_out: Callable[[Mapping[str, str]], None] = _nothing
    """Is told of the tools that the server would refuse, and why."""
    refused: Refused = field(default_factory=Refused)
    """What the server refused before."""
    sizes: dict[int, int] = field(default_factory=dict)
    """What was measured of the chat log, for the next request."""
    rendering: Rendering | None = None
    """The messages of its last request, which those of the next begin with."""
    attachments: dict[Path, Block] = field(default_factory=dict)
    keys: Mapping[str, KeyNames] = field(default_factory=dict)
    """Names of parameters that were exchanged, by tool."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Tools that are not sent because the server would refuse them, and why."""
    callable: frozenset[str] = frozenset()
    """The names of tools that are there; one that is gone may still be in the requests of its conversation."""
    output_schema: dict[str, Any] | None = None
    """What an answer must look like, for a model that can be held to it."""
    is_done: Callable[[], bool] = lambda: False
    """Tells whether a tool has taken the answer, so that nothing needs to be said."""
    may_call: bool = True
    """Whether the model may still call tools; where the server knows no field for that, it is told in words."""
    is_paused: bool = False
    """Whether the last response is to be continued by its server."""
    screen: Screen | None = None
    """Where the answer is read; None where it is heard, or nothing is to be shown."""
    answers_when_done: bool = False
    """Whether the model may give its answer with the calls that it depends on."""
    is_answered: bool = False
    """Whether such an answer was spoken."""
    news: list[str] = field(default_factory=list)
    """What came due while nobody could be told of it, which is told with the message."""
    earlier: str | None = None
    """What was done before this conversation, which is told with its first message."""
    must_speak: bool = False
    """Whether the model is told to say something, because it thought and said nothing."""
    sources: dict[str, str] = field(default_factory=dict)
    """The titles of pages that the answer was taken from, by address."""
