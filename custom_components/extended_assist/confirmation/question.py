"""Ask the user to confirm calls, store the open question, and match the next message with it.

In a conversation of our own agent, code asks the question and parses the reply; the model's view of the reply does not
count. To another agent the result describes the plan, and the agent may call again after the user's next message.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
import hashlib
import json
from time import monotonic

from homeassistant.components.conversation import AssistantContent, ChatLog, ToolResultContent, UserContent
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import llm
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType
from homeassistant.util.ulid import ulid_now

from ..calls.call import ToolCall
from ..calls.caller import Caller
from ..calls.plan import Plan
from ..calls.policy import NotAllowedError
from ..const import DOMAIN
from ..exposure.fixed_values import has_free_name
from ..worker.interruptible import async_pause
from .confirmation_reason import async_reason_to_ask, async_remark, items_of
from .consequential import are_alike
from .recheck import digest
from .reply_parser import AskedWords, Reply, asked_words_of, asks_for_more, parse_reply
from .untrusted_text import OwnResult, marked
from .wording import MAX_HEARD, MAX_READ, Item, PortionedQuestion, async_lines, question_of, words_for

ANSWER_TIME = 300.0
"""Seconds in which the user can agree; Home Assistant keeps a conversation as long."""

SAID_NO = "The user has said no to this, so nothing was done. Do not try it again or in another way; answer them."
_SPOKEN = "Nothing was done yet. The user is being asked. Do not call again: when they agree, it is done by itself."
_TO_BE_WORDED = (
    "Nothing was done yet. Ask the user now, in their language: tell all that it would do, say that they can agree with the "
    "single word 'yes' or 'OK', and end with a question mark. Do not call again: when they agree, it is done by itself."
)
_CALL_AGAIN = (
    "Nothing was done yet. Tell the user what would be done and ask whether to do it. When they have agreed in their next "
    "message, call again with exactly the same arguments."
)
_CHANGED = "Since the user was asked, it has changed. It was: {before}"
_NO_TOOLS = "(Before the user answered, the tools for what they were asked about were taken from you. It was not done: {what}. Tell them.)"
_REFUSED = "(The user was asked and said no. It was not done, and must not be done: {what})"
_DROPPED = "(The user was asked and has not clearly agreed, so it was not done: {what}. If they want it, call again; they are asked again.)"


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that waits for confirmation."""

    call_id: str
    plan: Plan
    lines: list[str]
    """The lines that describe the plan, in the user's language."""
    before: list[str]
    """The lines of the earlier question, if the plan has changed since."""
    title: str
    items: list[Item]
    """The effects one by one, for a question that is too long to ask at once."""
    call: ToolCall | None = None
    """The call itself, for the activity event when the user refuses it."""
    remark: str = ""
    """One more sentence, in the user's language."""
    digest: str = ""
    """The digest of the plan when the user was asked."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that a user was asked in a conversation of our own agent and has not answered."""

    calls: list[AskedCall]
    caller: Caller
    spoken: int
    """The number of messages that the user had sent when the question was asked."""
    time: float
    question: PortionedQuestion | None
    told: int
    """The number of portions that were asked so far."""
    agent: str | None = None
    """The subentry id of the agent that asked. Two agents in one conversation each have their own question."""
    id: str = field(default_factory=ulid_now)

    @property
    def words(self) -> str:
        """Return the text of the last portion asked; all lines if the model worded the question."""
        if self.question is not None:
            return self.question.portions[max(0, self.told - 1)]
        return "\n".join(line for asked in self.calls for line in asked.lines)

    @property
    def seconds(self) -> float:
        """Return the seconds left to answer it."""
        return ANSWER_TIME - (monotonic() - self.time)

    @property
    def asked_words(self) -> AskedWords:
        """Return the words that a yes may repeat."""
        lines = self.calls[0].lines if self.calls else []
        return asked_words_of([step for asked in self.calls for step in asked.plan.steps], lines)

    def is_open(self, caller: Caller, agent: str | None) -> bool:
        """Return whether the next message can answer it: in time, from the same speaker, to the agent that asked."""
        return (
            self.agent == agent
            and _speaker(self.caller) == _speaker(caller)
            and _messages(caller.chat_log) == self.spoken + 1
            and monotonic() - self.time <= ANSWER_TIME
        )

    def reply(self, message: str, language: str) -> Reply:
        """Return the meaning of a message; a yes before all consequential items were asked means MORE."""
        reply = parse_reply(message, language, self.asked_words)
        if reply is Reply.NO or self.question is None or self.told >= len(self.question.portions):
            return reply
        is_early = reply is Reply.YES and self.told < self.question.needed
        return Reply.MORE if is_early or asks_for_more(message, language) else reply


