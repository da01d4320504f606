"""A conversation in the terminal: questions, tool calls and streamed answers, printed as they come."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
import json
from typing import Any

from tests.e2e.client import Client

SHOWN = 300  # characters of a tool's result


def _print(text: str) -> None:
    print(text, end="", flush=True)


@dataclass
class Transcript:
    """Prints one turn's events, and keeps what tells whether it was answered from tool results."""

    write: Callable[[str], None] = _print
    results: int = 0
    failed: int = 0
    answer: str = ""
    error: str = ""
    conversation_id: str | None = None
    _names: dict[str, str] = field(default_factory=dict)
    _in_answer: bool = False

    @property
    def answered(self) -> bool:
        """Return whether a tool's result came without error and an answer that is none either."""
        return self.results > 0 and bool(self.answer.strip()) and not self.error

    def event(self, event: dict[str, Any]) -> None:
        """Take one event of the pipeline."""
        data = event["data"] or {}
        match event["type"]:
            case "intent-progress":
                self._delta(data.get("chat_log_delta") or {})
            case "intent-end":
                self.conversation_id = data["intent_output"]["conversation_id"]
                response = data["intent_output"]["response"]
                speech = response["speech"].get("plain", {}).get("speech") or ""
                if response["response_type"] == "error":
                    self.error = speech or "error"
                    self._line(f"error: {self.error}")
                elif not self._in_answer:
                    self._line(speech)
                self.answer = speech
            case "error":
                self.error = f"{data.get('code')}: {data.get('message')}"
                self._line(f"error: {self.error}")
            case "run-end":
                self._end_answer()

    def _delta(self, delta: dict[str, Any]) -> None:
        if delta.get("role") == "tool_result":
            self._result(delta)
            return
        for call in delta.get("tool_calls") or ():
            name = call["tool_name"]
            self._names[call["id"]] = name
            self._line(f"  calls {name} {json.dumps(call['tool_args'], ensure_ascii=False)}")
        if content := delta.get("content"):
            self.write(content if self._in_answer else f"Agent: {content}")
            self._in_answer = True

    def _result(self, delta: dict[str, Any]) -> None:
        result, error = delta["result"]["data"], bool(delta["result"]["error"])
        self.results += not error
        self.failed += error
        text = json.dumps(result, ensure_ascii=False)
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
        self._line(f"  {'failed' if error else 'result'} {shown}")

    def _line(self, text: str) -> None:
        self._end_answer()
        self.write(f"{text}\n")

    def _end_answer(self) -> None:
        if self._in_answer:
            self.write("\n")
            self._in_answer = False


async def converse(client: Client, pipeline_id: str, messages: Iterable[str]) -> list[bool]:
    """Hold a conversation through the real API; returns of each message whether the answer came from tool results."""
    return [transcript.answered for transcript in await hold(client, pipeline_id, messages)]


async def hold(client: Client, pipeline_id: str, messages: Iterable[str]) -> list[Transcript]:
    """Hold a conversation through the real API; returns what became of each message."""
    conversation_id, transcripts = None, []
    for message in messages:
        transcript = Transcript()
        _print(f"\nYou: {message}\n")
        await client.run_pipeline(
            message, pipeline_id=pipeline_id, conversation_id=conversation_id, on_event=transcript.event
        )
        conversation_id = transcript.conversation_id
        transcripts.append(transcript)
    return transcripts
