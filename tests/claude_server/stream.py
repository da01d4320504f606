"""Turns as the Messages API sends them: a whole message, or its server-sent events."""

from collections.abc import Iterator
from hashlib import sha256
import json
from typing import Any

from .memory import Memory
from .turn import Block, Fault, Turn

# What a client may meet when the API grows; the SDK's promise is that unknown types are passed over.
UNKNOWN_EVENT = {"type": "message_annotation", "annotation": {"value": 1}}
UNKNOWN_DELTA = {"type": "annotation_delta", "annotation": "none"}
UNKNOWN_BLOCK = {"type": "annotation", "annotation": "none"}
_REFUSED = {"type": "refusal", "category": None, "explanation": None}

type Event = dict[str, Any]


class Issuer:
    """Issues ids and thinking signatures, the same ones in the same order for every server."""

    def __init__(self) -> None:
        self._count = 0
        self.memory = Memory()

    def new_id(self, prefix: str) -> str:
        """Return an id of the API's shape, such as `toolu_01…`."""
        self._count += 1
        return f"{prefix}_01{self._count:022d}"

    def message(
        self, turn: Turn, request: dict[str, Any], input_usage: dict[str, int], *, omits_thinking: bool = False
    ) -> dict[str, Any]:
        """Return the whole message that answers a request; input_usage tells what reading it took."""
        content = [self._block(block) for block in turn.content]
        if omits_thinking:
            content = [block | {"thinking": ""} if block["type"] == "thinking" else block for block in content]
        usage = {
            **input_usage,
            "output_tokens": tokens(turn.content),
            "service_tier": "standard",
        }
        return {
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content,
            "stop_reason": turn.final_stop_reason,
            "stop_sequence": None,
            "stop_details": _REFUSED if turn.final_stop_reason == "refusal" else None,
            "usage": usage | turn.usage,
            **self._container(request),
        }

    def _container(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return where code runs, for a request that lets it."""
        if not any(str(tool.get("type")).startswith("code_execution_") for tool in request.get("tools") or ()):
            return {}
        asked = request.get("container")
        name = (asked.get("id") if isinstance(asked, dict) else asked) or self.new_id("container")
        return {"container": {"id": name, "expires_at": "2026-12-24T12:00:00Z"}}

    def _block(self, block: Block) -> Block:
        match block["type"]:
            case "tool_use":
                return {"input": {}} | block | {"id": block.get("id") or self.new_id("toolu")}
            case "thinking":
                signature = block["signature"] if "signature" in block else self._seal(block["thinking"])
                return block | {"signature": signature}
            case "redacted_thinking":
                data = block.get("data") or self._seal("redacted")
                return block | {"data": data}
        return block

    def _seal(self, value: str) -> str:
        return sha256(f"{self.new_id('sig')}{value}".encode()).hexdigest()


def tokens(value: Any) -> int:
    """Estimate tokens, at four characters of JSON each; never less than one."""
    return tokens_of(json.dumps(value))


def tokens_of(written: str) -> int:
    """Estimate the tokens of JSON as it is written."""
    return max(1, len(written) // 4)


def whole(message: dict[str, Any], turn: Turn) -> dict[str, Any]:
    """Return the message for a client that does not stream; text that is no JSON cannot be sent that way."""
    content = []
    for block in message["content"]:
        clean = {key: value for key, value in block.items() if key != "input_json"}
        if "input_json" in block:
            clean["input"] = _object(block["input_json"])
        content.append(clean)
    if turn.fault and turn.fault.kind == "unknown_events":
        content.insert(0, UNKNOWN_BLOCK)
    return message | {"content": content}


def _object(value: str) -> dict[str, Any]:
    try:
        parsed = json.loads(value)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def events(message: dict[str, Any], turn: Turn) -> list[Event]:
    """Return every event of a message, as the API orders them."""
    unknown = bool(turn.fault and turn.fault.kind == "unknown_events")
    usage = message["usage"]
    start = message | {
        "content": [],
        "stop_reason": None,
        "stop_details": None,
        "usage": usage | {"output_tokens": 1},
    }
    result: list[Event] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    blocks = [UNKNOWN_BLOCK, *message["content"]] if unknown else message["content"]
    if unknown:
        result.append(UNKNOWN_EVENT)
    for index, block in enumerate(blocks):
        result.append({"type": "content_block_start", "index": index, "content_block": _opening(block)})
        if unknown:
            result.append({"type": "content_block_delta", "index": index, "delta": UNKNOWN_DELTA})
            result.append({"type": "ping"})
        result.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in _deltas(block, turn))
        result.append({"type": "content_block_stop", "index": index})
    # Cumulative counts; the tier is known from the start and not repeated.
    final = {key: value for key, value in usage.items() if key not in ("service_tier", "cache_creation")}
    delta = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    result.append({"type": "message_delta", "delta": delta, "usage": final})
    result.append({"type": "message_stop"})
    return result


def cut(stream: list[Event], fault: Fault) -> int:
    """Return how many events are sent before a fault strikes."""
    first = 0
    if fault.within is not None:
        starts = (
            index
            for index, event in enumerate(stream)
            if event["type"] == "content_block_start" and event["content_block"]["type"] == fault.within
        )
        first = next(starts, -1)
        if first < 0:
            raise ValueError(f"The turn has no {fault.within} block for its fault to strike in.")
    return min(first + fault.after, len(stream))


def _opening(block: Block) -> Block:
    """Return a block as `content_block_start` carries it: what deltas will bring is empty."""
    match block["type"]:
        case "text":
            return block | {"text": ""} | ({"citations": []} if "citations" in block else {})
        case "thinking":
            return block | {"thinking": "", "signature": ""}
        case "tool_use" | "server_tool_use":
            return {key: value for key, value in block.items() if key != "input_json"} | {"input": {}}
    return block


def _deltas(block: Block, turn: Turn) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            for part in _pieces(block["text"], turn.chunk):
                yield {"type": "text_delta", "text": part}
            for citation in block.get("citations") or ():
                yield {"type": "citations_delta", "citation": citation}
        case "thinking":
            for part in _pieces(block["thinking"], turn.chunk):
                yield {"type": "thinking_delta", "thinking": part}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use" | "server_tool_use":
            # The API opens with an empty piece, and sends nothing else for a call without arguments.
            yield {"type": "input_json_delta", "partial_json": ""}
            if "input_json" in block or block["input"]:
                arguments = block.get("input_json", json.dumps(block["input"], ensure_ascii=False))
                for part in _pieces(arguments, turn.chunk):
                    yield {"type": "input_json_delta", "partial_json": part}


def _pieces(value: str, chunk: int) -> Iterator[str]:
    """Cut text into several deltas, at least two where there are two characters."""
    size = max(1, min(chunk, (len(value) + 1) // 2))
    for start in range(0, len(value), size):
        yield value[start : start + size]
