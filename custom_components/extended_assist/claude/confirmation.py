"""Questions of our own agent to the user, and the calls that the user agreed to."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

from homeassistant.components import conversation
from homeassistant.helpers import entity_registry as er

from ..calls.activity import ActivityKind, tell
from ..calls.caller import Caller
from ..confirmation.question import confirmation_of, without_tools
from ..confirmation.reply_parser import Reply
from .output_filter import as_words
from .turn import AgentTurn


@contextmanager
def read_reply(turn: AgentTurn) -> Iterator[None]:
    """Parse the turn's message as a reply to the last question, and collect the questions of its calls."""
    hass, conversation_id = turn.chat_log.hass, turn.chat_log.conversation_id
    if (instance := turn.chat_log.llm_api) is None:
        turn.confirmation = without_tools(hass, conversation_id, turn.language)
        yield
        return
    caller = Caller(instance.llm_context, turn.chat_log, conversation_id)
    registered = er.async_get(hass).async_get(turn.agent_id)
    with confirmation_of(
        hass, caller, turn.language, registered.config_subentry_id if registered else None
    ) as turn.confirmation:
        if turn.confirmation.heard is Reply.NO:
            for asked in turn.confirmation.answered:
                if asked.call is not None:
                    tell(asked.call, ActivityKind.REFUSED)
        yield


def note_on_reply(turn: AgentTurn) -> list[str]:
    """Return the note for the model about a message that does not agree to the question."""
    note = turn.confirmation.note if turn.confirmation else None
    return [note] if note else []


async def async_do_agreed(turn: AgentTurn, request: dict[str, Any]) -> bool:
    """Make the calls that the user agreed to, and add them and their results to the chat log.

    Returns whether the user was asked again, because the plan has changed or the question has more parts.
    """
    confirmation = turn.confirmation
    if confirmation is None or confirmation.heard not in (Reply.YES, Reply.MORE):
        return False
    if confirmation.heard is Reply.YES and (calls := confirmation.agree(turn.chat_log.content)):
        if (request.get("thinking") or {}).get("type") == "enabled":
            # With manual thinking, the service goes on from calls only that the model has thought about.
            request.pop("thinking")
        await _async_add(turn, {"role": "assistant", "tool_calls": calls})
    return await async_speak_question(turn)


async def async_speak_question(turn: AgentTurn) -> bool:
    """Say the question of the calls so far; return whether there was one, which ends the turn."""
    confirmation = turn.confirmation
    if confirmation is None or not confirmation.asked or turn.is_paused:
        return False
    confirmation.sort(turn.chat_log.content)
    if (words := confirmation.next_words()) is None:
        return False
    await _async_add(turn, {"role": "assistant", "content": as_words(words)})
    return True


async def _async_add(turn: AgentTurn, delta: conversation.AssistantContentDeltaDict) -> None:
    """Add a message to the chat log as if the model had sent it."""

    async def deltas() -> AsyncGenerator[conversation.AssistantContentDeltaDict]:
        yield delta

    async for _ in turn.chat_log.async_add_delta_content_stream(turn.agent_id, deltas()):
        pass