@dataclass(slots=True)
class ConfirmationState:
    """One turn of our own agent: the reply to the last question, and the calls to ask about next."""

    language: str
    room: int = MAX_READ
    """Maximum characters of one portion."""
    heard: Reply = Reply.OTHER
    answered: list[AskedCall] = field(default_factory=list)
    """The calls that the last question asked about."""
    agreed: dict[str, AskedCall] = field(default_factory=dict)
    """Calls that the user agreed to, by the ids of the repeated tool calls."""
    asked: dict[str, AskedCall] = field(default_factory=dict)
    """Calls that need confirmation, each once."""
    question: PortionedQuestion | None = None
    told: int = 0
    """The number of portions that were asked so far."""
    is_told: bool = False
    """True once the question has reached the user."""
    agent: str | None = None
    """The subentry id of the agent that takes the turn."""
    has_tools: bool = True
    """False if the agent has no tools any more."""

    @property
    def note(self) -> str | None:
        """Return the note for the model about calls that the message did not confirm; None if there are none."""
        if not self.answered or self.heard in (Reply.YES, Reply.MORE):
            return None
        what = "; ".join(asked.plan.words.replace("\n", " ") for asked in self.answered)
        if not self.has_tools:
            return _NO_TOOLS.format(what=what)
        return (_REFUSED if self.heard is Reply.NO else _DROPPED).format(what=what)

    def next_words(self) -> str | None:
        """Return the next portion of the question; None if the model has to word it in the user's language."""
        if self.question is None:
            if (says := words_for(self.language)) is None:
                return None
            calls = [*self.asked.values()]
            lines = [line for asked in calls for line in asked.lines]
            title = calls[0].title if len(calls) == 1 else says["count"].format(count=len(lines))
            before = [line for asked in calls for line in asked.before]
            items = [
                # With several calls, the words of each item begin with the title of its call.
                replace(item, words=f"{asked.title}: {item.words}") if len(calls) > 1 < len(asked.items) else item
                for asked in calls
                for item in asked.items
            ]
            # With several calls, a remark would not show which call it is about.
            remark = calls[0].remark if len(calls) == 1 else ""
            self.question = question_of(says, before, lines, items, title=title, room=self.room, remark=remark)
        self.told += 1
        return self.question.portions[self.told - 1]

    def sort(self, content: Sequence[object]) -> None:
        """Sort the calls to ask about by their order in the response, because calls run in parallel."""
        ids = [call.id for item in content if isinstance(item, AssistantContent) for call in item.tool_calls or ()]
        known = {key: ids.index(asked.call_id) for key, asked in self.asked.items() if asked.call_id in ids}
        self.asked = {key: self.asked[key] for key in sorted(self.asked, key=lambda key: known.get(key, len(ids)))}

    def agree(self, content: Sequence[object]) -> list[llm.ToolInput]:
        """Return the confirmed calls as new tool calls with new ids."""
        made = {
            call.id: call for item in content if isinstance(item, AssistantContent) for call in item.tool_calls or ()
        }
        calls = []
        for asked in self.answered:
            if (call := made.get(asked.call_id)) is not None:
                again = llm.ToolInput(call.tool_name, call.tool_args, id=f"toolu_{ulid_now()}")
                self.agreed[again.id] = asked
                calls.append(again)
        return calls

    def refuses(self, hass: HomeAssistant, plan: Plan) -> bool:
        """Return whether the user's last message refused the plan, or a part of it."""
        if self.heard is not Reply.NO:
            return False
        return any(are_alike(hass, asked.plan, plan) for asked in self.answered)


_CONFIRMATIONS: HassKey[dict[str, ConfirmationState]] = HassKey(f"{DOMAIN}_hearings")
_QUESTIONS: HassKey[dict[str, OpenQuestion]] = HassKey(f"{DOMAIN}_questions")
_MEANT: HassKey[dict[str, str]] = HassKey(f"{DOMAIN}_meant_questions")
"""The id of the question that a message on its way answers, by the id of the message's context."""


