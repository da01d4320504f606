"""What waits for a user's yes or no: in a conversation, on their phones, or after a tool was called by hand.

Each is answered once, by the very user who was asked; the words that they were shown are those that they answer.
"""

from typing import Any

from homeassistant.components.conversation import AssistantContent, async_converse
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..claude.fallback import agent_exists
from ..confirmation.phone_approval import answer_phone_question, phone_questions
from ..confirmation.question import OpenQuestion, answering, open_questions
from .manual_calls import AGENT, GoneError, async_answer_by_hand, waiting_calls


@callback
def open_rows(hass: HomeAssistant, user_id: str) -> list[dict[str, Any]]:
    """Return the questions that wait for a user's answer."""
    by_hand = waiting_calls(hass, user_id)
    rows = [_row(call.id, "by_hand", call.question, call.seconds) for call in by_hand]
    rows += [
        _row(question.id, "conversation", question.words, question.seconds)
        for question in open_questions(hass, user_id).values()
        if _agent_of(hass, question)
    ]
    moment = dt_util.utcnow().timestamp()
    rows += [_row(one.id, "phone", one.text, one.expires - moment) for one in phone_questions(hass, user_id)]
    return rows


async def async_answer(
    hass: HomeAssistant, wanted: str, context: Context, language: str, *, agreed: bool
) -> dict[str, Any]:
    """Answer a question as the user of a context; raises GoneError where it does not wait for them any more."""
    user_id = str(context.user_id)
    if any(call.id == wanted for call in waiting_calls(hass, user_id)):
        return await async_answer_by_hand(hass, wanted, user_id, agreed=agreed)
    if answer_phone_question(hass, wanted, user_id, agreed=agreed):
        return {"done": agreed, "taken": True}
    for conversation_id, question in open_questions(hass, user_id).items():
        if question.id == wanted and (agent_id := _agent_of(hass, question)):
            # The next message of the very conversation, which code hears as one that is typed there; English in any language.
            word = "yes" if agreed else "no"
            with answering(hass, question, context):
                result = await async_converse(
                    hass, word, conversation_id, context, language=language, agent_id=agent_id
                )
            speech = result.response.speech.get("plain", {}).get("speech")
            return {"done": agreed, "taken": True, "speech": speech}
    raise GoneError


def _row(question_id: str, kind: str, text: str, seconds: float) -> dict[str, Any]:
    """Return a question as it is shown."""
    return {"id": question_id, "kind": kind, "text": text, "seconds": round(seconds)}


def _agent_of(hass: HomeAssistant, question: OpenQuestion) -> str | None:
    """Return which agent asked; None for none, as where a tool was called by hand, and for one that is gone."""
    content = question.caller.chat_log.content if question.caller.chat_log else ()
    asking = next((item.agent_id for item in reversed(content) if isinstance(item, AssistantContent)), AGENT)
    return asking if asking != AGENT and agent_exists(hass, asking) else None
