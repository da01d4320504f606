"""Division of steps with delays into parts: each part after a delay is a separate task, so it survives a restart."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise, takewhile
import re
from typing import Any, Final

import voluptuous as vol

from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.template import is_template_string

from ..calls.desired_states import brings_to_rest
from ..results import ToolError, texts_in
from .phrases import duration_words
from .scheduled_task import Progress, ScheduledTask, Until, What, When

MAX_DELAY: Final = 24 * 3600.0
"""The longest sum of all delays of a task, in seconds."""
MAX_PARTS: Final = 20
IN_RUN: Final = 10.0
"""The longest delay, in seconds, that stays inside one run; a longer one starts a new part."""
MAX_WAITS: Final = 120.0
"""The longest sum of waits in one part, in seconds; the rest of a run's time is for its actions."""

_TOP: Final = "Put the delay between the steps themselves, as {'delay': {'minutes': 10}}: there it may be up to a day."
_FIXED: Final = "Write a fixed time, such as {'delay': {'minutes': 10}}."


def chained(steps: list[Any], say: str | None, ask: str | None, place: str) -> What:
    """Divide steps at their long top-level delays and return the first part; the last part gets the words.

    Raises ToolError for too many or too long delays, for waits without a fixed limit, and for variables that are used
    after a delay.
    """
    parts: list[What] = [What()]
    for index, step in enumerate(steps):
        where = f"{place}[{index}]"
        if "delay" in step and _is_on(step, where) and (delay := _fixed(step["delay"], where)) > IN_RUN:
            parts.append(What(wait=delay))
        else:
            parts[-1].actions.append(step)
    if len(parts) > MAX_PARTS:
        raise ToolError(f"{place}: at most {MAX_PARTS - 1} delays. Give fewer.")
    if (delays := sum(part.wait for part in parts)) > MAX_DELAY:
        raise ToolError(
            f"{place}: the delays are {duration_words(delays)} in all, and at most a day. Give 'when' for later."
        )
    for part in parts:
        if (waits := _waits(part.actions, place)) > MAX_WAITS:
            raise ToolError(
                f"{place}: the steps would wait up to {duration_words(waits)}, and may wait {duration_words(MAX_WAITS)}. {_TOP}"
            )
    _check_variables(parts, place)
    # A delay at the end only matters if words follow it.
    while len(parts) > 1 and not (parts[-1].actions or say or ask):
        parts.pop()
    parts[-1].say, parts[-1].ask = say, ask
    acted_on: set[str] = set()
    for part in parts:
        part.takes_back = _takes_back(part, acted_on)
        acted_on |= _acted_on(part)
    return _linked(parts)


def _linked(parts: list[What]) -> What:
    for before, following in pairwise(parts):
        before.then = following
    return parts[0]


def as_parts(what: What) -> What:
    """Divide the steps that an earlier version stored into parts; return them unchanged if that is not possible."""
    if what.then is not None or any("entity_ids" in step for step in what.actions):
        return what
    try:
        return replace(chained(what.actions, what.say, what.ask, "actions"), things=what.things)
    except ToolError:
        return what


def steps_of(what: What) -> list[dict[str, Any]]:
    """Return the steps of all parts with the delays between them."""
    steps: list[dict[str, Any]] = []
    for part in what.parts:
        steps += [{"delay": {"seconds": part.wait}}] if part.wait and part is not what else []
        steps += part.actions
    return steps


def taking_back(what: What, *, keeps_words: bool = False) -> What | None:
    """Return the parts right after a part that only turn off, close or lock its targets, or None.

    Their words could claim actions that were not done, so they are dropped unless `keeps_words`.
    """
    acted_on = _acted_on(what)
    following = [*what.parts][1:]
    kept = [*takewhile(lambda part: _takes_back(part, acted_on), following)]
    if not kept:
        return None
    return _linked(
        [replace(part, then=None) if keeps_words else replace(part, then=None, say=None, ask=None) for part in kept]
    )


def with_words(what: What, change: Callable[[str], str]) -> What:
    """Return a copy of parts with the message of the last one changed."""
    parts = [replace(part, then=None) for part in what.parts]
    parts[-1].say = change(said) if (said := parts[-1].say) else said
    return _linked(parts)


def is_back(what: What) -> bool:
    """Return whether a part has actions and they only turn off, close, lock or stop something."""
    return bool(what.actions) and all(brings_to_rest(str(step.get("action"))) for step in what.actions)


def follow_up(task: ScheduledTask, rest: What, since: float) -> ScheduledTask:
    """Return the parts after one that ended at `since` as a new task with the same name, owner and agreement."""
    moment = since + rest.wait
    return ScheduledTask(
        name=task.name,
        owner=replace(task.owner),
        when=When(moment=moment),
        what=replace(deepcopy(rest), things=dict(task.what.things)),
        audience=replace(task.audience),
        until=Until(done=task.until.done),
        agreed=task.agreed,
        agreed_to=task.agreed_to,
        progress=Progress(due=moment),
        after=task.after or task.id,
    )


def _takes_back(part: What, acted_on: set[str]) -> bool:
    """Return whether a part only turns off, closes or locks targets that earlier parts acted on."""
    here = _acted_on(part)
    return is_back(part) and bool(here) and acted_on >= here


