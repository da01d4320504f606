"""Tool calls from the panel, and the open questions of these calls."""

from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, ClassVar, Final

from homeassistant.auth.models import User
from homeassistant.components.conversation import (
    AssistantContent,
    ChatLog,
    ToolResultContent,
    UserContent,
    async_converse,
)
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.helpers.json import json_dumps
from homeassistant.helpers.translation import async_get_translations
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.ulid import ulid_now

from ..calls.call import RefusedResult, ToolCall
from ..calls.caller import Caller, in_conversation
from ..claude.fallback import agent_exists
from ..confirmation.phone_approval import answer_phone_question, phone_questions
from ..confirmation.question import (
    ANSWER_TIME,
    ConfirmationState,
    OpenQuestion,
    answering,
    confirmation_of,
    open_questions,
)
from ..confirmation.reply_parser import Reply
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..llm_tools.extended_tool import ExtendedTool
from ..results import ToolError, size
from ..scheduled.ownership import LimitReachedError, NotTheirsError
from ..storage import NotStoredError

MAX_WAITING: Final = 20
"""The most open questions of one user; the oldest are dropped."""
AGENT: Final = f"{DOMAIN}.by_hand"
"""The agent id in the conversations of manual calls."""


def for_reader(call: ToolCall, user: User) -> ToolCall:
    """Return a call whose exposure is limited to entities that its user may read in Home Assistant."""
    exposure = Exposure(call.hass, call.caller.assistant, call.options.external_statistics, reader=user)
    return replace(call, exposure=exposure)


@dataclass(slots=True)
class ManualCall:
    """A call that waits for the user's answer."""

    tool: ExtendedTool
    llm_context: llm.LLMContext
    chat_log: ChatLog
    language: str
    question: str = ""
    time: float = field(default_factory=monotonic)
    id: str = ""
    """The id of the question; each time it is asked it gets a new one, so that a yes applies to the displayed text."""

    @property
    def caller(self) -> Caller:
        """Return the caller."""
        return Caller(self.llm_context, self.chat_log, self.chat_log.conversation_id)

    @property
    def user_id(self) -> str | None:
        """Return the user who was asked."""
        return self.llm_context.context.user_id if self.llm_context.context else None

    @property
    def seconds(self) -> float:
        """Return the seconds for which it can still be answered."""
        return ANSWER_TIME - (monotonic() - self.time)


_WAITING: HassKey[dict[str, ManualCall]] = HassKey(f"{DOMAIN}_by_hand")


@callback
def context_of(context: Context, language: str, assistant: str | None = None) -> llm.LLMContext:
    """Return the LLM context of a frontend user, for Assist unless another assistant is given."""
    return llm.LLMContext(
        platform=DOMAIN, context=context, language=language, assistant=assistant or "conversation", device_id=None
    )


@callback
def waiting_calls(hass: HomeAssistant, user_id: str) -> list[ManualCall]:
    """Return the open calls of a user."""
    waiting = hass.data.setdefault(_WAITING, {})
    for old in [key for key, call in waiting.items() if call.seconds <= 0]:
        del waiting[old]
    return [call for call in waiting.values() if call.user_id == user_id]


async def async_call_by_hand(
    hass: HomeAssistant,
    tool: ExtendedTool,
    arguments: dict[str, Any],
    context: Context,
    language: str,
    *,
    assistant: str | None = None,
) -> dict[str, Any]:
    """Call a tool as a user; return its result, or the question that it asks first."""
    call = ManualCall(tool, context_of(context, language, assistant), ChatLog(hass, ulid_now()), language)
    call.chat_log.content.append(UserContent(content=tool.title or tool.name))
    tool_input = llm.ToolInput(tool.name, arguments, id=f"toolu_{ulid_now()}")
    with (
        in_conversation(call.chat_log),
        confirmation_of(hass, call.caller, language) as confirmation,
    ):
        return await _async_made(hass, call, confirmation, tool_input)


