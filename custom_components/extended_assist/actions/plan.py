"""The plan of a sequence: its actions with their times."""

import re

from ..calls.call import ToolCall
from ..calls.plan import Frame, Step
from ..confirmation.wording import step_for
from ..results import format_duration
from .sequences import Delay, SequenceWalker


def planned_steps(call: ToolCall, walker: SequenceWalker, frame: Frame = ()) -> tuple[Step, ...]:
    """Return every action that a walker found, also those in branches, with the delays before them."""
    return tuple(
        step_for(call, one.name, one.entity_ids, one.data, (*_time_frame(delay, frame, index), *_place_frame(place)))
        for index, (one, place, delay) in enumerate(zip(walker.actions, walker.places, walker.delays, strict=True))
    )


def _time_frame(delay: Delay, frame: Frame, index: int) -> Frame:
    """Return the words for an action's time: relative to the whole sequence, or to the action before it."""
    begin: Frame = () if delay.is_later and index else frame
    if not delay.seconds and not delay.is_open:
        return begin
    most = "\u2264 " if delay.can_be_shorter else ""
    return (*begin, ("then", "?" if delay.is_open else f"{most}{format_duration(delay.seconds)}"))


def _place_frame(place: str) -> Frame:
    depends = re.search(r"\.(then|else|choose|default)\b", place)
    return (*((("maybe", ""),) if depends else ()), *((("repeated", ""),) if ".repeat." in place else ()))