def _acted_on(part: What) -> set[str]:
    """Return the ids of the entities, areas and other places that a part acts on."""
    targets = [step.get("target") or {"entity_id": step.get("entity_ids", [])} for step in part.actions]
    values = [value for target in targets for value in target.values()]
    return {one for value in values for one in ([value] if isinstance(value, str) else value)}


def targets_of(steps: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the target entities of steps."""
    for step in steps:
        found = step.get("entity_ids") or (step.get("target") or {}).get("entity_id", ())
        yield from [found] if isinstance(found, str) else found


def _is_on(step: Mapping[str, Any], place: str) -> bool:
    """Return whether a step is enabled; raises ToolError if a template decides that."""
    enabled = step.get("enabled", True)
    if isinstance(enabled, str) and is_template_string(enabled):
        raise ToolError(
            f"{place}.enabled: whether a step waits must be known now. Leave it out, or leave out the step."
        )
    return bool(cv.boolean(enabled))


def _fixed(value: Any, place: str) -> float:
    """Return a fixed time in seconds; raises ToolError for a template or an invalid time."""
    if any(is_template_string(text) for text, _ in texts_in([value])):
        raise ToolError(f"{place}: how long this takes must be known now. {_FIXED}")
    try:
        return float(cv.positive_time_period(value).total_seconds())
    except (vol.Invalid, OverflowError) as err:
        raise ToolError(f"{place}: '{value}' is no time. {_FIXED}") from err


def _waits(steps: Any, place: str) -> float:
    """Return the longest time that steps wait, in seconds, without actions; raises ToolError if it is unbounded."""
    listed = steps if isinstance(steps, list) else [steps]
    return sum(_waits_of(step, f"{place}[{index}]") for index, step in enumerate(listed) if isinstance(step, Mapping))


def _waits_of(step: Mapping[str, Any], place: str) -> float:
    """Return the longest time that one step waits, in seconds; raises ToolError if it is unbounded."""
    if not _is_on(step, place):
        return 0.0
    if "delay" in step:
        return _fixed(step["delay"], place)
    if "wait_template" in step or "wait_for_trigger" in step:
        if step.get("timeout") is None:
            raise ToolError(
                f"{place}: this may wait for good. Give a timeout of at most {MAX_WAITS:g} seconds; to wait longer for "
                "something, call do_later with 'triggers' for the steps after it."
            )
        return _fixed(step["timeout"], f"{place}.timeout")
    if isinstance(repeat := step.get("repeat"), Mapping):
        return _waits_of_repeat(repeat, f"{place}.repeat")
    if "parallel" in step:
        branches = step["parallel"] if isinstance(step["parallel"], list) else [step["parallel"]]
        return max((_waits(branch, f"{place}.parallel") for branch in branches), default=0.0)
    if "choose" in step:
        options = step["choose"] if isinstance(step["choose"], list) else [step["choose"]]
        branches = [*(option.get("sequence", []) for option in options), step.get("default") or []]
        return max(_waits(branch, f"{place}.choose") for branch in branches)
    if "if" in step:
        return max(_waits(step.get(key) or [], f"{place}.{key}") for key in ("then", "else"))
    return _waits(step["sequence"], f"{place}.sequence") if "sequence" in step else 0.0


def _waits_of_repeat(repeat: Mapping[str, Any], place: str) -> float:
    """Return the longest time that a loop waits, in seconds; raises ToolError if it is unbounded."""
    if not (inner := _waits(repeat.get("sequence") or [], f"{place}.sequence")):
        return 0.0
    if isinstance(items := repeat.get("for_each"), list):
        return inner * len(items)
    try:
        return inner * max(0, int(repeat["count"]))
    except (KeyError, TypeError, ValueError) as err:
        raise ToolError(
            f"{place}: how often this waits must be known now. Give a fixed 'count', or call do_later with 'repeat'."
        ) from err


def _check_variables(parts: list[What], place: str) -> None:
    """Raise ToolError if a step after a delay uses a variable of a step before it: a run's variables do not survive."""
    made: set[str] = set()
    for part in parts:
        made_here: set[str] = set()
        for step in part.actions:
            used = " ".join(text for text, _ in texts_in(step, keys=True) if is_template_string(text))
            if names := sorted(name for name in made - made_here if re.search(rf"\b{re.escape(name)}\b", used)):
                raise ToolError(
                    f"{place}: '{names[0]}' is made before a delay and used after it, where it is not there any more. "
                    "Make it again after the delay."
                )
            made_here |= {*_names(step)}
        made |= made_here


def _names(value: Any) -> Iterator[str]:
    """Yield the variables that steps define, also in nested steps."""
    for item in value if isinstance(value, list) else value.values() if isinstance(value, Mapping) else ():
        yield from _names(item)
    if isinstance(value, Mapping):
        if isinstance(variables := value.get("variables"), Mapping):
            yield from map(str, variables)
        if isinstance(name := value.get("response_variable"), str):
            yield name
        if "wait_template" in value or "wait_for_trigger" in value:
            yield "wait"
