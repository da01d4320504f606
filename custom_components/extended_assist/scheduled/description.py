"""Descriptions of a task: in words, and as the plan that the user confirms; they name only exposed entities."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from homeassistant.const import ATTR_AREA_ID
from homeassistant.core import HomeAssistant, callback

from ..actions.perform import planned_steps
from ..actions.sequences import SequenceWalker
from ..automations.describe import AutomationDescriber
from ..automations.secret_values import exposed_places
from ..calls.call import ToolCall
from ..calls.plan import Frame, Plan, Step
from ..calls.visible_text import name_shown, quoted
from ..confirmation.confirmation_reason import ASK_LATER
from ..confirmation.wording import describe, framed, step_for
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..results import format_duration, format_time
from .parser import describe_when
from .parts import steps_of
from .phrases import duration_words
from .scheduled_task import Audience, Hearer, ScheduledTask, Until, What

SAY_LATER: Final = f"{DOMAIN}.say_later"
_UNTOLD: Final = "something that is hidden now"


@callback
def is_resolved(step: Mapping[str, Any]) -> bool:
    """Return whether a step is an action whose entities were resolved when the task was made."""
    return "entity_ids" in step


@callback
def entity_ids_of(task: ScheduledTask) -> list[str]:
    """Return the ids of a task's target entities and watched cameras."""
    watched = task.when.watch.entity_ids if task.when.watch else ()
    return list(dict.fromkeys([*watched, *_ids_in([part.actions for part in task.what.parts])]))


def _ids_in(value: Any) -> Iterator[str]:
    """Yield the entity ids in the targets of steps, also of nested steps."""
    for item in value if isinstance(value, list) else value.values() if isinstance(value, Mapping) else ():
        yield from _ids_in(item)
    if isinstance(value, Mapping):
        for part, key in ((value, "entity_ids"), (value.get("target"), "entity_id")):
            found = part.get(key, ()) if isinstance(part, Mapping) else ()
            yield from [found] if isinstance(found, str) else found


@callback
def is_task_visible(exposure: Exposure, task: ScheduledTask) -> bool:
    """Return whether a task may be shown: at least one of its targets and cameras is exposed, or it has none."""
    entity_ids = entity_ids_of(task)
    return not entity_ids or any(map(exposure.is_exposed, entity_ids))


@callback
def describe_content(hass: HomeAssistant, exposure: Exposure, what: What) -> str:
    """Return the content of a task, in words."""
    parts = [_told_step(hass, exposure, step) for step in what.actions]
    parts += [f"{verb}: {seen(exposure, text)}" for verb, text in (("Say", what.say), ("Ask", what.ask)) if text]
    if what.then is not None:
        parts.append(f"then, {duration_words(what.then.wait)} later: {describe_content(hass, exposure, what.then)}")
    return "; ".join(parts)


@callback
def describe_task(hass: HomeAssistant, exposure: Exposure, task: ScheduledTask) -> str:
    """Return the content of a task in words, with the thing that its camera watch looks for."""
    watch, what = task.when.watch, describe_content(hass, exposure, task.what)
    return "; ".join(filter(None, (f"Watch: {seen(exposure, watch.see)}" if watch else "", what)))


@callback
def short_description(what: What) -> str:
    """Return the content of a task in few words, without entity names, because exposure can change.

    The user's message or question, if there is one, is returned unchanged.
    """
    *_, last = what.parts
    if words := last.say or last.ask:
        return words
    if len(what.actions) == 1 and is_resolved(what.actions[0]):
        return str(what.actions[0]["action"]).partition(".")[2].replace("_", " ").capitalize()
    count = sum(len(part.actions) for part in what.parts)
    return f"{count} steps" if count > 1 else "1 step"


def _told_step(hass: HomeAssistant, exposure: Exposure, step: Mapping[str, Any]) -> str:
    if is_resolved(step):
        return describe(exposure, step["action"], step["entity_ids"], exposure.visible_value(step["data"]))
    return ", ".join(words for words, _ in AutomationDescriber(hass, exposure).pieces({"actions": [step]})[1])


