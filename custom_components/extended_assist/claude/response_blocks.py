"""The content blocks of a model's responses: how the chat log keeps them, and which are sent again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, pairwise, takewhile
import json
from typing import Any, Final

from homeassistant.components import conversation
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_bytes
from homeassistant.util.json import JSON_ENCODE_EXCEPTIONS

from ..calls.call import failure

type Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResponseBlocks:
    """The content blocks of a response, which can be sent back unchanged.

    Signed thinking is valid only for the model that wrote it.
    """

    model: str
    blocks: list[Block]
    tokens: int = 0
    """The tokens of the request as the server counted them, or 0 if the count does not show its size."""
    continues: bool = False
    """True for a further part of the previous response; the result of a server's tool separates them."""
    prefix: str = ""
    """The digest of the request: thinking may be sent back while it is unchanged."""
    refused: bool = False
    """True if the server declined the turn, so that it must not be sent again."""


def call_ids(content: Sequence[conversation.Content]) -> Iterator[str]:
    """Yield the ids of all calls of a conversation."""
    for item in content:
        if isinstance(item, conversation.AssistantContent):
            yield from (call.id for call in item.tool_calls or ())


def without_refused(content: Sequence[conversation.Content], agent_id: str) -> list[conversation.Content]:
    """Return a conversation without the turns that the server declined: it would decline every later turn, too.

    https://platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals
    """
    if not any(isinstance(item, conversation.AssistantContent) and _is_refusal(item, agent_id) for item in content):
        return list(content)
    kept: list[conversation.Content] = []
    start, is_refused = 0, False
    for item in content:
        if isinstance(item, conversation.UserContent):
            start, is_refused = len(kept), False
        if _is_refusal(item, agent_id):
            is_refused = True
            del kept[start:]
        if not is_refused:
            kept.append(item)
    return kept


def note_on_refusal(content: Sequence[conversation.Content], agent_id: str) -> str | None:
    """Return the note for the model if the turns right before the last message were declined, or None."""
    borders = [index for index, item in enumerate(content) if isinstance(item, conversation.UserContent)]
    turns = [content[start:end] for start, end in pairwise(borders)]
    # What was told of one declined turn with the message of another is not sent either.
    declined = list(takewhile(lambda turn: any(_is_refusal(item, agent_id) for item in turn), reversed(turns)))
    if not declined:
        return None
    results = [item for turn in reversed(declined) for item in turn if isinstance(item, conversation.ToolResultContent)]
    called = dict.fromkeys(item.tool_name for item in results)
    done = f" What these tools did meanwhile stands: {', '.join(called)}." if called else ""
    if len(declined) == 1:
        return f"(The message before this one was declined, and is left out.{done})"
    return f"(The {len(declined)} messages before this one were declined, and are left out.{done})"


def has_thinking(content: Sequence[conversation.Content], agent_id: str) -> bool:
    """Return whether a conversation contains thinking of an agent."""
    return any(block["type"] in THINKING for native in _own(content, agent_id) for block in native.blocks)


def where_thinking_begins(content: Sequence[conversation.Content], agent_id: str, start: int = 0) -> frozenset[int]:
    """Return the index of each response of an agent that has thinking in any of its parts."""
    found: set[int] = set()
    begin = start
    for index, item in enumerate(islice(content, start, None), start):
        if not isinstance(item, conversation.AssistantContent):
            continue
        native = own_native(item, agent_id)
        begin = begin if native and native.continues else index
        if native and any(block["type"] in THINKING for block in native.blocks):
            found.add(begin)
    return frozenset(found)


def without_thinking(content: Sequence[conversation.Content], agent_id: str) -> None:
    """Remove all thinking of an agent from a conversation."""
    for native in _own(content, agent_id):
        native.blocks[:] = [block for block in native.blocks if block["type"] not in THINKING]


def _own(content: Sequence[conversation.Content], agent_id: str) -> Iterator[ResponseBlocks]:
    for item in content:
        if (native := own_native(item, agent_id)) is not None:
            yield native


def own_native(item: conversation.Content, agent_id: str) -> ResponseBlocks | None:
    """Return the content blocks of an item if it is a response of the agent, or None."""
    if not isinstance(item, conversation.AssistantContent) or item.agent_id != agent_id:
        return None
    return item.native if isinstance(item.native, ResponseBlocks) else None


def _is_refusal(item: conversation.Content, agent_id: str) -> bool:
    native = own_native(item, agent_id)
    return native is not None and native.refused


UNFINISHED: Final = "{"
"""The arguments of a call that was cut off, even if they look complete."""
_CUT_OFF: Final = (
    "The arguments were cut off before their end, so nothing was called. Call again with shorter arguments."
)
_NOT_AN_OBJECT: Final = "The arguments are not a JSON object, so nothing was called. Correct them and call again."
_NOT_WRITABLE: Final = (
    "The arguments hold half a character, a number of more than 64 bits or too many levels, so nothing was called. Correct them "
    "and call again."
)