@contextmanager
def confirmation_of(
    hass: HomeAssistant, caller: Caller, language: str, agent: str | None = None
) -> Iterator[ConfirmationState]:
    """Parse the last message and yield the turn's state; afterwards store the question if it has reached the user."""
    confirmations, questions = hass.data.setdefault(_CONFIRMATIONS, {}), hass.data.setdefault(_QUESTIONS, {})
    for old in [key for key, question in questions.items() if monotonic() - question.time > ANSWER_TIME]:
        del questions[old]
    key = str(caller.conversation_id)
    confirmation = ConfirmationState(language, MAX_HEARD if caller.device_id else MAX_READ, agent=agent)
    if (question := questions.pop(key, None)) is not None:
        confirmation.answered = question.calls
        meant = hass.data.get(_MEANT, {}).get(caller.context.id if caller.context else "", question.id)
        if meant == question.id and question.is_open(caller, agent):
            confirmation.heard = question.reply(caller.last_message or "", language)
        if confirmation.heard is Reply.MORE:
            confirmation.asked = {asked.call_id: asked for asked in question.calls}
            confirmation.question, confirmation.told = question.question, question.told
    outer = confirmations.get(key)
    confirmations[key] = confirmation
    try:
        yield confirmation
    finally:
        del confirmations[key]
        if outer is not None:
            confirmations[key] = outer
        if confirmation.is_told and confirmation.asked:
            spoken, asked = _messages(caller.chat_log), [*confirmation.asked.values()]
            words = confirmation.question, confirmation.told
            questions[key] = OpenQuestion(asked, caller, spoken, monotonic(), *words, agent)


@callback
def without_tools(hass: HomeAssistant, conversation_id: str, language: str) -> ConfirmationState:
    """Drop the open question of a conversation whose agent has lost its tools, so that no reply can run its calls."""
    question = hass.data.get(_QUESTIONS, {}).pop(conversation_id, None)
    return ConfirmationState(language, answered=question.calls if question else [], has_tools=False)


@callback
def agent_of(hass: HomeAssistant, caller: Caller) -> str | None:
    """Return the subentry id of our agent that takes the turn in the caller's conversation; None for other agents."""
    confirmation = hass.data.get(_CONFIRMATIONS, {}).get(str(caller.conversation_id)) if caller.chat_log else None
    return confirmation.agent if confirmation else None


@contextmanager
def answering(hass: HomeAssistant, question: OpenQuestion, context: Context) -> Iterator[None]:
    """Let the message in this context answer this question only, and no other message answer it meanwhile."""
    meant = hass.data.setdefault(_MEANT, {})
    meant[context.id] = question.id
    try:
        yield
    finally:
        del meant[context.id]


@callback
def open_questions(hass: HomeAssistant, user_id: str) -> dict[str, OpenQuestion]:
    """Return a user's unanswered questions from the app or a browser, by conversation id."""
    return {
        conversation_id: question
        for conversation_id, question in hass.data.get(_QUESTIONS, {}).items()
        if (question.caller.user_id, question.caller.device_id) == (user_id, None)
        and question.seconds > 0
        and question.id not in hass.data.get(_MEANT, {}).values()
        and _messages(question.caller.chat_log) == question.spoken
    }


@callback
def has_said_no(call: ToolCall, plan: Plan) -> bool:
    """Return whether the user's last message to our own agent refused the plan."""
    confirmation = call.hass.data.get(_CONFIRMATIONS, {}).get(str(call.caller.conversation_id))
    return confirmation is not None and confirmation.refuses(call.hass, plan)


async def async_ask(call: ToolCall, plan: Plan) -> llm.ToolResult | None:
    """Return the result that asks for confirmation, or None if the call may run.

    Raises NotAllowedError if nobody can confirm the call, or if the user said no.
    """
    caller = call.caller
    confirmation = call.hass.data.get(_CONFIRMATIONS, {}).get(str(caller.conversation_id)) if caller.chat_log else None
    if confirmation is None:
        return await _async_ask_elsewhere(call, plan)
    call_id = call.tool_input.id if call.tool_input else ""
    told = confirmation.agreed.pop(call_id, None)
    if told is not None and told.digest == digest(call.hass, plan):
        call.recording.is_agreed = True
        return None
    if confirmation.refuses(call.hass, plan):
        raise NotAllowedError(SAID_NO)
    if told is None and await async_reason_to_ask(call, plan) is None:
        return None
    await async_pause(plan.size)
    now, is_read = digest(call.hass, plan), confirmation.room >= MAX_READ
    lines = await async_lines(call.hass, call.exposure, plan, confirmation.language, is_read=is_read)
    title = plan.steps[0].title if len(plan.steps) == 1 else plan.sentence
    before = told.lines if told else []
    is_spoken = words_for(confirmation.language) is not None
    remark = await async_remark(call, plan, confirmation.language, is_read=is_read)
    confirmation.asked[_key(call)] = AskedCall(
        call_id, plan, lines, before, title, items_of(call, plan, lines), call, remark, now
    )
    then = _SPOKEN if is_spoken else _TO_BE_WORDED
    return _waiting(call.hass, plan, told.plan if told else None, then, "" if is_spoken else remark)