async def async_answer_by_hand(hass: HomeAssistant, wanted: str, user_id: str, *, agreed: bool) -> dict[str, Any]:
    """Run or drop a call after the user's answer; raises GoneError if it does not exist or is too old."""
    call = next((call for call in waiting_calls(hass, user_id) if call.id == wanted), None)
    if call is None:
        raise GoneError
    del hass.data[_WAITING][wanted]
    call.chat_log.content.append(UserContent(content="yes" if agreed else "no"))
    with (
        in_conversation(call.chat_log),
        confirmation_of(hass, call.caller, call.language) as confirmation,
    ):
        if confirmation.heard is Reply.MORE:
            return _asked(hass, call, confirmation)
        calls = confirmation.agree(call.chat_log.content) if confirmation.heard is Reply.YES else []
        if not calls:
            return {"done": False}
        return await _async_made(hass, call, confirmation, calls[0])


async def _async_made(
    hass: HomeAssistant, call: ManualCall, confirmation: ConfirmationState, made: llm.ToolInput
) -> dict[str, Any]:
    """Run a call within its conversation."""
    call.chat_log.content.append(AssistantContent(agent_id=AGENT, content=None, tool_calls=[made]))
    begun = monotonic()
    result = await call.tool.async_call(hass, made, call.llm_context)
    seconds = monotonic() - begun
    call.chat_log.content.append(
        ToolResultContent(agent_id=AGENT, tool_call_id=made.id, tool_name=made.tool_name, result=result)
    )
    if confirmation.asked:
        return _asked(hass, call, confirmation)
    if isinstance(result, RefusedResult) and (said := await async_said(hass, result.cause, call.language)):
        return {"done": False, "speech": said}
    return {
        "done": not result.error,
        "answer": json_dumps(result.data),
        "characters": size(result.data),
        "seconds": seconds,
    }


@callback
def _asked(hass: HomeAssistant, call: ManualCall, confirmation: ConfirmationState) -> dict[str, Any]:
    """Store a call until its question is answered, and return the question."""
    lines = [line for asked in confirmation.asked.values() for line in asked.lines]
    # In a language whose words are not known, all of it at once and without any.
    call.question, call.time, call.id = confirmation.next_words() or "\n".join(lines), monotonic(), ulid_now()
    confirmation.is_told = True
    waiting = hass.data.setdefault(_WAITING, {})
    waiting[call.id] = call
    for old in [one.id for one in waiting.values() if one.user_id == call.user_id][:-MAX_WAITING]:
        del waiting[old]
    return {"done": False, "question": {"id": call.id, "text": call.question, "seconds": call.seconds}}


class PanelError(Exception):
    """An error for the user; its class selects the text."""

    key: ClassVar[str]


class GoneError(PanelError):
    """The item does not exist, or belongs to another user; callers cannot tell the difference."""

    key = "panel_gone"


class NotReadyError(PanelError):
    """No entry is loaded."""

    key = "panel_not_ready"


async def async_said(hass: HomeAssistant, error: ToolError, language: str) -> str | None:
    """Return the sentence for an error in a user's language; None for an error that is only for models."""
    match error:
        case NotStoredError():
            key = "wish_not_stored"
        case NotTheirsError():
            key = "wish_not_allowed"
        case LimitReachedError():
            key = "wishes_full"
        case _:
            return None
    texts = await async_get_translations(hass, language, "exceptions", {DOMAIN})
    said = texts.get(f"component.{DOMAIN}.exceptions.{key}.message")
    return said.format(limit=error.most) if said and isinstance(error, LimitReachedError) else said


@callback
def open_rows(hass: HomeAssistant, user_id: str) -> list[dict[str, Any]]:
    """Return the open questions of a user."""
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
    """Answer a question as the user of a context; raises GoneError if it is not open for them."""
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
    """Return a question as the panel displays it."""
    return {"id": question_id, "kind": kind, "text": text, "seconds": round(seconds)}


def _agent_of(hass: HomeAssistant, question: OpenQuestion) -> str | None:
    """Return the agent that asked; None for manual calls and removed agents."""
    content = question.caller.chat_log.content if question.caller.chat_log else ()
    asking = next((item.agent_id for item in reversed(content) if isinstance(item, AssistantContent)), AGENT)
    return asking if asking != AGENT and agent_exists(hass, asking) else None