@callback
def describe_audience(hass: HomeAssistant, exposure: Exposure, audience: Audience) -> str:
    """Return the audience in words; empty for HERE, the place where the task was made."""
    match audience.hearer:
        case Hearer.EVERYONE:
            return "everyone"
        case Hearer.PERSON:
            return name_shown(entity) if (entity := exposure.entity(audience.target or "")) else "one person"
        case Hearer.AREA:
            area = exposed_places(hass, exposure)[ATTR_AREA_ID].get(audience.target or "")
            return f"whoever is in {quoted(area)}" if area else "one area"
    return ""


@callback
def describe_end(until: Until) -> str:
    """Return the end of a task in words; empty if no end was given."""
    parts = [
        "until somebody says that it is done" if until.done else "",
        f"{until.times} times" if until.times and until.times > 1 else "",
        f"until {format_time(until.moment)}" if until.moment is not None else "",
    ]
    return ", ".join(filter(None, parts))


@callback
def describe_conditions(hass: HomeAssistant, exposure: Exposure, conditions: list[dict[str, Any]]) -> str:
    """Return the conditions of a task in words; empty for none."""
    if not conditions:
        return ""
    return AutomationDescriber(hass, exposure).pieces({"conditions": conditions})[0][1]


@callback
def seen(exposure: Exposure, text: str) -> str:
    """Return a user's text, or a neutral text if nothing of it may be shown."""
    return exposure.visible_value(text) or _UNTOLD


async def async_prepare(exposure: Exposure, *tasks: ScheduledTask) -> None:
    """Load the data for describing triggers, conditions and sequences, if a task has any."""
    if any(task.when.triggers or task.conditions or not all(map(is_resolved, steps_of(task.what))) for task in tasks):
        await exposure.async_prepare()


async def async_plan_task(call: ToolCall, task: ScheduledTask, delay: float | None = None) -> Plan:
    """Return the plan of a task: its steps, times and audience. A delay, in seconds, counts from the user's agreement.

    Raises ToolError for a sequence that may not run.
    """
    await async_prepare(call.exposure, task)
    frame = _frame(call, task, delay)
    steps = [
        step_for(call, step["action"], step["entity_ids"], step["data"], frame)
        for step in filter(is_resolved, task.what.actions)
    ]
    walker = SequenceWalker(call)
    if sequence := [step for step in steps_of(task.what) if not is_resolved(step)]:
        await walker.async_actions(sequence, "actions")
        steps += planned_steps(call, walker, frame)
    told = describe_audience(call.hass, call.exposure, task.audience)
    whom = f" (to {told})" if told else ""
    *_, last = task.what.parts
    words_frame: Frame = frame
    if last is not task.what:
        words_frame = () if last.actions else (("then", format_duration(last.wait)),)
    for action, verb, text in ((SAY_LATER, "Say", last.say), (ASK_LATER, "Ask the assistant", last.ask)):
        if text:
            data = {"text": text, "hearer": task.audience.hearer.value, "target": task.audience.target}
            steps.append(framed(call.exposure, Step(action, (), data, f"{verb}{whom}: {text}"), words_frame))
    if task.when.watch is not None and not steps:
        words = _capital(describe_when(call.hass, call.exposure, task.when))
        steps = [Step(f"{DOMAIN}.watch", tuple(task.when.watch.entity_ids), {}, words)]
    if len(steps) == 1:
        return Plan(tuple(steps), steps[0].words, is_whole=not walker.is_open)
    sentence = framed(call.exposure, Step("", words=f"{len(steps)} things"), frame).words
    return Plan(tuple(steps), sentence, is_whole=not walker.is_open)


def _frame(call: ToolCall, task: ScheduledTask, delay: float | None) -> Frame:
    """Return the time, conditions and end of a task for the question; a delay is shown instead of a clock time.

    A delay counts from the user's agreement, so the clock time is not known yet.
    """
    first: Frame
    if delay is not None:
        first = (("in", format_duration(delay)),)
    elif task.when.moment is not None and not (task.when.rule or task.when.triggers or task.when.watch):
        first = (("at", format_time(task.when.moment)),)
    else:
        first = (("when", _capital(describe_when(call.hass, call.exposure, task.when))),)
    parts = [
        describe_conditions(call.hass, call.exposure, task.conditions),
        describe_end(task.until),
    ]
    return (*first, *(("when", _capital(part)) for part in parts if part))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
