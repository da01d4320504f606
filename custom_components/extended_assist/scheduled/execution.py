"""Execute a due task: check everything again, run the actions, deliver the message."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from homeassistant.const import STATE_UNAVAILABLE
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util

from ..actions.sequences import SequenceWalker
from ..const import DOMAIN
from ..exposure.entities import Exposure
from ..exposure.safe_log import log_unexpected
from ..results import ToolError, format_time, texts_in
from ..worker.interruptible import ends_task
from . import lifecycle
from .delivery import async_deliver
from .description import short_description
from .lifecycle import Ending, Performed, TaskOutcome
from .parts import MAX_DELAY, taking_back, with_words
from .phrases import said_time, say
from .run import StoppedError, TaskRun
from .run_actions import Performers, async_act
from .scheduled_task import Audience, Hearer, ScheduledTask, Sighting, Watch, What
from .tool_call import HIDDEN, NotDoneError, async_answer, async_valid_call
from .triggers import async_holds

MAX_LATE = 300.0
"""The most seconds that an action may be late: a light that turns on hours later does harm."""
LATE_TOLD = 60.0
"""Seconds of delay from which the message says that it is late."""
LONGEST = 900.0
"""Seconds after which an execution is cancelled."""
INTERRUPTED = "begun, and Home Assistant stopped before it was over"
UNTOLD = "this could not be told to anybody yet"
_SIGHTINGS: Final[Mapping[Sighting, tuple[Ending, str]]] = {
    Sighting.SEEN: (Ending.HAPPENED, "seen"),
    Sighting.UNSEEN: (Ending.SKIPPED, "not seen until its time was over"),
    Sighting.BLIND: (Ending.FAILED, "given up: there were no pictures, or no model that can look at them"),
}
UNHEARD = "not said: nobody could be told yet"
UNSAID = "not said: it was ended meanwhile"


async def async_do(
    hass: HomeAssistant,
    task: ScheduledTask,
    moment: float,
    run: TaskRun,
    *,
    late: float,
    again: bool,
    missed: int = 0,
    repeated: bool = False,
    performers: Performers | None = None,
) -> TaskOutcome:
    """Execute a due task, deliver its message, and return the outcome.

    Raises StoppedError if it was stopped before it started.
    `again` means that Home Assistant stopped during an earlier execution, `missed` is the number of skipped
    occurrences, and `repeated` means that only the message is repeated.
    """
    try:
        async with asyncio.timeout(LONGEST):
            if again:
                outcome = await _async_after_stop(hass, task)
            elif repeated:
                await async_valid_call(hass, task, performers or {})
                words = await _async_words_again(hass, task) or await _async_name(hass, task)
                outcome = TaskOutcome(Ending.HAPPENED, words=words, said="said again")
            else:
                outcome = await _async_do(hass, task, moment, run, late=late, performers=performers or {})
    except NotDoneError as err:
        complaint = await _async_complaint(hass, task, moment, err.key)
        reason = f"not done: {await _async_reason(hass, task, err)}"
        rest = taking_back(task.what) if run.has_acted else None
        outcome = TaskOutcome(Ending.NOT_DONE, reason, complaint=complaint, rest=rest)
    except StoppedError as err:
        outcome = await _async_stopped(hass, task, moment, run, str(err))
    except (Exception, asyncio.CancelledError) as err:
        if ends_task(err):
            raise
        log_unexpected("in a scheduled task")
        complaint = await _async_complaint(hass, task, moment, "not_done_failed")
        rest = taking_back(task.what) if run.has_acted else None
        outcome = TaskOutcome(Ending.FAILED, "not done: it failed unexpectedly", complaint=complaint, rest=rest)
    if outcome.complaint and task.what.then is not None:
        key = "no_rest" if outcome.rest is None else "only_back"
        outcome = replace(outcome, complaint=say(key, task.owner.language, text=outcome.complaint))
    if outcome.words and not repeated:
        outcome = replace(
            outcome, words=_as_it_comes(task, outcome.words, moment, late=late, again=again, missed=missed)
        )
    outcome = await _async_told(hass, task, moment, outcome, run)
    if task.what.actions and not repeated:
        task.progress.words = outcome.words
    return outcome


async def _async_stopped(
    hass: HomeAssistant, task: ScheduledTask, moment: float, run: TaskRun, reports: str
) -> TaskOutcome:
    """Return the outcome of a stopped run with reports of its started actions.

    Raises StoppedError if it can start anew.
    """
    await run.async_decided()
    if not run.has_begun:
        if task.is_standing:
            raise StoppedError
        return TaskOutcome(Ending.NOT_DONE, f"not done: {run.reason}")
    if not run.has_acted and not task.is_standing:
        return TaskOutcome(Ending.NOT_DONE, UNSAID)
    is_told = task.is_standing or run.tells_owner
    complaint = await _async_complaint(hass, task, moment, "stopped") if is_told else ""
    result = f"stopped: {run.reason}{reports and f'; done before that{reports}'}"
    rest = taking_back(task.what) if run.has_acted else None
    return TaskOutcome(Ending.NOT_DONE, result, complaint=complaint, rest=rest)


async def _async_told(
    hass: HomeAssistant, task: ScheduledTask, moment: float, outcome: TaskOutcome, run: TaskRun
) -> TaskOutcome:
    """Deliver an outcome, and return it with whether the delivery succeeded."""
    await run.async_decided()
    words, complaint, results = outcome.words, outcome.complaint, [outcome.result] if outcome.result else []
    if words and not task.is_standing:
        words = ""
        results.append(UNSAID)
    if complaint and (not words or not _is_for_owner(hass, task)):
        if not await _async_tell(hass, _of_owner(hass, task), moment, complaint):
            results.append(UNTOLD)
        complaint = ""
    kind, words = outcome.kind, f"{complaint} {words}" if words and complaint else words
    if words:
        telling = _async_tell(hass, task, moment, words, answerable=task.until.done)
        try:
            is_told = await run.async_unless_ended(telling)
        except StoppedError:
            results.append(UNSAID)
        else:
            results.append(outcome.said if is_told else UNHEARD)
            kind = kind if is_told or outcome.result else Ending.NOT_DONE
    return replace(outcome, kind=kind, words=words, result="; ".join(results) or f"due at {format_time(moment)}")


@callback
def _is_for_owner(hass: HomeAssistant, task: ScheduledTask) -> bool:
    """Return whether the audience may learn what failed: the message is not for another person alone."""
    if task.audience.hearer is not Hearer.PERSON:
        return True
    person = hass.states.get(task.audience.target or "")
    return person is not None and person.attributes.get("user_id") == task.owner.user_id is not None


@callback
def _of_owner(hass: HomeAssistant, task: ScheduledTask) -> ScheduledTask:
    """Return the task with its owner as the audience."""
    match task.audience.hearer:
        case Hearer.HERE:
            return task
        case Hearer.EVERYONE if task.is_household:
            return task
        case Hearer.PERSON if _is_for_owner(hass, task):
            return task
    return replace(task, audience=Audience())


@callback
def is_ready(hass: HomeAssistant, task: ScheduledTask) -> bool:
    """Return whether all entities and actions of a task are available: integrations can load late."""
    registry = er.async_get(hass)
    for text, path in texts_in(task.what.actions, keys=True):
        if path and path[-1] in ("action", "service"):
            if text.count(".") == 1 and not hass.services.has_service(*text.split(".")) and DOMAIN not in text:
                return False
        elif (state := hass.states.get(text)) is None:
            if text in registry.entities:
                return False
        elif state.state == STATE_UNAVAILABLE:
            return False
    return True


async def _async_do(
    hass: HomeAssistant, task: ScheduledTask, moment: float, run: TaskRun, *, late: float, performers: Performers
) -> TaskOutcome:
    """Check everything again, run the actions, and return the outcome; raises NotDoneError and StoppedError."""
    what, call = task.what, await async_valid_call(hass, task, performers)
    if task.when.watch is not None and task.when.watch.sighting is Sighting.HIDDEN:
        raise NotDoneError("its cameras may not be looked at any more.", HIDDEN)
    try:
        walker = SequenceWalker(call, keep=True)
        if task.when.triggers:
            await walker.async_triggers(task.when.triggers)
        # Whether they hold was asked before; those that cannot be asked hold nothing back there.
        await async_holds(hass, task)
    except ToolError as err:
        raise NotDoneError(str(err), HIDDEN) from err
    if task.when.watch is not None:
        return await _async_sighted(hass, task, task.when.watch)
    outcome = TaskOutcome(Ending.LATE if late >= LATE_TOLD else Ending.HAPPENED, words=what.say or "")
    if what.actions and late > most_late(task):
        reason = f"not done: {round(late / 60)} minutes late is too late for an action"
        complaint = await _async_complaint(hass, task, moment, "not_done_late")
        words = outcome.words if task.until.done else ""
        outcome = replace(outcome, kind=Ending.MISSED, result=reason, words=words, complaint=complaint)
    elif what.actions:
        try:
            done = await async_act(call, task, performers, run)
        except NotDoneError as err:
            if not (err.key and task.until.done):
                raise
            done = Performed(f"not done: {await _async_reason(hass, task, err)}", err.key)
        outcome = await _async_acted(hass, task, moment, outcome, done)
    elif what.then is not None:
        outcome = replace(outcome, rest=what.then)
    if what.ask:
        await run.async_check()
        run.has_asked = True
        answer = await run.async_unless_stopped(async_answer(hass, task, what.ask))
        outcome = replace(outcome, words=f"{outcome.words} {answer}".strip())
    return outcome


@callback
def most_late(task: ScheduledTask) -> float:
    """Return the most seconds that the actions may be late; turning something off again is useful at any time."""
    return MAX_DELAY if task.what.takes_back else MAX_LATE


async def _async_acted(
    hass: HomeAssistant, task: ScheduledTask, moment: float, outcome: TaskOutcome, done: Performed
) -> TaskOutcome:
    """Return the outcome of the actions.

    The task's own words are kept only if all actions succeeded, unless they ask the user to do something.
    """
    if done.key:
        complaint = await _async_complaint(hass, task, moment, done.key, done.what)
        words = outcome.words if task.until.done else ""
        rest = taking_back(task.what, keeps_words=task.until.done)
        return replace(outcome, kind=Ending.NOT_DONE, result=done.result, words=words, complaint=complaint, rest=rest)
    words, rest = outcome.words, None if done.is_cut_short else task.what.then
    if rest is not None and not (done.is_known and not done.is_nothing) and not task.until.done:
        rest = with_words(rest, lambda text: say("unchecked", task.owner.language, text=text))
    if done.is_nothing and not task.until.done:
        return replace(outcome, kind=Ending.SKIPPED, result=done.result, words="", rest=rest)
    if words and not done.is_known and not task.until.done:
        words = say("unchecked", task.owner.language, text=words)
    return replace(outcome, result=done.result, words=words, rest=rest)


async def _async_after_stop(hass: HomeAssistant, task: ScheduledTask) -> TaskOutcome:
    """Return the outcome of a task that was running when Home Assistant stopped: nothing is repeated."""
    if not task.what.actions and not task.what.ask:
        said = "said, maybe twice: Home Assistant stopped meanwhile"
        return TaskOutcome(Ending.HAPPENED, words=await _async_words(hass, task), said=said, rest=task.what.then)
    interrupted = say("interrupted", task.owner.language, name=await _async_name(hass, task))
    words = (task.what.say or "") if task.until.done or not task.what.actions else ""
    return TaskOutcome(Ending.FAILED, INTERRUPTED, words=words, complaint=interrupted, rest=taking_back(task.what))


async def _async_sighted(hass: HomeAssistant, task: ScheduledTask, watch: Watch) -> TaskOutcome:
    """Return the outcome of a camera watch."""
    kind, result = _SIGHTINGS.get(watch.sighting, (Ending.FAILED, "it was never looked"))
    if watch.sighting is Sighting.UNSEEN and lifecycle.is_partly(watch):
        kind, result = Ending.FAILED, "not seen, but most looks failed"
    return TaskOutcome(kind, result, words=await _async_words(hass, task))


async def _async_words(hass: HomeAssistant, task: ScheduledTask) -> str:
    """Return the words of a task. Those of a watch contain nothing from a picture."""
    if (watch := task.when.watch) is None:
        return task.what.say or ""
    language = task.owner.language
    exposure = Exposure(hass, task.owner.assistant)
    await exposure.async_prepare()
    see = say("unnamed", language) if exposure.names_hidden(watch.see) else watch.see
    if watch.sighting is Sighting.SEEN and task.what.say and not exposure.names_hidden(task.what.say):
        return task.what.say
    is_partly = watch.sighting is Sighting.UNSEEN and lifecycle.is_partly(watch)
    return say("watch_partly" if is_partly else f"watch_{watch.sighting}", language, see=see)


async def _async_words_again(hass: HomeAssistant, task: ScheduledTask) -> str:
    """Return the words of a repetition; for a task with actions, the words of its outcome."""
    if not task.what.actions:
        return await _async_words(hass, task)
    exposure, words = Exposure(hass, task.owner.assistant), task.progress.words or ""
    await exposure.async_prepare()
    return "" if exposure.names_hidden(words) else words


def _as_it_comes(task: ScheduledTask, words: str, moment: float, *, late: float, again: bool, missed: int) -> str:
    """Return words with a note on their delay."""
    language = task.owner.language
    if late >= LATE_TOLD:
        words = say("late", language, time=said_time(moment), text=words)
    if missed:
        words = say("missed", language, text=words, count=missed)
    return say("again", language, text=words) if again else words


async def _async_complaint(hass: HomeAssistant, task: ScheduledTask, moment: float, key: str, what: str = "") -> str:
    """Return the sentence on failed steps; empty if there is nothing to say."""
    if not key:
        return ""
    return say(key, task.owner.language, name=await _async_name(hass, task), time=said_time(moment), what=what)


async def _async_name(hass: HomeAssistant, task: ScheduledTask) -> str:
    """Return the name of a task, unless it names a hidden entity."""
    exposure, name, what = Exposure(hass, task.owner.assistant), task.name, task.what
    await exposure.async_prepare()
    said = [part.say for part in what.parts if part.say]
    if any(part.actions for part in what.parts) and any(words.startswith(name) for words in said):
        name = short_description(What(what.actions))  # Words beside an action may claim that it is done.
    return say("unnamed", task.owner.language) if exposure.names_hidden(name) else name


async def _async_reason(hass: HomeAssistant, task: ScheduledTask, error: ToolError) -> str:
    """Return the reason of a failure, unless it names something hidden."""
    exposure = Exposure(hass, task.owner.assistant)
    await exposure.async_prepare()
    return "something in it is not exposed any more." if exposure.names_hidden(str(error)) else str(error)


async def _async_tell(
    hass: HomeAssistant, task: ScheduledTask, moment: float, words: str, *, answerable: bool = False
) -> bool:
    """Deliver words, or store them for later; return whether a device accepted them."""
    try:
        is_told = await async_deliver(hass, task, words, answerable=answerable)
    except (Exception, asyncio.CancelledError) as err:
        if ends_task(err):
            raise
        log_unexpected("while something was told")
        is_told = False
    lifecycle.note_told(task, f"{format_time(moment)}: ", words, is_told=is_told)
    return is_told


async def async_tell_in_vain(hass: HomeAssistant, task: ScheduledTask) -> None:
    """Notify the owner that the triggers of a task are broken."""
    words = say("in_vain", task.owner.language, name=await _async_name(hass, task))
    await _async_tell(hass, _of_owner(hass, task), dt_util.utcnow().timestamp(), words)
