"""What a sequence would do, as the steps of a plan."""

import re

from ..toolbox.call import ToolCall
from ..toolbox.plan import Frame, Step
from ..toolbox.telling import step_for
from .sequences import SequenceWalker


def planned_steps(call: ToolCall, walker: SequenceWalker, frame: Frame = ()) -> tuple[Step, ...]:
    """Return every action that a walker found, those in branches too, within a frame."""
    return tuple(
        step_for(call, one.name, one.entity_ids, one.data, (*frame, *_place_frame(place)))
        for one, place in zip(walker.actions, walker.places, strict=True)
    )


def _place_frame(place: str) -> Frame:
    """Return the words for an action's place in a sequence."""
    depends = re.search(r"\.(then|else|choose|default)\b", place)
    return (*((("maybe", ""),) if depends else ()), *((("repeated", ""),) if ".repeat." in place else ()))