@dataclass(frozen=True, slots=True)
class _Told:
    """A plan that was described to another agent, which may call again after the user's next message."""

    plan: Plan
    digest: str
    call_id: str
    speaker: tuple[str | None, ...]
    spoken: int
    time: float


_TOLD: HassKey[dict[str, _Told]] = HassKey(f"{DOMAIN}_told")


async def _async_ask_elsewhere(call: ToolCall, plan: Plan) -> llm.ToolResult | None:
    """Ask through another agent, which calls again after the user has replied."""
    caller, now = call.caller, monotonic()
    told_calls = call.hass.data.setdefault(_TOLD, {})
    for old in [key for key, told in told_calls.items() if now - told.time > ANSWER_TIME]:
        del told_calls[old]
    spoken, speaker = _messages(caller.chat_log), _speaker(caller)
    asked = [one for one in told_calls.values() if one.speaker == speaker and one.spoken + 1 == spoken]
    told = told_calls.get(_key(call))
    if told not in asked or not _was_told(caller.chat_log, told):
        told = None
    is_refused = told is not None or any(are_alike(call.hass, one.plan, plan) for one in asked)
    if asked and is_refused and parse_reply(caller.last_message or "", caller.llm_context.language) is Reply.NO:
        raise NotAllowedError(SAID_NO)  # The entry stays, so that the refusal holds for the whole turn.
    told_calls.pop(_key(call), None)
    if told is not None:
        if told.digest == digest(call.hass, plan):
            call.recording.is_agreed = True
            return None
    elif await async_reason_to_ask(call, plan) is None:
        return None
    call_id = call.tool_input.id if call.tool_input else ""
    told_calls[_key(call)] = _Told(plan, digest(call.hass, plan), call_id, speaker, spoken, now)
    return _waiting(call.hass, plan, told.plan if told else None, _CALL_AGAIN, await async_remark(call, plan, "en"))


@callback
def _was_told(chat_log: ChatLog | None, told: _Told) -> bool:
    """Return whether the result with the full plan is in the conversation."""
    return any(
        isinstance(content, ToolResultContent)
        and content.tool_call_id == told.call_id
        and content.result.data.get("would") == told.plan.words
        for content in (chat_log.content if chat_log else ())
    )


def _waiting(hass: HomeAssistant, plan: Plan, before: Plan | None, then: str, remark: str) -> llm.ToolResult:
    """Return the result that describes the plan and says that the call waits for confirmation."""
    has_free_text = plan.has_free_text or has_free_name(hass, (one for step in plan.steps for one in step.entity_ids))
    told = {"besides": remark} if remark else {}
    told |= {"changed": _CHANGED.format(before=before.words)} if before else {}
    data: JsonObjectType = {"done": False, "would": plan.words, **told, "next": then}
    return llm.ToolResult(data=marked(data, when=True)) if has_free_text else OwnResult(data=data)


def _messages(chat_log: ChatLog | None) -> int:
    return sum(isinstance(content, UserContent) for content in chat_log.content) if chat_log else 0


def _speaker(caller: Caller) -> tuple[str | None, ...]:
    """Return a key of the conversation, the assistant, the user and the device."""
    return (caller.conversation_id, caller.assistant, caller.user_id, caller.device_id)


def _key(call: ToolCall) -> str:
    """Return the SHA-256 of a call: its speaker, config entry, tool and arguments."""
    made = (call.tool_input.tool_name, call.tool_input.tool_args) if call.tool_input else ()
    whole = [*_speaker(call.caller), call.options.entry_id, *made]
    return hashlib.sha256(json.dumps(whole, sort_keys=True, default=str).encode()).hexdigest()