def is_writable(value: Any) -> bool:
    """Return whether a value can be sent back; JSON allows values that no request can contain."""
    try:
        json_bytes(value)
    except (*JSON_ENCODE_EXCEPTIONS, RecursionError):
        return False
    return True


def read_arguments(text: str, given: dict[str, Any]) -> tuple[dict[str, Any], llm.ToolResult | None]:
    """Return the arguments of a call, and an error result if it cannot be made.

    `given` are the arguments from the beginning of the call; they apply if no text followed.
    """
    try:
        arguments = json.loads(text) if text else given
    except ValueError:
        return {}, failure(_CUT_OFF)
    except RecursionError:
        return {}, failure(_NOT_WRITABLE)
    if not isinstance(arguments, dict):
        return {}, failure(_NOT_AN_OBJECT)
    return (arguments, None) if is_writable(arguments) else ({}, failure(_NOT_WRITABLE))


RESULT = "_tool_result"
"""The suffix of the type of a block with a result."""
_QUIET = "tool_search"
"""The prefix of the server's tools that search among our own tools: they bring nothing from outside."""

_UNSENT_KEYS = frozenset({"file_id"})
"""Keys of a received citation that must not be sent back."""


def is_quiet(name: str) -> bool:
    """Return whether a tool is left out of the chat log."""
    return name.startswith(_QUIET)


def citation(value: dict[str, Any]) -> dict[str, Any]:
    """Return a citation in the form that is sent back."""
    return {key: part for key, part in value.items() if key not in _UNSENT_KEYS}


def to_log(block: dict[str, Any]) -> llm.ToolResult:
    """Return a result for the chat log: only its sources; the text itself is sent back to the server only."""
    content = block.get("content")
    if isinstance(content, dict) and content.get("error_code"):
        return llm.ToolResult(data={"error": str(content["error_code"])}, error=True)
    return llm.ToolResult(data={"pages": [{"title": title, "url": url} for url, title in pages_of(block).items()]})


def pages_of(block: dict[str, Any]) -> dict[str, str]:
    """Return the titles of the pages in a result, by address."""
    content = block.get("content")
    found = [item for item in (content if isinstance(content, list) else [content]) if isinstance(item, dict)]
    return {str(page["url"]): str(_title(page) or page["url"]) for page in found if page.get("url")}


def _title(page: dict[str, Any]) -> Any:
    """Return the title of a found page or of a fetched document."""
    document = page.get("content")
    return document.get("title") if isinstance(document, dict) else page.get("title")


THINKING = frozenset({"thinking", "redacted_thinking"})
"""The types of blocks that are valid only after unchanged content."""
_SHOWN = 64
"""The characters of a file that go into a digest, with its length: whole files would take long."""


class Prefix:
    """The digest of a request's content so far."""

    def __init__(self, *beginning: Any) -> None:
        """Start with the content before all messages."""
        self._digest = blake2b(json_bytes(beginning), digest_size=16)
        self.beginning = self._digest.digest()
        """The digest of the content before all messages; the long tools themselves are not kept."""
        self._added: list[Any] = []

    def add(self, role: str, blocks: Iterable[dict[str, Any]]) -> None:
        """Add blocks; their grouping into messages makes no difference."""
        self._added += _flat(role, blocks)

    @property
    def digest(self) -> str:
        """Return the digest."""
        if self._added:
            self._digest.update(_written(self._added))
            self._added = []
        return self._digest.hexdigest()

    def digest_with(self, role: str, blocks: Iterable[dict[str, Any]]) -> str:
        """Return the digest with more blocks, without adding them."""
        known = self.digest
        if not (more := _flat(role, blocks)):
            return known
        digest = self._digest.copy()
        digest.update(_written(more))
        return digest.hexdigest()


def _flat(role: str, blocks: Iterable[dict[str, Any]]) -> list[Any]:
    """Return a list of roles and blocks in turn."""
    return [one for block in blocks for one in (role, _short(block))]


def _written(added: list[Any]) -> bytes:
    """Return blocks as bytes without brackets, so that adding them one by one gives the same digest."""
    return json_bytes(added)[1:-1] + b","


def _short(block: dict[str, Any]) -> Any:
    """Return a block, shortened if it contains a file."""
    if isinstance(inner := block.get("content"), list):
        return {**block, "content": [_short(one) if isinstance(one, dict) else one for one in inner]}
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(data := source.get("data"), str):
        return block
    return [block["type"], len(data), data[:_SHOWN], data[-_SHOWN:]]
