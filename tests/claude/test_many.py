"""Many conversations at once on one Home Assistant: none mixes with another, none is lost."""

import asyncio
from functools import partial
from typing import Any

import pytest

from custom_components.extended_assist import entity
from custom_components.extended_assist.claude import retry
from homeassistant.components import conversation
from homeassistant.core import Context, HomeAssistant
from tests.claude_server import ClaudeServer, Fault, Turn, text, tool_use
from tests.conftest import AGENT, Converse, expose
from tests.helpers.talking import FindLog, assert_every_call_has_a_result, roles, speech

pytestmark = pytest.mark.usefixtures("no_deprecations", "quiet")

CONVERSATIONS = 50
TURNS = 3


class Crowd:
    """A model that tells each speaker what they said and what their own tool call brought, at its own pace."""

    def __init__(self) -> None:
        """Nobody has spoken."""
        self.answering = 0
        self.crowded = asyncio.Event()
        """Set once more than half of all are answered at the same time, which all others wait for."""
        self._refused: set[str] = set()

    async def respond(self, body: dict[str, Any]) -> Turn:
        """Answer from what this request alone holds."""
        self.answering += 1
        if self.answering > CONVERSATIONS // 2:
            self.crowded.set()
        try:
            async with asyncio.timeout(60):
                await self.crowded.wait()
        finally:
            self.answering -= 1
        # Before the words stands when they were said.
        said = [message["content"][-1].get("text") for message in body["messages"] if message["role"] == "user"]
        said = [words for words in said if words]
        speaker = said[0].split()[0]
        if int(speaker) % 5 == 0 and speaker not in self._refused:
            self._refused.add(speaker)
            return Turn(fault=Fault("http", status=529, headers={"retry-after": "0.1"}))
        last = body["messages"][-1]["content"][-1]
        if last["type"] == "text":
            return Turn([tool_use("extended_assist__get_entities", {"name": f"lamp {speaker}"})], chunk=3)
        return Turn(
            [text(f"{last['text'] if 'text' in last else said[-1]} | {f'light.lamp_{speaker},' in last['content']}")]
        )


async def test_fifty_conversations(
    hass: HomeAssistant,
    converse: Converse,
    claude_server: ClaudeServer,
    chat_log: FindLog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Everybody gets the answer to what they asked, in every turn, and a log with nothing but their own."""
    # On a loaded machine, all of them together may take longer than one speaker waits.
    monkeypatch.setattr(entity, "Timeouts", partial(retry.Timeouts, retry_time=120.0))
    for speaker in range(CONVERSATIONS):
        hass.states.async_set(f"light.lamp_{speaker}", "on", {"friendly_name": f"Lamp {speaker}"})
        expose(hass, f"light.lamp_{speaker}")
    claude_server.responder = crowd = Crowd()

    async def talk(speaker: int) -> str:
        conversation_id = None
        for turn in range(TURNS):
            result = await conversation.async_converse(
                hass, f"{speaker} says {turn}", conversation_id, Context(), language="en", agent_id=AGENT
            )
            conversation_id = result.conversation_id
            assert speech(result) == f"{speaker} says {turn} | True"
        return str(conversation_id)

    ids = await asyncio.gather(*map(talk, range(CONVERSATIONS)))
    assert crowd.crowded.is_set()
    assert len(set(ids)) == CONVERSATIONS
    for speaker, conversation_id in enumerate(ids):
        log = chat_log(conversation_id)
        assert roles(log) == ["user", "assistant", "tool_result", "assistant"] * TURNS
        assert_every_call_has_a_result(log)
        assert all(item.content.startswith(f"{speaker} ") for item in log.content if item.role == "user")
