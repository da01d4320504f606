"""The answer that a model gives together with a call that changes something.

If the call's success is verified, the answer is spoken without another request.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from functools import cache
import json
from pathlib import Path
import re
from typing import Any, Final, override
import unicodedata

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
from homeassistant.util.json import JsonObjectType

from ..calls.call import ToolCall
from ..calls.change_recorder import Due
from ..calls.outcome import DoneResult
from ..calls.policy import Tier
from ..confirmation.untrusted_text import OwnResult, unwrapped
from ..confirmation.wording import known_language, words_for
from ..llm_tools.extended_tool import READ_ONLY, ExtendedTool, ToolboxInstance
from ..results import round_second
from .output_filter import filter_for
from .stream import Delta, ResponseStream
from .turn import AgentTurn

NEXT: Final = "{next}"
"""Placeholder in an answer for the next time of what was scheduled."""

_WORDS: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (Path(__file__).parent / "time_words.json").read_text(encoding="utf-8")
)
_VALUES: Final = (*range(2, 21), 25, 30, 40, 45, 50, 60, 70, 80, 90)
"""The numbers that the words of each "numbers" list in time_words.json name, in the same order."""
_AMBIGUOUS: Final = frozenset({"once", "due", "sei"})
"""Numbers of one language that are other words in another; they count only inside a duration."""
_NOT_ONLY_NUMBER: Final = "一"
"""The Chinese character for one, which is a part of many words: it counts only with a unit or another time word."""
_UNSPACED: Final = frozenset({"ko", "zh-Hans"})
"""Languages in which a name is also found inside a word."""
_TOLERANCE: Final = 10.0
"""Seconds that may pass between a call and its answer."""


def with_times(answer: str, dues: Iterable[Due], language: str | None) -> str | None:
    """Return an answer with the time in place of NEXT; None if it may name a time that differs from the results."""
    moments = {due.moment for due in dues}
    if not moments:
        return None if NEXT in answer else answer
    moment = next(iter(moments)) if len(moments) == 1 else None
    # Of a language whose words are not known, nobody can tell what it says.
    if words_for(language) is None or _names_time(answer.replace(NEXT, " "), moment):
        return None
    if NEXT not in answer:
        return answer
    return None if moment is None else answer.replace(NEXT, said_when(moment, language))


def said_when(moment: float, language: str | None) -> str:
    """Return a timestamp as spoken words: today, tomorrow with its weekday, or a date with its weekday, and the time."""
    words = _WORDS[known_language(language) or "en"]
    local, today = dt_util.as_local(round_second(moment)), dt_util.now().date()
    key = {0: "today", 1: "tomorrow"}.get((local.date() - today).days, "day")
    weekday, month = words["weekdays"][local.weekday()], words["months"][local.month - 1]
    said: str = words["says"][key].format(time=f"{local:%H:%M}", weekday=weekday, month=month, day=local.day)
    return said


def _names_time(text: str, moment: float | None) -> bool:
    """Return whether a text names a time, other than the duration until a given one."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("o'clock", "oclock")
    names, numbers, lengths, counts, units = _patterns()
    found = [*lengths.finditer(plain)]
    seconds = sum(_count(one["count"], counts) * units[one["unit"]] for one in found)
    if (
        found
        and moment is not None
        and abs(moment - dt_util.utcnow().timestamp() - seconds) <= _TOLERANCE + seconds / 100
    ):
        plain = lengths.sub(" ", plain)
    return (
        # Normalizing makes letters of Roman numerals.
        any(unicodedata.category(char) in {"Nl", "No"} for char in text)
        or any(char.isnumeric() and char != _NOT_ONLY_NUMBER for char in plain)
        or names.search(plain) is not None
        or numbers.search(plain) is not None
    )


def _count(text: str, counts: Mapping[str, int]) -> int:
    return int(text) if text.isdecimal() else counts[text]


def _name_pattern(name: str) -> str:
    """Return the pattern for a name; a star at its start or end stands for the rest of a word."""
    start = "" if name.startswith("*") else r"(?<!\w)"
    return rf"{start}{re.escape(name.strip('*'))}{'' if name.endswith('*') else r'(?!\w)'}"


type _Patterns = tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], Mapping[str, int], Mapping[str, int]]


