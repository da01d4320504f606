"""An answer that comes with the calls it depends on: spoken without another request once they are seen to have succeeded."""

from collections.abc import AsyncGenerator, Iterator
from typing import Final, override

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.change_recorder import Due
from ..calls.outcome import DoneResult
from ..calls.policy import Tier
from ..confirmation.untrusted_text import OwnResult, unwrapped
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool, ToolboxInstance
from .output_filter import filter_for
from .prepared import NEXT, with_times
from .stream import Delta, ResponseStream
from .turn import AgentTurn

ANSWER_WHEN_DONE: Final = "answer_when_done"

_WHOLE: Final = ("tool_use", "end_turn", "stop_sequence")
"""Why a response ended that has all that the model had to say."""

_CUT_OFF = "your response did not come to its end"
_SEVERAL = "it was called several times"
_EMPTY = "there was no answer in it"
_ALREADY = "you had said something already"
_ALONE = "no call that acts came with it"
_NOT_SEEN = "not every call is seen to have done all that it was to do, or one looked something up"
_WRONG_TIME = f"it names a day, a time or a length that is not in the results, or {NEXT} does not stand for one moment that they give"
_THEN = "Not spoken: {why}. Answer from the results."


class AnswerWhenDoneTool(ExtendedTool):
    """Takes an answer in advance. Whoever drives the conversation speaks it; called in any other way, it does nothing."""

    name = ANSWER_WHEN_DONE
    title = "Answer when done"
    description = (
        "Whenever you act, call this too, in the same response. The answer is spoken at once, but only if every call "
        "beside it is seen to have succeeded; else you get the results, and answer as usual."
    )
    annotations = READ_ONLY
    family = "answer"
    tier = Tier.READ
    parameters = vol.Schema(
        {
            vol.Required(
                "answer",
                description="What to say if all succeed, briefly, in the user's language. Say when something planned happens as "
                f"{NEXT}: it becomes such as 'tomorrow, Friday, at 07:00'. Name no other day or time.",
            ): cv.string
        }
    )

    @override
    async def async_run(self, call: ToolCall) -> JsonObjectType:
        """Say that nothing was said."""
        return _not_spoken(_ALONE)


def offer(instance: ToolboxInstance, *, when: bool) -> bool:
    """Put the tool into an instance, or take it out; return whether it is there.

    It is of use only beside tools whose success can be seen, and never takes the name of another one.
    """
    tools = [tool for tool in instance.tools if not isinstance(tool, AnswerWhenDoneTool)]
    is_of_use = any(getattr(unwrapped(tool), "shows_success", False) for tool in tools)
    is_there = when and is_of_use and all(tool.name != ANSWER_WHEN_DONE for tool in tools)
    instance.tools = [*tools, AnswerWhenDoneTool()] if is_there else tools
    return is_there


async def async_answer_when_done(turn: AgentTurn, response: ResponseStream) -> bool:
    """Speak the answer that a response brought with its calls, or tell the model why not; return whether it was spoken.

    The calls have their results by now.
    """
    if not response.answers:
        return False
    prepared = _shown(turn, response)
    why = _reason_against(turn, response, prepared)
    answer = None if why else with_times(prepared, _dues(turn, response), turn.language)
    if answer is None:
        why = why or _WRONG_TIME
    result = OwnResult(data=_not_spoken(why) if why else {"spoken": True})

    async def deltas() -> AsyncGenerator[Delta]:
        for call in response.answers:
            yield {"role": "tool_result", "tool_call_id": call.id, "tool_name": call.tool_name, "result": result}
        if answer is not None:
            shown = turn.screen.async_markdown() if turn.screen else ""
            yield {"role": "assistant", "content": answer + shown}

    async for _ in turn.chat_log.async_add_delta_content_stream(turn.agent_id, deltas()):
        pass
    return not why


def _shown(turn: AgentTurn, response: ResponseStream) -> str:
    """Return the answer as it may be shown: it is filtered like any other, by what was read up to now."""
    answer = response.answers[-1].tool_args.get("answer")
    if not isinstance(answer, str):
        return ""
    answer_filter = filter_for(turn.chat_log)
    answer_filter.begin()
    return (answer_filter.add(answer) + answer_filter.end()).strip()


def _reason_against(turn: AgentTurn, response: ResponseStream, answer: str) -> str | None:
    """Return why an answer must not be spoken, or None."""
    if response.error or response.stop_reason not in _WHOLE:
        return _CUT_OFF
    if len(response.answers) > 1:
        return _SEVERAL
    if not answer:
        return _EMPTY
    if response.has_text:
        return _ALREADY
    if not response.calls:
        return _ALONE
    # One call may have taken back what another did, and a device may have gone back by itself.
    done = {call_id for call_id, result in _done(turn, response) if result.still_holds()}
    return None if response.calls <= done and not response.has_looked else _NOT_SEEN


def _done(turn: AgentTurn, response: ResponseStream) -> Iterator[tuple[str, DoneResult]]:
    """Yield the calls of a response that are done, with their results."""
    for item in turn.chat_log.content:
        if item.role == "tool_result" and item.tool_call_id in response.calls and isinstance(item.result, DoneResult):
            yield item.tool_call_id, item.result


def _dues(turn: AgentTurn, response: ResponseStream) -> list[Due]:
    """Return when what the calls of a response planned happens next."""
    return [result.due for _, result in _done(turn, response) if result.due is not None]


def _not_spoken(why: str) -> JsonObjectType:
    """Return the note to the model for an answer that was not spoken."""
    return {"spoken": False, "note": _THEN.format(why=why)}
