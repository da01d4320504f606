"""Asks an agent the questions, each in a conversation of its own, and counts what it took."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from homeassistant.components import conversation
from homeassistant.components.conversation.trace import async_clear_traces, async_get_traces
from homeassistant.core import Context, HomeAssistant
from homeassistant.helpers import chat_session
from homeassistant.util import dt as dt_util

from .grading import Verdict, asks, grade
from .home import LiveHome, Snapshot
from .house import House
from .questions import DELAY, Question, questions

_LATE = 4.0
"""Seconds after which what was to happen later is given up."""
_EARLY = 3.0
"""Seconds by which it may come sooner: a model may count from when it was asked."""


@dataclass(slots=True)
class Turn:
    """One message and its answer."""

    answer: str
    failed: str
    """What was said in place of an answer where the service failed."""
    requests: int
    tools: int
    tokens: Counter[str]
    first_word: float
    seconds: float


@dataclass(slots=True)
class Answered:
    """A question with what became of it."""

    question: Question
    verdict: Verdict
    turns: list[Turn] = field(default_factory=list)
    main: int = 0
    """Which of the turns is the question's own."""


class Interviewer:
    """Talks to an agent as a person would who is logged in."""

    def __init__(self, hass: HomeAssistant, agent_id: str, user_id: str) -> None:
        """Take whom to talk to, and as whom."""
        self._hass, self._agent_id, self._user_id = hass, agent_id, user_id

    async def say(self, text: str, language: str, conversation_id: str | None) -> tuple[Turn, str | None]:
        """Say something; return the answer and the conversation."""
        first: list[float] = []

        def listen(_: conversation.ChatLog, delta: dict[str, Any]) -> None:
            if delta.get("content") and delta.get("role") != "tool_result" and not first:
                first.append(perf_counter())

        context = Context(user_id=self._user_id)
        async_clear_traces()
        start = perf_counter()
        with (
            chat_session.async_get_chat_session(self._hass, conversation_id, context=context) as session,
            conversation.async_get_chat_log(self._hass, session, chat_log_delta_listener=listen),
        ):
            result = await conversation.async_converse(
                self._hass, text, session.conversation_id, context, language=language, agent_id=self._agent_id
            )
        seconds = perf_counter() - start
        answer = str(result.response.speech.get("plain", {}).get("speech") or "")
        # What is said where the service failed is no answer of the model, however modest it sounds.
        answer, failed = ("", answer) if result.response.error_code else (answer, "")
        first_word = (first[0] if first else start + seconds) - start
        turn = Turn(answer, failed, 0, 0, Counter(), first_word, seconds)
        for trace in async_get_traces():
            for event in trace.as_dict()["events"]:
                _count(turn, event)
        return turn, result.conversation_id


def _count(turn: Turn, event: dict[str, Any]) -> None:
    """Count one event of a conversation's trace."""
    data = event["data"] or {}
    turn.tools += event["event_type"] == conversation.trace.ConversationTraceEventType.TOOL_CALL
    if stats := data.get("stats"):
        written = (data.get("usage") or {}).get("cache_creation") or {}
        turn.requests += 1
        turn.tokens += Counter(
            input=stats["uncached_input_tokens"],
            cached=stats["cached_input_tokens"],
            written=stats["cache_creation_input_tokens"],
            written_for_an_hour=written.get("ephemeral_1h_input_tokens") or 0,
            output=stats["output_tokens"],
        )


async def async_evaluate(
    interviewer: Interviewer, home: LiveHome, house: House, chosen: list[int], say: Callable[[str], None]
) -> list[Answered]:
    """Ask the chosen ones of all questions, which are made anew each time: what is true can change with the hour."""
    found = []
    for number, index in enumerate(chosen, 1):
        question = questions(house, dt_util.utcnow())[index]
        await home.async_reset()
        answered = await _async_ask(interviewer, home, house, question)
        found.append(answered)
        say(f"{number}/{len(chosen)} {question.kind}, {answered.verdict.outcome}: {question.text}")
    await home.async_reset()
    return found


async def _async_ask(interviewer: Interviewer, home: LiveHome, house: House, question: Question) -> Answered:
    """Hold the conversation of one question, and judge it."""
    before, written_before = home.snapshot(), await home.async_automations()
    turns: list[Turn] = []
    conversation_id: str | None = None
    done = True
    changed: set[str] = set()

    async def say(text: str) -> Turn:
        nonlocal conversation_id
        turn, conversation_id = await interviewer.say(text, question.language, conversation_id)
        turns.append(turn)
        return turn

    for text, acts in question.before:
        await say(text)
        now = home.snapshot()
        done = done and all(act.seen(now) for act in acts)
        changed |= _differences(before, now) - {act.entity_id for act in acts}
    start = perf_counter()
    turn, asked = await say(question.text), None
    if question.reply:
        asked = asks(turn.answer)
        changed |= _differences(before, home.snapshot())
        if await home.async_automations() != written_before:
            changed.add("automations")
        if asked:
            await say(question.reply)
    if question.delay:
        if perf_counter() - start < DELAY - _EARLY:
            changed |= _differences(before, home.snapshot())
        await _async_wait(home, question, turn)
    now, written = home.snapshot(), await home.async_automations()
    acted = {act.entity_id for act in question.acts}
    kept = _differences(before, now) <= acted
    changed |= _differences(before, now) - acted - {act.entity_id for _, acts in question.before for act in acts}
    if question.written:
        done = done and question.written.seen(written_before, written)
    elif written != written_before:
        changed.add("automations")
    verdict = grade(
        turns[-1].answer,
        facts=question.facts,
        done=done and kept and all(act.seen(now) for act in question.acts),
        acts=bool(question.acts or question.written or question.before),
        unasked=changed,
        told=_untold(house, question),
        asked=asked,
    )
    return Answered(question, verdict, turns, len(question.before))


async def _async_wait(home: LiveHome, question: Question, turn: Turn) -> None:
    """Wait for what is to happen later, if the model did anything about it."""
    deadline = perf_counter() + question.delay + _LATE
    while turn.tools and perf_counter() < deadline and not all(act.seen(home.snapshot()) for act in question.acts):
        await asyncio.sleep(0.1)


def _differences(before: Snapshot, now: Snapshot) -> set[str]:
    return {entity_id for entity_id, seen in now.items() if seen != before[entity_id]}


def _untold(house: House, question: Question) -> list[str]:
    """Return what an answer must not say: all that is hidden, but for the words of the question itself."""
    names = [name for thing in house.things.values() if thing.hidden for name in thing.names]
    return [*house.secrets, *(name for name in names if name not in question.text)]