@cache
def _patterns() -> _Patterns:
    """Return the patterns for time words, numbers and durations, with the values of numbers and units."""
    names, numbers = list[str](), list[str]()
    counts, units = dict[str, int](), dict[str, int]()
    in_words: list[str] = []
    for language, words in _WORDS.items():
        found = [*words["names"], *(unit for forms in words["units"].values() for unit in forms)]
        counts |= dict.fromkeys(words["one"], 1) | dict(zip(words["numbers"], _VALUES, strict=True))
        units |= {unit: int(seconds) for seconds, forms in words["units"].items() for unit in forms}
        if language in _UNSPACED:
            names += map(re.escape, found)
            in_words += [unit for forms in words["units"].values() for unit in forms]
        else:
            names += map(_name_pattern, found)
            numbers += [number for number in words["numbers"] if number not in _AMBIGUOUS]
    either = "|".join(map(re.escape, sorted(counts, key=len, reverse=True)))
    spaced = "|".join(map(re.escape, sorted(set(units) - set(in_words), key=len, reverse=True)))
    unspaced = "|".join(map(re.escape, sorted(in_words, key=len, reverse=True)))
    lengths = rf"(?<![\w.,:])(?P<count>\d{{1,5}}|{either})\s*(?P<unit>(?:{spaced})(?!\w)|{unspaced})"
    return (
        re.compile("|".join(names)),
        re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, numbers))})(?!\w)"),
        re.compile(lengths),
        counts,
        units,
    )


ANSWER_WHEN_DONE: Final = "answer_when_done"

_WHOLE: Final = ("tool_use", "end_turn", "stop_sequence")
"""Stop reasons of a complete response."""

_CUT_OFF = "your response did not come to its end"
_SEVERAL = "it was called several times"
_EMPTY = "there was no answer in it"
_ALREADY = "you had said something already"
_ALONE = "no call that acts came with it"
_NOT_SEEN = "not every call is seen to have done all that it was to do, or one looked something up"
_WRONG_TIME = f"it names a day, a time or a length that is not in the results, or {NEXT} does not stand for one moment that they give"
_THEN = "Not spoken: {why}. Answer from the results."


class AnswerWhenDoneTool(ExtendedTool):
    """Takes an answer in advance, which our tool loop speaks. Other callers get a note that nothing was said."""

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
        """Return the note that nothing was said."""
        return _not_spoken(_ALONE)


def offer(instance: ToolboxInstance, *, when: bool) -> bool:
    """Add the tool to an API instance or remove it; return whether it is there.

    It is useful only beside tools whose success can be verified, and never replaces another tool of the same name.
    """
    tools = [tool for tool in instance.tools if not isinstance(tool, AnswerWhenDoneTool)]
    is_of_use = any(getattr(unwrapped(tool), "shows_success", False) for tool in tools)
    is_there = when and is_of_use and all(tool.name != ANSWER_WHEN_DONE for tool in tools)
    instance.tools = [*tools, AnswerWhenDoneTool()] if is_there else tools
    return is_there


async def async_answer_when_done(turn: AgentTurn, response: ResponseStream) -> bool:
    """Speak the answer that came with a response's calls, or tell the model why not; return whether it was spoken.

    The results of the calls are already in the chat log.
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
    """Return the answer after the output filter."""
    answer = response.answers[-1].tool_args.get("answer")
    if not isinstance(answer, str):
        return ""
    answer_filter = filter_for(turn.chat_log)
    answer_filter.begin()
    return (answer_filter.add(answer) + answer_filter.end()).strip()


def _reason_against(turn: AgentTurn, response: ResponseStream, answer: str) -> str | None:
    """Return why an answer may not be spoken, or None."""
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
    """Yield the calls of a response whose success was verified, with their results."""
    for item in turn.chat_log.content:
        if item.role == "tool_result" and item.tool_call_id in response.calls and isinstance(item.result, DoneResult):
            yield item.tool_call_id, item.result


def _dues(turn: AgentTurn, response: ResponseStream) -> list[Due]:
    return [result.due for _, result in _done(turn, response) if result.due is not None]


def _not_spoken(why: str) -> JsonObjectType:
    return {"spoken": False, "note": _THEN.format(why=why)}
